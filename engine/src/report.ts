import type { ErrorBody, Residue } from "@reversi-connector/core";
import type { UndoCall } from "./keys.ts";
import { deadEnd, isFinal, isUndone } from "./plan.ts";
import { manifestOf, type RunState, type Status, type Step } from "./state.ts";

/** How a step stands after a rollback. */
export type Group =
  | "compensated"
  | "compensated_unverified"
  | "compensation_failed"
  | "compensation_uncertain"
  | "conflict"
  | "uncertain"
  | "deferred"
  | "unrecoverable"
  | "no_compensation"
  | "unresolvable"
  | "standing"
  | "not_applied"
  | "rejected";

export interface ReportedStep {
  readonly step: number;
  readonly tool: string;
  readonly state: Status;
  /** Why, in words. */
  readonly message?: string;
  /** Of `compensation_failed`. */
  readonly reason?: "error" | "verification";
  /** Of `deferred`: the steps that come first. */
  readonly waits_for?: readonly number[];
  /** The goal state was there without this rollback doing anything. */
  readonly already?: true;
  readonly undo?: UndoCall;
}
export interface RollbackReport {
  readonly run: string;
  /** `complete` only when nothing of the run stands, as far as the backend shows. */
  readonly status: "complete" | "incomplete";
  readonly counts: Readonly<Partial<Record<Group, number>>>;
  readonly groups: Readonly<Partial<Record<Group, readonly ReportedStep[]>>>;
  /** What undone steps leave behind, as their manifests declare. */
  readonly residue: readonly (Residue & { readonly step: number; readonly tool: string })[];
}

export interface ReportOptions {
  /** Step → the steps it waits for. */
  readonly deferred: ReadonlyMap<number, readonly number[]>;
  readonly acceptUnverified: boolean;
}

function groupOf(state: RunState, step: Step, { deferred }: ReportOptions): Group {
  const { status } = step;
  if (status === "awaiting_approval" || status === "rejected") return "rejected";
  if (status === "failed" && !step.may) return "not_applied";
  if (status === "compensated") return status;
  const dead = deadEnd(state, step);
  if (dead) return dead;
  if (deferred.has(step.step)) return "deferred";
  if (status === "uncertain" || status === "failed" || status === "executing") return "uncertain";
  if (status === "applied") return "standing";
  return status === "compensating" ? "compensation_uncertain" : status;
}

const messageOf = ({
  unresolvable,
  error,
}: {
  unresolvable?: string | undefined;
  error?: ErrorBody | undefined;
}) => unresolvable ?? error?.message;

function entryOf(step: Step, waits: readonly number[] | undefined): ReportedStep {
  const message = messageOf(step);
  return {
    step: step.step,
    tool: step.tool,
    state: step.status,
    ...(message !== undefined && { message }),
    ...(step.status === "compensation_failed" && step.reason && { reason: step.reason }),
    ...(waits && { waits_for: waits }),
    ...(isUndone(step) && step.already && { already: true as const }),
    ...(step.undo && { undo: step.undo }),
  };
}

/** The report of a run as its state is: every effectful step in exactly one group. */
export function reportOf(state: RunState, options: ReportOptions): RollbackReport {
  const groups: Partial<Record<Group, ReportedStep[]>> = {};
  const counts: Partial<Record<Group, number>> = {};
  const residue: RollbackReport["residue"][number][] = [];
  let open = 0;
  for (const step of state.steps.values()) {
    const group = groupOf(state, step, options);
    groups[group] ??= [];
    groups[group].push(entryOf(step, options.deferred.get(step.step)));
    counts[group] = (counts[group] ?? 0) + 1;
    const accepted = group === "compensated_unverified" && options.acceptUnverified;
    if (!isFinal(step) && !accepted) open++;
    if (!isUndone(step)) continue;
    for (const left of manifestOf(state, step).guarantees?.residue ?? [])
      residue.push({ step: step.step, tool: step.tool, ...left });
  }
  return { run: state.run, status: open === 0 ? "complete" : "incomplete", counts, groups, residue };
}
