import type { Checkpoint, Connector, Context } from "@reversi-connector/core";
import { failure, undoOf as undoByManifest } from "../../../test/calls.ts";
import { type KubernetesOptions, kubernetes } from "../src/index.ts";
import { type KubernetesSandbox, sandbox } from "../src/sandbox.ts";

export { failure };

type Values = Readonly<Record<string, unknown>>;

export const web = { namespace: "prod", name: "web" };
export const idle = { namespace: "prod", name: "idle" };
export const pod = { namespace: "prod", name: "web-5d4f8c7b9d-b7x2k" };
export const flags = { namespace: "prod", name: "flags", data: { mode: "slow" } };
export const idempotencyKey = "run 1, step 1";

const started: { readonly connector: Connector; readonly backend: KubernetesSandbox }[] = [];
afterEach(async () => {
  for (const { connector, backend } of started.splice(0)) {
    await connector.close();
    await backend.close();
    expect(backend.errors).toEqual([]); // what the sandbox itself did wrong
  }
});

/** A connector on a sandbox of its own; both end with the test. */
export async function bench(
  options: Partial<KubernetesOptions & { readonly timeoutMs: number }> = {},
  tls?: { readonly key: string; readonly cert: string },
) {
  const backend = await sandbox(tls && { tls });
  const connector: Connector = kubernetes({ ...backend.options, ...options });
  started.push({ connector, backend });
  const { world } = backend;

  const call = async <Result = Values>(name: string, args: object, context: Context = {}) =>
    (await connector.tools[`kubernetes.${name}`]?.(args, { idempotencyKey, ...context })) as Result;

  /** What an engine would send to undo a call, by the manifest. */
  const undoOf = (name: string, args: object, result: object) =>
    undoByManifest(connector, name, args, result);
  return {
    backend,
    world,
    connector,
    call,
    undoOf,
    undo: async <Result = Values>(name: string, args: object, result: object, context: Context = {}) => {
      const { tool, args: undoArgs } = undoOf(name, args, result);
      return call<Result>(tool, undoArgs, context);
    },
    /** Calls a tool that must fail, and keeps what it made durable. */
    async lose(name: string, args: object) {
      const kept: Checkpoint[] = [];
      const checkpoint = async (next: Checkpoint) => void kept.push(next);
      const error = await failure(call(name, args, { checkpoint }));
      return { error, checkpoint: kept[0] };
    },
    holds: (name: string, args: object) => connector.holds[`kubernetes.${name}`]?.(args),
    landed: (name: string, args: object, checkpoint?: Checkpoint, since = new Date(0)) =>
      connector.landed[`kubernetes.${name}`]?.(args, { since, checkpoint, idempotencyKey }),
    deployment: (name = "web") => {
      const found = world.deployments.find(({ metadata }) => metadata.name === name);
      if (!found) throw new Error("there is no such deployment");
      return found;
    },
    configMap: (name: string) => world.configMaps.find(({ metadata }) => metadata.name === name),
    /** Acts as somebody else would, just before the first request of this method takes effect. */
    meanwhile: (method: string, action: () => void, times = 1) => {
      let left = times;
      const path = () => {
        if (left-- > 0) action();
        return false; // the fault itself meets nothing
      };
      backend.inject({ kind: "cutBefore" }, { method, path });
    },
    state: backend.state,
    writes: () => backend.requests.filter(({ method }) => method !== "GET"),
  };
}
export type Bench = Awaited<ReturnType<typeof bench>>;
