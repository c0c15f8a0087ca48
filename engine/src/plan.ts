import { manifestOf, type RunState, type Step } from "./state.ts";

/** Nothing of the step stands, and nothing will be done about it any more. */
export const isFinal = ({ status, may }: Step): boolean =>
  status === "compensated" ||
  status === "rejected" ||
  status === "awaiting_approval" ||
  (status === "failed" && !may);

/** Other steps need not wait for it: undone as far as anybody who may look can tell. */
export const isSettled = (step: Step): boolean =>
  isFinal(step) || (step.status === "compensated_unverified" && step.unread !== true);

/** Nobody knows whether the forward call took effect. */
export const isUnknown = ({ status, may }: Step): boolean =>
  status === "uncertain" || (status === "failed" && may);

/** Undone, and therefore a state that an earlier look at the same object may find. */
export const isUndone = ({ status }: Step): boolean =>
  status === "compensated" || status === "compensated_unverified";

export type Dead = "unrecoverable" | "no_compensation" | "unresolvable";

/** Why an applied step will never be undone by a rollback; undefined when it can be. */
export function deadEnd(state: RunState, step: Step): Dead | undefined {
  if (step.status !== "applied" || step.undo) return undefined;
  const { compensation, effect } = manifestOf(state, step);
  if (compensation) return "unresolvable";
  return effect === "irreversible" ? "unrecoverable" : "no_compensation";
}

/** The order in which a run is undone, and who waits for whom. */
export interface Plan {
  /** Newest effect first. */
  readonly order: readonly Step[];
  /** Steps that must be settled before this one: the newest one on the same target, and those that required it. */
  waitsFor(step: Step): Step[];
  /** Steps on the same target with an earlier effect, newest first. */
  earlier(step: Step): Step[];
  /** The undone step whose before-image the target is in: the earliest effect among those undone. */
  lastUndone(step: Step): Step | undefined;
  /** To be called when a step's target became known. */
  regroup(): void;
}

function groupByTarget(order: readonly Step[]): Map<string, Step[]> {
  const groups = new Map<string, Step[]>();
  for (const step of order) {
    if (step.target === null) continue;
    const group = groups.get(step.target);
    if (group) group.push(step);
    else groups.set(step.target, [step]);
  }
  return groups;
}

function dependentsOf(order: readonly Step[]): Map<number, Step[]> {
  const dependents = new Map<number, Step[]>();
  for (const step of order) {
    for (const earlier of step.requires) {
      const list = dependents.get(earlier);
      if (list) list.push(step);
      else dependents.set(earlier, [step]);
    }
  }
  return dependents;
}

/** `passed`: refused steps that let earlier ones on their target go first. */
export function planOf(state: RunState, passed: ReadonlyMap<number, unknown> = new Map()): Plan {
  const order = [...state.steps.values()].sort((a, b) => b.order - a.order || b.step - a.step);
  const dependents = dependentsOf(order);
  let groups = groupByTarget(order);
  /** Per target, how many of its newest steps are settled for good. */
  const settled = new Map<string, number>();
  const groupOf = ({ target }: Step): readonly Step[] => (target === null ? [] : (groups.get(target) ?? []));

  function newestUnsettled(step: Step): Step | undefined {
    const group = groupOf(step);
    const target = step.target as string;
    const isNewer = (other: Step | undefined): other is Step =>
      other !== undefined && other.order > step.order;
    let at = settled.get(target) ?? 0;
    for (let other = group[at]; isNewer(other) && isSettled(other); other = group[at]) at++;
    settled.set(target, at);
    for (let other = group[at]; isNewer(other); other = group[++at]) {
      if (!isSettled(other) && !passed.has(other.step)) return other;
    }
    return undefined;
  }
  return {
    order,
    waitsFor(step) {
      const waiting = (dependents.get(step.step) ?? []).filter((later) => !isSettled(later));
      const newest = step.target === null ? undefined : newestUnsettled(step);
      return newest && !waiting.includes(newest) ? [newest, ...waiting] : waiting;
    },
    earlier: (step) => groupOf(step).filter((other) => other.order < step.order),
    lastUndone: (step) => groupOf(step).findLast((other) => other.order < step.order && isUndone(other)),
    regroup() {
      groups = groupByTarget(order);
      settled.clear();
    },
  };
}
