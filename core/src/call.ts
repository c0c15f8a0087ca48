import { randomUUID } from "node:crypto";
import { checkValue, describeProblems, settleArguments } from "./check.ts";
import {
  type AnyConnectorError,
  ConflictError,
  ConnectorError,
  EffectUncertainError,
  InvalidArgumentsError,
  isConnectorError,
  messageOf,
} from "./errors.ts";
import { begin } from "./limits.ts";
import type { Redactor } from "./redact.ts";
import type { Checkpoint, Connection, Context } from "./scope.ts";
import type { Call, Holds, Landed, LostCall, Tool } from "./tool.ts";

/** What every call of one connector shares. */
export interface Surroundings {
  readonly connection: Connection<unknown, unknown>;
  /** Knows the configured secrets and the vendor's token shapes: for messages. */
  readonly messages: Redactor;
  /** Knows the configured secrets only: for data, which must come back unchanged where it merely looks like a token. */
  readonly data: Redactor;
  readonly timeoutMs: number;
}

/** What is known of a call besides the error that ended it. */
interface Known {
  /** It may have changed something: it is a write whose handler was started. */
  readonly writing: boolean;
  readonly idempotencyKey?: string | undefined;
  readonly expectedResult?: object | undefined;
}

const mayHold = (data: Redactor, value: unknown): boolean => {
  try {
    return data.find(value) !== undefined;
  } catch {
    return true;
  }
};

/** The error as it may leave: every text redacted, no cause, and what was durable before the write attached. */
export function leaving(
  error: unknown,
  name: string,
  { messages, data }: Pick<Surroundings, "messages" | "data">,
  known: Known,
): AnyConnectorError {
  const message = messages.text(messageOf(error));
  if (!isConnectorError(error)) {
    // Nobody threw this on purpose: for a write that is no proof that nothing happened.
    return new ConnectorError(`${name}: internal error: ${message}`, {
      mayHaveApplied: known.writing,
      ...(known.writing && { expectedResult: known.expectedResult }),
    });
  }
  const cleaned = (text: unknown) => (typeof text === "string" ? messages.text(text) : undefined);
  // Data of an undo is never rewritten; with the credential in it, it cannot leave at all.
  const expectedResultOf = ({ expectedResult }: { readonly expectedResult?: object | undefined }) =>
    expectedResult && !mayHold(data, expectedResult) ? expectedResult : known.expectedResult;
  switch (error.code) {
    case "INVALID_ARGUMENTS": {
      const { problems = [] } = error as Partial<InvalidArgumentsError>;
      return new InvalidArgumentsError(message, {
        problems: problems.map(({ at, rule }) => ({ at: messages.text(at), rule: messages.text(rule) })),
      });
    }
    case "CONFLICT": {
      const { expected, found } = error as ConflictError;
      return new ConflictError(message, { expected: messages.value(expected), found: messages.value(found) });
    }
    case "EFFECT_UNCERTAIN": {
      if (!known.writing) return new ConnectorError(message);
      const { idempotencyKey } = error as EffectUncertainError;
      return new EffectUncertainError(message, {
        idempotencyKey: idempotencyKey === undefined ? known.idempotencyKey : data.text(idempotencyKey),
        expectedResult: expectedResultOf(error as EffectUncertainError),
      });
    }
    case "FAILED": {
      const { status, reason, requestId, retryAfterSeconds, mayHaveApplied } = error as ConnectorError;
      const applied = known.writing && mayHaveApplied === true;
      return new ConnectorError(message, {
        status,
        reason: cleaned(reason),
        requestId: cleaned(requestId),
        retryAfterSeconds,
        mayHaveApplied: applied,
        ...(applied && { expectedResult: expectedResultOf(error as ConnectorError) }),
      });
    }
  }
}

function refuseSecrets({ name }: Tool, args: unknown, { data }: Surroundings): void {
  const at = data.find(args);
  if (at === undefined) return;
  const rule = "holds the configured credential";
  throw new InvalidArgumentsError(`${name}: ${at} ${rule}; nothing was sent`, { problems: [{ at, rule }] });
}

/** Fields of the result that the undo is made from: never rewritten. */
const mappedFields = ({ compensation }: Tool): string[] =>
  Object.values(compensation?.argument_map ?? {}).flatMap((source) =>
    typeof source === "string" && source.startsWith("result.") ? [source.split(".")[1] ?? ""] : [],
  );

/** A field of a result that the undo needs and that cannot leave, for the configured credential stands in it. */
const unspeakable = (tool: Tool, result: unknown, { data }: Surroundings): string | undefined =>
  mappedFields(tool).find((field) => data.find((result as Record<string, unknown>)[field]) !== undefined);

/**
 * A result as it may leave. One that lacks what it must carry proves nothing.
 * @throws EffectUncertainError, which leaves the call of a read as ConnectorError
 */
