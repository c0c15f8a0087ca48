import { randomUUID } from "node:crypto";
import { checkValue, describeProblems, settleArguments } from "./check.ts";
import {
  type AnyConnectorError,
  ConflictError,
  ConnectorError,
  EffectUncertainError,
  InvalidArgumentsError,
  isConnectorError,
} from "./errors.ts";
import type { Redactor } from "./redact.ts";
import type { CallScope, Checkpoint, Connection, Context } from "./scope.ts";
import type { Holds, Landed, Tool } from "./tool.ts";

/** What every call of one connector shares. */
export interface Surroundings {
  readonly connection: Connection<unknown, unknown>;
  /** Knows the configured secrets and the vendor's token shapes: for messages. */
  readonly messages: Redactor;
  /** Knows the configured secrets only: for data, which must come back unchanged where it merely looks like a token. */
  readonly data: Redactor;
  readonly timeoutMs: number;
}

/** How long a call may go on after its end was signalled, so that the connection can say itself what happened. */
const graceMs = 250;

/** A call's limits. `over` rejects when the handler has not ended soon after its time was up. */
function begin(
  { signal }: Context,
  timeoutMs: number,
  progress: CallScope["progress"],
  lost: (why: string) => Error,
) {
  const controller = new AbortController();
  let overdue: NodeJS.Timeout | undefined;
  let reject: (error: Error) => void = () => {};
  const over = new Promise<never>((_, no) => {
    reject = no;
  });
  over.catch(() => {});
  const stop = (why: string) => {
    if (controller.signal.aborted) return;
    controller.abort(new ConnectorError(why));
    overdue = setTimeout(() => reject(lost(why)), graceMs);
  };
  const cancel = () => stop("cancelled");
  const timer = setTimeout(() => stop(`no answer within ${timeoutMs} ms`), timeoutMs);
  if (signal?.aborted) cancel();
  else signal?.addEventListener("abort", cancel, { once: true });
  const scope: CallScope = { signal: controller.signal, deadline: Date.now() + timeoutMs, progress };
  const end = () => {
    clearTimeout(timer);
    clearTimeout(overdue);
    signal?.removeEventListener("abort", cancel);
  };
  return { scope, over, end };
}

/** The error as it may leave: every text redacted, no cause, and what was durable before the write attached. */
function leaving(
  error: unknown,
  tool: Tool,
  { messages }: Surroundings,
  known: { readonly idempotencyKey?: string | undefined; readonly expectedResult?: object | undefined },
): AnyConnectorError {
  const writes = tool.effect !== "read_only";
  const message = messages.text(`${(error as { message?: unknown } | null)?.message ?? error}`);
  if (!isConnectorError(error)) {
    // Nobody threw this on purpose: for a write that is no proof that nothing happened.
    return new ConnectorError(`${tool.name}: internal error: ${message}`, {
      mayHaveApplied: writes,
      ...(writes && { expectedResult: known.expectedResult }),
    });
  }
  const cleaned = (value: string | undefined) => (value === undefined ? undefined : messages.text(value));
  switch (error.code) {
    case "INVALID_ARGUMENTS":
      return new InvalidArgumentsError(message, {
        problems: (error as InvalidArgumentsError).problems.map(({ at, rule }) => ({
          at: messages.text(at),
          rule: messages.text(rule),
        })),
      });
    case "CONFLICT": {
      const { expected, found } = error as ConflictError;
      return new ConflictError(message, { expected: messages.value(expected), found: messages.value(found) });
    }
    case "EFFECT_UNCERTAIN":
      return new EffectUncertainError(message, {
        idempotencyKey: (error as EffectUncertainError).idempotencyKey ?? known.idempotencyKey,
        expectedResult: (error as EffectUncertainError).expectedResult ?? known.expectedResult,
      });
    case "FAILED": {
      const { status, reason, requestId, retryAfterSeconds, mayHaveApplied, expectedResult } =
        error as ConnectorError;
      return new ConnectorError(message, {
        status,
        reason: cleaned(reason),
        requestId: cleaned(requestId),
        retryAfterSeconds,
        mayHaveApplied,
        ...(mayHaveApplied && { expectedResult: expectedResult ?? known.expectedResult }),
      });
    }
  }
}

function refuseSecrets(tool: Tool, args: unknown, { data }: Surroundings): void {
  const at = data.find(args);
  if (at === undefined) return;
  const problem = { at, rule: "holds the configured credential" };
  throw new InvalidArgumentsError(`${tool.name}: ${at} holds the configured credential; nothing was sent`, {
    problems: [problem],
  });
}

/** Fields of the result that the undo is made from: never rewritten. */
const mappedFields = ({ compensation }: Tool): string[] =>
  Object.values(compensation?.argument_map ?? {}).flatMap((source) =>
    typeof source === "string" && source.startsWith("result.") ? [source.split(".")[1] ?? ""] : [],
  );

