import type { Checkpoint, Connector, Context } from "@reversi-connector/core";
import { gitlab } from "@reversi-connector/gitlab";
import { type GitLabSandbox, sandbox } from "@reversi-connector/gitlab/sandbox";
import { failure, undoOf as undoByManifest } from "../../../test/calls.ts";

export { failure };

type Values = Readonly<Record<string, unknown>>;
export const site = { project: "acme/tools/site" };

const started: { readonly connector: Connector; readonly backend: GitLabSandbox }[] = [];
afterEach(async () => {
  for (const { connector, backend } of started.splice(0)) {
    await connector.close();
    await backend.close();
    expect(backend.errors).toEqual([]); // what the sandbox itself did wrong
  }
});

/** A connector on a sandbox of its own; both end with the test. */
export async function bench(options: { readonly timeoutMs?: number } = {}) {
  const backend: GitLabSandbox = await sandbox();
  const connector: Connector = gitlab({ ...backend.options, ...options });
  started.push({ connector, backend });

  const call = async <Result = Values>(name: string, args: object, context: Context = {}) =>
    (await connector.tools[`gitlab.${name}`]?.({ ...site, ...args }, context)) as Result;

  /** What an engine would send to undo a call, by the manifest. */
  const undoOf = (name: string, args: object, result: object) =>
    undoByManifest(connector, name, { ...site, ...args }, result);
  return {
    backend,
    connector,
    call,
    undoOf,
    undo: async <Result = Values>(name: string, args: object, result: object, context: Context = {}) => {
      const { tool, args: undoArgs } = undoOf(name, args, result);
      return call<Result>(tool, undoArgs, context);
    },
    holds: (name: string, args: object) => connector.holds[`gitlab.${name}`]?.({ ...site, ...args }),
    landed: (name: string, args: object, checkpoint?: Checkpoint) =>
      connector.landed[`gitlab.${name}`]?.({ ...site, ...args }, { since: new Date(), checkpoint }),
    state: backend.state,
    writes: () => backend.requests.filter(({ method }) => method !== "GET"),
    sent: () => backend.requests.map(({ method, path }) => `${method} ${path}`),
  };
}
export type Bench = Awaited<ReturnType<typeof bench>>;
