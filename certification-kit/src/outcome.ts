import {
  ConflictError,
  ConnectorError,
  EffectUncertainError,
  isConnectorError,
} from "@reversi-connector/core";

/** How a call ended. */
export type Ended = { readonly value: unknown } | { readonly error: unknown };

export const ended = (call: Promise<unknown>): Promise<Ended> =>
  call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );

const limit = 240;
const cut = (text: string) => (text.length > limit ? `${text.slice(0, limit - 1)}…` : text);

/** An outcome in words. */
export function told(outcome: Ended): string {
  if ("value" in outcome) return `it answered ${cut(JSON.stringify(outcome.value) ?? "nothing")}`;
  const { error } = outcome;
  if (EffectUncertainError.is(error)) return `EffectUncertainError: ${cut(error.message)}`;
  if (ConnectorError.is(error)) {
    return `ConnectorError${error.mayHaveApplied ? " (may have applied)" : ""}: ${cut(error.message)}`;
  }
  return cut(String(error));
}

/** What is wrong with the error of a call that was refused by the backend, and did nothing. */
export function notRefused(outcome: Ended, status?: string): string | undefined {
  if (!("error" in outcome)) return `it must be an error, and ${told(outcome)}`;
  const { error } = outcome;
  if (ConflictError.is(error)) return undefined;
  if (!ConnectorError.is(error)) return `it must be a ConnectorError, and was ${told(outcome)}`;
  if (error.mayHaveApplied)
    return `nothing was done, and the error says that it may have been: ${told(outcome)}`;
  if (status !== undefined && !error.message.includes(status) && error.reason !== status) {
    return `the error does not name ${status}: ${told(outcome)}`;
  }
  return undefined;
}

export const isOurs = (error: unknown): boolean => isConnectorError(error);
