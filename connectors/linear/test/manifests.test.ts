import { readFileSync } from "node:fs";
import { connectorSchemaHashes, detectManifestDrift } from "@reversi-connector/core";
import { definition, linear } from "@reversi-connector/linear";

const baseline = JSON.parse(readFileSync(new URL("../schema-hashes.json", import.meta.url), "utf8"));

test("the input schemas are those that were published", () => {
  expect(connectorSchemaHashes(definition)).toEqual(baseline);
  expect(detectManifestDrift(definition.manifests, definition.inputSchemas, baseline)).toEqual({
    added: [],
    removed: [],
    changed: [],
  });
});

test("every write has an undo, and says how a lost answer is settled and how one sees that it is undone", async () => {
  const connector = linear({ apiKey: "not-a-real-key" });
  for (const { tool, effect, compensation, target } of connector.manifests) {
    if (effect === "read_only") continue;
    expect(["reversible", "idempotent"]).toContain(effect);
    expect(compensation !== undefined).toBe(effect === "reversible");
    expect(target !== undefined).toBe(effect === "idempotent");
    expect(Object.hasOwn(connector.holds, tool)).toBe(effect === "idempotent");
    expect(Object.hasOwn(connector.landed, tool)).toBe(effect === "reversible");
  }
  await connector.close();
});

test("a sub-issue, a comment and a reply are undone before what they belong to", () => {
  const requires = (name: string) => definition.manifests.find(({ tool }) => tool === name)?.requires;
  const issue = "linear.create_issue";
  expect(requires(issue)).toEqual([
    { tool: issue, match: { parent_id: "result.issue_id" } },
    { tool: issue, match: { parent_id: "result.identifier" } },
  ]);
  expect(requires("linear.add_comment")).toEqual([
    { tool: issue, match: { issue_id: "result.issue_id" } },
    { tool: issue, match: { issue_id: "result.identifier" } },
    { tool: "linear.add_comment", match: { parent_id: "result.comment_id" } },
  ]);
});

test("a base address that holds user info or no scheme is refused without being repeated", () => {
  for (const baseUrl of ["https://me:secret-word@host", "api.linear.app", "ftp://host"]) {
    expect(() => linear({ apiKey: "not-a-real-key", baseUrl })).toThrow(/baseUrl/);
    expect(() => linear({ apiKey: "not-a-real-key", baseUrl })).not.toThrow(/secret-word/);
  }
});
