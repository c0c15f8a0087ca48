import type { ErrorBody, Manifest } from "@reversi-connector/core";
import type { UndoCall } from "./keys.ts";
import type { EventType, JournalRecord, Settlement } from "./records.ts";

export type Status =
  | "awaiting_approval"
  | "executing"
  | "applied"
  | "failed"
  | "uncertain"
  | "rejected"
  | "compensating"
  | "compensated"
  | "compensated_unverified"
  | "compensation_failed"
  | "compensation_uncertain"
  | "conflict";

/** A step as its records tell it. */
export interface Step {
  readonly step: number;
  readonly tool: string;
  /** The hash of its manifest. */
  readonly manifest: string;
  status: Status;
  /** Where its effect stands among those of other steps: the read before its write, or else its beginning. */
  order: number;
  /** The key its call carried, where anybody knows it. */
  key: string | undefined;
  /** Milliseconds since 1970. */
  since: number;
  deadline: number;
  requires: readonly number[];
  target: string | null;
  /** Kept while they may still be needed: until the undo is known. */
  args?: Readonly<Record<string, unknown>> | undefined;
  checkpoint?: { readonly result: object; readonly evidence?: object } | undefined;
  undo?: UndoCall | undefined;
  unresolvable?: string | undefined;
  /** Of a failed step: the backend may have acted all the same. */
  may: boolean;
  /** The forward call is known to have been applied; false while its undo is made from a checkpoint. */
  known: boolean;
  /** Answered failures of the undo. */
  epoch: number;
  reason?: "error" | "verification" | undefined;
  /** The undo answered, but reading back failed: not the same as not being allowed to. */
  unread?: boolean | undefined;
  already?: boolean | undefined;
  /** The operator had the last undo overwrite what was there. */
  forced?: boolean | undefined;
  error?: ErrorBody | undefined;
}

export interface RunState {
  run: string;
  scope: readonly string[] | null;
  fenced: boolean;
  /** What the last rollback said; a statement, nothing is decided by it. */
  reported?: "complete" | "incomplete" | undefined;
  /** The highest number given to a call. */
  lastStep: number;
  reads: number;
  readonly steps: Map<number, Step>;
  readonly manifests: Map<string, { readonly manifest: Manifest; readonly undo: string | null }>;
  /** Ids of approvals that were used. */
  readonly approvals: Set<string>;
}

export const emptyState = (): RunState => ({
  run: "",
  scope: null,
  fenced: false,
  lastStep: 0,
  reads: 0,
  steps: new Map(),
  manifests: new Map(),
  approvals: new Set(),
});

export const manifestOf = (state: RunState, { manifest }: Step): Manifest => {
  const found = state.manifests.get(manifest);
  if (!found) throw new Error(`run ${state.run}: no record holds the manifest ${manifest}`);
  return found.manifest;
};
/** The manifest of the step's compensation, as the run knew it when the step was called. */
export const undoManifestOf = (state: RunState, { manifest }: Step): Manifest | undefined => {
  const undo = state.manifests.get(manifest)?.undo;
  return undo ? state.manifests.get(undo)?.manifest : undefined;
};

const stepOf = (state: RunState, step: number): Step => {
  const found = state.steps.get(step);
  if (!found) throw new Error(`run ${state.run}: a record speaks of step ${step}, which never began`);
  return found;
};

function begin(state: RunState, step: number, tool: string, status: Status, manifest = ""): Step {
  const begun: Step = {
    step,
    tool,
    manifest,
    status,
    order: 0,
    key: undefined,
    since: 0,
    deadline: 0,
    requires: [],
    target: null,
    may: false,
    known: false,
    epoch: 0,
  };
  state.steps.set(step, begun);
  state.lastStep = Math.max(state.lastStep, step);
  return begun;
}

function settleAs(step: Step, status: Status, { undo, unresolvable, target }: Settlement): void {
  Object.assign(step, { status, known: true, may: false, undo: undo ?? undefined, unresolvable, target });
  // Arguments may be large: they are kept only while an undo may still have to be made from them.
  if (unresolvable === undefined) step.args = undefined;
  Object.assign(step, { checkpoint: undefined, error: undefined });
}

/** A late word on the forward call counts only while nothing else has been settled. */
const isOpen = ({ status }: Step) => status === "executing" || status === "uncertain" || status === "failed";

