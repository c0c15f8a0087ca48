import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { always } from "../../test/fuzz.ts";
import { settleArguments } from "../src/check.ts";
import { checkValue, InvalidArgumentsError, type JsonSchema } from "../src/index.ts";

const patterns = ["^[a-z]{1,3}$", "^(?!\\.{1,2}$)[a-z.]+$", "^[^\\u0000/]*$", "x", "^\\p{L}+$", "^(a|b?c)*$"];
const names = ["a", "b", "", "é", "x y", "constructor", "toString", "length"];
// ajv takes no notice of a property "__proto__" in a schema; in a value it does.
const name = fc.constantFrom(...names);
const anyName = fc.constantFrom(...names, "__proto__");
const limit = fc.nat({ max: 3 });

/** Texts near every edge the schemas below have: lengths in characters and in units, ends of lines, all of Unicode. */
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 5 }),
  fc.string({ unit: fc.constantFrom("a", "b", "c", "x", "é", "😀", ".", "\n", "\u0000", "/"), maxLength: 4 }),
);
const number = fc.oneof(
  fc.integer({ min: -5, max: 5 }),
  fc.constantFrom(0.5, -0, 1e21, 2 ** 53, Number.MAX_SAFE_INTEGER, -(2 ** 53)),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

const { schema, object } = fc.letrec<{ schema: JsonSchema; object: JsonSchema; leaf: JsonSchema }>((tie) => ({
  leaf: fc.oneof(
    fc.constant({}),
    fc.record(
      {
        type: fc.constant("string"),
        minLength: limit,
        maxLength: limit,
        pattern: fc.constantFrom(...patterns),
      },
      { requiredKeys: ["type"] },
    ),
    fc.record({ type: fc.constant("string"), enum: fc.uniqueArray(text, { minLength: 1, maxLength: 3 }) }),
    fc.record(
      {
        type: fc.constantFrom("integer", "number", ["string", "integer"], ["null", "number", "array"]),
        minimum: fc.integer({ min: -3, max: 3 }),
        maximum: fc.integer({ min: -3, max: 3 }),
        maxLength: limit,
      },
      { requiredKeys: ["type"] },
    ),
    fc.constantFrom({ type: "boolean" }, { type: "null" }),
  ),
  object: fc.record(
    {
      type: fc.constant("object"),
      properties: fc.dictionary(name, tie("schema"), { maxKeys: 3, noNullPrototype: true }),
      // ajv never misses a required property whose name is empty.
      required: fc.uniqueArray(
        name.filter((key) => key !== ""),
        { maxLength: 2 },
      ),
      additionalProperties: fc.oneof(fc.boolean(), tie("schema")),
      propertyNames: fc.record({ pattern: fc.constantFrom(...patterns) }),
      minProperties: limit,
      maxProperties: limit,
    },
    { requiredKeys: ["type"] },
  ),
  schema: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    tie("leaf"),
    fc.record(
      { type: fc.constant("array"), items: tie("schema"), minItems: limit, maxItems: limit },
      { requiredKeys: ["type"] },
    ),
    fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
    tie("object"),
  ),
}));

const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(null, true, false, "", 0),
    text,
    number,
    fc.array(tie("json"), { maxLength: 4 }),
    fc.dictionary(anyName, tie("json"), { maxKeys: 4 }),
  ),
}));

/** A value that mostly fits. Rules that contradict each other leave something that does not. */
function fitting(rules: JsonSchema): fc.Arbitrary<unknown> {
  const { type, anyOf, pattern, minLength = 0, maxLength = minLength + 2 } = rules;
  if (anyOf) return fc.oneof(...anyOf.map(fitting));
  if (rules.enum) return fc.constantFrom(...rules.enum);
  const of = typeof type === "object" ? type : [type];
  const kinds: Readonly<Record<string, () => fc.Arbitrary<unknown>>> = {
    null: () => fc.constant(null),
    boolean: () => fc.boolean(),
    number: () => number,
    integer: () =>
      fc.integer({ min: rules.minimum ?? -3, max: Math.max(rules.minimum ?? -3, rules.maximum ?? 3) }),
    string: () =>
      pattern !== undefined
        ? text
        : fc.string({ unit: "binary", minLength, maxLength: Math.max(minLength, maxLength) }),
    array: () => {
      const { items = {}, minItems = 0, maxItems = minItems + 1 } = rules;
      return fc.array(fitting(items), { minLength: minItems, maxLength: Math.max(minItems, maxItems) });
    },
    object: () => {
      const { properties = {}, required = [] } = rules;
      const needed = Object.fromEntries(required.map((key) => [key, json]));
      const own = Object.entries(properties).map(([key, inner]) => [key, fitting(inner)]);
      const all: Record<string, fc.Arbitrary<unknown>> = { ...needed, ...Object.fromEntries(own) };
      return fc.record(all, { requiredKeys: [...required], noNullPrototype: true });
    },
  };
  return fc.oneof(...of.map((kind) => (kind === undefined ? json : (kinds[kind]?.() ?? json))));
}

