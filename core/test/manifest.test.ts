import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { canonicalJson, definitionHash, hashOf, type Manifest, s, schemaHash } from "../src/index.ts";
import { define, house, look, manifestOf } from "./house.ts";
import { type Signature, signatures, testOnSignatures } from "./signatures.ts";

describe("a manifest follows from the declaration and its handlers", () => {
  const hashes = ({ input_schema, description, effect, permission }: Manifest) => ({
    input_schema,
    schema_hash: schemaHash(input_schema),
    definition_hash: definitionHash({ input_schema, description, effect, permission }),
  });
  test("reversible: the guard is its compensation's, the lost answer is looked up, the undo may go by the checkpoint", () => {
    const manifest = manifestOf("house.create_thing");
    expect(manifest).toEqual({
      tool: "house.create_thing",
      title: "Create thing",
      description: "Create a thing.",
      effect: "reversible",
      permission: "house:things:write",
      compensation: {
        tool: "house.remove_thing",
        argument_map: { id: "result.id", expected: { const: null } },
      },
      ...hashes(manifest),
      guarantees: {
        guard: "version",
        guard_server_side: true,
        uncertain: "landed",
        undo_from_checkpoint: true,
        checkpoint_guard: "expected",
        residue: [{ id: "thing-name", text: "The name stays taken." }],
      },
    });
  });
  test("compensable: without a guard, evidence or residue it says so; its edges name tools", () => {
    const manifest = manifestOf("house.move_thing");
    expect(manifest).toEqual({
      tool: "house.move_thing",
      title: "Move thing",
      description: "Move a thing.",
      effect: "compensable",
      permission: "house:things:write",
      compensation: { tool: "house.unlike", argument_map: { id: "args.id" } },
      requires: [
        { tool: "house.create_thing", match: { id: "result.id" } },
        { tool: "house.move_thing", match: { id: { overlaps: "args.id" } } },
      ],
      ...hashes(manifest),
      guarantees: {
        guard: "none",
        guard_server_side: false,
        uncertain: "report",
        undo_from_checkpoint: false,
        residue: [],
      },
    });
  });
  test("idempotent: what it works on, its own guard, and what the operator may say", () => {
    const manifest = manifestOf("house.remove_thing");
    expect(manifest).toEqual({
      tool: "house.remove_thing",
      title: "Remove thing",
      description: "Remove a thing.",
      effect: "idempotent",
      permission: "house:things:write",
      target: ["id"],
      on_conflict: ["refuse", "overwrite"],
      ...hashes(manifest),
      guarantees: {
        guard: "version",
        guard_server_side: true,
        idempotency: { header: "Idempotency-Key", window_hours: 24, replays_errors: true },
      },
    });
  });
  test("irreversible: always approved", () => {
    expect(manifestOf("house.burn_thing")).toMatchObject({
      approval: "always",
      guarantees: {
        guard: "none",
        guard_server_side: false,
        uncertain: "report",
        undo_from_checkpoint: false,
        residue: [],
      },
    });
  });
  test("read_only: nothing to guarantee", () => {
    const manifest = manifestOf("house.look");
    expect(Object.keys(manifest)).toEqual([
      "tool",
      "title",
      "description",
      "effect",
      "permission",
      "input_schema",
      "schema_hash",
      "definition_hash",
    ]);
  });
  test("only irreversible tools need an approval", () => {
    expect(house.manifests.filter(({ approval }) => approval).map(({ tool }) => tool)).toEqual([
      "house.burn_thing",
    ]);
  });
  test("a title of its own wins over the one made from the name", () => {
    expect(house.manifests.map(({ title }) => title)).toEqual([
      "Burn thing",
      "Create thing",
      "Look",
      "Move thing",
      "Remove thing",
      "Take a like back",
    ]);
  });
});

describe("what MCP clients are told", () => {
  test.each([
    ["house.look", true, false, true],
    ["house.create_thing", false, false, false],
    ["house.move_thing", false, true, false],
    ["house.remove_thing", false, true, true],
    ["house.unlike", false, false, true],
    ["house.burn_thing", false, true, false],
  ])(
    "%s: read-only %p, destructive %p, idempotent %p",
    (name, readOnlyHint, destructiveHint, idempotentHint) => {
      const described = house.descriptions.find((description) => description.name === name);
      const { title } = manifestOf(name);
      expect(described).toMatchObject({ name, title });
      expect(described?.annotations).toEqual({
        title,
        readOnlyHint,
        destructiveHint,
        idempotentHint,
        openWorldHint: true,
      });
    },
  );
  test("a backend of the user's own data is no open world", () => {
    const [description] = define([look], { openWorld: false }).descriptions;
    expect(description?.annotations.openWorldHint).toBe(false);
    expect(description).toMatchObject({ inputSchema: look.input, outputSchema: look.output });
  });
  testOnSignatures("the hint in the table of signatures is the one made from effect and additive", () => {
    for (const { effect, additive, destructive_hint } of Object.values(signatures)) {
      if (effect !== "read_only") expect(destructive_hint).toBe(additive !== true);
    }
  });
});

