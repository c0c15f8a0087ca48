import { definition } from "@reversi-connector/stripe";

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
