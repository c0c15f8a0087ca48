import { Ajv2020 } from "ajv/dist/2020.js";
import { checkValue, type JsonSchema, s } from "../src/index.ts";
import { changed, fitting, json, seeded } from "./generator.ts";
import { signatures, testOnSignatures } from "./signatures.ts";

const ajv = new Ajv2020({ strict: false, ownProperties: true });

/** Compares both on `rounds` values that fit, as many with one change, and some that have nothing to do with the schema. */
function compare(schema: JsonSchema, rounds: number, seed: number) {
  const fits = ajv.compile(schema);
  const random = seeded(seed);
  const seen = { accepted: 0, refused: 0 };
  for (let round = 0; round < rounds; round++) {
    const good = fitting(schema, random);
    for (const value of [good, changed(good, random), changed(changed(good, random), random), json(random)]) {
      const problems = checkValue(schema, value);
      if (fits(value) !== (problems.length === 0)) {
        throw new Error(
          `${JSON.stringify(schema)} and ${JSON.stringify(value)}: core ${JSON.stringify(problems)}, ajv ${ajv.errorsText(fits.errors)}`,
        );
      }
      if (problems.length === 0) seen.accepted++;
      else seen.refused++;
    }
  }
  return seen;
}

const word = "^[a-z]([a-z0-9-]{0,6}[a-z0-9])?$";
const builders: Readonly<Record<string, JsonSchema>> = {
  string: s.string(),
  "string of limited length": s.string("", { minLength: 1, maxLength: 3 }),
  "string with a pattern": s.string("", { pattern: word, maxLength: 6 }),
  "string with a pattern that looks ahead": s.string("", { pattern: "^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,8}$" }),
  integer: s.integer(),
  "integer in a range": s.integer("", { minimum: -3, maximum: 3 }),
  boolean: s.boolean(),
  oneOf: s.oneOf(["a", "b", ""]),
  stringOrInteger: s.stringOrInteger(),
  "stringOrInteger with rules": s.stringOrInteger("", { minLength: 1, maxLength: 3, minimum: 0, maximum: 9 }),
  json: s.json(),
  array: s.array(s.integer()),
  "array of limited length": s.array(s.string(), "", { minItems: 1, maxItems: 2 }),
  map: s.map(s.integer()),
  "map with names and limits": s.map(s.json(), "", { keys: word, minProperties: 1, maxProperties: 2 }),
  nullable: s.nullable(s.string("", { maxLength: 2 })),
  "nullable object": s.nullable(s.object({ a: s.integer() })),
  object: s.object({ a: s.string() }, { b: s.integer(), constructor: s.boolean() }),
  "nested object": s.object({ list: s.array(s.object({ to: s.nullable(s.map(s.stringOrInteger())) })) }),
};

test.each(Object.entries(builders))("%s: core and ajv agree on thousands of values", (_name, schema) => {
  const { accepted, refused } = compare(schema, 800, 1);
  expect(accepted).toBeGreaterThan(500);
  expect(refused).toBeGreaterThan(schema.type === undefined && !schema.anyOf ? -1 : 100);
});

testOnSignatures("core and ajv agree on the arguments and results of all 84 tools", () => {
  const all = Object.values(signatures);
  expect(all).toHaveLength(84);
  let accepted = 0;
  for (const [index, { input_schema, output_schema }] of all.entries()) {
    accepted += compare(input_schema, 25, index).accepted + compare(output_schema, 25, index).accepted;
  }
  // Values that no schema lets through would prove little.
  expect(accepted).toBeGreaterThan(84 * 2 * 20);
});
