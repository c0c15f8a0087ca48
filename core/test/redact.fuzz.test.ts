import { inspect } from "node:util";
import fc from "fast-check";
import { always } from "../../test/fuzz.ts";
import {
  ConflictError,
  ConnectorError,
  EffectUncertainError,
  InvalidArgumentsError,
  isConnectorError,
  redactor,
} from "../src/index.ts";
import { box, failure, token } from "./box.ts";

type Encode = (plain: string) => string;
const eachByte = (plain: string) =>
  Array.from(Buffer.from(plain), (byte) => byte.toString(16).padStart(2, "0"));
const eachUnit = (plain: string) =>
  Array.from({ length: plain.length }, (_, at) => plain.charCodeAt(at).toString(16).padStart(4, "0"));
const html: Readonly<Record<string, string>> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "#39" };

/** What programs on the way do to a text; a receiver undoes it. */
const escapes: Readonly<Record<string, Encode>> = {
  percent: encodeURIComponent,
  "percent in lower case": (plain) => encodeURIComponent(plain).replace(/%../g, (hex) => hex.toLowerCase()),
  "percent, every byte": (plain) =>
    eachByte(plain)
      .map((byte) => `%${byte}`)
      .join(""),
  "percent, every other character": (plain) =>
    [...plain]
      .map((one, at) => (at % 2 ? encodeURIComponent(one) : escapes["percent, every byte"]?.(one)))
      .join(""),
  form: (plain) => new URLSearchParams({ plain }).toString().slice(6),
  JSON: (plain) => JSON.stringify(plain).slice(1, -1),
  "JSON of PHP": (plain) => JSON.stringify(plain).slice(1, -1).replaceAll("/", "\\/"),
  "JSON in ASCII": (plain) =>
    eachUnit(plain)
      .map((unit) => `\\u${unit}`)
      .join(""),
  HTML: (plain) => plain.replace(/[&<>"']/g, (one) => `&${html[one]};`),
  "HTML in numbers": (plain) => Array.from(plain, (one) => `&#${one.codePointAt(0)};`).join(""),
  "HTML in hexadecimal": (plain) =>
    Array.from(plain, (one) => `&#x${one.codePointAt(0)?.toString(16)};`).join(""),
};
/** How a secret is written down. In Base64, a few characters at the ends depend on what stands beside it. */
const forms: Readonly<Record<string, Encode>> = {
  raw: (plain) => plain,
  hex: (plain) => eachByte(plain).join(""),
  HEX: (plain) => eachByte(plain).join("").toUpperCase(),
  base64: (plain) => Buffer.from(plain).toString("base64"),
  base64url: (plain) => Buffer.from(plain).toString("base64url"),
};
const inPair = fc.tuple(fc.string({ maxLength: 6 }), fc.string({ maxLength: 4 })).map(
  ([before, after]): Encode =>
    (plain) =>
      Buffer.from(`${before}:${plain}${after}`).toString("base64"),
);
const layers = fc.array(fc.constantFrom(...Object.values(escapes)), { maxLength: 3 });
const through =
  (form: Encode, steps: readonly Encode[]): Encode =>
  (plain) =>
    steps.reduce((text, step) => step(text), form(plain));
const encoding = fc.tuple(fc.oneof(fc.constantFrom(...Object.values(forms)), inPair), layers);
const anyEncoding = encoding.map(([form, steps]) => through(form, steps));

const pieces = [
  "%",
  "%41",
  "\\",
  '"',
  "'",
  "&",
  "&amp;",
  "<",
  "/",
  "+",
  " ",
  "\n",
  "$&",
  "é",
  "ключ",
  "😀",
  "\\u0041",
];
const secret = fc
  .tuple(
    fc.string({
      unit: fc.oneof(
        { weight: 3, arbitrary: fc.string({ minLength: 1, maxLength: 1 }) },
        fc.constantFrom(...pieces),
      ),
      minLength: 8,
      maxLength: 24,
    }),
    fc.string({ unit: fc.constantFrom(..."abcXYZ0189_-"), minLength: 4, maxLength: 8 }),
  )
  .map(([any, plain]) => plain + any);
const plainText = fc.string({
  unit: fc.constantFrom("b", "é", " ", "<", ">", ":", "{", ",", "="),
  maxLength: 8,
});
const anyText = fc.string({
  unit: fc.oneof(fc.string({ unit: "binary", minLength: 1, maxLength: 1 }), fc.constantFrom(...pieces)),
  maxLength: 8,
});

always(
  "a secret leaves in no form, behind up to three layers of escapes, wherever it stands",
  600,
  fc.property(secret, anyEncoding, plainText, plainText, (hidden, encode, before, after) => {
    const { text, find } = redactor({ values: [hidden] });
    const written = encode(hidden);
    const clean = text(before + written + after);
    expect(clean).toContain("[redacted]");
    expect(clean).not.toContain(written);
    expect(clean).not.toContain(hidden);
    expect(find([{ a: before + written + after }])).toBe("[0].a");
  }),
);

always(
  "nothing is left of it, and what stands around it stays",
  600,
  fc.property(
    secret,
    fc.constantFrom<Encode>(forms["raw"] as Encode, forms["hex"] as Encode, forms["HEX"] as Encode),
    layers,
    fc.array(
      plainText.map((between) => `<${between}>`),
      { minLength: 2, maxLength: 4 },
    ),
    (hidden, form, steps, around) => {
      const { text } = redactor({ values: [hidden] });
      const written = through(form, steps)(hidden);
      expect(text(around.join(written))).toBe(around.join("[redacted]"));
    },
  ),
);

const ordinary = "kT7pW2xQ9mZ4vL8s";
const without = fc
  .oneof(
    fc.string({ unit: "binary", maxLength: 60 }),
    anyText,
    fc.string({ unit: fc.constantFrom(...ordinary, "%6b", "\\u006b", "&#107;", "\ud800"), maxLength: 40 }),
    fc.nat({ max: ordinary.length - 1 }).map((length) => ordinary.slice(0, length)),
    fc
      .integer({ min: 1, max: ordinary.length })
      .map((from) => `${ordinary.slice(from)}${ordinary.slice(0, from - 1)}`),
    fc.base64String({ maxLength: 60 }),
    fc.webUrl(),
  )
  .filter((text) => !text.includes(ordinary));

/** A value with `put` at one of its places, and where that is. */
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small" },
    without,
    fc.constantFrom(null, true, 0, 1.5),
    fc.array(tie("tree"), { maxLength: 3 }),
    fc.dictionary(
      without.filter((key) => key !== "__proto__"),
      tie("tree"),
      { maxKeys: 3, noNullPrototype: true },
    ),
  ),
}));
const innocent = redactor({ values: [ordinary, "kT", "otherSecret%41"] });

