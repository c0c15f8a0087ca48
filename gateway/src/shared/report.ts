import { printable, redactorFor } from "./log.ts";
import { exitCode, messageOf } from "./usage.ts";

/** The one way a program ends early: the error's message as one line on stderr, and its exit code. */
export const reportAndExit = (program: string) => (error: unknown) => {
  const { exitCode: code = exitCode.failed } = (error ?? {}) as { exitCode?: number };
  const text = printable(redactorFor(process.env).text(messageOf(error)))
    .trim()
    .replace(/\s*\n\s*/g, " ");
  process.stderr.on("error", () => process.exit(code));
  process.stderr.write(`${program}: ${text}\n`, () => process.exit(code));
};
