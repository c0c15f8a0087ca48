import { ConflictError, EffectUncertainError, isConnectorError } from "@reversi-connector/core";
import { restoresTheSame } from "./arguments.ts";
import { compensateKey, type UndoCall } from "./keys.ts";
import { bodyOf, failure } from "./outcome.ts";
import { deadEnd, isFinal, isSettled, isUnknown, type Plan } from "./plan.ts";
import { askVerify, both, lookForGoal, type Means, patiently, type Seen } from "./questions.ts";
import type { Event } from "./records.ts";
import { record } from "./session.ts";
import { outwait, settleForward, undoOf, windowOf } from "./settle.ts";
import { manifestOf, type Step, undoManifestOf } from "./state.ts";

/** A rollback under way. */
export interface Rollback extends Means {
  readonly plan: Plan;
  /** Refused steps that let earlier ones on their target go first: what is there may be what those left. */
  readonly passed: Map<number, ConflictError>;
  forces(step: number): boolean;
}

/** Whether the goal is in place, or the target is where an earlier step of the run, already undone, left it. */
async function seeGoal(rollback: Rollback, step: Step, undo: UndoCall): Promise<Seen | undefined> {
  const own = await lookForGoal(rollback, step, undo);
  if (own !== false) return own;
  const last = rollback.plan.lastUndone(step);
  if (!last?.undo || !restoresTheSame(undo, last.undo)) return own;
  return (await lookForGoal(rollback, last, last.undo)) === true ? true : own;
}

/** An undo that acts only on what its step left: that it acted proves that the step had happened. */
const isGuarded = ({ session: { state } }: Means, step: Step): boolean =>
  (manifestOf(state, step).guarantees?.guard ?? "none") !== "none";

/** What came of an undo. It is durable before the next one is sent, whose own record is synced: one sync a step. */
const outcome = (
  { session }: Means,
  event: Event<"compensated" | "undo_failed" | "undo_uncertain" | "undo_early" | "conflict">,
): Promise<void> => record(session, event, false);

type Again = "again" | undefined;

const early = async (rollback: Rollback, step: Step, why: string): Promise<void> =>
  outcome(rollback, { type: "undo_early", step: step.step, why });

/** Says what an undo came to, after looking. `sent`: the backend answered it, and did not say "already". */
async function conclude(
  rollback: Rollback,
  step: Step,
  undo: UndoCall,
  { sent, answer, seen }: { readonly sent: boolean; readonly answer?: unknown; readonly seen?: Seen },
): Promise<Again> {
  if (!step.known && !(sent && isGuarded(rollback, step)) && windowOf(rollback, step) > 0) {
    await early(rollback, step, "nothing stands, but the forward call may still arrive");
    return "again";
  }
  const goal = both(
    seen ?? (await seeGoal(rollback, step, undo)),
    await askVerify(rollback, step, undo, answer),
  );
  if (goal === false) {
    const error = failure(`${undo.tool} answered that it is undone, and the backend does not show it`);
    await outcome(rollback, { type: "undo_failed", step: step.step, reason: "verification", error });
    return undefined;
  }
  const verified = sent ? goal : true;
  await outcome(rollback, {
    type: "compensated",
    step: step.step,
    verified,
    ...(!sent && { already: true }),
  });
  return undefined;
}

const mayForce = ({ session: { state }, forces }: Rollback, step: Step): boolean =>
  forces(step.step) && undoManifestOf(state, step)?.on_conflict?.includes("overwrite") === true;

const recordConflict = (means: Means, { step }: Step, error: ConflictError): Promise<void> =>
  outcome(means, {
    type: "conflict",
    step,
    error: bodyOf(error),
    ...(error.expected !== undefined && { expected: error.expected }),
    ...(error.found !== undefined && { found: error.found }),
  });

/** Whether what is there may be the work of an earlier step, whose own guard can tell. */
const mayBeEarlier = (rollback: Rollback, step: Step, { tool }: UndoCall): boolean =>
  rollback.plan
    .earlier(step)
    .some(
      (other) =>
        !isSettled(other) &&
        isGuarded(rollback, other) &&
        manifestOf(rollback.session.state, other).compensation?.tool === tool,
    );