/**
 * A result as it may leave. One that lacks what it must carry proves nothing: for a write that is an unknown outcome.
 * @throws ConnectorError for a read, EffectUncertainError for a write
 */
function resultOf(tool: Tool, result: unknown, { data }: Surroundings): unknown {
  const writes = tool.effect !== "read_only";
  const found = checkValue(tool.output, result);
  if (found.length > 0) {
    const message = `${tool.name}: the answer does not carry what it must: ${describeProblems(found)}`;
    throw writes ? new EffectUncertainError(message) : new ConnectorError(message);
  }
  if (data.find(result) === undefined) return result;
  for (const field of mappedFields(tool)) {
    if (data.find((result as Record<string, unknown>)[field]) !== undefined) {
      throw new EffectUncertainError(`${tool.name}: done, but ${field} holds the configured credential`);
    }
  }
  return data.value(result);
}

/** Calls a tool: arguments checked, time bounded, checkpoint before write, result checked, everything redacted. */
export async function callTool(
  tool: Tool,
  around: Surroundings,
  args: unknown,
  context: Context,
): Promise<unknown> {
  const writes = tool.effect !== "read_only";
  const idempotencyKey = context.idempotencyKey ?? (writes ? randomUUID() : undefined);
  let kept: Checkpoint | undefined;
  const lost = (why: string) =>
    writes ? new EffectUncertainError(`${tool.name}: ${why}`) : new ConnectorError(`${tool.name}: ${why}`);
  const progress = context.progress ?? (() => {});
  const { scope, over, end } = begin(context, around.timeoutMs, progress, lost);
  const checkpoint = async (next: Checkpoint) => {
    const at = around.data.find(next);
    if (at !== undefined) {
      throw new ConnectorError(`${tool.name}: ${at} holds the configured credential; nothing was written`);
    }
    scope.signal.throwIfAborted();
    if (context.checkpoint) {
      try {
        await context.checkpoint(next);
      } catch (error) {
        const why = (error as { message?: unknown } | null)?.message ?? error;
        throw new ConnectorError(`${tool.name}: the checkpoint was refused (${why}); nothing was written`);
      }
      scope.signal.throwIfAborted();
    }
    kept = next;
  };
  try {
    const settled = settleArguments(tool.name, tool.input, args);
    refuseSecrets(tool, args, around);
    const running = tool.run({
      client: around.connection.client(scope),
      args: settled,
      idempotencyKey,
      signal: scope.signal,
      progress,
      onConflict: context.onConflict,
      checkpoint,
    });
    running.catch(() => {});
    return resultOf(tool, await Promise.race([running, over]), around);
  } catch (error) {
    throw leaving(error, tool, around, { idempotencyKey, expectedResult: kept?.result });
  } finally {
    end();
  }
}

/** Asks a question: a client that cannot write, and an error that is never an unknown outcome. */
async function ask<Answer>(
  tool: Tool,
  around: Surroundings,
  args: unknown,
  context: Context,
  question: (call: {
    client: unknown;
    args: Record<string, unknown>;
    idempotencyKey: string | undefined;
    signal: AbortSignal;
    progress: CallScope["progress"];
  }) => Promise<Answer>,
): Promise<Answer> {
  const progress = context.progress ?? (() => {});
  const { scope, over, end } = begin(
    context,
    around.timeoutMs,
    progress,
    (why) => new ConnectorError(`${tool.name}: ${why}`),
  );
  try {
    const settled = settleArguments(tool.name, tool.input, args);
    const { idempotencyKey } = context;
    const client = around.connection.reader(scope);
    const asking = question({ client, args: settled, idempotencyKey, signal: scope.signal, progress });
    asking.catch(() => {});
    return await Promise.race([asking, over]);
  } catch (error) {
    throw leaving(error, { ...tool, effect: "read_only" }, around, {});
  } finally {
    end();
  }
}

export const askHolds = (tool: Tool, around: Surroundings, args: unknown, context: Context): Promise<Holds> =>
  ask(tool, around, args, context, async (call) => (tool.holds ? tool.holds(call) : "unknown"));

/** What a caller knows of the call whose answer was lost. */
export interface LostContext extends Pick<Context, "idempotencyKey" | "signal" | "progress"> {
  /** When that call began. */
  readonly since: Date;
  readonly checkpoint?: Checkpoint | undefined;
}
export const askLanded = (
  tool: Tool,
  around: Surroundings,
  args: unknown,
  { since, checkpoint, ...context }: LostContext,
): Promise<Landed<unknown>> =>
  ask(tool, around, args, context, async (call): Promise<Landed<unknown>> => {
    if (!tool.landed) return "unknown";
    const kept = checkpoint as Parameters<NonNullable<Tool["landed"]>>[0]["checkpoint"];
    const answer = await tool.landed({ ...call, since, checkpoint: kept });
    // Evidence without the result the undo is made from is no use: it stays unknown.
    if (answer !== "unknown" && answer.landed && checkValue(tool.output, answer.result).length > 0)
      return "unknown";
    return answer;
  });
