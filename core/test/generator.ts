import type { JsonSchema } from "../src/index.ts";

/** The same numbers in [0, 1) for the same seed, for ever. */
export type Random = () => number;
export const seeded = (seed: number): Random => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};
const upTo = (random: Random, most: number) => Math.floor(random() * (most + 1));
export const pick = <T>(random: Random, items: readonly T[]): T =>
  items[Math.floor(random() * items.length)] as T;

const awkwardTexts = [
  "",
  " ",
  "a",
  "é",
  "😀",
  "😀😀",
  "a\n",
  "\n",
  "\u0000",
  "\u2028",
  "0",
  "true",
  "null",
  "..",
  "a/b",
  "$&",
  "x".repeat(300),
];
const awkwardValues: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  1,
  1.0,
  -1,
  0.5,
  1e200,
  2 ** 53,
  -(2 ** 53),
  Number.MAX_SAFE_INTEGER,
  [],
  {},
  [null],
  [[]],
  { a: 1 },
  ...awkwardTexts,
];

/** A text that (nearly always) matches: enough of regular expressions for the patterns of the house. */
function matching(pattern: string, random: Random): string {
  let at = 0;
  const letters = "abcXYZ019_-. é😀";
  const escaped = (): RegExp => {
    const letter = pattern[++at] ?? "";
    at++;
    if (letter !== "u") return new RegExp(`\\${letter}`, "u");
    at += 4;
    return new RegExp(`\\u${pattern.slice(at - 4, at)}`, "u");
  };
  const characters = (allowed: RegExp) =>
    [...letters, ...Array.from({ length: 95 }, (_, code) => String.fromCharCode(code + 32))].filter((c) =>
      allowed.test(c),
    );
  const atom = (): (() => string) => {
    const next = pattern[at];
    if (next === "(") {
      const ahead = pattern.startsWith("(?!", at);
      at += ahead ? 3 : 1;
      const inner = choice();
      at++;
      return ahead ? () => "" : inner;
    }
    if (next === "[") {
      const start = at++;
      for (; pattern[at] !== "]"; at++) if (pattern[at] === "\\") at++;
      const all = characters(new RegExp(pattern.slice(start, ++at), "u"));
      return () => pick(random, all);
    }
    if (next === "\\") {
      const all = characters(escaped());
      return () => pick(random, all.length === 0 ? [""] : all);
    }
    at++;
    return next === "^" || next === "$" ? () => "" : next === "." ? () => "x" : () => next ?? "";
  };
  const repeated = (): (() => string) => {
    const one = atom();
    const counts = /^(?:\*|\+|\?|\{(\d+)(?:,(\d+))?\})/.exec(pattern.slice(at));
    if (!counts) return one;
    at += counts[0].length;
    const least = counts[0] === "+" ? 1 : Number(counts[1] ?? 0);
    const most = counts[0] === "?" ? 1 : Math.min(Number(counts[2] ?? counts[1] ?? 6), least + 6);
    return () => Array.from({ length: least + upTo(random, most - least) }, one).join("");
  };
  function choice(): () => string {
    const branches: (() => string)[][] = [[]];
    while (at < pattern.length && pattern[at] !== ")") {
      if (pattern[at] === "|") {
        at++;
        branches.push([]);
      } else branches.at(-1)?.push(repeated());
    }
    return () =>
      pick(random, branches)
        .map((part) => part())
        .join("");
  }
  return choice()();
}

function text({ enum: allowed, minLength = 0, maxLength = 12, pattern }: JsonSchema, random: Random): string {
  if (allowed) return pick(random, allowed);
  if (pattern !== undefined) return matching(pattern, random);
  const edge = random();
  const length =
    edge < 0.1 ? minLength : edge < 0.2 && maxLength < 500 ? maxLength : minLength + upTo(random, 5);
  return Array.from({ length: Math.min(length, maxLength) }, () =>
    pick(random, ["a", "é", "😀", " ", "\n"]),
  ).join("");
}

export function json(random: Random, depth = 0): unknown {
  const kind = random();
  if (depth > 3 || kind < 0.6) return pick(random, awkwardValues);
  const length = upTo(random, 3);
  if (kind < 0.8) return Array.from({ length }, () => json(random, depth + 1));
  return Object.fromEntries(Array.from({ length }, () => [name(random), json(random, depth + 1)]));
}
const name = (random: Random) =>
  pick(random, ["a", "b", "__proto__", "constructor", "toString", "", "é", "x y"]);

/** A value that (nearly always) fits. */
export function fitting(schema: JsonSchema, random: Random): unknown {
  if (schema.anyOf) return fitting(pick(random, schema.anyOf), random);
  const type = typeof schema.type === "object" ? pick(random, schema.type) : schema.type;
  switch (type) {
    case undefined:
      return json(random);
    case "null":
      return null;
    case "boolean":
      return random() < 0.5;
    case "integer": {
      const { minimum = 0, maximum = 0 } = schema;
      return pick(random, [minimum, maximum, Math.min(maximum, Math.max(minimum, upTo(random, 100)))]);
    }
    case "string":
      return text(schema, random);
    case "array": {
      const { minItems = 0, maxItems = 4, items = {} } = schema;
      const length = Math.min(maxItems, minItems + upTo(random, 3));
      return Array.from({ length }, () => fitting(items, random));
    }
    default: {
      const {
        properties = {},
        required = [],
        additionalProperties,
        propertyNames,
        minProperties = 0,
      } = schema;
      const entries = Object.entries(properties)
        .filter(([key]) => required.includes(key) || random() < 0.5)
        .map(([key, inner]): [string, unknown] => [key, fitting(inner, random)]);
      if (typeof additionalProperties === "object") {
        for (let count = minProperties + upTo(random, 2); count > 0; count--) {
          const key =
            propertyNames && random() < 0.7 ? matching(propertyNames.pattern, random) : name(random);
          entries.push([key, fitting(additionalProperties, random)]);
        }
      }
      return Object.fromEntries(entries);
    }
  }
}

/** The value with one thing in it changed, somewhere. */
export function changed(value: unknown, random: Random): unknown {
  if (random() < 0.15) return pick(random, awkwardValues);
  if (typeof value === "string") {
    return pick(random, [
      `${value}\n`,
      `\n${value}`,
      [...value].slice(1).join(""),
      value + value,
      value.toUpperCase(),
      `${value}😀`,
    ]);
  }
  if (typeof value === "number")
    return pick(random, [value + 1, value - 1, -value, value + 0.5, value * 100]);
  if (Array.isArray(value)) {
    const index = upTo(random, value.length - 1);
    return pick<() => unknown>(random, [
      () => [...value, pick(random, awkwardValues)],
      () => value.slice(1),
      () => value.map((item, at) => (at === index ? changed(item, random) : item)),
      () => Array.from({ length: 300 }, () => value[0] ?? "a"),
    ])();
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value);
    const index = upTo(random, entries.length - 1);
    const deeper = () =>
      Object.fromEntries(
        entries.map(([key, inner], at) => [key, at === index ? changed(inner, random) : inner]),
      );
    return pick<() => unknown>(random, [
      deeper,
      deeper,
      deeper,
      () => Object.fromEntries(entries.filter((_, at) => at !== index)),
      () => Object.fromEntries([...entries, [name(random), pick(random, awkwardValues)]]),
    ])();
  }
  return pick(random, awkwardValues);
}
