import type { Residue } from "@reversi-connector/core";
import type { UndoCall } from "./keys.ts";
import { deadEnd, isUnknown, type Plan } from "./plan.ts";
import { lookForEffect, lookForGoal, type Means } from "./questions.ts";
import { undoOf } from "./settle.ts";
import { manifestOf, type Status, type Step } from "./state.ts";

export type Prospect =
  | "would undo"
  | "already undone"
  | "conflict"
  | "cannot tell"
  | "nothing to undo"
  | "cannot undo";

export interface DryRunStep {
  readonly step: number;
  readonly tool: string;
  readonly state: Status;
  /** The literal undo call; null when there is none. */
  readonly undo: UndoCall | null;
  /** What a read shows now. */
  readonly now: Prospect;
  readonly message?: string;
  /** Steps that come first. */
  readonly waits_for?: readonly number[];
  readonly residue?: readonly Residue[];
}
export interface DryRunReport {
  readonly run: string;
  /** Newest first, as they would be undone. */
  readonly steps: readonly DryRunStep[];
}

async function unknownProspect(means: Means, step: Step, undo: UndoCall | undefined): Promise<Prospect> {
  const answer = await lookForEffect(means, step);
  if (answer !== "unknown") return answer.landed ? "would undo" : "nothing to undo";
  return undo && (await lookForGoal(means, step, undo)) === false ? "would undo" : "cannot tell";
}

async function prospectOf(means: Means, step: Step, undo: UndoCall | undefined): Promise<Prospect> {
  if (deadEnd(means.session.state, step)) return "cannot undo";
  if (isUnknown(step)) return unknownProspect(means, step, undo);
  const goal = undo && (await lookForGoal(means, step, undo));
  if (goal === true) return "already undone";
  if (goal !== false) return "cannot tell";
  return step.status === "conflict" ? "conflict" : "would undo";
}

/** Tells, with reads only, what a rollback would send and what it would find. Changes nothing, not even the journal. */
export async function dryRun(means: Means, plan: Plan, steps: readonly Step[]): Promise<DryRunReport> {
  const { state } = means.session;
  const found: DryRunStep[] = [];
  for (const step of steps) {
    if (means.signal?.aborted) break;
    const undo = undoOf(state, step);
    const waits = plan.waitsFor(step).map((later) => later.step);
    const message = step.unresolvable ?? step.error?.message;
    const residue = manifestOf(state, step).guarantees?.residue ?? [];
    found.push({
      step: step.step,
      tool: step.tool,
      state: step.status,
      undo: undo ?? null,
      now: await prospectOf(means, step, undo),
      ...(message !== undefined && { message }),
      ...(waits.length > 0 && { waits_for: waits }),
      ...(residue.length > 0 && { residue }),
    });
  }
  return { run: state.run, steps: found };
}
