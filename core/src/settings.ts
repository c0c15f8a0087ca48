import { readFileSync } from "node:fs";
import { InvalidArgumentsError } from "./errors.ts";

/** A setting that comes from the environment. */
export interface Setting {
  /** Its name among the options in code. */
  readonly option: string;
  readonly description: string;
  readonly secret?: boolean;
  /** What may stand before the secret itself, its blank included: `Bearer `. Part of the value, no part of the secret. */
  readonly prefix?: string;
  readonly optional?: boolean;
}
/** A setting that comes from the command line; never a secret. */
export type Flag = Omit<Setting, "secret" | "prefix">;

/** The field `reversi` of a connector's package.json: readable without importing any code. */
export interface ReversiField {
  /** The connector's one name: folder, command line, tool prefix. */
  readonly connector: string;
  /** The variable whose presence switches the connector on in `compensate`. */
  readonly main?: string;
  /** Environment variable → what it sets. */
  readonly settings: Readonly<Record<string, Setting>>;
  /** Command line flag → what it sets. */
  readonly flags?: Readonly<Record<string, Flag>>;
}
export interface PackageFacts {
  readonly name: string;
  readonly version: string;
  readonly reversi: ReversiField;
}

/** The package.json one folder above a module: the one place where a connector's name and settings are written. */
export const readPackage = (moduleUrl: string): PackageFacts =>
  JSON.parse(readFileSync(new URL("../package.json", moduleUrl), "utf8"));

const shortestSecret = 8;

const without = (prefix: string, value: string) =>
  value.startsWith(prefix) ? value.slice(prefix.length) : value;

/** A value as hosts really hand it over: blanks at the ends are trimmed, nothing but blanks is "not set". */
function clean(
  name: string,
  raw: string,
  { secret = false, prefix = "" }: Pick<Setting, "secret" | "prefix">,
): string | undefined {
  const value = raw.trim();
  if (value === "") return undefined;
  const own = without(prefix, value);
  if (/^(\$\{[^}]*\}|<[^>]*>|\$[A-Z_][A-Z0-9_]*)$/.test(own)) {
    throw new InvalidArgumentsError(
      `${name} holds a placeholder that nobody replaced; set it to the real value`,
    );
  }
  if (secret) {
    // Message and error never hold the value, not even a part of it.
    if (/[\s\p{Cc}\p{Cf}]/u.test(own)) {
      throw new InvalidArgumentsError(
        `${name} has a blank, line break, control or invisible character inside; copy it again`,
      );
    }
    if (own.length < shortestSecret) {
      throw new InvalidArgumentsError(
        `${name} is too short for a credential (${shortestSecret} characters at least)`,
      );
    }
  }
  return value;
}

export interface Settled {
  readonly options: Readonly<Record<string, string>>;
  /** Variables and flags that are required and not set. */
  readonly missing: readonly string[];
}

/**
 * A connector's options from the environment and from flags.
 * @throws InvalidArgumentsError naming the variable, never its value
 */
export function readSettings(
  { settings, flags = {} }: ReversiField,
  environment: Readonly<Record<string, string | undefined>>,
  given: Readonly<Record<string, string | undefined>> = {},
): Settled {
  const options: Record<string, string> = {};
  const missing: string[] = [];
  const take = (name: string, setting: Setting, raw: string | undefined) => {
    const { option, optional } = setting;
    const value = raw === undefined ? undefined : clean(name, raw, setting);
    if (value !== undefined) options[option] = value;
    else if (!optional) missing.push(name);
  };
  for (const [name, setting] of Object.entries(settings)) take(name, setting, environment[name]);
  for (const [name, flag] of Object.entries(flags)) take(`--${name}`, flag, given[name]);
  return { options, missing };
}

/**
 * Options given in code, held to the same rules, and the secrets among them.
 * @throws InvalidArgumentsError naming the option and its variable
 */
export function checkOptions<Options extends object>(
  { connector, settings, flags = {} }: ReversiField,
  options: Options,
): { readonly options: Options; readonly secrets: readonly string[] } {
  const checked = { ...options } as Record<string, unknown>;
  const secrets: string[] = [];
  const all = [
    ...Object.entries(settings),
    ...Object.entries(flags).map(([name, flag]): [string, Setting] => [`--${name}`, flag]),
  ];
  for (const [source, setting] of all) {
    const { option, secret, prefix = "", optional } = setting;
    const name = `${connector}: ${option} (${source})`;
    const raw = checked[option];
    if (raw !== undefined && typeof raw !== "string")
      throw new InvalidArgumentsError(`${name} must be a string`);
    const value = raw === undefined ? undefined : clean(name, raw, setting);
    if (value === undefined && !optional) throw new InvalidArgumentsError(`${name} is not set`);
    if (value === undefined) delete checked[option];
    else checked[option] = value;
    if (secret && value !== undefined) secrets.push(without(prefix, value));
  }
  return { options: checked as Options, secrets };
}