describe("hashes", () => {
  const schema = s.object({ title: s.string("The title.", { maxLength: 5 }), id: s.integer() });
  const said = { input_schema: schema, description: "Do.", effect: "reversible", permission: "a:b" } as const;
  test("do not depend on the order of keys, however deep", () => {
    const turned = JSON.parse(JSON.stringify(schema), (_key, value) =>
      typeof value === "object" && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).reverse())
        : value,
    );
    expect(Object.keys(turned)).toEqual(Object.keys(schema).reverse());
    expect(schemaHash(turned)).toBe(schemaHash(schema));
  });
  test("depend on the order of lists: `required` turned round is another schema", () => {
    expect(schemaHash({ ...schema, required: ["id", "title"] })).not.toBe(schemaHash(schema));
  });
  test.each<[string, object]>([
    [
      "a description inside",
      { properties: { ...schema.properties, title: s.string("A title.", { maxLength: 5 }) } },
    ],
    ["a limit", { properties: { ...schema.properties, title: s.string("The title.", { maxLength: 6 }) } }],
    ["a new optional argument", { properties: { ...schema.properties, note: s.string() } }],
    ["an argument named __proto__", { properties: JSON.parse('{"__proto__":{"type":"string"}}') }],
    ["an argument that may be left out", { required: ["title"] }],
    ["open instead of closed", { additionalProperties: true }],
  ])("of the schema change with it: %s", (_what, change) => {
    const changed = { ...schema, ...change };
    expect(schemaHash(changed)).not.toBe(schemaHash(schema));
    expect(definitionHash({ ...said, input_schema: changed })).not.toBe(definitionHash(said));
  });
  test.each<[string, object]>([
    ["description", { description: "Do it." }],
    ["effect", { effect: "idempotent" }],
    ["permission", { permission: "a:c" }],
  ])("of the definition change with the %s as well, those of the schema do not", (_what, change) => {
    expect(definitionHash({ ...said, ...change })).not.toBe(definitionHash(said));
    expect(schemaHash({ ...said, ...change }.input_schema)).toBe(schemaHash(said.input_schema));
  });
  test("are plain SHA-256 of canonical JSON, stored by people: this one must never change", () => {
    expect(schemaHash({ type: "object", properties: {} })).toBe(
      "efddc7bd8bbcef73a14eb1ace1ffdaec81e518ef1e13c1e9271d0b8acb694a49",
    );
  });
});

