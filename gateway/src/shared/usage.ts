import { readFileSync } from "node:fs";

/** What both programs end with; README.md has the table. */
export const exitCode = { ok: 0, failed: 1, incomplete: 2, usage: 64 } as const;

/** A reason to end that the user can put right: one line on stderr, and an exit code. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly exitCode: number;
  constructor(message: string, code: number = exitCode.usage) {
    super(message);
    this.exitCode = code;
  }
}

export const version: string = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
).version;

/** What any thrown value says. */
export const messageOf = (error: unknown): string =>
  String((error as { message?: unknown } | null | undefined)?.message ?? error);

export const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  codes.includes((error as { code?: string } | null | undefined)?.code ?? "");

/** How many letters one must change to make `b` of `a`. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, replaced));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** ` Did you mean a or b?` with the known words nearest to this one, three at most; nothing when none is near. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const near = [...known]
    .map((candidate) => ({ candidate, far: candidate.startsWith(word) ? 0 : distance(word, candidate) }))
    .filter(({ candidate, far }) => far <= Math.max(2, Math.max(word.length, candidate.length) >> 2))
    .sort((a, b) => a.far - b.far)
    .slice(0, 3);
  return near.length === 0 ? "" : ` Did you mean ${near.map(({ candidate }) => candidate).join(" or ")}?`;
}

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
