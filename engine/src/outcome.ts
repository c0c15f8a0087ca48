import {
  ConflictError,
  ConnectorError,
  EffectUncertainError,
  type ErrorBody,
  errorBody,
  InvalidArgumentsError,
  isConnectorError,
} from "@reversi-connector/core";

/** The error that a wire form stands for: the reverse of core's `errorBody`, for MCP results and compensators. */
export function errorFrom(body: ErrorBody): Error {
  const { message, expected_result: expectedResult } = body;
  switch (body.code) {
    case "INVALID_ARGUMENTS":
      return new InvalidArgumentsError(message);
    case "CONFLICT":
      return new ConflictError(message);
    case "EFFECT_UNCERTAIN":
      return new EffectUncertainError(message, { idempotencyKey: body.idempotency_key, expectedResult });
    case "FAILED":
      return new ConnectorError(message, {
        status: body.status,
        reason: body.reason,
        requestId: body.request_id,
        retryAfterSeconds: body.retry_after_seconds,
        mayHaveApplied: body.may_have_applied ?? false,
        expectedResult,
      });
  }
}

/** How a write ended that did not return: unknown, or not done, or answered in a way that proves neither. */
export function endOf(error: unknown): { readonly type: "uncertain" | "failed"; readonly may: boolean } {
  if (EffectUncertainError.is(error)) return { type: "uncertain", may: true };
  if (ConnectorError.is(error)) return { type: "failed", may: error.mayHaveApplied };
  // What no connector threw on purpose is no proof that nothing happened.
  return { type: "failed", may: !isConnectorError(error) };
}

/** Not executed for now: try again later. */
export const isRateLimit = (error: unknown): error is ConnectorError =>
  ConnectorError.is(error) &&
  !error.mayHaveApplied &&
  (error.status === 429 || error.retryAfterSeconds !== undefined);

export const bodyOf = (error: unknown): ErrorBody => errorBody(error);
export const failure = (message: string): ErrorBody => ({ code: "FAILED", message });
