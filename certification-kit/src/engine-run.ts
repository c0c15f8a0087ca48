import { type Connector, type Context, compensatorFor, EffectUncertainError } from "@reversi-connector/core";
import {
  type CallOutcome,
  type Compensate,
  type EngineCompensation,
  journalOn,
  Registry,
  type RollbackOptions,
  type RollbackReport,
  Run,
  type Storage,
} from "@reversi-connector/engine";
import type { Wire } from "./fault.ts";

/** Journals in memory: what they hold is looked at, and gone with the case. */
export function memoryStorage() {
  const logs = new Map<string, Buffer[]>();
  const storage: Storage = {
    list: async () => [...logs.keys()],
    create: async (run) => {
      logs.set(run, []);
      return storage.open(run);
    },
    open: async (run) => ({
      append: async (bytes) => void logs.get(run)?.push(Buffer.from(bytes)),
      sync: async () => {},
      truncate: async () => {},
      close: async () => {},
    }),
    async *read(run) {
      yield* logs.get(run) ?? [];
    },
    lock: async () => ({ known: undefined, release: async () => {} }),
    known: async () => undefined,
  };
  return { storage, text: () => Buffer.concat([...logs.values()].flat()).toString() };
}

/** Time that passes only when the engine waits; then, as long as it may, what was late arrives first. */
function patientClock(wire: Wire | undefined) {
  let ahead = 0;
  return {
    now: () => Date.now() + ahead,
    async sleep(ms: number) {
      await wire?.settle();
      ahead += ms;
    },
  };
}

/** How one forward call goes besides what its arguments say. */
export interface CallOptions {
  /** The process ends there: nobody hears of the call's outcome any more. */
  readonly ends?: "after the write" | "after the checkpoint";
}

export type RollbackWishes = Partial<Omit<RollbackOptions, "dryRun">>;

/** A run of a real engine on one connector. */
export interface EngineRun {
  call(tool: string, args: object, options?: CallOptions): Promise<CallOutcome<unknown>>;
  rollback(options?: RollbackWishes): Promise<RollbackReport>;
  /** All undos sent, in order. */
  readonly undos: readonly EngineCompensation[];
  journal(): string;
  /** Lets go of calls that were left hanging when the process ended. */
  end(): Promise<void>;
}

/** Where a run takes place. */
export interface Stage {
  readonly connector: Connector;
  readonly wire: Wire | undefined;
  /** The same connector in the process that comes after. */
  restart(): Connector;
}

const lost = () => new EffectUncertainError("the process ended before the answer came");

export async function openRun({ connector, wire, restart }: Stage): Promise<EngineRun> {
  const { storage, text } = memoryStorage();
  const clock = patientClock(wire);
  const run = await Run.open({
    registry: Registry.from(connector.manifests),
    journal: journalOn(storage, clock),
    approve: async () => ({ approved: true, by: "certification" }),
    clock,
  });
  const undos: EngineCompensation[] = [];
  const over = new AbortController();
  const hanging: Promise<unknown>[] = [];
  let compensator = compensatorFor([connector]);
  const compensate: Compensate = (call) => {
    undos.push(call);
    return compensator(call);
  };
  const execute =
    (tool: string, { ends }: CallOptions) =>
    async (args: object, context: Context) => {
      const use = connector.tools[tool];
      if (!use) throw new Error(`${tool} is no tool of ${connector.name}`);
      if (ends === undefined) return use(args, context);
      await new Promise<void>((ended) => {
        // What comes after the process ended never happens: the handler hears nothing any more.
        const checkpoint: Context["checkpoint"] = async (kept) => {
          await context.checkpoint?.(kept);
          if (ends === "after the write") return;
          ended();
          await new Promise((_, reject) => over.signal.addEventListener("abort", reject));
        };
        const call = use(args, { ...context, checkpoint, signal: over.signal }).catch(() => {});
        hanging.push(call);
        void call.then(() => ended());
      });
      wire?.hangUp?.();
      compensator = compensatorFor([restart()]);
      throw lost();
    };
  return {
    call: (tool, args, options = {}) => run.call({ tool, args, execute: execute(tool, options) }),
    rollback: (options = {}) =>
      run.rollback({
        compensate,
        holds: (call) => compensator.holds(call),
        landed: (call, context) => compensator.landed(call, context),
        by: "certification",
        ...options,
      }),
    undos,
    journal: text,
    async end() {
      over.abort(new Error("the process ended"));
      await Promise.all(hanging);
    },
  };
}