always(
  "what holds no secret comes back as it was",
  600,
  fc.property(tree, (value) => {
    const { value: copy, find } = redactor({ values: [ordinary] });
    expect(copy(value)).toEqual(value);
    expect(find(value)).toBeUndefined();
    if (typeof value === "string")
      expect(innocent.text(value.replaceAll("kT", ""))).toBe(value.replaceAll("kT", ""));
  }),
);

always(
  "in a value it is found and removed at any place, in names too, and all else stays",
  400,
  fc.property(
    tree,
    tree,
    anyEncoding,
    fc.array(fc.constantFrom("list", "field", "name"), { maxLength: 6 }),
    (first, last, encode, way) => {
      const written = `<${encode(ordinary)}>`;
      const build = (leaf: unknown, name: string) =>
        way.reduce<unknown>(
          (inner, kind) =>
            kind === "list"
              ? [first, inner, last]
              : kind === "field"
                ? { first, inner, last }
                : { first, [name]: inner },
          leaf,
        );
      const { value, find, text } = redactor({ values: [ordinary] });
      const dirty = build(written, written);
      const before = JSON.stringify(dirty);
      expect(value(dirty)).toEqual(build(text(written), text(written)));
      expect(JSON.stringify(value(dirty))).not.toContain(JSON.stringify(written).slice(1, -1));
      expect(find(dirty)).toBeDefined();
      expect(JSON.stringify(dirty)).toBe(before);
    },
  ),
);

