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
  /** The type that a fragment around it is for. */
  readonly on?: string;
  readonly at: Location;
}
/** A selection before its fragments are put in: a field, a fragment by its name, or one that stands where it is used. */
type Raw =
  | (Omit<Selection, "selections"> & { readonly selections: readonly Raw[] | undefined })
  | { readonly fragment: string; readonly at: Location }
  | Fragment;
interface Fragment {
  readonly on: string;
  readonly inside: readonly Raw[];
}
export interface Operation {
  readonly kind: "query" | "mutation";
  readonly name: string | undefined;
  /** `String!`, `[ID!]!` and so on. */
  readonly variables: Readonly<Record<string, string>>;
  readonly selections: readonly Selection[];
}
type RawOperation = Omit<Operation, "selections"> & { readonly selections: readonly Raw[] };

interface Token {
  readonly kind: "punctuator" | "name" | "number" | "string" | "end";
  readonly text: string;
  readonly index: number;
}

const pattern =
  /[\s,]+|#[^\n]*|(\.{3}|[!$()[\]{}:=])|([_A-Za-z]\w*)|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|("(?:[^"\\\n]|\\.)*")/gy;

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

/** Selections with the fragments put in. @throws Failure for a fragment that is not there, holds itself or is not used */
function spreader(fragments: ReadonlyMap<string, Fragment>) {
  const used = new Set<string>();
  const invalid = (message: string, at: Location) => graphqlError(message, "GRAPHQL_VALIDATION_FAILED", [at]);
  const spread = (raw: readonly Raw[], around: readonly string[]): Selection[] =>
    raw.flatMap((each): Selection[] => {
      if ("inside" in each) return within(each, around);
      if (!("fragment" in each)) {
        const { selections, ...field } = each;
        return [{ ...field, selections: selections && spread(selections, around) }];
      }
      const { fragment: name, at } = each;
      const found = fragments.get(name);
      if (!found) throw invalid(`Unknown fragment "${name}".`, at);
      if (around.includes(name)) throw invalid(`Cannot spread fragment "${name}" within itself.`, at);
      used.add(name);
      return within(found, [...around, name]);
    });
  const within = ({ on, inside }: Fragment, around: readonly string[]): Selection[] =>
    spread(inside, around).map((selection) => ({ on, ...selection }));
  return {
    spread: (raw: readonly Raw[]) => spread(raw, []),
    checkUse() {
      const unused = [...fragments.keys()].find((name) => !used.has(name));
      if (unused !== undefined)
        throw graphqlError(`Fragment "${unused}" is never used.`, "GRAPHQL_VALIDATION_FAILED");
    },
  };
}

/**
 * The operations of a document, their fragments put in. Directives, subscriptions, defaults of variables and block
 * strings are none of this sandbox's: it refuses them.
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
  function fragment(): Fragment {
    if (take() !== "on") throw fail('"on"');
    return { on: name(), inside: many("{", selection, "}") };
  }
  function selection(): Raw {
    const at = locationOf(text, peek().index);
    if (skip("...")) return peek().text === "on" ? fragment() : { fragment: name(), at };
    const first = name();
    const second = skip(":") ? name() : first;
    const args = peek().text === "(" ? Object.fromEntries(many("(", named, ")")) : {};
    const selections = peek().text === "{" ? many("{", selection, "}") : undefined;
    return { name: second, key: first, args, selections, at };
  }
  function operation(): RawOperation {
    if (peek().text === "{")
      return { kind: "query", name: undefined, variables: {}, selections: many("{", selection, "}") };
    const kind = peek().text;
    if (kind !== "query" && kind !== "mutation") throw fail('"query" or "mutation"');
    position++;
    const own = peek().kind === "name" ? name() : undefined;
    const variables = peek().text === "(" ? Object.fromEntries(many("(", variable, ")")) : {};
    return { kind, name: own, variables, selections: many("{", selection, "}") };
  }

  const operations: RawOperation[] = [];
  const fragments = new Map<string, Fragment>();
  do {
    if (skip("fragment")) fragments.set(name(), fragment());
    else operations.push(operation());
  } while (peek().kind !== "end");
  const { spread, checkUse } = spreader(fragments);
  const whole = operations.map((each) => ({ ...each, selections: spread(each.selections) }));
  checkUse();
  return whole;
}
