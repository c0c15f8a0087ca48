import type { Compensator } from "@reversi-connector/core";
import { type DryRunReport, dryRun } from "./dry-run.ts";
import { deadEnd, isFinal, isSettled, planOf } from "./plan.ts";
import type { Compensate, Means, Verify } from "./questions.ts";
import { type RollbackReport, reportOf } from "./report.ts";
import { record, type Session } from "./session.ts";
import type { Status, Step } from "./state.ts";
import { type Rollback, settlePassed, undoneAnyway, undoStep } from "./undo.ts";

export interface RollbackOptions {
  /** core's `compensatorFor(connectors)`, which also answers `holds` and `landed`; or any function that undoes. */
  readonly compensate: Compensator | Compensate;
  readonly holds?: Compensator["holds"] | undefined;
  readonly landed?: Compensator["landed"] | undefined;
  /** A further check of the caller's own; an undo counts only when it agrees too. */
  readonly verify?: Verify | undefined;
  /** Only these steps; all when left out. */
  readonly steps?: readonly number[] | undefined;
  /** Sends reads only and tells what would happen. */
  readonly dryRun?: boolean | undefined;
  /** Steps that were undone but cannot be read back do not keep the run from being complete. */
  readonly acceptUnverified?: boolean | undefined;
  /** A person's word: overwrite what others changed, on all steps or on these. */
  readonly forceConflicts?: boolean | readonly number[] | undefined;
  /** Stops before the next step. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: RollbackProgress) => void) | undefined;
  /** The longest wait for one step, for a rate limit or a late write; 120,000 ms when left out. */
  readonly patienceMs?: number | undefined;
  /** Who asked for it; for the journal. */
  readonly by?: string | undefined;
}
export interface RollbackProgress {
  readonly step: number;
  readonly tool: string;
  readonly state: Status;
  readonly done: number;
  readonly total: number;
}

const defaultPatienceMs = 120_000;
const lastWordMs = 1_000;

/** Calls that were under way when the rollback began: they end, or count as unknown when their time is over. */
async function awaitCalls({ session, signal }: Means): Promise<void> {
  const { inFlight, state, clock, graceMs } = session;
  for (const [number, { ended, cancel }] of [...inFlight]) {
    const settled = ended.then(
      () => {},
      () => {},
    );
    const within = async (ms: number) => {
      const stop = new AbortController();
      const end = () => stop.abort();
      signal?.addEventListener("abort", end, { once: true });
      await Promise.race([settled, clock.sleep(Math.max(ms, 0), stop.signal).catch(() => {})]);
      signal?.removeEventListener("abort", end);
      end();
    };
    const step = state.steps.get(number);
    await within((step?.deadline ?? 0) + graceMs - clock.now());
    if (inFlight.has(number)) {
      cancel.abort();
      await within(lastWordMs);
    }
    if (step?.status !== "executing") continue;
    const message = "no answer within the call's time; a rollback began";
    await record(session, { type: "uncertain", step: number, error: { code: "EFFECT_UNCERTAIN", message } });
  }
}

function meansOf(session: Session, options: RollbackOptions): Means {
  const { compensate, verify, signal, patienceMs = defaultPatienceMs } = options;
  const carried = compensate as Partial<Compensator>;
  return {
    session,
    compensate: compensate as Compensate,
    holds: options.holds ?? carried.holds,
    landed: options.landed ?? carried.landed,
    verify,
    signal,
    patienceMs,
  };
}

/** Deals with `candidates` newest first, and again with those that waited, as long as that settles anything. */
async function work(
  rollback: Rollback,
  candidates: readonly Step[],
  progress: (step: Step) => void,
): Promise<Map<number, number[]>> {
  const { plan, session, signal } = rollback;
  let deferred = new Map<number, number[]>();
  let rest = candidates;
  for (let settled = true; settled && rest.length > 0; ) {
    settled = false;
    deferred = new Map();
    const waiting: Step[] = [];
    for (const step of rest) {
      if (signal?.aborted) return deferred;
      const first = plan.waitsFor(step);
      const free = first.length === 0;
      const past = !free && first.every((later) => deadEnd(session.state, later) !== undefined);
      if (free) await undoStep(rollback, step);
      if (!free && !(past && (await undoneAnyway(rollback, step)))) {
        deferred.set(
          step.step,
          first.map((later) => later.step),
        );
        waiting.push(step);
        continue;
      }
      await settlePassed(rollback, step);
      if (isSettled(step)) settled = true;
      progress(step);
    }
    rest = waiting;
  }
  return deferred;
}

function chosen(session: Session, order: readonly Step[], steps: readonly number[] | undefined): Step[] {
  const { state } = session;
  for (const step of steps ?? []) {
    if (!state.steps.has(step)) throw new Error(`run ${state.run} has no step ${step} that writes`);
  }
  const wanted = steps && new Set(steps);
  return order.filter((step) => !isFinal(step) && (!wanted || wanted.has(step.step)));
}

/** Fences the run and undoes it, newest first. One failure never stops the rest. */
export async function rollback(
  session: Session,
  options: RollbackOptions & { readonly dryRun: true },
): Promise<DryRunReport>;
export async function rollback(session: Session, options: RollbackOptions): Promise<RollbackReport>;
export async function rollback(
  session: Session,
  options: RollbackOptions,
): Promise<RollbackReport | DryRunReport> {
  const { steps, forceConflicts = false, acceptUnverified = false, onProgress, by = "library" } = options;
  const { state } = session;
  const means = meansOf(session, options);
  if (options.dryRun) {
    const plan = planOf(state);
    return dryRun(means, plan, chosen(session, plan.order, steps));
  }
  void record(session, { type: "lease", by }, false);
  if (!state.fenced) await record(session, { type: "fenced" });
  await awaitCalls(means);
  const passed: Rollback["passed"] = new Map();
  const forces = (step: number) =>
    typeof forceConflicts === "boolean" ? forceConflicts : forceConflicts.includes(step);
  const plan = planOf(state, passed);
  const candidates = chosen(session, plan.order, steps);
  let done = 0;
  const deferred = await work({ ...means, plan, passed, forces }, candidates, ({ step, tool, status }) =>
    onProgress?.({ step, tool, state: status, done: ++done, total: candidates.length }),
  );
  const report = reportOf(state, { deferred, acceptUnverified });
  await record(session, { type: "report", status: report.status, counts: report.counts });
  return report;
}
