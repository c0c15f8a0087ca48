import type { Checkpoint, Connector, Context } from "@reversi-connector/core";
import { failure, undoOf as undoByManifest } from "../../../test/calls.ts";
import { type AwsOptions, aws } from "../src/index.ts";
import { type AwsSandbox, current, putObject, sandbox } from "../src/sandbox.ts";

export { failure };

type Values = Readonly<Record<string, unknown>>;

export const todo = { bucket: "notes", key: "todo.txt" };
export const fresh = { bucket: "notes", key: "fresh.txt" };
export const plan = { bucket: "versioned.notes", key: "plan.txt" };
export interface Place {
  readonly bucket: string;
  readonly key: string;
}

const started: { readonly connector: Connector; readonly backend: AwsSandbox }[] = [];
afterEach(async () => {
  for (const { connector, backend } of started.splice(0)) {
    await connector.close();
    await backend.close();
    expect(backend.errors).toEqual([]); // what the sandbox itself did wrong
  }
});

/** A connector on a sandbox of its own; both end with the test. */
export async function bench(options: Partial<AwsOptions> & { readonly timeoutMs?: number } = {}) {
  const backend: AwsSandbox = await sandbox();
  const connector: Connector = aws({ ...backend.options, ...options });
  started.push({ connector, backend });

  const call = async <Result = Values>(name: string, args: object, context: Context = {}) =>
    (await connector.tools[`aws.${name}`]?.(args, context)) as Result;

  /** What an engine would send to undo a call, by the manifest. */
  const undoOf = (name: string, args: object, result: object) =>
    undoByManifest(connector, name, args, result).args;
  return {
    backend,
    world: backend.world,
    connector,
    call,
    undoOf,
    undo: (name: string, args: object, result: object, context: Context = {}) =>
      call("restore_object", undoOf(name, args, result), context),
    holds: (args: object) => connector.holds["aws.restore_object"]?.(args),
    landed: (name: string, args: object, idempotencyKey: string, checkpoint?: Checkpoint) =>
      connector.landed[`aws.${name}`]?.(args, { since: new Date(), checkpoint, idempotencyKey }),
    object: ({ bucket, key }: Place) => current(backend.bucket(bucket), key),
    text: ({ bucket, key }: Place) => current(backend.bucket(bucket), key)?.content.toString(),
    /** Writes as somebody else. */
    edit: ({ bucket, key }: Place, text: string) => putObject(backend.bucket(bucket), key, text),
    /** Acts as somebody else would, just before a request takes effect. */
    meanwhile: (method: string, fits: RegExp, action: () => void, times = 1) => {
      let left = times;
      const path = (raw: string) => {
        if (fits.test(raw) && left-- > 0) action();
        return false; // the fault itself meets nothing
      };
      backend.inject({ kind: "cutBefore" }, { method, path });
    },
    /** The objects of a bucket as a person sees them: without backups and versions. */
    async seen(bucket: string) {
      const state = (await backend.state()) as Record<string, { objects: object; backups: unknown[] }>;
      return state[bucket]?.objects;
    },
    backups: ({ bucket }: { readonly bucket: string }) =>
      [...backend.bucket(bucket).objects.keys()].filter((key) => key.startsWith(".reversi-backups/")),
    lines: () =>
      backend.requests.map(({ method, path }) => `${method} ${path.replace(/[0-9a-f-]{36}/, "<uuid>")}`),
    writes: () => backend.requests.filter(({ method }) => method === "PUT" || method === "DELETE"),
  };
}
export type Bench = Awaited<ReturnType<typeof bench>>;

/** What was durable before the write of a call that a test made fail. */
export const keeping = () => {
  const kept: { checkpoint?: Checkpoint } = {};
  const checkpoint = async (given: Checkpoint) => {
    kept.checkpoint = given;
  };
  return { kept, checkpoint };
};
