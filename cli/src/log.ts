import type { Redactor } from "@reversi-connector/core";
import { oneLine } from "./usage.ts";

export const levels = ["error", "warn", "info", "debug"] as const;
export type Level = (typeof levels)[number];

/** Events, one line each, on stderr; every line went through the redactor. */
export interface Log extends Readonly<Record<Level, (text: string) => void>> {
  /** Whatever the level: what the user must be told. */
  say(text: string): void;
}

/** Whoever reads our stderr may be gone; that is no reason to fail. */
export const ignoreClosedStderr = (): void => {
  process.stderr.on("error", () => {});
};

export function stderrLog(level: Level, redact: Redactor): Log {
  const say = (text: string) => {
    process.stderr.write(`reversi-connectors: ${oneLine(redact.text(text))}\n`);
  };
  const at = (own: Level) => (text: string) => {
    if (levels.indexOf(own) <= levels.indexOf(level)) say(`${own}: ${text}`);
  };
  return { say, error: at("error"), warn: at("warn"), info: at("info"), debug: at("debug") };
}

/** A way to stdout that nobody else has. */
export type StdoutWrite = (text: string, done: (error?: Error | null) => void) => void;

/**
 * Takes stdout for the protocol alone: what anybody else prints, `console` included, goes to stderr, redacted.
 * Call it before any foreign code is loaded.
 */
export function takeStdout(redact: Redactor): StdoutWrite {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.on("error", () => {}); // whoever writes learns it from the callback
  process.stdout.write = ((chunk: unknown, ...rest: never[]) =>
    process.stderr.write(
      typeof chunk === "string" ? redact.text(chunk) : (chunk as Uint8Array),
      ...rest,
    )) as never;
  return (text, done) => void write(text, done);
}

/** A mistake in one call must not end the others: it is logged, and the process goes on. */
export function surviveMistakes(log: Log): void {
  const tell = (kind: string) => (error: unknown) => {
    const { message, stack } = (error ?? {}) as { message?: unknown; stack?: unknown };
    log.error(`${kind}: ${message ?? error}`);
    if (stack !== undefined) log.debug(String(stack));
  };
  process.on("uncaughtException", tell("uncaught exception"));
  process.on("unhandledRejection", tell("unhandled rejection"));
}