always(
  "of a pair whose parts stand in fields of their own, whole and in Base64, only the name is left",
  300,
  fc.property(
    secret,
    fc.string({ unit: fc.constantFrom(..."adegr@."), minLength: 1, maxLength: 9 }),
    (hidden, user) => {
      const pair = `${user}:${hidden}`;
      const basic = Buffer.from(pair).toString("base64");
      const { value } = redactor({ values: [hidden] });
      const seen = JSON.stringify(
        value({ user, password: hidden, pair, sent: { Authorization: [`Basic ${basic}`] } }),
      );
      expect(JSON.parse(seen)).toMatchObject({ user, password: "[redacted]", pair: `${user}:[redacted]` });
      for (const form of Object.values(forms)) expect(seen).not.toContain(form(hidden));
      expect(seen).not.toContain(basic);
    },
  ),
);

const everything = (error: unknown): string =>
  [
    String(error),
    (error as Error).stack,
    inspect(error, { depth: 20, showHidden: true, getters: true }),
    JSON.stringify(Object.entries(error as object)),
  ].join("\n");

type Make = (said: string, cause: unknown) => unknown;
const errors: Readonly<Record<string, Make>> = {
  Error: (said, cause) =>
    Object.assign(new Error(said, { cause }), { input: said, request: { headers: { said } } }),
  TypeError: (said, cause) => Object.assign(new TypeError(said), { cause, stack: said }),
  AggregateError: (said, cause) => new AggregateError([cause, new Error(said)], said),
  object: (said, cause) => ({ message: said, name: said, cause, toString: () => said }),
  text: (said) => said,
  InvalidArgumentsError: (said, cause) =>
    Object.assign(new InvalidArgumentsError(said, { problems: [{ at: said, rule: said }] }), { cause }),
  ConnectorError: (said, cause) =>
    Object.assign(
      new ConnectorError(said, {
        reason: said,
        requestId: said,
        mayHaveApplied: true,
        expectedResult: { [said]: [said] },
      }),
      { cause, said },
    ),
  ConflictError: (said, cause) =>
    Object.assign(new ConflictError(said, { expected: { [said]: said }, found: [[said]] }), { cause }),
  EffectUncertainError: (said, cause) =>
    Object.assign(
      new EffectUncertainError(said, { idempotencyKey: said, expectedResult: { deep: [{ said }] } }),
      { cause },
    ),
};
always(
  "no error carries it out, however it is made and whatever caused it",
  200,
  fc.asyncProperty(
    fc.array(fc.tuple(fc.constantFrom(...Object.keys(errors)), anyEncoding), { minLength: 1, maxLength: 4 }),
    fc.constantFrom("put", "read"),
    async (chain, tool) => {
      const thrown = chain.reduce<unknown>(
        (cause, [kind, encode]) => errors[kind]?.(`no: <${encode(token)}>`, cause),
        undefined,
      );
      const throwing = async () => Promise.reject(thrown);
      const { put, read } = box({ put: throwing, read: throwing });
      const error = await failure(tool === "put" ? put({ name: "a", text: "new" }) : read({ name: "a" }));
      expect(isConnectorError(error)).toBe(true);
      expect("cause" in (error as object)).toBe(false);
      const said = everything(error);
      for (const [, encode] of chain) expect(said).not.toContain(encode(token));
      for (const form of Object.values(forms)) expect(said).not.toContain(form(token));
    },
  ),
);
