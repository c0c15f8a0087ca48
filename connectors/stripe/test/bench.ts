import type { Checkpoint, Connector, Context } from "@reversi-connector/core";
import { stripe } from "@reversi-connector/stripe";
import { type StripeSandbox, sandbox } from "@reversi-connector/stripe/sandbox";
import { failure, undoOf as undoByManifest } from "../../../test/calls.ts";

export { failure };

type Values = Readonly<Record<string, unknown>>;

const started: { readonly connector: Connector; readonly backend: StripeSandbox }[] = [];
afterEach(async () => {
  for (const { connector, backend } of started.splice(0)) {
    await connector.close();
    await backend.close();
    expect(backend.errors).toEqual([]); // what the sandbox itself did wrong
  }
});

/** A connector on a sandbox of its own; both end with the test. */
export async function bench(options: { readonly timeoutMs?: number } = {}) {
  const backend: StripeSandbox = await sandbox();
  const connector: Connector = stripe({ ...backend.options, ...options });
  started.push({ connector, backend });

  const call = async <Result = Values>(name: string, args: object, context: Context = {}) =>
    (await connector.tools[`stripe.${name}`]?.(args, context)) as Result;

  /** What an engine would send to undo a call, by the manifest. */
  const undoOf = (name: string, result: object) => undoByManifest(connector, name, {}, result);
  return {
    backend,
    world: backend.world,
    connector,
    call,
    undoOf,
    undo: async <Result = Values>(name: string, result: object, context: Context = {}) => {
      const { tool, args } = undoOf(name, result);
      return call<Result>(tool, args, context);
    },
    holds: (name: string, args: object) => connector.holds[`stripe.${name}`]?.(args),
    landed: (name: string, args: object, idempotencyKey?: string, checkpoint?: Checkpoint) =>
      connector.landed[`stripe.${name}`]?.(args, { since: new Date(), idempotencyKey, checkpoint }),
    /** Acts as somebody else would, just before the next request of this method takes effect. */
    meanwhile: (method: string, action: () => void) => {
      let acted = false;
      const path = () => {
        if (!acted) action();
        acted = true;
        return false; // the fault itself meets nothing
      };
      backend.inject({ kind: "cutBefore" }, { method, path });
    },
    state: backend.state,
    writes: () => backend.requests.filter(({ method }) => method !== "GET"),
    sent: () => backend.requests.map(({ method, path }) => `${method} ${path}`),
  };
}
export type Bench = Awaited<ReturnType<typeof bench>>;

/** Speaks to the sandbox without the connector. */
export async function vendor() {
  const on = await bench();
  const { secretKey, baseUrl } = on.backend.options;
  const good: Record<string, string> = {
    authorization: `Bearer ${secretKey}`,
    "stripe-version": "2026-10-28.endive",
    "content-type": "application/x-www-form-urlencoded",
  };
  const ask = async (
    method: string,
    path: string,
    body?: string,
    changes: Readonly<Record<string, string | undefined>> = {},
  ) => {
    const headers = Object.entries({ ...good, ...changes }).filter(([, value]) => value !== undefined);
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: headers as [string, string][],
      ...(body !== undefined && { body }),
    });
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: JSON.parse(await response.text()),
    };
  };
  return { ...on, ask };
}
