import { InvalidArgumentsError } from "./errors.ts";
import type { JsonSchema } from "./schema.ts";

/** One rule that a value breaks: where (`labels[2]`), and what was expected there. Never holds the value itself. */
export interface Problem {
  readonly at: string;
  readonly rule: string;
}

/** Levels of arrays and objects inside each other; deeper values would exhaust the stack of whoever reads them. */
export const deepest = 500;

/** Problems found so far. A place is completed on the way out, so that a value without any costs no text at all. */
interface Found {
  readonly problems: { at: string; rule: string }[];
  readonly limit: number;
}

const patterns = new Map<string, RegExp>();
const matches = (pattern: string, text: string): boolean => {
  let compiled = patterns.get(pattern);
  if (!compiled) {
    compiled = new RegExp(pattern, "u");
    patterns.set(pattern, compiled);
  }
  return compiled.test(text);
};

const kindOf = (value: unknown): string => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
};
const article = (kind: string) => (/^[aeio]/.test(kind) ? `an ${kind}` : `a ${kind}`);
const named = (kind: string) => (kind === "null" || kind === "undefined" ? kind : article(kind));
const counted = (count: number, one: string, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

/** A key in a place; a very long one is not repeated, not even in part: half a secret would pass any redactor. */
const below = (key: string) => `.${key.length > 100 ? `(a name of ${key.length} characters)` : key || '""'}`;

/** JSON has fewer values than JavaScript: what `JSON.stringify` would change or drop is refused. */
const isPlainObject = (value: object) => {
  const prototype: object | null = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return true;
  // Values of another realm (a test runner's sandbox, say) have another Object.prototype.
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "hasOwnProperty");
};

/** Characters, not UTF-16 units, as JSON Schema counts them. */
const lengthOf = (text: string) => {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    if ((text.charCodeAt(index) & 0xfc00) === 0xd800 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00)
      count--;
  }
  return count;
};
const shorterThan = (text: string, minimum: number) =>
  text.length < minimum || (text.length < minimum * 2 && lengthOf(text) < minimum);
const longerThan = (text: string, maximum: number) =>
  text.length > maximum && (text.length > maximum * 2 || lengthOf(text) > maximum);

const add = ({ problems, limit }: Found, rule: string, at = "") => {
  if (problems.length < limit) problems.push({ at, rule });
};

function checkString(schema: JsonSchema, value: string, found: Found): void {
  const { enum: allowed, minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern } = schema;
  // Lone surrogates have no UTF-8 form: every encoder on the way would replace them with something else.
  if (!value.isWellFormed()) add(found, "must be well-formed Unicode (it holds a lone surrogate)");
  if (allowed && !allowed.includes(value)) add(found, `must be one of ${allowed.join(", ")}`);
  if (shorterThan(value, minLength)) {
    add(
      found,
      minLength === 1 ? "must not be empty" : `must have at least ${counted(minLength, "character")}`,
    );
  }
  // No pattern is tried on a text of forbidden length.
  if (longerThan(value, maxLength)) add(found, `must have at most ${counted(maxLength, "character")}`);
  else if (pattern !== undefined && !matches(pattern, value)) add(found, `must match ${pattern}`);
}

function checkNumber(
  { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY }: JsonSchema,
  value: number,
  found: Found,
): void {
  if (!Number.isFinite(value)) add(found, "must be a finite number");
  else if (value < minimum) add(found, `must be at least ${minimum}`);
  else if (value > maximum) add(found, `must be at most ${maximum}`);
}

/** Checks what stands at `place` inside a value, and completes the places of what it finds there. */
function inside(place: string | number, schema: JsonSchema, value: unknown, depth: number, found: Found) {
  const before = found.problems.length;
  check(schema, value, depth + 1, found);
  for (let index = before; index < found.problems.length; index++) {
    const problem = found.problems[index];
    if (problem) problem.at = `${typeof place === "number" ? `[${place}]` : below(place)}${problem.at}`;
  }
}

