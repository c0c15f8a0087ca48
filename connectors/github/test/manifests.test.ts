import { readFileSync } from "node:fs";
import { connectorSchemaHashes, detectManifestDrift } from "@reversi-connector/core";
import { definition, github } from "@reversi-connector/github";

const baseline = JSON.parse(readFileSync(new URL("../schema-hashes.json", import.meta.url), "utf8"));

test("the input schemas are those that were published", () => {
  expect(connectorSchemaHashes(definition)).toEqual(baseline);
  expect(detectManifestDrift(definition.manifests, definition.inputSchemas, baseline)).toEqual({
    added: [],
    removed: [],
    changed: [],
  });
});

test("every write has an undo, and every undo says what it works on and how one sees that it is done", async () => {
  const connector = github({ token: "not-a-real-token" });
  for (const { tool, effect, compensation, target } of connector.manifests) {
    if (effect === "read_only") continue;
    expect(["reversible", "idempotent"]).toContain(effect);
    expect(compensation !== undefined).toBe(effect === "reversible");
    expect(target !== undefined).toBe(effect === "idempotent");
    expect(Object.hasOwn(connector.holds, tool)).toBe(effect === "idempotent");
  }
  await connector.close();
});

test("a base address that holds user info or no scheme is refused without being repeated", () => {
  for (const baseUrl of ["https://me:secret-word@host", "api.github.com", "ftp://host"]) {
    expect(() => github({ token: "not-a-real-token", baseUrl })).toThrow(/baseUrl/);
    expect(() => github({ token: "not-a-real-token", baseUrl })).not.toThrow(/secret-word/);
  }
});
