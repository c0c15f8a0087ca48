import { parseArgs } from "node:util";
import type { ReversiField } from "@reversi-connector/core";
import { didYouMean, UsageError } from "@reversi-connector/core/program";

/** A flag of a command: what `--help` says of it, and the variable that stands in for it. */
export interface FlagRule {
  readonly type: "string" | "boolean";
  readonly description: string;
  readonly many?: true;
  readonly choices?: readonly string[];
  readonly default?: string;
  readonly variable?: string;
}
export type FlagRules = Readonly<Record<string, FlagRule>>;

const logLevel: FlagRule = {
  type: "string",
  description: "How much is told on stderr",
  choices: ["error", "warn", "info", "debug"],
  default: "warn",
  variable: "REVERSI_LOG_LEVEL",
};

export const serveFlags: FlagRules = {
  "read-only": {
    type: "boolean",
    description: "Offer only tools that read",
    variable: "REVERSI_READ_ONLY",
  },
  permissions: {
    type: "string",
    many: true,
    description: "Offer only tools with these permissions, as in github:issues:*",
    variable: "REVERSI_PERMISSIONS",
  },
  tools: {
    type: "string",
    many: true,
    description: "Offer only these tools",
    variable: "REVERSI_TOOLS",
  },
  "exclude-tools": {
    type: "string",
    many: true,
    description: "Do not offer these tools",
    variable: "REVERSI_EXCLUDE_TOOLS",
  },
  "tool-names": {
    type: "string",
    description: "How tools are listed; both spellings are always accepted",
    choices: ["dotted", "underscore"],
    default: "dotted",
    variable: "REVERSI_TOOL_NAMES",
  },
  approval: {
    type: "string",
    description: "For tools that cannot be undone: ask through the client, refuse, or allow",
    choices: ["elicit", "refuse", "allow"],
    default: "elicit",
    variable: "REVERSI_APPROVAL",
  },
  sandbox: {
    type: "string",
    many: true,
    description: "Work on the connector's sandbox: a new one, or the one at ADDRESS (or name=ADDRESS)",
  },
  "require-credentials": {
    type: "boolean",
    description: "End at once when a credential is missing, instead of saying so on each call",
    variable: "REVERSI_REQUIRE_CREDENTIALS",
  },
  "max-result-bytes": {
    type: "string",
    description: "The largest answer; many clients end the session at a line of 10 MiB",
    default: "9437184",
    variable: "REVERSI_MAX_RESULT_BYTES",
  },
  "log-level": logLevel,
};

export const compensateFlags: FlagRules = {
  sandbox: {
    type: "string",
    many: true,
    description: "name=ADDRESS: undo on the sandbox of that connector",
  },
  stream: {
    type: "boolean",
    description: "Serve one call a line until stdin ends (set by REVERSI_COMPENSATOR=stream/1)",
  },
  "log-level": logLevel,
};

/** Flags that the connectors ask for; those of `documented` are known even when no connector takes them. */
export function connectorFlags(
  fields: readonly Pick<ReversiField, "flags">[],
  documented: readonly string[] = [],
): FlagRules {
  const rules: Record<string, FlagRule> = {};
  for (const name of documented) rules[name] = { type: "string", description: "" };
  for (const { flags = {} } of fields) {
    for (const [name, { description }] of Object.entries(flags))
      rules[name] = { type: "string", description };
  }
  return rules;
}

export interface Parsed {
  readonly names: readonly string[];
  text(flag: string): string | undefined;
  list(flag: string): readonly string[];
  on(flag: string): boolean;
}

const truth: Readonly<Record<string, boolean>> = {
  "": false,
  "0": false,
  false: false,
  no: false,
  "1": true,
  true: true,
  yes: true,
};

/** `--sandbox` alone means "a new one"; `--sandbox=ADDRESS` an existing one. */
const bareSandbox = (argument: string) => (argument === "--sandbox" ? "--sandbox=" : argument);

