import { readFileSync } from "node:fs";
import { connectorSchemaHashes, detectManifestDrift } from "@reversi-connector/core";
import { definition, slack } from "@reversi-connector/slack";

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
  const connector = slack({ token: "not-a-real-token" });
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

test("replies and reactions wait for the message that the same run posted", () => {
  const edges = definition.manifests.flatMap(({ tool, requires }) =>
    (requires ?? []).map(({ tool: earlier, match }) => [tool, earlier, match]),
  );
  expect(edges).toEqual([
    ["slack.add_reaction", "slack.post_message", { timestamp: "result.ts" }],
    ["slack.post_message", "slack.post_message", { thread_ts: "result.ts" }],
  ]);
});

test("a base address that holds user info or no scheme is refused without being repeated", () => {
  for (const baseUrl of ["https://me:secret-word@host", "slack.com/api", "ftp://host"]) {
    expect(() => slack({ token: "not-a-real-token", baseUrl })).toThrow(/baseUrl/);
    expect(() => slack({ token: "not-a-real-token", baseUrl })).not.toThrow(/secret-word/);
  }
});
