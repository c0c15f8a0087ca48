import type { Checkpoint, Connector, Context } from "@reversi-connector/core";
import { linear } from "@reversi-connector/linear";
import { type LinearSandbox, sandbox } from "@reversi-connector/linear/sandbox";
import { failure, undoOf as undoByManifest } from "../../../test/calls.ts";

export { failure };

type Values = Readonly<Record<string, unknown>>;

const started: { readonly connector: Connector; readonly backend: LinearSandbox }[] = [];
afterEach(async () => {
  for (const { connector, backend } of started.splice(0)) {
    await connector.close();
    await backend.close();
    expect(backend.errors).toEqual([]); // what the sandbox itself did wrong
  }
});

/** A connector on a sandbox of its own; both end with the test. */
export async function bench(options: { readonly timeoutMs?: number; readonly apiKey?: string } = {}) {
  const backend: LinearSandbox = await sandbox();
  const connector: Connector = linear({ ...backend.options, ...options });
  started.push({ connector, backend });
  const { world, team } = backend;

  const call = async <Result = Values>(name: string, args: object, context: Context = {}) =>
    (await connector.tools[`linear.${name}`]?.(args, context)) as Result;

  /** What an engine would send to undo a call, by the manifest. */
  const undoOf = (name: string, args: object, result: object) =>
    undoByManifest(connector, name, args, result);
  const [issue, other] = world.issues;
  if (!issue || !other) throw new Error("the sandbox starts with two issues");
  return {
    backend,
    world,
    team,
    connector,
    /** ENG-1 and ENG-2. */
    issue,
    other,
    call,
    undoOf,
    undo: async <Result = Values>(name: string, args: object, result: object, context: Context = {}) => {
      const { tool, args: undoArgs } = undoOf(name, args, result);
      return call<Result>(tool, undoArgs, context);
    },
    holds: (name: string, args: object) => connector.holds[`linear.${name}`]?.(args),
    landed: (name: string, args: object, idempotencyKey?: string, checkpoint?: Checkpoint) =>
      connector.landed[`linear.${name}`]?.(args, { since: new Date(), idempotencyKey, checkpoint }),
    /** Acts as somebody else would, before the request after `skip` others takes effect. */
    meanwhile: (skip: number, action: () => void) => {
      let seen = 0;
      const path = () => {
        if (seen++ === skip) action();
        return false; // the fault itself meets nothing
      };
      backend.inject({ kind: "cutBefore" }, { path });
    },
    state: backend.state,
    writes: () => sent(backend).filter((document) => document.startsWith("mutation")),
    /** The operations that were sent, by name: `query Issue`. */
    sent: () => sent(backend).map((document) => document.split(/ ?[({]/, 1)[0]),
  };
}
export type Bench = Awaited<ReturnType<typeof bench>>;

const sent = ({ requests }: LinearSandbox) =>
  requests.map((request) => (request.json() as { readonly query: string }).query);

/** Linear's answer to what it refuses. */
export const refusal = (
  message: string,
  extensions: object = { type: "invalid input", code: "INPUT_ERROR" },
) => ({
  errors: [{ message, extensions }],
  data: null,
});

/** Speaks to the sandbox without the connector. */
export async function vendor() {
  const on = await bench();
  const { apiKey, baseUrl } = on.backend.options;
  const good: Record<string, string> = { authorization: apiKey, "content-type": "application/json" };
  const ask = async (
    body: unknown,
    changes: Record<string, string | undefined> = {},
    path = "/graphql",
    method = "POST",
  ) => {
    const headers = Object.entries({ ...good, ...changes }).filter(([, value]) => value !== undefined);
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: headers as [string, string][],
      ...(method === "POST" && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: JSON.parse(await response.text()),
    };
  };
  return { ...on, ask, query: (query: string, variables?: object) => ask({ query, variables }) };
}

/** An error of GraphQL as Linear shapes it. */
export const errorShape = {
  message: expect.any(String),
  extensions: expect.objectContaining({ type: expect.any(String), code: expect.any(String) }),
};
