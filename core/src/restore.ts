import { ConflictError } from "./errors.ts";

/** The three states that a guarded undo compares. */
export interface ThreeStates<State> {
  /** What the undone step found; the state to go back to. */
  readonly before: State;
  /** What the undone step left; undefined when nobody knows. */
  readonly after: State | undefined;
  /** What is there now. */
  readonly now: State;
}
export interface RestoreOptions<State> {
  /** What is restored, for the message: `file a.txt`. */
  readonly what: string;
  readonly same: (a: State, b: State) => boolean;
  /** A state in words, for the message. */
  readonly describe: (state: State) => string;
  /** Set by the operator alone, never by an agent. */
  readonly onConflict?: OnConflict | undefined;
}
export type OnConflict = "refuse" | "overwrite";

/**
 * Decides a restore: `already` when the goal state is there, `restore` when what is there is what the step left.
 * @throws ConflictError when it is anything else: somebody changed it since
 */
export function threeWayRestore<State>(
  { before, after, now }: ThreeStates<State>,
  { what, same, describe, onConflict = "refuse" }: RestoreOptions<State>,
): "already" | "restore" {
  if (same(now, before)) return "already";
  if (after !== undefined && same(now, after)) return "restore";
  if (onConflict === "overwrite") return "restore";
  const expected = after === undefined ? "unknown" : describe(after);
  throw new ConflictError(
    `${what}: changed since; expected ${expected}, found ${describe(now)}. Nothing was overwritten.`,
    { expected, found: describe(now) },
  );
}
