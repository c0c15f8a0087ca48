import { canonicalJson } from "@reversi-connector/core";
import type { Explains } from "./subject.ts";

/** A copy as JSON has it: nobody's later change reaches it. */
export const copyOf = (value: unknown): unknown => JSON.parse(canonicalJson(value));

export const same = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b);

const isTime = (value: unknown) => typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(value);

/** A value without the moments in it: two good calls are never made at the same one. */
export const timeless = (value: unknown): unknown =>
  JSON.parse(canonicalJson(value), (_, inner) => (isTime(inner) ? "a time" : inner));

const short = (value: unknown): string => {
  const text = value === undefined ? "nothing" : canonicalJson(value);
  return text.length > 160 ? `${text.slice(0, 159)}…` : text;
};
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** The first place where two JSON values differ, in words; undefined when they do not. */
export function difference(expected: unknown, found: unknown, at = "the state"): string | undefined {
  if (same(expected, found)) return undefined;
  const alike = isObject(expected) && isObject(found) && Array.isArray(expected) === Array.isArray(found);
  if (!alike) return `${at}: expected ${short(expected)}, found ${short(found)}`;
  for (const key of [...new Set([...Object.keys(expected), ...Object.keys(found)])].sort()) {
    const below = difference(expected[key], found[key], at === "the state" ? key : `${at}.${key}`);
    if (below !== undefined) return below;
  }
  return `${at}: differs`;
}

/** `after` without what the residues `ids` explain. */
export function withoutResidue(
  residue: Readonly<Record<string, Explains>> = {},
  before: unknown,
  after: unknown,
  ids: readonly string[] = Object.keys(residue),
): unknown {
  let left = copyOf(after);
  for (const id of ids) {
    const explains = residue[id];
    if (typeof explains === "function") left = copyOf(explains(copyOf(before), left));
  }
  return left;
}

/** A value that whoever is handed it cannot change. */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null) {
    for (const inner of Object.values(value)) deepFreeze(inner);
    Object.freeze(value);
  }
  return value;
}
