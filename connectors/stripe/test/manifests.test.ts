import { readFileSync } from "node:fs";
import { connectorSchemaHashes, detectManifestDrift } from "@reversi-connector/core";
import { definition, stripe } from "@reversi-connector/stripe";

const baseline = JSON.parse(readFileSync(new URL("../schema-hashes.json", import.meta.url), "utf8"));

test("the input schemas are those that were published", () => {
  expect(connectorSchemaHashes(definition)).toEqual(baseline);
  expect(detectManifestDrift(definition.manifests, definition.inputSchemas, baseline)).toEqual({
    added: [],
    removed: [],
    changed: [],
  });
});

test("every write has an undo or is known to have none, and then a person approves it", () => {
  const effects = Object.fromEntries(definition.manifests.map(({ tool, effect }) => [tool, effect]));
  expect(effects).toEqual({
    "stripe.retrieve_charge": "read_only",
    "stripe.create_customer": "reversible",
    "stripe.delete_customer": "idempotent",
    "stripe.create_payment_intent": "reversible",
    "stripe.cancel_payment_intent": "idempotent",
    "stripe.create_refund": "irreversible",
  });
  const refund = definition.manifests.find(({ tool }) => tool === "stripe.create_refund");
  expect(refund).toMatchObject({ approval: "always" });
  expect(refund).not.toHaveProperty("compensation");
});

test("an intent waits for the customer that the same run made", () => {
  const { requires } = definition.manifests.find(({ tool }) => tool === "stripe.create_payment_intent") ?? {};
  expect(requires).toEqual([{ tool: "stripe.create_customer", match: { customer: "result.customer" } }]);
});

test("a base address that holds user info or no scheme is refused without being repeated", () => {
  for (const baseUrl of ["https://me:secret-word@host", "api.stripe.com", "ftp://host"]) {
    expect(() => stripe({ secretKey: "not-a-real-key", baseUrl })).toThrow(/baseUrl/);
    expect(() => stripe({ secretKey: "not-a-real-key", baseUrl })).not.toThrow(/secret-word/);
  }
});