const split = (values: readonly string[]) =>
  values.flatMap((value) => value.split(",").map((part) => part.trim())).filter((part) => part !== "");

/**
 * A command line held to its rules; flags come before their variables.
 * @throws UsageError naming the flag, never its value
 */
export function parseFlags(
  argv: readonly string[],
  rules: FlagRules,
  environment: Readonly<Record<string, string | undefined>>,
  optionalSandbox: boolean,
): Parsed {
  const options = Object.fromEntries(
    Object.entries(rules).map(([name, { type }]) => [name, { type, multiple: type === "string" }]),
  );
  const args = optionalSandbox ? argv.map(bareSandbox) : [...argv];
  let parsed: { values: Record<string, unknown>; positionals: string[] };
  try {
    parsed = parseArgs({ args, options, allowPositionals: true, strict: true }) as typeof parsed;
  } catch (error) {
    const message = String((error as { message?: unknown }).message).split(". To specify")[0] ?? "";
    const word = /^Unknown option '--?([^']*)'/.exec(message)?.[1];
    throw new UsageError(
      word === undefined ? message : `there is no flag --${word}.${didYouMean(word, Object.keys(rules))}`,
    );
  }
  const given = (flag: string): readonly string[] => {
    const { variable } = rules[flag] ?? {};
    const fromVariable = variable === undefined ? "" : (environment[variable]?.trim() ?? "");
    return (parsed.values[flag] as string[] | undefined) ?? (fromVariable === "" ? [] : [fromVariable]);
  };
  const text = (flag: string): string | undefined => {
    const { choices, default: fallback, variable } = rules[flag] ?? {};
    const value = given(flag).at(-1) ?? fallback;
    if (choices && value !== undefined && !choices.includes(value)) {
      const named = parsed.values[flag] === undefined ? variable : `--${flag}`;
      throw new UsageError(`${named} must be one of ${choices.join(", ")}`);
    }
    return value;
  };
  const on = (flag: string): boolean => {
    if (parsed.values[flag] !== undefined) return parsed.values[flag] === true;
    const { variable = "" } = rules[flag] ?? {};
    const value = truth[environment[variable]?.trim().toLowerCase() ?? ""];
    if (value === undefined) throw new UsageError(`${variable} must be 1 or 0`);
    return value;
  };
  for (const [flag, { choices }] of Object.entries(rules)) if (choices) text(flag); // mistakes are told at once
  const list = (flag: string) => (flag === "sandbox" ? given(flag) : split(given(flag)));
  return { names: parsed.positionals, text, list, on };
}

/** A whole number from a flag or a variable. @throws UsageError naming it */
export function wholeNumber(
  name: string,
  raw: string | undefined,
  fallback: number,
  maximum: number,
): number {
  const text = raw?.trim() ?? "";
  if (text === "") return fallback;
  const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 1 && value <= maximum) return value;
  throw new UsageError(`${name} must be a whole number from 1 to ${maximum}`);
}

const longestTimeoutMs = 2 ** 31 - 1;
/** Milliseconds for one call, from REVERSI_TIMEOUT_MS. */
export const timeoutFrom = (environment: Readonly<Record<string, string | undefined>>): number =>
  wholeNumber("REVERSI_TIMEOUT_MS", environment["REVERSI_TIMEOUT_MS"], 30_000, longestTimeoutMs);

/** Arguments that are no flags and no values of flags; a flag without a rule is taken to have a value. */
export function positionalsOf(argv: readonly string[], rules: FlagRules): string[] {
  const found: string[] = [];
  for (let index = 0; index < argv.length; index++) {
    const argument = argv[index] ?? "";
    if (!argument.startsWith("-")) found.push(argument);
    else if (
      !argument.includes("=") &&
      argument !== "--sandbox" &&
      rules[argument.slice(2)]?.type !== "boolean"
    ) {
      index++;
    }
  }
  return found;
}
