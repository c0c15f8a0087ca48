/** What a command line ends with; README.md has the table. */
export const exitCode = {
  ok: 0,
  failed: 1,
  credentials: 3,
  uncertain: 3,
  conflict: 4,
  usage: 64,
} as const;

/** A reason to end that the user can put right: one line on stderr, and an exit code. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly exitCode: number;
  constructor(message: string, code: number = exitCode.usage) {
    super(message);
    this.exitCode = code;
  }
}

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

/** ` Did you mean github?` when one of the known words is close, else nothing. */
export function didYouMean(word: string, known: readonly string[]): string {
  const close = known.filter((candidate) => distance(word, candidate) <= Math.max(1, word.length >> 2));
  return close.length === 0 ? "" : ` Did you mean ${close.join(" or ")}?`;
}

const longestMessage = 8000;
/** A message of reasonable length. Redact before cutting: half a secret matches nothing. */
export const bounded = (text: string): string =>
  text.length > longestMessage ? `${text.slice(0, longestMessage).toWellFormed()}… [cut]` : text;

export const oneLine = (text: string): string =>
  bounded(text)
    .trim()
    .replace(/\s*\n\s*/g, " ");

/** The one way any command ends early: the error's message as one line on stderr, and its exit code. */
export function reportAndExit(error: unknown): void {
  const { message, exitCode: code = exitCode.failed } = error as { message?: string; exitCode?: number };
  process.stderr.on("error", () => process.exit(code));
  // Something may be open still (a sandbox, say): an exit code alone would leave the process waiting for it.
  process.stderr.write(`reversi-connectors: ${oneLine(String(message ?? error))}\n`, () =>
    process.exit(code),
  );
}