/** Nothing in it can be changed without an error. */
function frozen<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null) {
    for (const inner of Object.values(value)) frozen(inner);
    Object.freeze(value);
  }
  return value;
}

const ajv = new Ajv2020({ strict: false, ownProperties: true, logger: false });
const wellFormed = (value: unknown): boolean =>
  typeof value === "string"
    ? value.isWellFormed()
    : typeof value !== "object" || value === null || Object.entries(value).flat().every(wellFormed);
const both = schema.chain((rules) => fc.tuple(fc.constant(rules), fc.oneof(fitting(rules), json)));

const seen = { fit: 0, unfit: 0 };
always(
  "core and ajv agree on any value under any schema",
  900,
  fc.property(both, ([rules, value]) => {
    fc.pre(wellFormed(value));
    const fits = ajv.compile(rules);
    const verdict = { fits: checkValue(rules, frozen(value)).length === 0 };
    expect(verdict).toEqual({ fits: fits(value) });
    seen[verdict.fits ? "fit" : "unfit"]++;
  }),
);
test("both verdicts were given often enough to mean something", () => {
  expect(Math.min(seen.fit, seen.unfit)).toBeGreaterThan(200);
});

/** Where in a value something stands, as problems name it. */
function places(value: unknown, at = ""): string[] {
  if (typeof value !== "object" || value === null) return [at];
  const inside = Object.entries(value).flatMap(([key, inner]) =>
    places(inner, Array.isArray(value) ? `${at}[${key}]` : `${at}.${key || '""'}`),
  );
  return [at, ...inside];
}
const strange: readonly unknown[] = [
  undefined,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  "\ud800",
  1n,
  Symbol("x"),
  () => {},
  new Date(0),
  new Map(),
  /x/,
  new (class Own {
    readonly a = 1;
  })(),
];
/** `json` with something at one place that JSON does not have. */
const notJson = fc.tuple(json, fc.nat(), fc.constantFrom(...strange)).map(([value, at, what]) => {
  const all = places(value);
  const wanted = all[at % all.length] as string;
  const rebuilt = (inner: unknown, place: string): unknown => {
    if (place === wanted) return what;
    if (typeof inner !== "object" || inner === null) return inner;
    if (Array.isArray(inner)) return inner.map((item, index) => rebuilt(item, `${place}[${index}]`));
    return Object.fromEntries(
      Object.entries(inner).map(([key, item]) => [key, rebuilt(item, `${place}.${key || '""'}`)]),
    );
  };
  return { value: rebuilt(value, ""), at: wanted.replace(/^\./, "") || "arguments" };
});
always(
  "what is no JSON is refused wherever it stands, and the place is named",
  1000,
  fc.property(notJson, ({ value, at }) => {
    expect(checkValue({}, value, 1).map((problem) => problem.at)).toEqual([at]);
  }),
);

always(
  "any value at all is answered with arguments or with InvalidArgumentsError, and stays as it was",
  1000,
  fc.property(object, fc.anything({ withBigInt: true, withDate: true, withMap: true }), (rules, value) => {
    frozen(value);
    try {
      expect(checkValue(rules, settleArguments("a.b", rules, value))).toEqual([]);
    } catch (error) {
      if (!InvalidArgumentsError.is(error)) throw error;
      expect(error.problems.length).toBeGreaterThan(0);
      for (const { at, rule } of error.problems) expect([at, rule]).not.toContain("");
    }
  }),
);
