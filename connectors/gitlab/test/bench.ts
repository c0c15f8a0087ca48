import type { Checkpoint, Connector, ConnectorError, Context } from "@reversi-connector/core";
import { gitlab } from "@reversi-connector/gitlab";
import { type GitLabSandbox, sandbox } from "@reversi-connector/gitlab/sandbox";

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
  const undoOf = (name: string, args: object, result: object) => {
    const { compensation } = connector.manifests.find(({ tool }) => tool === `gitlab.${name}`) ?? {};
    const from: Record<string, Values> = { args: { ...site, ...args }, result: { ...result } };
    const mapped = Object.entries(compensation?.argument_map ?? {}).map(([target, source]) => {
      const [root = "", key = ""] = String(source).split(".");
      return [target, from[root]?.[key]] as const;
    });
    return {
      tool: (compensation?.tool ?? "").replace("gitlab.", ""),
      args: Object.fromEntries(mapped.filter(([, value]) => value !== undefined)),
    };
  };
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

/** What a call that must fail threw. */
export const failure = async (call: Promise<unknown>): Promise<ConnectorError> => {
  try {
    await call;
  } catch (error) {
    return error as ConnectorError;
  }
  throw new Error("the call succeeded");
};