describe("canonical JSON", () => {
  test.each<[string, unknown, string]>([
    [
      "sorts keys by UTF-16 unit",
      { b: 1, a: 2, B: 3, é: 4, "10": 5, "9": 6 },
      '{"10":5,"9":6,"B":3,"a":2,"b":1,"é":4}',
    ],
    ["keeps the order of lists", [3, 1, 2], "[3,1,2]"],
    ["writes 1.0 as 1", JSON.parse("[1.0, 1e2, -0]"), "[1,100,0]"],
    ["keeps __proto__ as a name", JSON.parse('{"b":1,"__proto__":{"a":1}}'), '{"__proto__":{"a":1},"b":1}'],
    ["leaves out what is undefined", { a: undefined, b: [undefined] }, '{"b":[null]}'],
    ["escapes as JSON does", { 'a"\n': "\u2028\ud800" }, '{"a\\"\\n":"\u2028\\ud800"}'],
    ["takes what turns itself into JSON", { at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    ["has a text for nothing", undefined, "null"],
    ["writes single values", "a", '"a"'],
  ])("%s", (_what, value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });
  test("means the same value", () => {
    const value = { a: [{ c: 1, b: null }], d: "x" };
    expect(JSON.parse(canonicalJson(value))).toEqual(value);
    expect(hashOf({ a: 1, b: 2 })).toBe(hashOf({ b: 2, a: 1 }));
  });
});

describe("manifest.schema.json", () => {
  const schema = JSON.parse(readFileSync(new URL("../manifest.schema.json", import.meta.url), "utf8"));
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: true });
  const fits = ajv.compile<Manifest>(schema);
  const complaints = (manifest: unknown) => (fits(manifest) ? "" : ajv.errorsText(fits.errors));

  test.each(house.manifests.map((manifest): [string, Manifest] => [manifest.tool, manifest]))(
    "accepts %s",
    (_tool, manifest) => {
      expect(complaints(manifest)).toBe("");
      expect(complaints(JSON.parse(JSON.stringify(manifest)))).toBe("");
    },
  );
  test("knows every field that a manifest of ours can have, and no other", () => {
    const used = new Set(house.manifests.flatMap((manifest) => Object.keys(manifest)));
    expect(Object.keys(schema.properties).sort()).toEqual([...used].sort());
    const promised = new Set(house.manifests.flatMap(({ guarantees = {} }) => Object.keys(guarantees)));
    expect(Object.keys(schema.properties.guarantees.properties).sort()).toEqual([...promised].sort());
  });
  test("accepts a foreign manifest that says no more than it must", () => {
    expect(complaints({ tool: "read", effect: "read_only", permission: "files" })).toBe("");
    const compensation = { tool: "delete-file", argument_map: { path: "args.path" } };
    expect(complaints({ tool: "create-file", effect: "reversible", permission: "files", compensation })).toBe(
      "",
    );
  });

  const whole = manifestOf("house.create_thing");
  const undo = manifestOf("house.remove_thing");
  const { compensation: _without, ...lone } = whole;
  test.each<[string, object]>([
    ["no tool", { ...whole, tool: undefined }],
    ["a tool's name with a blank", { ...whole, tool: "a b" }],
    ["no effect", { ...whole, effect: undefined }],
    ["an effect that does not exist", { ...whole, effect: "undoable" }],
    ["no permission", { ...whole, permission: undefined }],
    ["an empty permission", { ...whole, permission: "" }],
    ["a field nobody knows", { ...whole, aproval: "always" }],
    ["another approval than always", { ...whole, approval: "sometimes" }],
    ["a reversible tool without its undo", lone],
    ["a compensable tool without its undo", { ...lone, effect: "compensable" }],
    ["an irreversible tool with an undo", { ...whole, effect: "irreversible", approval: "always" }],
    ["an irreversible tool without an approval", { ...lone, effect: "irreversible" }],
    ["a read with an undo", { ...whole, effect: "read_only" }],
    ["an undo without a tool", { ...whole, compensation: { argument_map: {} } }],
    ["an undo without a map", { ...whole, compensation: { tool: "a" } }],
    ["a source from nowhere", { ...whole, compensation: { tool: "a", argument_map: { id: "input.id" } } }],
    [
      "a source that is no whole path",
      { ...whole, compensation: { tool: "a", argument_map: { id: "result." } } },
    ],
    ["a source that is a number", { ...whole, compensation: { tool: "a", argument_map: { id: 1 } } }],
    [
      "a constant with something besides",
      { ...whole, compensation: { tool: "a", argument_map: { id: { const: 1, or: 2 } } } },
    ],
    ["an edge that matches nothing", { ...whole, requires: [{ tool: "a", match: {} }] }],
    ["an edge by a constant", { ...whole, requires: [{ tool: "a", match: { id: { const: 1 } } }] }],
    ["an edge without a tool", { ...whole, requires: [{ match: { id: "args.id" } }] }],
    ["one edge instead of a list", { ...whole, requires: { tool: "a", match: { id: "args.id" } } }],
    ["a target of nothing", { ...undo, target: [] }],
    ["a target twice", { ...undo, target: ["id", "id"] }],
    ["conflicts that are overwritten by default", { ...undo, on_conflict: ["overwrite", "refuse"] }],
    ["arguments that are no object", { ...whole, input_schema: { type: "array" } }],
    ["a hash in another form", { ...whole, schema_hash: whole.schema_hash.toUpperCase() }],
    ["a cut hash", { ...whole, definition_hash: whole.definition_hash.slice(1) }],
    ["a guard that does not exist", { ...whole, guarantees: { ...whole.guarantees, guard: "etag" } }],
    ["a guard that nobody says who holds", { ...whole, guarantees: { guard: "version" } }],
    ["a guarantee nobody knows", { ...whole, guarantees: { ...whole.guarantees, safe: true } }],
    [
      "a checkpoint's guard without the claim",
      { ...whole, guarantees: { guard: "none", guard_server_side: false, checkpoint_guard: "a" } },
    ],
    [
      "another end of an unknown outcome",
      { ...whole, guarantees: { ...whole.guarantees, uncertain: "retry" } },
    ],
    ["residue without an id", { ...whole, guarantees: { ...whole.guarantees, residue: [{ text: "a" }] } }],
    ["residue as text", { ...whole, guarantees: { ...whole.guarantees, residue: ["a"] } }],
    [
      "a window without an end",
      { ...undo, guarantees: { ...undo.guarantees, idempotency: { header: "K", replays_errors: true } } },
    ],
    ["a list", [whole]],
  ])("refuses %s", (_what, broken) => {
    expect(complaints(JSON.parse(JSON.stringify(broken)))).not.toBe("");
  });

  testOnSignatures("accepts what the table of signatures says of all 84 tools", () => {
    for (const [tool, signature] of Object.entries(signatures))
      expect(complaints(fromTable(tool, signature))).toBe("");
  });
});

/** The manifest that a row of the table amounts to. */
function fromTable(tool: string, row: Signature): object {
  const { about, effect, permission, input_schema } = row;
  const { approval, compensation, requires, target, on_conflict, guarantees, residue, idempotency } = row;
  const said = (fields: object) =>
    Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null));
  const promised = guarantees && said({ guard_server_side: false, ...guarantees, residue, idempotency });
  const where = {
    approval,
    compensation,
    requires,
    target,
    on_conflict: on_conflict?.values,
    guarantees: promised,
  };
  return {
    tool,
    description: about,
    effect,
    permission,
    input_schema,
    schema_hash: schemaHash(input_schema),
    ...said(where),
  };
}
