import { InvalidArgumentsError } from "./errors.ts";
import type { JsonSchema } from "./schema.ts";

/** One rule that a value breaks: where (`labels[2]`), and what was expected there. */
export interface Problem {
  readonly at: string;
  readonly rule: string;
}

const patterns = new Map<string, RegExp>();
const matches = (pattern: string, text: string): boolean => {
  const compiled = patterns.get(pattern) ?? new RegExp(pattern, "u");
  patterns.set(pattern, compiled);
  return compiled.test(text);
};

const kindOf = (value: unknown): string =>
  value === null
    ? "null"
    : Array.isArray(value)
      ? "array"
      : Number.isInteger(value)
        ? "integer"
        : typeof value === "bigint"
          ? "bigint"
          : typeof value;
const article = (kind: string) => (/^[aeiou]/.test(kind) ? `an ${kind}` : `a ${kind}`);

/** JSON has fewer values than JavaScript: what `JSON.stringify` would change or drop is refused. */
const isPlainObject = (value: object) => {
  const prototype: unknown = Object.getPrototypeOf(value);
  // Values of another realm (a test runner's sandbox, say) have another Object.prototype: compare by depth.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
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

function* checkString(schema: JsonSchema, value: string, at: string): Generator<Problem> {
  // Lone surrogates have no UTF-8 form: every encoder on the way would replace them with something else.
  if (!value.isWellFormed()) yield { at, rule: "must be well-formed Unicode (it holds a lone surrogate)" };
  const { enum: allowed, minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern } = schema;
  if (allowed && !allowed.includes(value)) yield { at, rule: `must be one of ${allowed.join(", ")}` };
  if (minLength > 0 && value.length < minLength * 2 && lengthOf(value) < minLength) {
    yield { at, rule: minLength === 1 ? "must not be empty" : `must have at least ${minLength} characters` };
  }
  if (value.length > maxLength && lengthOf(value) > maxLength) {
    yield { at, rule: `must have at most ${maxLength} characters` };
  } else if (pattern !== undefined && !matches(pattern, value)) {
    yield { at, rule: `must match ${pattern}` };
  }
}

function* checkArray(schema: JsonSchema, value: readonly unknown[], at: string): Generator<Problem> {
  const { items, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  if (value.length < minItems) yield { at, rule: `must have at least ${minItems} item(s)` };
  if (value.length > maxItems) return yield { at, rule: `must have at most ${maxItems} items` };
  for (let index = 0; index < value.length; index++)
    yield* problems(items ?? {}, value[index], `${at}[${index}]`);
}

function* checkObject(schema: JsonSchema, value: object, at: string): Generator<Problem> {
  if (!isPlainObject(value)) return yield { at: at || "arguments", rule: "must be a plain JSON object" };
  const { properties = {}, required = [], additionalProperties, propertyNames } = schema;
  const { minProperties = 0, maxProperties = Number.POSITIVE_INFINITY } = schema;
  const below = (key: string) => (at === "" ? key : `${at}.${key}`);
  const keys = Object.keys(value);
  for (const key of required) {
    if (!Object.hasOwn(value, key)) yield { at: below(key), rule: "is required" };
  }
  if (keys.length < minProperties) yield { at, rule: `must have at least ${minProperties} entry` };
  if (keys.length > maxProperties) return yield { at, rule: `must have at most ${maxProperties} entries` };
  for (const key of keys) {
    const inner = (value as Record<string, unknown>)[key];
    if (!key.isWellFormed()) yield { at: below("?"), rule: "has a name that is not well-formed Unicode" };
    if (propertyNames && !matches(propertyNames.pattern, key)) {
      yield { at: below(key), rule: `is not an allowed name (must match ${propertyNames.pattern})` };
    }
    if (Object.hasOwn(properties, key)) yield* problems(properties[key] ?? {}, inner, below(key));
    else if (additionalProperties === false) {
      const known = Object.keys(properties);
      yield {
        at: below(key),
        rule: `is not a known name (known: ${known.length === 0 ? "none" : known.join(", ")})`,
      };
    } else
      yield* problems(
        typeof additionalProperties === "object" ? additionalProperties : {},
        inner,
        below(key),
      );
  }
}

/** Every rule of `schema` that `value` breaks. */
function* problems(schema: JsonSchema, value: unknown, at: string): Generator<Problem> {
  if (schema.anyOf) {
    const [first = {}] = schema.anyOf;
    const fits = schema.anyOf.some((option) => problems(option, value, at).next().done === true);
    if (!fits) {
      for (const { at: where, rule } of problems(first, value, at)) {
        yield { at: where, rule: where === at ? `${rule}, or be null` : rule };
      }
    }
    return;
  }
  const kind = kindOf(value);
  const wanted = typeof schema.type === "string" ? [schema.type] : schema.type;
  if (wanted && !wanted.includes(kind) && !(kind === "integer" && wanted.includes("number"))) {
    return yield {
      at: at || "arguments",
      rule: `must be ${wanted.map(article).join(" or ")}, not ${article(kind)}`,
    };
  }
  switch (kind) {
    case "string":
      return yield* checkString(schema, value as string, at);
    case "integer":
    case "number": {
      const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema;
      if (!Number.isFinite(value)) yield { at, rule: "must be a finite number" };
      else if ((value as number) < minimum) yield { at, rule: `must be at least ${minimum}` };
      else if ((value as number) > maximum) yield { at, rule: `must be at most ${maximum}` };
      return;
    }
    case "array":
      return yield* checkArray(schema, value as unknown[], at);
    case "object":
      return yield* checkObject(schema, value as object, at);
    case "boolean":
    case "null":
      return;
    default:
      yield { at: at || "arguments", rule: `must be JSON, not ${article(kind)}` };
  }
}

/** At most `limit` broken rules of `value` against `schema`; an empty list means it fits. */
export function checkValue(schema: JsonSchema, value: unknown, limit = 5): Problem[] {
  const found: Problem[] = [];
  for (const problem of problems(schema, value, "")) {
    found.push(problem);
    if (found.length === limit) break;
  }
  return found;
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
