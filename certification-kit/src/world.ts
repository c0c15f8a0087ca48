import { type Connector, type Context, hashOf } from "@reversi-connector/core";
import { type EngineRun, openRun } from "./engine-run.ts";
import type { ToolFacts } from "./facts.ts";
import type { SentRequest, Wire } from "./fault.ts";
import { copyOf, deepFreeze, difference, withoutResidue } from "./states.ts";
import type { Arranging, Backend, Given, Kit, Plan, Subject } from "./subject.ts";

/** One case: a fresh backend, a fresh connector on it, and one call about to be made. */
export interface World {
  readonly backend: Backend;
  readonly connector: Connector;
  readonly tool: ToolFacts;
  readonly plan: Plan<Backend>;
  /** Where there is no network this is never asked for. */
  readonly wire: Wire;
  readonly arranging: Arranging<Backend>;
  /** Nobody can change them. */
  readonly args: object;
  /** The state before the call. */
  readonly before: unknown;
  /** Calls the tool. */
  call(context?: Context): Promise<unknown>;
  state(): Promise<unknown>;
  /** Where the state is not what it was, residue aside; undefined when it is. */
  unrestored(from?: {
    readonly before?: unknown;
    readonly ids?: readonly string[];
  }): Promise<string | undefined>;
  /** Where the state has changed at all since `before`. */
  changed(): Promise<string | undefined>;
  /** A run of a real engine. */
  run(): Promise<EngineRun>;
  /** What was sent since the last look. */
  sent(): readonly SentRequest[];
}

export interface WorldOptions {
  readonly timeoutMs?: number;
  /** Another credential than the backend's. */
  readonly credential?: string;
}

/** Long enough for every good call, however busy the machine is. */
const longMs = 20_000;

const key = hashOf("certification");

const noWire = (): never => {
  throw new Error("there is no wire between this connector and its backend");
};

/** The arguments that a plan gives, frozen. */
export async function argumentsOf(given: Given<Backend>, arranging: Arranging<Backend>): Promise<object> {
  const made =
    typeof given === "function" ? await (given as (a: typeof arranging) => object)(arranging) : given;
  return deepFreeze(copyOf(made) as object);
}

/** Sets up a case, lets `body` use it, and takes everything down again. */
export async function inWorld<Value>(
  subject: Subject,
  kit: Kit,
  tool: ToolFacts,
  plan: Plan<Backend>,
  { timeoutMs = longMs, credential = subject.credential ?? "" }: WorldOptions,
  body: (world: World) => Promise<Value>,
): Promise<Value> {
  const backend: Backend = await subject.backend(kit);
  const made: Connector[] = [];
  const connect = (settings: { readonly timeoutMs: number; readonly credential: string }) => {
    const connector = subject.connector({ address: backend.address, backend, ...settings });
    made.push(connector);
    return connector;
  };
  try {
    const wire = subject.wire?.(backend, kit);
    let helper: Connector | undefined;
    const arranging: Arranging<Backend> = {
      backend,
      call: async <Result>(name: string, args: object) => {
        helper ??= connect({ timeoutMs: longMs, credential: subject.credential ?? "" });
        const use = helper.tools[name];
        if (!use) throw new Error(`${name} is no tool of ${helper.name}`);
        return (await use(args)) as Result;
      },
    };
    const args = await argumentsOf(plan.args, arranging);
    const connector = connect({ timeoutMs, credential });
    const state = async () => copyOf(await backend.state());
    const before = await state();
    wire?.forget();
    const world: World = {
      ...{ backend, connector, tool, plan, arranging, args, before, state },
      get wire() {
        return wire ?? noWire();
      },
      // The same key in every case: what is derived from it is then the same as well.
      call: async (context = {}) =>
        connector.tools[tool.name]?.(args, { ...(tool.writes && { idempotencyKey: key }), ...context }),
      unrestored: async ({ before: from = before, ids } = {}) =>
        difference(from, withoutResidue(subject.residue, from, await state(), ids)),
      changed: async () => difference(before, await state()),
      run: () => openRun({ connector, wire, restart: () => connect({ timeoutMs, credential }) }),
      sent: () => wire?.requests ?? [],
    };
    const value = await body(world);
    const [mistake] = wire?.mistakes ?? [];
    if (mistake !== undefined) throw new Error(`the sandbox itself failed: ${mistake}`);
    return value;
  } finally {
    await backend.close();
    // A connector that never lets a call end would never let itself be closed either.
    const closing = Promise.all(made.map((connector) => connector.close().catch(() => {})));
    await Promise.race([closing, new Promise((resolve) => setTimeout(resolve, 1000).unref())]);
  }
}