const on: { readonly [Type in EventType]: (state: RunState, record: JournalRecord<Type>) => void } = {
  run_opened: (state, { run, scope }) => void Object.assign(state, { run, scope }),
  manifest: (state, { hash, manifest, undo }) => void state.manifests.set(hash, { manifest, undo }),
  read: (state, { step }) => {
    state.reads++;
    state.lastStep = Math.max(state.lastStep, step);
  },
  refused: (state, { step, tool, why }) => {
    begin(state, step, tool, "rejected").error = { code: "FAILED", message: why };
  },
  awaiting_approval: (state, { step, tool, manifest }) =>
    void begin(state, step, tool, "awaiting_approval", manifest),
  approved: (state, { id }) => void state.approvals.add(id),
  denied: (state, { step, why }) => {
    const denied = stepOf(state, step);
    denied.status = "rejected";
    denied.error = { code: "FAILED", message: why };
  },
  intent: (state, { seq, at, step, tool, args, manifest, key, requires, target, deadline }) => {
    const begun = begin(state, step, tool, "executing", manifest);
    const times = { since: Date.parse(at), deadline: Date.parse(deadline) };
    Object.assign(begun, { order: seq, key: key ?? undefined, requires, target, args, ...times });
  },
  checkpoint: (state, { seq, step, result, evidence }) => {
    const kept = stepOf(state, step);
    kept.checkpoint = { result, ...(evidence && { evidence }) };
    kept.order = seq;
  },
  applied: (state, record) => {
    const step = stepOf(state, record.step);
    if (isOpen(step)) settleAs(step, "applied", record);
  },
  failed: (state, { step, may, error, key }) => {
    const failed = stepOf(state, step);
    if (!isOpen(failed)) return;
    Object.assign(failed, { status: "failed", may, error, key: key ?? failed.key });
    failed.checkpoint ??= error.expected_result && { result: error.expected_result };
    if (!may) failed.args = undefined;
  },
  uncertain: (state, { step, error, key }) => {
    const lost = stepOf(state, step);
    if (!isOpen(lost)) return;
    Object.assign(lost, { status: "uncertain", error, key: key ?? lost.key });
    lost.checkpoint ??= error.expected_result && { result: error.expected_result };
  },
  lease: () => {},
  fenced: (state) => {
    state.fenced = true;
  },
  undo_intent: (state, { step, tool, args, on_conflict }) => {
    const forced = on_conflict === "overwrite";
    Object.assign(stepOf(state, step), { status: "compensating", undo: { tool, args }, forced });
  },
  compensated: (state, { step, verified, already }) => {
    const undone = stepOf(state, step);
    Object.assign(undone, { unread: verified === "unread", already, error: undefined, reason: undefined });
    undone.status = verified === true ? "compensated" : "compensated_unverified";
    if (verified === true) Object.assign(undone, { args: undefined, checkpoint: undefined });
  },
  undo_failed: (state, { step, reason, error }) => {
    const failed = stepOf(state, step);
    Object.assign(failed, { status: "compensation_failed", reason, error, epoch: failed.epoch + 1 });
  },
  undo_uncertain: (state, { step, error }) =>
    void Object.assign(stepOf(state, step), { status: "compensation_uncertain", error }),
  undo_early: (state, { step }) => {
    const early = stepOf(state, step);
    Object.assign(early, { status: "uncertain", undo: undefined, epoch: early.epoch + 1 });
  },
  conflict: (state, { step, error }) => {
    const refused = stepOf(state, step);
    Object.assign(refused, { status: "conflict", error, epoch: refused.epoch + 1 });
  },
  resolved: (state, record) => {
    const step = stepOf(state, record.step);
    if (record.outcome === "applied") settleAs(step, "applied", record);
    else Object.assign(step, { status: "failed", may: false, args: undefined, error: undefined });
  },
  report: (state, { status }) => {
    state.reported = status;
  },
};

/** The next state of a run: a function of its records and nothing else. Changes and returns `state`. */
export function reduce(state: RunState, record: JournalRecord): RunState {
  const apply = on[record.type] as ((state: RunState, record: JournalRecord) => void) | undefined;
  if (!apply)
    throw new Error(`line ${record.seq} is of the kind "${record.type}", which this version does not know`);
  apply(state, record);
  return state;
}

/** What a run is after its process ended: calls without a recorded outcome are unknown, never repeated. */
export function recover(state: RunState): RunState {
  const message = "the process ended before an outcome was recorded";
  for (const step of state.steps.values()) {
    if (step.status === "executing")
      Object.assign(step, { status: "uncertain", error: { code: "EFFECT_UNCERTAIN", message } });
    if (step.status === "compensating") Object.assign(step, { status: "compensation_uncertain" });
    if (step.status === "awaiting_approval")
      Object.assign(step, {
        status: "rejected",
        error: { code: "FAILED", message: "nobody answered in time" },
      });
  }
  return state;
}
