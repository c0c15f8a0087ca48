import {
  type Checkpoint,
  type Context,
  checkValue,
  describeProblems,
  EffectUncertainError,
  InvalidArgumentsError,
  type Manifest,
  type Progress,
} from "@reversi-connector/core";
import { type Approve, askApproval } from "./approval.ts";
import { settle, targetBefore } from "./arguments.ts";
import { RefusedError } from "./errors.ts";
import { forwardKey, type UndoCall } from "./keys.ts";
import { bodyOf, endOf } from "./outcome.ts";
import { record, recordManifest, refuseFenced, type Session } from "./session.ts";

/** One call of a tool, as an agent wants it. */
export interface ForwardCall<Result> {
  readonly tool: string;
  readonly args: object;
  /** Why the agent makes it; for people. */
  readonly reason?: string | undefined;
  /**
   * Makes the call. Hand `context` on to the connector: it carries the step's key and the checkpoint, without which a
   * lost answer can often be settled by nobody but a person.
   */
  readonly execute: (args: Readonly<Record<string, unknown>>, context: Context) => Promise<Result>;
  readonly signal?: AbortSignal | undefined;
  readonly progress?: ((progress: Progress) => void) | undefined;
}
/** A call that ended well. */
export interface CallOutcome<Result> {
  readonly step: number;
  readonly result: Result;
  /** What will undo it; null when nothing will. */
  readonly undo: UndoCall | null;
  /** Why nothing will, although the tool has a compensation: an argument of it is missing. */
  readonly unresolvable?: string;
}

/** A copy that nobody else can change. What is no JSON could not be journaled truly, and is refused. */
function copyOf(tool: string, args: object): Record<string, unknown> {
  const problems = checkValue({ type: "object" }, args);
  if (problems.length === 0) return JSON.parse(JSON.stringify(args));
  throw new InvalidArgumentsError(`${tool}: ${describeProblems(problems)}`, { problems });
}

/** A result as the journal holds it; one that is no JSON binds nothing, but the effect stands all the same. */
function plain(result: unknown): unknown {
  try {
    return result === undefined ? null : JSON.parse(JSON.stringify(result));
  } catch {
    return null;
  }
}

async function refuse(
  session: Session,
  step: number,
  tool: string,
  reason: "scope" | "no_manifest",
  why: string,
) {
  await record(session, { type: "refused", step, tool, why }, false);
  return new RefusedError(reason, `${why}. Nothing was sent.`);
}

async function read<Result>(
  session: Session,
  step: number,
  { tool, execute, signal, progress }: ForwardCall<Result>,
  args: Record<string, unknown>,
): Promise<CallOutcome<Result>> {
  try {
    const result = await execute(args, { signal, progress });
    await record(session, { type: "read", step, tool, args }, false);
    return { step, result, undo: null };
  } catch (error) {
    await record(session, { type: "read", step, tool, args, error: bodyOf(error) }, false);
    throw error;
  }
}

/** Makes the call and writes down how it ended, whatever way it ends. */
async function execute<Result>(
  session: Session,
  step: number,
  { tool, execute: run, progress }: ForwardCall<Result>,
  args: Record<string, unknown>,
  signal: AbortSignal,
): Promise<CallOutcome<Result>> {
  const { state, registry, edges } = session;
  const manifest = registry?.get(tool) as Manifest;
  const idempotencyKey = forwardKey(state.run, step);
  const checkpoint = async ({ result, evidence }: Checkpoint) => {
    signal.throwIfAborted();
    await record(session, { type: "checkpoint", step, result, ...(evidence && { evidence }) });
  };
  let result: Result;
  try {
    result = await run(JSON.parse(JSON.stringify(args)), { idempotencyKey, checkpoint, signal, progress });
  } catch (error) {
    const { type, may } = endOf(error);
    const theirs = EffectUncertainError.is(error) ? error.idempotencyKey : undefined;
    const key = theirs !== undefined && theirs !== state.steps.get(step)?.key ? { key: theirs } : {};
    const body = { step, error: bodyOf(error), ...key };
    await record(session, type === "uncertain" ? { type, ...body } : { type, ...body, may });
    if (type === "failed" && !may) edges?.ended(step, "nothing");
    throw error;
  }
  const kept = plain(result);
  const settlement = settle(manifest, registry?.undoOf(tool), { args, result: kept });
  await record(session, { type: "applied", step, result: kept, ...settlement });
  edges?.ended(step, { result: kept, target: settlement.target });
  const { undo, unresolvable } = settlement;
  return { step, result, undo, ...(unresolvable !== undefined && { unresolvable }) };
}

async function write<Result>(
  session: Session,
  step: number,
  call: ForwardCall<Result>,
  args: Record<string, unknown>,
  manifest: Manifest,
): Promise<CallOutcome<Result>> {
  const { state, registry, edges, clock, callTimeoutMs } = session;
  if (!registry) throw new RefusedError("no_manifest", `run ${state.run} was resumed without a registry`);
  const { tool, reason } = call;
  const cancel = new AbortController();
  const stop = () => cancel.abort(call.signal?.reason);
  const going = async () => {
    const target = targetBefore(manifest, registry.undoOf(tool), args);
    const requires = edges?.match(tool, args, target) ?? [];
    edges?.began(step, tool, args, target);
    const hash = recordManifest(session, registry, manifest);
    const intent = {
      step,
      tool,
      args,
      ...(reason !== undefined && { reason }),
      manifest: hash,
      requires,
      target,
    };
    const deadline = new Date(clock.now() + callTimeoutMs).toISOString();
    // A function that takes no context hands on no key: evidence must then not be looked up by one nobody sent.
    const key = call.execute.length >= 2 ? forwardKey(state.run, step) : null;
    await record(session, { type: "intent", ...intent, key, deadline });
    return execute(session, step, call, args, cancel.signal);
  };
  if (call.signal?.aborted) stop();
  else call.signal?.addEventListener("abort", stop, { once: true });
  const ended = going();
  session.inFlight.set(step, { ended, cancel });
  try {
    return await ended;
  } finally {
    session.inFlight.delete(step);
    call.signal?.removeEventListener("abort", stop);
  }
}

/**
 * One call: its intent is durable before anything is sent, its outcome before this resolves.
 * @throws RefusedError before anything was sent; else what `execute` threw
 */
export async function forward<Result>(
  session: Session,
  call: ForwardCall<Result>,
  { approve }: { readonly approve: Approve | undefined },
): Promise<CallOutcome<Result>> {
  refuseFenced(session);
  const { tool, reason } = call;
  const { registry, state } = session;
  const args = copyOf(tool, call.args);
  const step = session.nextStep++;
  const manifest = registry?.get(tool);
  if (!manifest)
    throw await refuse(session, step, tool, "no_manifest", `${tool} has no manifest in this run`);
  if (state.scope && !state.scope.includes(manifest.permission)) {
    throw await refuse(
      session,
      step,
      tool,
      "scope",
      `${tool} needs ${manifest.permission}, which is outside the scope`,
    );
  }
  if (manifest.effect === "read_only") return read(session, step, call, args);
  if (manifest.approval === "always") await askApproval(session, approve, { step, manifest, args, reason });
  call.signal?.throwIfAborted();
  refuseFenced(session);
  return write(session, step, call, args, manifest);
}
