import type { CompensationCall, Compensator, Holds, Landed, LostContext } from "@reversi-connector/core";
import type { UndoCall } from "./keys.ts";
import { isRateLimit } from "./outcome.ts";
import type { Session } from "./session.ts";
import type { Step } from "./state.ts";

/** An undo as the engine sends it. */
export interface EngineCompensation extends CompensationCall {
  readonly run: string;
  readonly step: number;
}
export type Compensate = (call: EngineCompensation) => Promise<unknown>;

/** What is told to the caller's own check. */
export interface VerifyCall {
  readonly run: string;
  readonly step: number;
  readonly tool: string;
  readonly undo: UndoCall;
  /** What the undo answered; undefined when nothing was sent. */
  readonly answer: unknown;
}
export type Verify = (call: VerifyCall) => Holds | Promise<Holds>;

/** The means of a rollback: how to undo, and how to look. */
export interface Means {
  readonly session: Session;
  readonly compensate: Compensate;
  readonly holds: Compensator["holds"] | undefined;
  readonly landed: Compensator["landed"] | undefined;
  readonly verify: Verify | undefined;
  readonly signal: AbortSignal | undefined;
  /** The longest wait for one step, for a rate limit or for a late write, in milliseconds. */
  readonly patienceMs: number;
}

const firstPauseMs = 250;

/** Waits for rate limits, within the bound: they say nothing about the answer. */
export async function patiently<Answer>(
  { session, signal, patienceMs }: Means,
  attempt: () => Promise<Answer>,
): Promise<Answer> {
  let waited = 0;
  for (let tries = 0; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isRateLimit(error)) throw error;
      const pause = Math.max((error.retryAfterSeconds ?? 0) * 1000, firstPauseMs * 2 ** tries);
      waited += pause;
      if (waited > patienceMs || signal?.aborted) throw error;
      await session.clock.sleep(pause, signal).catch(() => Promise.reject(error));
    }
  }
}

/** "unread": the read itself failed, which is not the credential's "unknown". */
export type Seen = Holds | "unread";

/** Whether an undo's goal state is in place; undefined when nobody can look. */
export async function lookForGoal(means: Means, { step }: Step, undo: UndoCall): Promise<Seen | undefined> {
  const { holds, session, signal } = means;
  if (!holds) return undefined;
  const call: EngineCompensation = { ...undo, run: session.state.run, step, signal };
  return patiently(means, () => holds(call)).catch(() => "unread" as const);
}

/** Whether a call whose answer was lost took effect, by evidence alone. */
export async function lookForEffect(means: Means, step: Step): Promise<Landed<unknown>> {
  const { landed, signal } = means;
  const { tool, args, key, since, checkpoint } = step;
  if (!landed || !args) return "unknown";
  const context: LostContext = { since: new Date(since), idempotencyKey: key, signal, checkpoint };
  return patiently(means, () => landed({ tool, args }, context)).catch(() => "unknown" as const);
}

/** Both must agree; whoever says no wins, and who does not know leaves it unknown. */
export function both(a: Seen | undefined, b: Seen | undefined): Seen {
  const said = [a, b].filter((seen) => seen !== undefined);
  if (said.includes(false)) return false;
  if (said.includes("unread")) return "unread";
  return said.length > 0 && said.every((seen) => seen === true) ? true : "unknown";
}

export async function askVerify(
  { verify, session }: Means,
  { step, tool }: Step,
  undo: UndoCall,
  answer: unknown,
): Promise<Seen | undefined> {
  if (!verify) return undefined;
  try {
    return await verify({ run: session.state.run, step, tool, undo, answer });
  } catch {
    return "unread";
  }
}
