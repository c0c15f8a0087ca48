import {
  type Compensator,
  ConnectorError,
  EffectUncertainError,
  type Manifest,
} from "@reversi-connector/core";
import {
  compensateKey,
  type Event,
  forwardKey,
  type Journal,
  type RunLog,
  type Written,
} from "@reversi-connector/engine";
import type { Invariant, Without } from "./history.ts";

/** A journal that stands before another one and decides what is really written. */
const before = (
  journal: Journal,
  wrap: (log: RunLog) => RunLog,
  read?: (event: Event) => Event,
): Journal => ({
  ...journal,
  create: async (run) => wrap(await journal.create(run)),
  open: async (run, visit) =>
    wrap(
      await journal.open(run, (record) =>
        visit((read ? { ...record, ...read(record) } : record) as typeof record),
      ),
    ),
});

/** Events of these kinds are not written before what they precede, but together with what follows it. */
const writtenLate =
  (types: readonly string[]) =>
  (journal: Journal): Journal =>
    before(journal, (log) => {
      let held: Event[] = [];
      let shown = 0;
      const append = (event: Event, options?: { readonly sync?: boolean }): Written => {
        if (types.includes(event.type)) {
          held.push(event);
          shown++;
          const record = { seq: shown, at: new Date(0).toISOString(), prev: "", ...event };
          return { record, durable: Promise.resolve() } as Written;
        }
        for (const late of held) log.append(late, { sync: false });
        held = [];
        const written = log.append(event, options);
        shown = written.record.seq;
        return written;
      };
      return { ...log, append };
    });

const withKey = (
  compensator: Compensator,
  keyOf: (call: { run: string; step: number } & Parameters<Compensator>[0]) => string,
) =>
  Object.assign((call: Parameters<Compensator>[0]) => {
    const told = call as { run: string; step: number } & Parameters<Compensator>[0];
    return compensator({ ...call, idempotency_key: keyOf(told) });
  }, compensator) as Compensator;

const definite = (
  error: unknown,
  turn: (message: string) => ConnectorError,
  when: (error: unknown) => boolean,
): never => {
  throw when(error) ? turn((error as Error).message) : error;
};

interface Rule extends Without {
  /** One of these must break. */
  readonly breaks: readonly Invariant[];
}

/** The rules of the engine's design, each with what goes wrong without it. */
export const rules: Readonly<Record<string, Rule>> = {
  "compensation key fixed": {
    breaks: ["stuck"],
    compensator: (compensator) =>
      withKey(compensator, ({ run, step, tool, args }) => compensateKey(run, step, { tool, args }, 0)),
  },
  "forward and undo share one key": {
    breaks: ["stuck", "false complete"],
    compensator: (compensator) => withKey(compensator, ({ run, step }) => forwardKey(run, step)),
  },
  "no read-back after undo": {
    breaks: ["false complete"],
    compensator: (compensator) =>
      Object.assign((call: Parameters<Compensator>[0]) => compensator(call), compensator, {
        holds: async () => true as const,
      }),
  },
  "no intent before a forward call": {
    breaks: ["false complete"],
    journal: writtenLate(["intent", "checkpoint"]),
  },
  "timeout counted as failed": {
    breaks: ["false complete"],
    execute: (execute) => (args, context) =>
      execute(args, context).catch((error) =>
        definite(error, (message) => new ConnectorError(message), EffectUncertainError.is),
      ),
  },
  "5xx on a write ignored by rollback": {
    breaks: ["false complete"],
    execute: (execute) => (args, context) =>
      execute(args, context).catch((error) =>
        definite(
          error,
          (message) => new ConnectorError(message, { status: 500 }),
          (e) => ConnectorError.is(e) && e.mayHaveApplied,
        ),
      ),
  },
  "failed undo counted as done on re-run": {
    breaks: ["false complete"],
    journal: (journal) =>
      before(
        journal,
        (log) => log,
        (event) =>
          event.type === "undo_failed"
            ? ({ type: "compensated", step: event.step, verified: true } as const)
            : event,
      ),
  },
  "no requires edges": {
    breaks: ["dependent destroyed"],
    manifests: (() => {
      const stripped = new WeakMap<object, readonly Manifest[]>();
      return (manifests: readonly Manifest[]) => {
        const known = stripped.get(manifests) ?? manifests.map(({ requires, ...rest }) => rest);
        stripped.set(manifests, known);
        return known;
      };
    })(),
  },
  "no guard against edits by others": {
    breaks: ["lost edit"],
    compensator: (compensator) =>
      Object.assign(
        (call: Parameters<Compensator>[0]) => compensator({ ...call, on_conflict: "overwrite" }),
        compensator,
      ),
  },
  "guard by reading first only, no precondition at the server": {
    breaks: ["lost edit"],
    preconditions: false,
  },
  "before-image only in the result": {
    breaks: ["stuck"],
    execute:
      (execute) =>
      (args, { checkpoint, ...context }) =>
        execute(args, context).catch((error) => {
          if (EffectUncertainError.is(error))
            throw new EffectUncertainError(error.message, { idempotencyKey: error.idempotencyKey });
          if (ConnectorError.is(error) && error.mayHaveApplied)
            throw new ConnectorError(error.message, { status: error.status, mayHaveApplied: true });
          throw error;
        }),
  },
  "write retried under a new key": {
    breaks: ["double effect"],
    execute: (execute, alike) => (args, context) =>
      execute(args, context).catch((error) => {
        if (!EffectUncertainError.is(error)) throw error;
        const key = `${context.idempotencyKey}-again`;
        alike(key, context.idempotencyKey as string);
        return execute(args, { ...context, idempotencyKey: key });
      }),
  },
  "a lost request is taken for one that never arrives": {
    breaks: ["false complete"],
    lateWritesIgnored: true,
  },
  // Rare: it takes a value that comes back, and a program that dies between two undos of it.
  "no record before the compensation": {
    breaks: ["double effect"],
    journal: writtenLate(["undo_intent"]),
  },
};
