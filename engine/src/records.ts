import type { ErrorBody, Manifest } from "@reversi-connector/core";
import type { UndoCall } from "./keys.ts";
import type { RollbackReport } from "./report.ts";

type Args = Readonly<Record<string, unknown>>;
interface OfStep {
  readonly step: number;
}
/** What a result settles: the undo it is made into, or why none can be made, and what it works on. */
export interface Settlement {
  readonly undo: UndoCall | null;
  /** The mapped argument that is missing or does not fit. */
  readonly unresolvable?: string;
  readonly target: string | null;
}
interface Failure {
  readonly error: ErrorBody;
  /** The key the connector really sent, where it is not the engine's. */
  readonly key?: string;
}

/** Everything that can happen in a run, by the record that says so. */
export interface Events {
  run_opened: { readonly version: 1; readonly run: string; readonly scope: readonly string[] | null };
  /** A manifest as it was when the run first used it; `undo` is the hash of its compensation's. */
  manifest: { readonly hash: string; readonly manifest: Manifest; readonly undo: string | null };
  /** A read: nothing to undo, never synced. */
  read: OfStep & { readonly tool: string; readonly args: Args; readonly error?: ErrorBody };
  refused: OfStep & { readonly tool: string; readonly why: string };
  awaiting_approval: OfStep & {
    readonly tool: string;
    readonly args: Args;
    readonly manifest: string;
    readonly digest: string;
  };
  approved: OfStep & {
    readonly id: string;
    readonly digest: string;
    readonly by: string;
    readonly expires: string;
  };
  denied: OfStep & { readonly digest: string; readonly by: string; readonly why: string };
  intent: OfStep & {
    readonly tool: string;
    readonly args: Args;
    readonly reason?: string;
    readonly manifest: string;
    /** Null when the call was made without it: then no evidence can be looked up by it. */
    readonly key: string | null;
    readonly requires: readonly number[];
    readonly target: string | null;
    /** When the call's own time is over. */
    readonly deadline: string;
  };
  checkpoint: OfStep & { readonly result: object; readonly evidence?: object };
  /** `found`: the answer was lost, and evidence brought the result. */
  applied: OfStep & Settlement & { readonly result: unknown; readonly found?: true };
  failed: OfStep & Failure & { readonly may: boolean };
  uncertain: OfStep & Failure;
  lease: { readonly by: string };
  fenced: Record<never, never>;
  undo_intent: OfStep &
    UndoCall & { readonly key: string; readonly epoch: number; readonly on_conflict?: "overwrite" };
  /** `verified`: read back as true; could not be read back ("unknown"); the read itself failed ("unread"). */
  compensated: OfStep & { readonly verified: true | "unknown" | "unread"; readonly already?: true };
  undo_failed: OfStep & { readonly reason: "error" | "verification"; readonly error: ErrorBody };
  undo_uncertain: OfStep & { readonly error: ErrorBody };
  /** The undo proved nothing: the forward call, whose outcome is unknown, may still arrive. */
  undo_early: OfStep & { readonly why: string };
  conflict: OfStep & { readonly error: ErrorBody; readonly expected?: unknown; readonly found?: unknown };
  resolved: OfStep &
    Settlement & {
      readonly outcome: "applied" | "not_applied";
      readonly evidence: string;
      readonly by: string;
    };
  report: Pick<RollbackReport, "status" | "counts">;
}
export type EventType = keyof Events;
export type Event<Type extends EventType = EventType> = {
  [T in Type]: { readonly type: T } & Events[T];
}[Type];

/** One line of a journal. */
export type JournalRecord<Type extends EventType = EventType> = Event<Type> & {
  /** 1 for the first line. */
  readonly seq: number;
  /** ISO 8601. */
  readonly at: string;
  /** SHA-256 of the previous line; 64 zeros in the first. */
  readonly prev: string;
};
