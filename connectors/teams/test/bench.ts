import type { Connector, Context } from "@reversi-connector/core";
import { teams } from "@reversi-connector/teams";
import { sandbox, type TeamsSandbox } from "@reversi-connector/teams/sandbox";
import { failure, undoOf as undoByManifest } from "../../../test/calls.ts";

export { failure };

type Values = Readonly<Record<string, unknown>>;

const started: { readonly connector: Connector; readonly backend: TeamsSandbox }[] = [];
afterEach(async () => {
  for (const { connector, backend } of started.splice(0)) {
    await connector.close();
    await backend.close();
    expect(backend.errors).toEqual([]); // what the sandbox itself did wrong
  }
});

/** A connector on a sandbox of its own; both end with the test. */
export async function bench(options: { readonly timeoutMs?: number } = {}) {
  const backend: TeamsSandbox = await sandbox();
  const connector: Connector = teams({ ...backend.options, ...options });
  started.push({ connector, backend });

  const call = async <Result = Values>(name: string, args: object, context: Context = {}) =>
    (await connector.tools[`teams.${name}`]?.(args, context)) as Result;

  /** What an engine would send to undo a call, by the manifest. */
  const undoOf = (name: string, args: object, result: object) =>
    undoByManifest(connector, name, args, result);
  const holds = (name: string, args: object) => connector.holds[`teams.${name}`]?.(args);
  const channel = { team_id: backend.world.team.id, channel_id: backend.general.id };
  return {
    backend,
    connector,
    /** The arguments that name the channel. */
    channel,
    call,
    undoOf,
    undo: async <Result = Values>(name: string, args: object, result: object, context: Context = {}) => {
      const { tool, args: undoArgs } = undoOf(name, args, result);
      return call<Result>(tool, undoArgs, context);
    },
    holds,
    /** Whether the goal of a call's undo is reached. */
    undone: (name: string, args: object, result: object) => {
      const { tool, args: undoArgs } = undoOf(name, args, result);
      return holds(tool, undoArgs);
    },
    state: backend.state,
    writes: () => backend.requests.filter(({ method }) => method !== "GET"),
    sent: () =>
      backend.requests.map(({ method, pathname }) => `${method} ${pathname.replace(/^.*\/channels/, "")}`),
  };
}
export type Bench = Awaited<ReturnType<typeof bench>>;
