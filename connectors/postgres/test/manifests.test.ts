import { readFileSync } from "node:fs";
import { connectorSchemaHashes, detectManifestDrift } from "@reversi-connector/core";
import { definition, postgres } from "@reversi-connector/postgres";

const baseline = JSON.parse(readFileSync(new URL("../schema-hashes.json", import.meta.url), "utf8"));

test("the input schemas are those that were published", () => {
  expect(connectorSchemaHashes(definition)).toEqual(baseline);
  expect(detectManifestDrift(definition.manifests, definition.inputSchemas, baseline)).toEqual({
    added: [],
    removed: [],
    changed: [],
  });
});

test("every write has an undo whose guard the server holds, and a lost answer of it is looked up", async () => {
  const connector = postgres({ url: "postgres://agent:not-a-password@localhost/db" });
  for (const { tool, effect, compensation, target, guarantees } of connector.manifests) {
    if (effect === "read_only") continue;
    expect(["reversible", "idempotent"]).toContain(effect);
    expect(guarantees).toMatchObject({ guard: "content", guard_server_side: true });
    expect(compensation !== undefined).toBe(effect === "reversible");
    expect(target !== undefined).toBe(effect === "idempotent");
    expect(Object.hasOwn(connector.holds, tool)).toBe(effect === "idempotent");
    expect(Object.hasOwn(connector.landed, tool)).toBe(effect === "reversible");
  }
  await connector.close();
});
