import { expect } from "@jest/globals";
import { InvalidArgumentsError } from "@reversi-connector/core";
import { encodeForm, encodeQuery, encodeSegment, path, segments } from "@reversi-connector/http";
import { type RoutedRequest, route, router } from "@reversi-connector/http/sandbox";
import fc from "fast-check";
import { always } from "../../test/fuzz.ts";
import { clientOf, sandboxOf } from "./support.ts";

const units = [
  "a",
  ".",
  "..",
  "/",
  "\\",
  "%",
  "%2e",
  "%2F",
  "%25",
  "?",
  "#",
  "&",
  "=",
  "+",
  ";",
  ":",
  "@",
  " ",
  "\t",
  "\n",
  "\r",
  "\u0000",
  "[",
  "]",
  "é",
  "e\u0301",
  "😀",
  "~",
  "!",
  "'",
  "*",
  "\ufeff",
  "//",
  "http://x",
];
const text = fc.oneof(
  fc.string({ unit: fc.constantFrom(...units), maxLength: 6 }),
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.string({ unit: fc.constantFrom("\ud800", "\udc00", "a", "."), maxLength: 4 }),
);
const sound = (one: string) => one.isWellFormed() && one !== "" && one !== "." && one !== "..";
const segment = text.filter(sound);

/** `build`'s value, or undefined where it is refused as every refusal is. */
function unlessRefused<Value>(build: () => Value): Value | undefined {
  try {
    return build();
  } catch (error) {
    if (InvalidArgumentsError.is(error) && error.message !== "") return undefined;
    throw error;
  }
}

always(
  "any text is one segment to every URL parser, or is refused because none could be told it",
  1500,
  fc.property(text, text, (one, other) => {
    const built = unlessRefused(() => path`/a/${one}/b/${other}`);
    expect(built !== undefined).toBe(sound(one) && sound(other));
    if (built === undefined) return;
    const { pathname, search, hash, origin } = new URL(built, "http://127.0.0.1:1");
    expect({ pathname, search, hash, origin }).toEqual({
      pathname: built,
      search: "",
      hash: "",
      origin: "http://127.0.0.1:1",
    });
    expect(built.split("/").map(decodeURIComponent)).toEqual(["", "a", one, "b", other]);
    expect(new URL(built, `http://127.0.0.1:1${built}`).pathname).toBe(built);
  }),
);

always(
  "two texts are never one segment, and one is never two",
  1500,
  fc.property(segment, segment, (one, other) => {
    expect(encodeSegment(one) === encodeSegment(other)).toBe(one === other);
    expect(encodeSegment(one)).toMatch(/^(?:[\w.~-]|%[0-9A-F]{2})+$/);
  }),
);

always(
  "segments keep their slashes and nothing else: what has an empty or a dot segment is refused",
  1000,
  fc.property(fc.array(text, { maxLength: 4 }), (parts) => {
    const whole = parts.join("/");
    const built = unlessRefused(() => path`/x/${segments(whole)}`);
    expect(built !== undefined).toBe(whole.split("/").every(sound));
    if (built === undefined) return;
    expect(new URL(built, "http://h").pathname).toBe(built);
    expect(built.split("/").slice(2).map(decodeURIComponent)).toEqual(whole.split("/"));
  }),
);

const scalar = fc.oneof(
  text,
  fc.integer(),
  fc.boolean(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.bigInt(),
);
const wellFormed = (value: unknown): boolean =>
  typeof value === "string"
    ? value.isWellFormed()
    : typeof value !== "object" || value === null || Object.entries(value).flat().every(wellFormed);
const names = fc.dictionary(text, fc.oneof(scalar, fc.array(scalar, { maxLength: 3 })), { maxKeys: 4 });

always(
  "a query says to every parser the names and values that it was made of",
  800,
  fc.property(names, (query) => {
    const built = unlessRefused(() => encodeQuery(query));
    expect(built !== undefined).toBe(wellFormed(query));
    if (built === undefined) return;
    const wanted = Object.entries(query).flatMap(([name, value]) =>
      [value].flat().map((item) => [name, String(item)]),
    );
    expect([...new URL(`http://h/?${built}`).searchParams]).toEqual(wanted);
    expect(new URL(`http://h/?${built}`).href).toBe(`http://h/${built === "" ? "?" : `?${built}`}`);
  }),
);

const { form } = fc.letrec<{ form: unknown; value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    scalar,
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 3 }),
    tie("form"),
  ),
  form: fc.dictionary(text, tie("value"), { maxKeys: 3 }),
}));
/** What a receiver that knows brackets makes of it: decoded first, then taken apart. */
function* leaves(value: unknown, key: string): Generator<readonly [string, string]> {
  if (typeof value !== "object" || value === null) return yield [key, value === null ? "" : String(value)];
  for (const [name, inner] of Object.entries(value)) yield* leaves(inner, `${key}[${name}]`);
}
const hasBracketInside = (value: unknown, top = true): boolean =>
  typeof value === "object" &&
  value !== null &&
  Object.entries(value).some(
    ([name, inner]) =>
      (!top && !Array.isArray(value) && /[[\]]/.test(name)) || hasBracketInside(inner, false),
  );
always(
  "a form says to its receiver every field that it was made of, and never another one",
  800,
  fc.property(form, (given) => {
    const fields = given as Record<string, unknown>;
    const built = unlessRefused(() => encodeForm(fields));
    expect(built !== undefined).toBe(wellFormed(fields) && !hasBracketInside(fields));
    if (built === undefined) return;
    expect(built).toMatch(/^[\w.~%&=[\]-]*$/);
    const wanted = Object.entries(fields).flatMap(([name, value]) => [...leaves(value, name)]);
    expect([...new URLSearchParams(built)]).toEqual(wanted);
  }),
);

always(
  "what goes over the wire is what the vendor's router finds: one name, one object",
  120,
  fc.asyncProperty(
    fc.array(fc.tuple(segment, segment, names), { minLength: 1, maxLength: 4 }),
    async (calls) => {
      const objects = new Map<string, string>();
      const put = ({ params, query, text: body }: RoutedRequest) => {
        objects.set(`${params["owner"]}\n${params["name"]}`, body);
        return { status: 200, body: { ...params, query: [...query] } };
      };
      const get = ({ params }: RoutedRequest) => ({ status: 200, body: { ref: params["ref"] } });
      const sandbox = await sandboxOf(
        router([route("PUT /o/:owner/x/:name", put), route("GET /r/*ref", get)]),
      );
      const { write, read } = clientOf(`${sandbox.url}`);
      for (const [owner, name, query] of calls.filter(([, , given]) => wellFormed(given))) {
        const { body } = await write({
          method: "PUT",
          path: path`/o/${owner}/x/${name}`,
          query,
          json: { owner, name },
        });
        const wanted = Object.entries(query).flatMap(([key, value]) =>
          [value].flat().map((item) => [key, String(item)]),
        );
        expect(body).toEqual({ owner, name, query: wanted });
        expect(JSON.parse(objects.get(`${owner}\n${name}`) ?? "")).toEqual({ owner, name });
        const ref = `${owner}/${name}`;
        if (!ref.split("/").every(sound)) continue;
        expect((await read({ path: path`/r/${segments(ref)}` })).body).toEqual({ ref });
      }
      expect(sandbox.errors).toEqual([]);
    },
  ),
);
