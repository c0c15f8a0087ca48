import type { Checkpoint, Connector, Context } from "@reversi-connector/core";
import { slack } from "@reversi-connector/slack";
import { type Message, type SlackSandbox, sandbox } from "@reversi-connector/slack/sandbox";
import { failure, undoOf as undoByManifest } from "../../../test/calls.ts";

export { failure };

type Values = Readonly<Record<string, unknown>>;
export const ada = "U0ADA0ADA1";
export const grace = "U0GRACE001";
/** The channel `general`. */
export const general = "C0GENERAL01";

const started: { readonly connector: Connector; readonly backend: SlackSandbox }[] = [];
afterEach(async () => {
  for (const { connector, backend } of started.splice(0)) {
    await connector.close();
    await backend.close();
    expect(backend.errors).toEqual([]); // what the sandbox itself did wrong
  }
});

/** A connector on a sandbox of its own; both end with the test. */
export async function bench(options: { readonly timeoutMs?: number } = {}) {
  const backend: SlackSandbox = await sandbox();
  const connector: Connector = slack({ ...backend.options, ...options });
  started.push({ connector, backend });
  const since = new Date();

  const call = async <Result = Values>(name: string, args: object, context: Context = {}) =>
    (await connector.tools[`slack.${name}`]?.(args, context)) as Result;

  /** What an engine would send to undo a call, by the manifest. */
  const undoOf = (name: string, args: object, result: object) =>
    undoByManifest(connector, name, args, result);
  const holds = (name: string, args: object) => connector.holds[`slack.${name}`]?.(args);
  const [first] = backend.general.messages;
  if (!first) throw new Error("the channel has no message");
  return {
    backend,
    connector,
    /** The first message in the channel, by somebody else. */
    first: first as Message,
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
    landed: (name: string, args: object, idempotencyKey?: string, checkpoint?: Checkpoint) =>
      connector.landed[`slack.${name}`]?.(args, { since, idempotencyKey, checkpoint }),
    state: backend.state,
    writes: () => backend.requests.filter(({ method }) => method !== "GET"),
    sent: () => backend.requests.map(({ method, pathname }) => `${method} ${pathname.replace("/api/", "")}`),
  };
}
export type Bench = Awaited<ReturnType<typeof bench>>;

/** Slack's way to say no. */
export const refusal = (error: string, details: object = {}) =>
  ({ kind: "status", status: 200, body: { ok: false, error, ...details } }) as const;
