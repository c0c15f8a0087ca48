import { graphqlError } from "./errors.ts";

/** A value as it stands in a document. */
export type Value =
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "literal"; readonly value: string | number | boolean | null; readonly float?: boolean }
  | { readonly kind: "enum"; readonly name: string }
  | { readonly kind: "list"; readonly items: readonly Value[] }
  | { readonly kind: "object"; readonly fields: Readonly<Record<string, Value>> };

export interface Location {
  readonly line: number;
  readonly column: number;
}
export interface Selection {
  readonly name: string;
  /** Under which it is answered. */
  readonly key: string;
  readonly args: Readonly<Record<string, Value>>;
  /** Undefined without braces. */
  readonly selections: readonly Selection[] | undefined;
  readonly at: Location;
}
export interface Operation {
  readonly kind: "query" | "mutation";
  readonly name: string | undefined;
  /** `String!`, `[ID!]!` and so on. */
  readonly variables: Readonly<Record<string, string>>;
  readonly selections: readonly Selection[];
}

interface Token {
  readonly kind: "punctuator" | "name" | "number" | "string" | "end";
  readonly text: string;
  readonly index: number;
}

const pattern =
  /[\s,]+|#[^\n]*|([!$()[\]{}:=])|([_A-Za-z]\w*)|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|("(?:[^"\\\n]|\\.)*")/gy;

const locationOf = (text: string, index: number): Location => {
  const lines = text.slice(0, index).split("\n");
  return { line: lines.length, column: (lines.at(-1) ?? "").length + 1 };
};

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  for (let index = 0; index < text.length; ) {
    pattern.lastIndex = index;
    const found = pattern.exec(text);
    if (!found) throw syntax(text, index, `Unexpected character: "${text.charAt(index)}".`);
    const kind = (["punctuator", "name", "number", "string"] as const).find(
      (_, n) => found[n + 1] !== undefined,
    );
    if (kind) tokens.push({ kind, text: found[0], index });
    index += found[0].length;
  }
  return [...tokens, { kind: "end", text: "<EOF>", index: text.length }];
}

const syntax = (text: string, index: number, message: string) =>
  graphqlError(`Syntax Error: ${message}`, "GRAPHQL_PARSE_FAILED", [locationOf(text, index)]);

/**
 * The operations of a document. Fragments, directives, subscriptions, defaults of variables and block strings are none
 * of this sandbox's: it refuses them.
 */
export function parse(text: string): readonly Operation[] {
  const tokens = tokensOf(text);
  let position = 0;
  const peek = () => tokens[position] ?? { kind: "end" as const, text: "<EOF>", index: text.length };
  const fail = (expected: string) =>
    syntax(text, peek().index, `Expected ${expected}, found ${peek().text}.`);
  const take = () => {
    const token = peek();
    position++;
    return token.text;
  };
  const skip = (wanted: string) => {
    if (peek().text !== wanted || peek().kind === "string") return false;
    position++;
    return true;
  };
  const expect = (wanted: string) => {
    if (!skip(wanted)) throw fail(`"${wanted}"`);
  };
  const name = () => {
    if (peek().kind !== "name") throw fail("Name");
    return take();
  };
  /** What stands between two brackets, at least one of it. */
  const many = <T>(open: string, item: () => T, close: string, least = 1): T[] => {
    const items: T[] = [];
    expect(open);
    while (items.length < least || !skip(close)) items.push(item());
    return items;
  };

  function value(): Value {
    const { kind, text: raw } = peek();
    if (kind === "string") return { kind: "literal", value: JSON.parse(take()) as string };
    if (kind === "number") return { kind: "literal", value: Number(take()), float: /[.eE]/.test(raw) };
    if (skip("$")) return { kind: "variable", name: name() };
    if (raw === "[") return { kind: "list", items: many("[", value, "]", 0) };
    if (raw === "{") return { kind: "object", fields: Object.fromEntries(many("{", named, "}", 0)) };
    const word = name();
    if (word === "null") return { kind: "literal", value: null };
    return word === "true" || word === "false"
      ? { kind: "literal", value: word === "true" }
      : { kind: "enum", name: word };
  }
  function named(): readonly [string, Value] {
    const key = name();
    expect(":");
    return [key, value()];
  }
  function type(): string {
    let found: string;
    if (skip("[")) {
      found = `[${type()}]`;
      expect("]");
    } else found = name();
    return skip("!") ? `${found}!` : found;
  }
  function variable(): readonly [string, string] {
    expect("$");
    const key = name();
    expect(":");
    return [key, type()];
  }
  function selection(): Selection {
    const at = locationOf(text, peek().index);
    const first = name();
    const second = skip(":") ? name() : first;
    const args = peek().text === "(" ? Object.fromEntries(many("(", named, ")")) : {};
    const selections = peek().text === "{" ? many("{", selection, "}") : undefined;
    return { name: second, key: first, args, selections, at };
  }
  function operation(): Operation {
    if (peek().text === "{")
      return { kind: "query", name: undefined, variables: {}, selections: many("{", selection, "}") };
    const kind = peek().text;
    if (kind !== "query" && kind !== "mutation") throw fail('"query" or "mutation"');
    position++;
    const own = peek().kind === "name" ? name() : undefined;
    const variables = peek().text === "(" ? Object.fromEntries(many("(", variable, ")")) : {};
    return { kind, name: own, variables, selections: many("{", selection, "}") };
  }

  const operations = [operation()];
  while (peek().kind !== "end") operations.push(operation());
  return operations;
}
