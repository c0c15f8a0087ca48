import { guardedUndo, settle } from "./arguments.ts";
import type { UndoCall } from "./keys.ts";
import { failure } from "./outcome.ts";
import type { Plan } from "./plan.ts";
import { lookForEffect, type Means } from "./questions.ts";
import { record } from "./session.ts";
import { manifestOf, type RunState, type Step, undoManifestOf } from "./state.ts";

/** How long the forward request may still arrive at the backend, in milliseconds. */
export const windowOf = ({ session }: Means, { deadline }: Step): number =>
  deadline + session.graceMs - session.clock.now();

/** Waits until nothing can arrive any more; false when that is longer than the caller's patience. */
export async function outwait(means: Means, step: Step): Promise<boolean> {
  const rest = windowOf(means, step);
  if (rest <= 0) return true;
  if (rest > means.patienceMs || means.signal?.aborted) return false;
  return means.session.clock.sleep(rest, means.signal).then(
    () => true,
    () => false,
  );
}

const known = ({ args = {}, checkpoint }: Step) => ({ args, result: checkpoint?.result });
/** What undoes a step: known from its result, or made from its checkpoint under the guard its manifest names. */
export const undoOf = (state: RunState, step: Step): UndoCall | undefined =>
  step.undo ??
  (step.checkpoint && guardedUndo(manifestOf(state, step), undoManifestOf(state, step), known(step)));

/**
 * Looks whether a call of unknown outcome landed. "Not landed" counts when two looks agree, the second one after the
 * request's last possible arrival. Until then "unknown" may still become known, and is waited for where nothing else helps.
 */
export async function settleForward(means: Means, plan: Plan, step: Step): Promise<void> {
  const { session } = means;
  const { state } = session;
  const tells = manifestOf(state, step).guarantees?.uncertain === "landed";
  for (let agreed = 0; ; ) {
    const over = windowOf(means, step) <= 0;
    const answer = await lookForEffect(means, step);
    if (answer === "unknown") {
      if (over || !tells || undoOf(state, step)) return;
      agreed = 0;
    } else if (answer.landed) {
      const result = answer.result ?? null;
      const settlement = settle(manifestOf(state, step), undoManifestOf(state, step), {
        ...known(step),
        result,
      });
      await record(session, { type: "applied", step: step.step, result, found: true, ...settlement });
      plan.regroup();
      return;
    } else if (++agreed > 1 && over) {
      const error = failure("the answer was lost, and the backend shows that it never took effect");
      await record(session, { type: "failed", step: step.step, may: false, error });
      return;
    }
    if (!(await outwait(means, step))) return;
  }
}
