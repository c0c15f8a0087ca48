import { readFileSync } from "node:fs";
import { connectorSchemaHashes, detectManifestDrift } from "@reversi-connector/core";
import { definition } from "../src/index.ts";

const baseline = JSON.parse(readFileSync(new URL("../schema-hashes.json", import.meta.url), "utf8"));

test("the input schemas are those that were published", () => {
  expect(connectorSchemaHashes(definition)).toEqual(baseline);
  expect(detectManifestDrift(definition.manifests, definition.inputSchemas, baseline)).toEqual({
    added: [],
    removed: [],
    changed: [],
  });
});
