import { readFileSync } from "node:fs";
import { connectorSchemaHashes, detectManifestDrift } from "@reversi-connector/core";
import { definition, gitlab } from "@reversi-connector/gitlab";
import { bench, failure } from "./bench.ts";

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
  const connector = gitlab({ token: "not-a-real-token" });
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
  for (const baseUrl of ["https://me:secret-word@host", "gitlab.example.com", "ftp://host"]) {
    expect(() => gitlab({ token: "not-a-real-token", baseUrl })).toThrow(/baseUrl/);
    expect(() => gitlab({ token: "not-a-real-token", baseUrl })).not.toThrow(/secret-word/);
  }
});

test.each([
  ["", ""],
  ["/", ""],
  ["/git", "/git"],
  ["/git/", "/git"],
  ["/git/api/v4/", "/git"],
])("HT-09: under a base URL ending in %j requests go to %j/api/v4", async (given, prefix) => {
  const { backend } = await bench();
  const connector = gitlab({ token: "not-a-real-token", baseUrl: `${backend.address}${given}` });
  await failure(connector.tools["gitlab.get_issue"]?.({ project: 7, issue_iid: 1 }) ?? Promise.resolve());
  await connector.close();
  expect(backend.requests.map(({ path }) => path)).toEqual([`${prefix}/api/v4/projects/7/issues/1`]);
});
