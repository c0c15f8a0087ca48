import { createRequire } from "node:module";
import { UsageError } from "@reversi-connector/core/program";

export { didYouMean, UsageError } from "@reversi-connector/core/program";

/** What both programs end with; README.md has the table. */
export const exitCode = { ok: 0, failed: 1, incomplete: 2, usage: 64 } as const;

export const version: string = createRequire(import.meta.url)(
  "@reversi-connector/gateway/package.json",
).version;

/** What any thrown value says. */
export const messageOf = (error: unknown): string =>
  String((error as { message?: unknown } | null | undefined)?.message ?? error);

export const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  codes.includes((error as { code?: string } | null | undefined)?.code ?? "");

/** A whole number from a flag. @throws UsageError naming the flag */
export function wholeNumber(
  name: string,
  text: string | undefined,
  fallback: number,
  maximum: number,
): number {
  if (text === undefined) return fallback;
  const value = /^\d{1,12}$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (value >= 0 && value <= maximum) return value;
  throw new UsageError(`${name} must be a whole number from 0 to ${maximum}`);
}