function resultOf(tool: Tool, result: unknown, around: Surroundings): unknown {
  const found = checkValue(tool.output, result, 5, "the result");
  if (found.length > 0) {
    throw new EffectUncertainError(
      `${tool.name}: the answer does not carry what it must: ${describeProblems(found)}`,
    );
  }
  if (around.data.find(result) === undefined) return result;
  const field = unspeakable(tool, result, around);
  if (field !== undefined) {
    throw new EffectUncertainError(`${tool.name}: done, but ${field} holds the configured credential`);
  }
  return around.data.value(result);
}

/** Calls a tool: arguments checked, time bounded, checkpoint before write, result checked, everything redacted. */
export async function callTool(
  tool: Tool,
  around: Surroundings,
  args: unknown,
  context: Context,
): Promise<unknown> {
  const { name } = tool;
  const writes = tool.effect !== "read_only";
  const idempotencyKey = context.idempotencyKey ?? (writes ? randomUUID() : undefined);
  let writing = false;
  let kept: Checkpoint | undefined;
  const { scope, stopped, over, end } = begin(context, around);
  const { signal, progress } = scope;
  const checkpoint = async (next: Checkpoint) => {
    // After an earlier checkpoint nobody but the handler knows what has been written.
    const refuse = (why: string) =>
      new ConnectorError(`${name}: ${why}${kept ? "" : "; nothing was written"}`, {
        mayHaveApplied: kept !== undefined,
      });
    const at = around.data.find(next);
    if (at !== undefined) throw refuse(`${at} holds the configured credential`);
    if (context.checkpoint && !signal.aborted) {
      try {
        await Promise.race([context.checkpoint(next), stopped]);
      } catch (error) {
        if (!signal.aborted) throw refuse(`the checkpoint was refused (${messageOf(error)})`);
      }
    }
    if (signal.aborted) throw refuse(messageOf(signal.reason));
    kept = next;
  };
  try {
    const settled = settleArguments(name, tool.input, args);
    refuseSecrets(tool, settled, around);
    if (signal.aborted) throw new ConnectorError(`${name}: ${messageOf(signal.reason)}; nothing was sent`);
    const client = around.connection.client(scope);
    writing = writes;
    const { onConflict } = context;
    const call = { client, args: settled, idempotencyKey, signal, progress, onConflict, checkpoint };
    const running = (async () => tool.run(call))();
    running.catch(() => {});
    return resultOf(tool, await Promise.race([running, over]), around);
  } catch (error) {
    // Whoever ends with the signal's own reason, the handler or the clock, says nothing about what was sent.
    const lost = signal.aborted && error === signal.reason;
    throw leaving(lost ? new EffectUncertainError(`${name}: ${messageOf(error)}`) : error, name, around, {
      writing,
      idempotencyKey,
      expectedResult: kept?.result,
    });
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
  question: (call: Call<unknown, Record<string, unknown>>) => Promise<Answer>,
): Promise<Answer> {
  const { name } = tool;
  const { scope, over, end } = begin(context, around);
  const { signal, progress } = scope;
  try {
    const settled = settleArguments(name, tool.input, args);
    refuseSecrets(tool, settled, around);
    if (signal.aborted) throw signal.reason;
    const client = around.connection.reader(scope);
    const asking = question({
      client,
      args: settled,
      idempotencyKey: context.idempotencyKey,
      signal,
      progress,
    });
    asking.catch(() => {});
    return await Promise.race([asking, over]);
  } catch (error) {
    const stopped = signal.aborted && error === signal.reason;
    throw leaving(stopped ? new ConnectorError(`${name}: ${messageOf(error)}`) : error, name, around, {
      writing: false,
    });
  } finally {
    end();
  }
}

/** Anything but a clear yes or no is no answer. */
export const askHolds = (tool: Tool, around: Surroundings, args: unknown, context: Context): Promise<Holds> =>
  ask(tool, around, args, context, async (call) => {
    const answer: unknown = await tool.holds?.(call);
    return typeof answer === "boolean" ? answer : "unknown";
  });

/** What a caller knows of the call whose answer was lost. */
export interface LostContext extends Pick<Context, "idempotencyKey" | "signal" | "progress"> {
  /** When that call began. */
  readonly since: Date;
  readonly checkpoint?: Checkpoint | undefined;
}

/** Evidence without the whole result that the undo is made from is no use: it stays unknown. */
function evidenceOf(tool: Tool, answer: unknown, around: Surroundings): Landed<unknown> {
  const { landed, result } = (answer ?? {}) as { readonly landed?: unknown; readonly result?: unknown };
  if (landed === false) return { landed };
  if (landed !== true || checkValue(tool.output, result).length > 0) return "unknown";
  if (around.data.find(result) === undefined) return { landed, result };
  return unspeakable(tool, result, around) === undefined
    ? { landed, result: around.data.value(result) }
    : "unknown";
}

export const askLanded = (
  tool: Tool,
  around: Surroundings,
  args: unknown,
  { since, checkpoint, ...context }: LostContext,
): Promise<Landed<unknown>> =>
  ask(tool, around, args, context, async (call) => {
    const kept = checkpoint as LostCall<unknown, unknown, object, string>["checkpoint"];
    return evidenceOf(tool, await tool.landed?.({ ...call, since, checkpoint: kept }), around);
  });
