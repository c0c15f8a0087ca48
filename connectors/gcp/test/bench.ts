import type { Checkpoint, Connector, Context } from "@reversi-connector/core";
import { failure, undoOf as undoByManifest } from "../../../test/calls.ts";
import type { GcpOptions } from "../src/client.ts";
import { gcp } from "../src/index.ts";
import type { StoredObject } from "../src/sandbox/world.ts";
import { type GcpSandbox, putObject, removeObject, sandbox } from "../src/sandbox.ts";

export { failure };

type Values = Readonly<Record<string, unknown>>;
export interface Place {
  readonly bucket: string;
  readonly object: string;
}

export const todo = { bucket: "notes", object: "todo.txt" };
export const page = { bucket: "notes", object: "public/index.html" };
export const film = { bucket: "notes", object: "film.bin" };
export const fresh = { bucket: "notes", object: "new.txt" };
export const plan = { bucket: "versioned.notes", object: "plan.txt" };
export const key = "the-engine's-key-of-this-step";

const started: { readonly connector: Connector; readonly backend: GcpSandbox }[] = [];
afterEach(async () => {
  for (const { connector, backend } of started.splice(0)) {
    await connector.close();
    await backend.close();
    expect(backend.errors).toEqual([]); // what the sandbox itself did wrong
  }
});

/** Requests, by their method and what stands in their raw path. */
export const upload = { method: "POST", path: /^\/upload\// };
export const rewrite = { method: "POST", path: /\/rewriteTo\// };
export const removal = { method: "DELETE" };
interface Where {
  readonly method: string;
  readonly path?: RegExp;
}

/** A connector on a sandbox of its own; both end with the test. */
export async function bench(options: Partial<GcpOptions> & { readonly timeoutMs?: number } = {}) {
  const backend: GcpSandbox = await sandbox();
  const connector: Connector = gcp({ ...backend.options, ...options });
  started.push({ connector, backend });

  const call = async <Result = Values>(name: string, args: object, context: Context = {}) =>
    (await connector.tools[`gcp.${name}`]?.(args, context)) as Result;

  /** What an engine would send to undo a call, by the manifest. */
  const undoArgs = (name: string, args: object, result: object) =>
    undoByManifest(connector, name, args, result).args;
  const put = ({ bucket, object }: Place, content: string | Buffer, draft: Partial<StoredObject> = {}) =>
    putObject(backend.world, backend.bucket(bucket), object, content, draft);
  const isBackup = (name: string) => name.startsWith(".reversi-backups/");
  return {
    backend,
    world: backend.world,
    notes: backend.bucket("notes"),
    connector,
    call,
    undoArgs,
    undo: (name: string, args: object, result: object, context: Context = {}) =>
      call("restore_object", undoArgs(name, args, result), context),
    holds: (args: object) => connector.holds["gcp.restore_object"]?.(args),
    landed: (name: string, args: object, checkpoint?: Checkpoint, idempotencyKey = key) =>
      connector.landed[`gcp.${name}`]?.(args, { since: new Date(), checkpoint, idempotencyKey }),
    object: ({ bucket, object }: Place) => backend.bucket(bucket).objects.get(object),
    text: ({ bucket, object }: Place) => backend.bucket(bucket).objects.get(object)?.content.toString(),
    /** Writes, or removes, as somebody else. */
    put,
    remove: ({ bucket, object }: Place) => removeObject(backend.bucket(bucket), object),
    /** Acts as somebody else would, just before the nth of these requests takes effect. */
    meanwhile: ({ method, path: pattern = /^/ }: Where, action: () => void, nth = 1) => {
      let left = nth;
      const path = (raw: string) => {
        if (pattern.test(raw) && --left === 0) action();
        return false; // the fault itself meets nothing
      };
      backend.inject({ kind: "cutBefore" }, { method, path });
    },
    /** All objects but the backups, as people see them, without their history. */
    async state() {
      const buckets = (await backend.state()) as Record<string, { readonly objects: object }>;
      return Object.fromEntries(Object.entries(buckets).map(([name, { objects }]) => [name, objects]));
    },
    backups: ({ bucket }: Pick<Place, "bucket"> = todo) =>
      [...backend.bucket(bucket).objects].filter(([name]) => isBackup(name)),
    writes: () => backend.requests.filter(({ method }) => method !== "GET"),
  };
}
export type Bench = Awaited<ReturnType<typeof bench>>;
