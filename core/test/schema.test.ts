import { type JsonSchema, type Schema, s } from "../src/index.ts";
import { signatures, testOnSignatures } from "./signatures.ts";

const safe = Number.MAX_SAFE_INTEGER;

test.each<[string, JsonSchema, JsonSchema]>([
  ["string", s.string(), { type: "string" }],
  [
    "string with everything",
    s.string("Name.", { minLength: 1, maxLength: 9, pattern: "^a$", default: "a" }),
    { type: "string", description: "Name.", minLength: 1, maxLength: 9, pattern: "^a$", default: "a" },
  ],
  ["integer", s.integer(), { type: "integer", minimum: 0, maximum: safe }],
  [
    "integer with everything",
    s.integer("Count.", { minimum: -1, maximum: 9, default: 3 }),
    { type: "integer", description: "Count.", minimum: -1, maximum: 9, default: 3 },
  ],
  ["boolean", s.boolean(), { type: "boolean" }],
  [
    "boolean with a default",
    s.boolean("Yes.", { default: false }),
    { type: "boolean", description: "Yes.", default: false },
  ],
  [
    "oneOf",
    s.oneOf(["a", "b"], "Kind.", { default: "b" }),
    { type: "string", description: "Kind.", enum: ["a", "b"], default: "b" },
  ],
  [
    "stringOrInteger",
    s.stringOrInteger("Key."),
    { type: ["string", "integer"], description: "Key.", minimum: -safe, maximum: safe },
  ],
  [
    "stringOrInteger with rules",
    s.stringOrInteger("Key.", { minLength: 1, maxLength: 2, minimum: 0 }),
    {
      type: ["string", "integer"],
      description: "Key.",
      minLength: 1,
      maxLength: 2,
      minimum: 0,
      maximum: safe,
    },
  ],
  ["json", s.json(), {}],
  ["json with a description", s.json("Anything."), { description: "Anything." }],
  [
    "array",
    s.array(s.boolean(), "List.", { minItems: 1, maxItems: 2 }),
    { type: "array", description: "List.", items: { type: "boolean" }, minItems: 1, maxItems: 2 },
  ],
  [
    "map",
    s.map(s.boolean(), "Map.", { keys: "^a+$", minProperties: 1, maxProperties: 2 }),
    {
      type: "object",
      description: "Map.",
      additionalProperties: { type: "boolean" },
      propertyNames: { pattern: "^a+$" },
      minProperties: 1,
      maxProperties: 2,
    },
  ],
  [
    "nullable, the description and the default outside",
    s.nullable(s.string("Title.", { maxLength: 2, default: "x" })),
    { description: "Title.", anyOf: [{ type: "string", maxLength: 2 }, { type: "null" }], default: "x" },
  ],
  [
    "object",
    s.object({ b: s.boolean(), a: s.json() }, { c: s.boolean() }, "Thing."),
    {
      type: "object",
      description: "Thing.",
      properties: { b: { type: "boolean" }, a: {}, c: { type: "boolean" } },
      required: ["b", "a"],
      additionalProperties: false,
    },
  ],
  ["object of nothing", s.object({}), { type: "object", properties: {}, additionalProperties: false }],
])("%s is exactly this JSON Schema, and plain", (_name, built, expected) => {
  expect(built).toEqual(expected);
  expect(JSON.parse(JSON.stringify(built))).toEqual(built);
});

/** The schema written with `s`. */
function rebuilt(schema: JsonSchema): Schema<unknown> {
  const { type, description, properties, items, anyOf, additionalProperties, propertyNames, ...rules } =
    schema;
  if (anyOf) {
    expect(anyOf[1]).toEqual({ type: "null" });
    return s.nullable(rebuilt({ ...anyOf[0], ...(description !== undefined && { description }) }));
  }
  if (Array.isArray(type)) return s.stringOrInteger(description, rules);
  switch (type) {
    case "string": {
      const { enum: values, default: value, ...others } = rules;
      const preset = value === undefined ? {} : { default: value as string };
      if (values) return s.oneOf(values, description ?? "", preset as { default: string });
      return s.string(description, { ...others, ...preset });
    }
    case "integer":
      return s.integer(description, rules as object);
    case "boolean":
      return s.boolean(description ?? "", rules as { default: boolean });
    case "array":
      return s.array(rebuilt(items ?? {}), description, rules);
    case "object": {
      if (!properties) {
        const keys = propertyNames ? { keys: propertyNames.pattern } : {};
        return s.map(rebuilt(additionalProperties as JsonSchema), description, { ...rules, ...keys });
      }
      const required = rules.required ?? [];
      const fields = (names: readonly string[]) =>
        Object.fromEntries(names.map((name) => [name, rebuilt(properties[name] ?? {})]));
      const optional = Object.keys(properties).filter((name) => !required.includes(name));
      return s.object(fields(required), fields(optional), description);
    }
    default:
      return s.json(description);
  }
}

/** Of a tool's own input an empty `required` is written; `s` leaves it to the declaration. */
const withoutEmpty = ({ required, ...schema }: JsonSchema): JsonSchema =>
  required?.length ? { ...schema, required } : schema;

testOnSignatures("all 84 tools can be written with s, to the letter", () => {
  for (const { input_schema, output_schema } of Object.values(signatures)) {
    expect(rebuilt(input_schema)).toEqual(withoutEmpty(input_schema));
    expect(rebuilt(output_schema)).toEqual(output_schema);
  }
});

testOnSignatures(
  "every host accepts the arguments of all 84 tools: a closed plain object at the root",
  () => {
    for (const [tool, { input_schema }] of Object.entries(signatures)) {
      const { type, properties = {}, required = [], additionalProperties, ...others } = input_schema;
      expect([tool, type, additionalProperties, others]).toEqual([tool, "object", false, {}]);
      expect(Object.keys(properties)).toEqual(expect.arrayContaining([...required]));
    }
  },
);
