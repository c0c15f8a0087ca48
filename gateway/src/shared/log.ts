import { type Redactor, redactor } from "@reversi-connector/core";

type Environment = Readonly<Record<string, string | undefined>>;

const secretName = /token|secret|passw|passphrase|credential|bearer|(api|access|private|auth|session)_?key/i;
const shortestSecret = 8;

/** The values that look like credentials in an environment. Which they are only the upstream knows, so this errs on the safe side. */
function secretsIn(environment: Environment): string[] {
  return Object.entries(environment).flatMap(([name, raw = ""]) => {
    const value = raw.trim();
    const password = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*?:([^@/?#]+)@/i.exec(value)?.[1];
    const whole = secretName.test(name) && value.length >= shortestSecret ? [value] : [];
    return password === undefined ? whole : [...whole, password];
  });
}

export const redactorFor = (environment: Environment): Redactor =>
  redactor({ values: secretsIn(environment) });

/** Lines on stderr; each went through the redactor. */
export interface Log {
  say(text: string): void;
  /** Shown only with REVERSI_LOG_LEVEL info or debug. */
  info(text: string): void;
}

/** Text of somebody else, safe to print: without what moves a terminal's cursor or changes its colours. */
export const printable = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, (character) =>
    character === "\r" ? "" : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

export function stderrLog(program: string, redact: Redactor, environment: Environment): Log {
  const level = environment["REVERSI_LOG_LEVEL"]?.trim() ?? "";
  const say = (text: string) => {
    process.stderr.write(
      `${program}: ${printable(redact.text(text))
        .trim()
        .replace(/\s*\n\s*/g, " ")}\n`,
    );
  };
  // Whoever reads our stderr may be gone; that is no reason to fail.
  process.stderr.on("error", () => {});
  return { say, info: level === "info" || level === "debug" ? say : () => {} };
}
