import { getSystemErrorMap } from "node:util";
import { ConnectorError, isConnectorError } from "@reversi-connector/core";

/** The operating system's word for a failure: `ENOENT`, `EACCES`, … */
export const codeOf = (error: unknown): string | undefined => {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
};

/** A failure as the operating system would report it. */
export const systemError = (code: string): Error => Object.assign(new Error(code), { code });

const texts = new Map([...getSystemErrorMap().values()]);

/** A refusal of ours; `reason` is an errno code, or OUTSIDE_ROOT, RESERVED, ROOT_REPLACED, BACKUP_CHANGED. */
export const refusal = (path: string, reason: string, sentence: string): ConnectorError =>
  new ConnectorError(`${path}: ${sentence}`, { reason });

/**
 * Any failure of a call in words, without the absolute path that the operating system's own message holds.
 * What is no answer of the operating system passes unchanged.
 */
export function explained(tried: string, path: string, error: unknown): unknown {
  const code = codeOf(error);
  if (isConnectorError(error) || code === undefined) return error;
  return new ConnectorError(`cannot ${tried} ${path}: ${texts.get(code) ?? "refused"} (${code})`, {
    reason: code,
  });
}

/** What `find` returns, or undefined when the path leads nowhere. */
export function orNothing<T>(find: () => T): T | undefined {
  try {
    return find();
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** @throws ConnectorError when the call was cancelled or its time is over; asked before a change, never after */
export function stillWanted({ aborted, reason }: AbortSignal): void {
  if (!aborted) return;
  const why = (reason as { message?: unknown } | undefined)?.message ?? "cancelled";
  throw new ConnectorError(`${why}; nothing was changed`);
}
