import type { Checkpoint, Connector, Context } from "@reversi-connector/core";
import { failure, undoOf as undoByManifest } from "../../../test/calls.ts";
import type { AzureOptions } from "../src/client.ts";
import { azure } from "../src/index.ts";

export { failure };

import { type AzureSandbox, sandbox } from "../src/sandbox.ts";

type Values = Readonly<Record<string, unknown>>;

export const todo = { container: "notes", blob: "todo.txt" };
export const fresh = { container: "notes", blob: "new.txt" };
export const page = { container: "notes", blob: "public/index.html" };

const connectors: Connector[] = [];
const backends: AzureSandbox[] = [];
afterEach(async () => {
  for (const connector of connectors.splice(0)) await connector.close();
  for (const backend of backends.splice(0)) {
    await backend.close();
    expect(backend.errors).toEqual([]); // what the sandbox itself did wrong
  }
});

/** A connector on a sandbox of its own; both end with the test. */
export async function bench(options: Partial<AzureOptions> = {}) {
  const backend: AzureSandbox = await sandbox();
  backends.push(backend);
  const connector: Connector = azure({ ...backend.options, ...options });
  connectors.push(connector);

  const call = async <Result = Values>(name: string, args: object, context: Context = {}) =>
    (await connector.tools[`azure.${name}`]?.(args, context)) as Result;

  /** What an engine would send to undo a call, by the manifest. */
  const undoArgs = (name: string, args: object, result: object) =>
    undoByManifest(connector, name, args, result).args;
  const state = async () => {
    const containers = Object.entries((await backend.state()) as Record<string, { blobs: object }>);
    return Object.fromEntries(containers.map(([name, { blobs }]) => [name, blobs]));
  };
  return {
    backend,
    world: backend.world,
    notes: backend.container("notes"),
    connector,
    call,
    undoArgs,
    undo: <Result = Values>(name: string, args: object, result: object, context: Context = {}) =>
      call<Result>("restore_blob", undoArgs(name, args, result), context),
    holds: (args: object) => connector.holds["azure.restore_blob"]?.(args),
    landed: (name: string, args: object, checkpoint?: Checkpoint, idempotencyKey = key) =>
      connector.landed[`azure.${name}`]?.(args, { since: new Date(), checkpoint, idempotencyKey }),
    /** Acts as somebody else would, just before the nth request of this method takes effect. */
    meanwhile: (method: string, action: () => void, nth = 1) => {
      let left = nth;
      const path = () => {
        if (--left === 0) action();
        return false; // the fault itself meets nothing
      };
      backend.inject({ kind: "cutBefore" }, { method, path });
    },
    /** All blobs but the backups, as people see them, without the counts of events. */
    state,
    backups: () => [...backend.container("notes").blobs].filter(([name]) => name.startsWith(".reversi-")),
    writes: () => backend.requests.filter(({ method }) => method !== "GET" && method !== "HEAD"),
  };
}
export type Bench = Awaited<ReturnType<typeof bench>>;

export const key = "the-engine's-key-of-this-step";
