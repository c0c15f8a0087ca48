import { InvalidArgumentsError } from "@reversi-connector/core";

const leftPlain = /[!'()*]/g;
const percent = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

const unreserved = /^[\w.~-]*$/;

const encode = (text: string, what: string): string => {
  if (unreserved.test(text)) return text;
  if (!text.isWellFormed()) throw new InvalidArgumentsError(`${what} holds a lone surrogate`);
  return encodeURIComponent(text).replace(leftPlain, percent);
};

/**
 * `value` as exactly one path segment: all but RFC 3986's unreserved characters percent-encoded.
 * @throws InvalidArgumentsError for "", ".", ".." (URL parsers fold them, even encoded) and lone surrogates
 */
export function encodeSegment(value: string | number | bigint): string {
  const text = String(value);
  if (text === "") throw new InvalidArgumentsError("a path segment must not be empty");
  if (text === "." || text === "..")
    throw new InvalidArgumentsError('a path segment must not be "." or ".."');
  return encode(text, "a path segment");
}

/** A value whose slashes separate segments; see `segments`. */
export interface Segments {
  readonly segments: readonly string[];
}

/** For `path`: `value` with its slashes kept and each part between them encoded as one segment. */
export const segments = (value: string): Segments => ({ segments: value.split("/") });

/**
 * The one way to build a path: each value becomes exactly one percent-encoded segment, a `segments(…)` value several.
 * @throws InvalidArgumentsError as `encodeSegment` does, naming the value's place in the template
 */
export function path(
  template: TemplateStringsArray,
  ...values: readonly (string | number | bigint | Segments)[]
): string {
  let built = template[0] ?? "";
  for (let index = 0; index < values.length; index++) {
    const value = values[index] ?? "";
    try {
      built += typeof value === "object" ? value.segments.map(encodeSegment).join("/") : encodeSegment(value);
    } catch (error) {
      throw new InvalidArgumentsError(
        `value ${index + 1} in the path ${template.join("{}")}: ${(error as Error).message}`,
      );
    }
    built += template[index + 1] ?? "";
  }
  return built;
}

const dotSegment = /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i;
const pathShape = /^\/[!$&-.0-;=@-Z_a-z~%/]*$/;

/**
 * `text` when it may go on the wire as a path, byte for byte.
 * @throws InvalidArgumentsError when it does not start with "/", holds "?", "#" or an unencoded character, or a dot segment
 */
export function checkPath(text: string): string {
  if (!pathShape.test(text)) {
    throw new InvalidArgumentsError('a path starts with "/" and is percent-encoded; build it with path`…`');
  }
  if (dotSegment.test(text)) throw new InvalidArgumentsError('a path must not hold a "." or ".." segment');
  return text;
}

type Scalar = string | number | boolean | bigint;

/** Query parameters: an array repeats its name, `undefined` is left out. */
export interface Query {
  readonly [name: string]: Scalar | readonly Scalar[] | undefined;
}

const scalar = (value: unknown, at: string): string => {
  const kind = typeof value;
  const fits =
    kind === "number" ? Number.isFinite(value) : kind === "string" || kind === "boolean" || kind === "bigint";
  if (!fits) throw new InvalidArgumentsError(`${at} must be text, a finite number or a boolean`);
  return encode(String(value), at);
};

/** `a=1&b=x%20y`, or "" for nothing. */
export function encodeQuery(query: Query): string {
  const pairs: string[] = [];
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    const key = encode(name, "a query parameter's name");
    for (const item of Array.isArray(value) ? value : [value]) pairs.push(`${key}=${scalar(item, name)}`);
  }
  return pairs.join("&");
}

function* formPairs(value: unknown, at: string, key: string): Generator<string> {
  if (value === undefined) return;
  if (value === null) return yield `${key}=`;
  if (typeof value !== "object") return yield `${key}=${scalar(value, at)}`;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      yield* formPairs(item, `${at}[${index}]`, `${key}[${index}]`);
    return;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    throw new InvalidArgumentsError(`${at} must be a plain object`);
  }
  for (const [name, inner] of Object.entries(value)) {
    const below = `${at}[${name}]`;
    // The receiver decodes first and splits at brackets then: "a][b" would name another field.
    if (/[[\]]/.test(name))
      throw new InvalidArgumentsError(`${below}: a name in a form must not hold "[" or "]"`);
    yield* formPairs(inner, below, `${key}[${encode(name, below)}]`);
  }
}

/**
 * `application/x-www-form-urlencoded` with nesting in brackets (`metadata[a%20b]=1&items[0][id]=x`): `undefined` and
 * empty objects and arrays are left out, `null` sends an empty value.
 * @throws InvalidArgumentsError naming the field for what has no such form
 */
export function encodeForm(form: object): string {
  const pairs: string[] = [];
  for (const [name, value] of Object.entries(form)) pairs.push(...formPairs(value, name, encode(name, name)));
  return pairs.join("&");
}
