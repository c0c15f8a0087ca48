import { connectorSchemaHashes, detectManifestDrift, type JsonSchema, s, schemaHash } from "../src/index.ts";
import { house } from "./house.ts";

const baseline = connectorSchemaHashes(house);
const none = { added: [], removed: [], changed: [] };

test("the baseline holds the hash of each tool's arguments, sorted by name", () => {
  expect(Object.keys(baseline)).toEqual(Object.keys(baseline).sort());
  expect(Object.keys(baseline)).toHaveLength(6);
  for (const { tool, schema_hash } of house.manifests) expect(baseline[tool]).toBe(schema_hash);
});
test("nothing drifted while nothing changed, also after a way through JSON", () => {
  expect(detectManifestDrift(house.manifests, house.inputSchemas, baseline)).toEqual(none);
  const travelled = (value: unknown) => JSON.parse(JSON.stringify(value));
  expect(
    detectManifestDrift(travelled(house.manifests), travelled(house.inputSchemas), travelled(baseline)),
  ).toEqual(none);
});
test("tools that came, went or take other arguments are named, sorted", () => {
  const schemas: Record<string, JsonSchema> = {
    ...house.inputSchemas,
    "house.b": s.object({}),
    "house.a": s.object({}),
  };
  schemas["house.look"] = s.object({ id: s.string("Another word.") });
  const manifests = [
    ...house.manifests.filter(({ tool }) => tool !== "house.unlike"),
    { tool: "house.b" },
    { tool: "house.a" },
  ];
  expect(detectManifestDrift(manifests, schemas, baseline)).toEqual({
    added: ["house.a", "house.b"],
    removed: ["house.unlike"],
    changed: ["house.look"],
  });
});
test("a tool whose arguments nobody tells any more has changed", () => {
  expect(
    detectManifestDrift([{ tool: "a" }], {}, { a: schemaHash(s.object({ x: s.json() })) }).changed,
  ).toEqual(["a"]);
});
test("names that JavaScript itself uses are names of tools like any other", () => {
  const tools = [{ tool: "constructor" }, { tool: "__proto__" }];
  const schemas = JSON.parse('{"constructor":{"type":"object"},"__proto__":{"type":"object"}}');
  expect(detectManifestDrift(tools, schemas, {})).toEqual({ ...none, added: ["__proto__", "constructor"] });
  const hashes = connectorSchemaHashes({ inputSchemas: schemas });
  expect(Object.keys(hashes)).toEqual(["__proto__", "constructor"]);
  expect(detectManifestDrift(tools, schemas, hashes)).toEqual(none);
  expect(detectManifestDrift(tools, {}, hashes)).toEqual({ ...none, changed: ["__proto__", "constructor"] });
});