function checkArray(schema: JsonSchema, value: readonly unknown[], depth: number, found: Found): void {
  const { items = {}, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  if (value.length < minItems) add(found, `must have at least ${counted(minItems, "item")}`);
  if (value.length > maxItems) {
    add(found, `must have at most ${counted(maxItems, "item")}`);
    return;
  }
  for (let index = 0; index < value.length && found.problems.length < found.limit; index++)
    inside(index, items, value[index], depth, found);
}

function checkObject(schema: JsonSchema, value: object, depth: number, found: Found): void {
  const { properties = {}, required = [], additionalProperties = {}, propertyNames } = schema;
  const { minProperties = 0, maxProperties = Number.POSITIVE_INFINITY } = schema;
  for (const key of required) {
    if (!Object.hasOwn(value, key)) add(found, "is required", below(key));
  }
  const keys = Object.keys(value);
  if (keys.length < minProperties)
    add(found, `must have at least ${counted(minProperties, "entry", "entries")}`);
  if (keys.length > maxProperties) {
    add(found, `must have at most ${counted(maxProperties, "entry", "entries")}`);
    return;
  }
  for (const key of keys) {
    if (found.problems.length >= found.limit) return;
    if (!key.isWellFormed()) add(found, "has a name that is not well-formed Unicode", below("?"));
    if (propertyNames && !matches(propertyNames.pattern, key))
      add(found, `is not an allowed name (must match ${propertyNames.pattern})`, below(key));
    const own = Object.hasOwn(properties, key) ? properties[key] : undefined;
    const rules = own ?? additionalProperties;
    if (rules === false)
      add(found, `is not a known name (known: ${Object.keys(properties).join(", ") || "none"})`, below(key));
    else inside(key, rules === true ? {} : rules, (value as Record<string, unknown>)[key], depth, found);
  }
}

/** Fits one of them, or breaks the rules of the first. */
function checkAnyOf(options: readonly JsonSchema[], value: unknown, depth: number, found: Found): void {
  let first: Found["problems"] | undefined;
  for (const option of options) {
    const tried: Found = { problems: [], limit: first ? 1 : found.limit };
    check(option, value, depth, tried);
    if (tried.problems.length === 0) return;
    first ??= tried.problems;
  }
  const orNull = options.some(({ type }) => type === "null") ? ", or be null" : "";
  for (const { at, rule } of first ?? []) add(found, at === "" ? `${rule}${orNull}` : rule, at);
}

const isOfType = (kind: string, type: NonNullable<JsonSchema["type"]>) =>
  type === kind ||
  (typeof type !== "string" && type.includes(kind)) ||
  (kind === "integer" && (type === "number" || type.includes("number")));

/** Adds every rule of `schema` that `value` breaks, until there are enough. */
function check(schema: JsonSchema, value: unknown, depth: number, found: Found): void {
  const kind = kindOf(value);
  const { type, anyOf } = schema;
  if (depth > deepest) add(found, `is nested deeper than ${deepest} levels`);
  else if (anyOf) checkAnyOf(anyOf, value, depth, found);
  else if (type !== undefined && !isOfType(kind, type)) {
    const wanted = (typeof type === "string" ? [type] : type).map(named).join(" or ");
    const leaveOut = kind === "undefined" ? " (leave it out instead)" : "";
    add(found, `must be ${wanted}, not ${named(kind)}${leaveOut}`);
  } else if (kind === "string") checkString(schema, value as string, found);
  else if (typeof value === "number") checkNumber(schema, value, found);
  else if (kind === "array") checkArray(schema, value as unknown[], depth, found);
  else if (kind === "object" && isPlainObject(value as object))
    checkObject(schema, value as object, depth, found);
  else if (kind === "object") add(found, "must be a plain JSON object");
  else if (kind !== "boolean" && kind !== "null") add(found, `must be JSON, not ${named(kind)}`);
}

/**
 * At most `limit` broken rules of `value` against `schema`; an empty list means it fits. Agrees with JSON Schema 2020-12
 * on JSON, and besides refuses what is no JSON: lone surrogates, `undefined`, NaN, class instances, endless nesting.
 * `whole` is what the value as such is called.
 */
export function checkValue(schema: JsonSchema, value: unknown, limit = 5, whole = "arguments"): Problem[] {
  const found: Found = { problems: [], limit };
  check(schema, value, 0, found);
  for (const problem of found.problems) problem.at = problem.at.replace(/^\./, "") || whole;
  return found.problems;
}

export const describeProblems = (found: readonly Problem[]): string =>
  found.map(({ at, rule }) => `${at} ${rule}`).join("; ");

/**
 * Arguments with the schema's top-level defaults filled in.
 * @throws InvalidArgumentsError naming each argument and the rule it breaks
 */
export function settleArguments(tool: string, schema: JsonSchema, args: unknown): Record<string, unknown> {
  const found = checkValue(schema, args);
  if (found.length > 0)
    throw new InvalidArgumentsError(`${tool}: ${describeProblems(found)}`, { problems: found });
  const settled: Record<string, unknown> = { ...(args as object) };
  for (const [key, { default: value }] of Object.entries(schema.properties ?? {})) {
    if (value !== undefined && !Object.hasOwn(settled, key)) settled[key] = value;
  }
  return settled;
}