/** Somebody else changed the object, or so it seems. */
async function onConflict(
  rollback: Rollback,
  step: Step,
  undo: UndoCall,
  error: ConflictError,
): Promise<Again | "force"> {
  if ((await seeGoal(rollback, step, undo)) === true)
    return conclude(rollback, step, undo, { sent: false, seen: true });
  if (mayBeEarlier(rollback, step, undo) && !mayForce(rollback, step)) {
    if (!step.known && windowOf(rollback, step) > 0) {
      await early(rollback, step, error.message);
      return "again";
    }
    const failed = { type: "undo_failed", step: step.step, reason: "error", error: bodyOf(error) } as const;
    await outcome(rollback, failed);
    rollback.passed.set(step.step, error);
    return undefined;
  }
  await recordConflict(rollback, step, error);
  return "force";
}

/** Sends one undo and writes down what came of it. */
async function send(rollback: Rollback, step: Step, undo: UndoCall, force: boolean): Promise<Again> {
  const { session, compensate, signal } = rollback;
  const { run } = session.state;
  const { epoch } = step;
  const key = compensateKey(run, step.step, undo, epoch);
  const forced = force ? { on_conflict: "overwrite" as const } : {};
  await record(session, { type: "undo_intent", step: step.step, ...undo, key, epoch, ...forced });
  let answer: unknown;
  try {
    const call = { ...undo, ...forced, idempotency_key: key, signal, run, step: step.step };
    answer = await patiently(rollback, () => compensate(call));
  } catch (error) {
    if (ConflictError.is(error)) {
      const next = await onConflict(rollback, step, undo, error);
      if (next !== "force") return next;
      return !force && mayForce(rollback, step) ? send(rollback, step, undo, true) : undefined;
    }
    const end = { step: step.step, error: bodyOf(error) };
    if (EffectUncertainError.is(error) || !isConnectorError(error)) {
      await outcome(rollback, { type: "undo_uncertain", ...end });
    } else await outcome(rollback, { type: "undo_failed", reason: "error", ...end });
    return undefined;
  }
  const already = (answer as { already?: unknown } | null | undefined)?.already === true;
  return conclude(rollback, step, undo, { sent: !already, answer });
}

async function undoOnce(rollback: Rollback, step: Step): Promise<Again> {
  const undo = undoOf(rollback.session.state, step);
  if (!undo) return undefined;
  const { status } = step;
  if (status === "compensation_uncertain" || status === "compensated_unverified") {
    const seen = await seeGoal(rollback, step, undo);
    if (seen === true) return conclude(rollback, step, undo, { sent: false, seen });
    if (status === "compensated_unverified" && seen !== false) return undefined;
  }
  return send(rollback, step, undo, status === "conflict" && mayForce(rollback, step));
}

/** Brings one step as near to undone as it goes now. Every outcome is in the journal when it resolves. */
export async function undoStep(rollback: Rollback, step: Step): Promise<void> {
  for (;;) {
    if (isUnknown(step)) await settleForward(rollback, rollback.plan, step);
    if (isFinal(step) || deadEnd(rollback.session.state, step)) return;
    if ((await undoOnce(rollback, step)) !== "again" || !(await outwait(rollback, step))) return;
  }
}

/** A step that waits only for steps without an undo: it is done when its goal is in place all the same. */
export async function undoneAnyway(rollback: Rollback, step: Step): Promise<boolean> {
  if (!step.undo || !step.known || (await lookForGoal(rollback, step, step.undo)) !== true) return false;
  await conclude(rollback, step, step.undo, { sent: false, seen: true });
  return isFinal(step);
}

/**
 * After a step was dealt with: later ones on its target that had let it go first are done when nothing of them is left,
 * and in conflict when it was not the run that left what is there. What cannot be told stays as it is.
 */
export async function settlePassed(rollback: Rollback, step: Step): Promise<void> {
  const { session, passed } = rollback;
  if (passed.size === 0 || passed.has(step.step)) return;
  for (const [number, error] of [...passed]) {
    const later = session.state.steps.get(number) as Step;
    const undo = later.undo;
    if (!undo || later.target !== step.target || later.order < step.order) continue;
    const undone = step.status === "compensated" && !step.forced;
    const seen = undone ? await seeGoal(rollback, later, undo) : undefined;
    const nobodyLeft = !undone && (step.status === "conflict" || !mayBeEarlier(rollback, later, undo));
    if (seen === true) await conclude(rollback, later, undo, { sent: false, seen });
    else if (seen === false || nobodyLeft) await recordConflict(rollback, later, error);
    else continue;
    passed.delete(number);
  }
}
