import type { Checkpoint, Connector, Context } from "@reversi-connector/core";
import { github } from "@reversi-connector/github";
import { type GitHubSandbox, sandbox } from "@reversi-connector/github/sandbox";
import { failure, undoOf as undoByManifest } from "../../../test/calls.ts";

export { failure };

type Values = Readonly<Record<string, unknown>>;
export const site = { owner: "acme", repo: "site" };

const started: { readonly connector: Connector; readonly backend: GitHubSandbox }[] = [];
afterEach(async () => {
  for (const { connector, backend } of started.splice(0)) {
    await connector.close();
    await backend.close();
    expect(backend.errors).toEqual([]); // what the sandbox itself did wrong
  }
});

/** A connector on a sandbox of its own; both end with the test. */
export async function bench(options: { readonly timeoutMs?: number } = {}) {
  const backend: GitHubSandbox = await sandbox();
  const connector: Connector = github({ ...backend.options, ...options });
  started.push({ connector, backend });

  const call = async <Result = Values>(name: string, args: object, context: Context = {}) =>
    (await connector.tools[`github.${name}`]?.({ ...site, ...args }, context)) as Result;

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
    holds: (name: string, args: object) => connector.holds[`github.${name}`]?.({ ...site, ...args }),
    landed: (name: string, args: object, checkpoint?: Checkpoint) =>
      connector.landed[`github.${name}`]?.({ ...site, ...args }, { since: new Date(), checkpoint }),
    state: backend.state,
    writes: () => backend.requests.filter(({ method }) => method !== "GET"),
    sent: () => backend.requests.map(({ method, path }) => `${method} ${path}`),
  };
}
export type Bench = Awaited<ReturnType<typeof bench>>;
