import type { Problem } from "./check.ts";

/** How a failed call ended; the word other programs decide by. */
export type ErrorCode = "INVALID_ARGUMENTS" | "FAILED" | "CONFLICT" | "EFFECT_UNCERTAIN";

/** What an error says about the backend's answer, where there was one. */
export interface Answer {
  /** HTTP status, or the like. */
  readonly status?: number | undefined;
  /** The vendor's own code for the failure. */
  readonly reason?: string | undefined;
  /** The vendor's name for the request, for its support. */
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

const brand = Symbol.for("@reversi-connector/core/error");
const codes: readonly unknown[] = ["INVALID_ARGUMENTS", "FAILED", "CONFLICT", "EFFECT_UNCERTAIN"];
/** A code that this version does not know says nothing that could be relied on. */
const codeOf = (error: unknown): ErrorCode | undefined => {
  const code =
    typeof error === "object" && error !== null ? (error as { [brand]?: ErrorCode })[brand] : undefined;
  return codes.includes(code) ? code : undefined;
};

/** What any thrown value says, itself never throwing. */
export function messageOf(error: unknown): string {
  try {
    return String((error as { message?: unknown } | null | undefined)?.message || error);
  } catch {
    return "something that cannot be shown as text";
  }
}

/**
 * Errors are told apart by a brand, not by `instanceof`: an error made by another installed copy of this package
 * must not turn an unknown outcome into a failure.
 */
abstract class BrandedError extends Error {
  readonly code: ErrorCode;
  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
    Object.defineProperty(this, brand, { value: code });
  }
}

/** Refused before anything was sent. The message names the argument and the rule. */
export class InvalidArgumentsError extends BrandedError {
  override readonly name = "InvalidArgumentsError";
  readonly problems: readonly Problem[];
  constructor(message: string, { problems = [] }: { readonly problems?: readonly Problem[] } = {}) {
    super("INVALID_ARGUMENTS", message);
    this.problems = problems;
  }
  static is = (error: unknown): error is InvalidArgumentsError => codeOf(error) === "INVALID_ARGUMENTS";
}

/** @throws InvalidArgumentsError, always: "<argument> <rule>; nothing was sent" */
export function refuseArgument(at: string, rule: string): never {
  throw new InvalidArgumentsError(`${at} ${rule}; nothing was sent`, { problems: [{ at, rule }] });
}

/** Not done: the backend said so, or nothing was sent. */
export class ConnectorError extends BrandedError {
  override readonly name = "ConnectorError";
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** True for a write that was answered with a server error: the backend may have acted all the same. */
  readonly mayHaveApplied: boolean;
  /** The part of the result that was durable before the write. */
  readonly expectedResult: object | undefined;
  constructor(
    message: string,
    answer: Answer & { readonly mayHaveApplied?: boolean; readonly expectedResult?: object | undefined } = {},
  ) {
    super("FAILED", message);
    this.status = answer.status;
    this.reason = answer.reason;
    this.requestId = answer.requestId;
    this.retryAfterSeconds = answer.retryAfterSeconds;
    this.mayHaveApplied = answer.mayHaveApplied ?? false;
    this.expectedResult = answer.expectedResult;
  }
  static is = (error: unknown): error is ConnectorError => codeOf(error) === "FAILED";
}

/** Somebody else changed the thing since; nothing was overwritten. Says what was expected and what was found. */
export class ConflictError extends BrandedError {
  override readonly name = "ConflictError";
  readonly expected: unknown;
  readonly found: unknown;
  constructor(
    message: string,
    { expected, found }: { readonly expected?: unknown; readonly found?: unknown } = {},
  ) {
    super("CONFLICT", message);
    this.expected = expected;
    this.found = found;
  }
  static is = (error: unknown): error is ConflictError => codeOf(error) === "CONFLICT";
}

/** A write was sent and nobody knows whether it took effect. Do not repeat it before looking. */
export class EffectUncertainError extends BrandedError {
  override readonly name = "EffectUncertainError";
  readonly idempotencyKey: string | undefined;
  /** The part of the result that was durable before the write. */
  readonly expectedResult: object | undefined;
  constructor(
    message: string,
    known: {
      readonly idempotencyKey?: string | undefined;
      readonly expectedResult?: object | undefined;
    } = {},
  ) {
    super("EFFECT_UNCERTAIN", message);
    this.idempotencyKey = known.idempotencyKey;
    this.expectedResult = known.expectedResult;
  }
  static is = (error: unknown): error is EffectUncertainError => codeOf(error) === "EFFECT_UNCERTAIN";
}

export type AnyConnectorError = InvalidArgumentsError | ConnectorError | ConflictError | EffectUncertainError;
export const isConnectorError = (error: unknown): error is AnyConnectorError => codeOf(error) !== undefined;

/** An error as it travels over MCP and the compensator protocol. */
export interface ErrorBody {
  readonly code: ErrorCode;
  readonly message: string;
  readonly status?: number;
  readonly reason?: string;
  readonly request_id?: string;
  readonly retry_after_seconds?: number;
  readonly may_have_applied?: boolean;
  readonly idempotency_key?: string;
  readonly expected_result?: object;
}

/** The wire form of any thrown value; what no connector threw deliberately is `FAILED`. */
export function errorBody(error: unknown): ErrorBody {
  if (!isConnectorError(error)) {
    return { code: "FAILED", message: messageOf(error) };
  }
  const { status, reason, requestId, retryAfterSeconds, mayHaveApplied, idempotencyKey, expectedResult } =
    error as Partial<ConnectorError & EffectUncertainError>;
  return {
    code: error.code,
    message: error.message,
    ...(status !== undefined && { status }),
    ...(reason !== undefined && { reason }),
    ...(requestId !== undefined && { request_id: requestId }),
    ...(retryAfterSeconds !== undefined && { retry_after_seconds: retryAfterSeconds }),
    ...(mayHaveApplied === true && { may_have_applied: true }),
    ...(idempotencyKey !== undefined && { idempotency_key: idempotencyKey }),
    ...(expectedResult !== undefined && { expected_result: expectedResult }),
  };
}
