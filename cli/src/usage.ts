/** What a command line ends with; README.md has the table. */
export const exitCode = {
  ok: 0,
  failed: 1,
  credentials: 3,
  uncertain: 3,
  conflict: 4,
  usage: 64,
} as const;

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
