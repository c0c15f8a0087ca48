import { addPayment } from "@reversi-connector/stripe/sandbox";
import { bench, failure } from "./bench.ts";

test("a charge is read without its receipt link", async () => {
  const { call, backend } = await bench();
  const { charge, ada } = backend;
  const result = await call("retrieve_charge", { charge: charge.id });
  expect(result).toEqual({
    ...{ charge: charge.id, amount: 2000, amount_captured: 2000, amount_refunded: 0, captured: true },
    ...{ currency: "usd", customer: ada.id, description: null, disputed: false, failure_code: null },
    ...{ failure_message: null, livemode: false, metadata: {}, paid: true, payment_intent: charge.intent },
    ...{ refunded: false, status: "succeeded", created: charge.created },
  });
  expect(backend.requests.map(({ method }) => method)).toEqual(["GET"]);
});

test("a charge that Stripe does not know is an error with Stripe's words", async () => {
  const { call } = await bench();
  const error = await failure(call("retrieve_charge", { charge: "ch_none" }));
  expect(error).toMatchObject({ code: "FAILED", status: 404, reason: "resource_missing" });
  expect(error.message).toContain("No such charge: 'ch_none'");
});

test("a refund without an amount returns all that is left", async () => {
  const { call, backend, world } = await bench();
  const { charge } = backend;
  const part = await call("create_refund", { charge: charge.id, amount: 500, reason: "duplicate" });
  expect(part).toEqual({
    ...{ refund: world.refunds[0]?.id, status: "succeeded", amount: 500, currency: "usd", charge: charge.id },
    ...{ payment_intent: charge.intent, reason: "duplicate", failure_reason: null },
    created: world.refunds[0]?.created,
  });
  expect(await call("create_refund", { payment_intent: charge.intent })).toMatchObject({ amount: 1500 });
  expect(await call("retrieve_charge", { charge: charge.id })).toMatchObject({ refunded: true });
});

test("a refund that is pending says so", async () => {
  const { call, backend, world } = await bench();
  world.refundStatus = "pending";
  expect(await call("create_refund", { charge: backend.charge.id })).toMatchObject({ status: "pending" });
});

test("exactly one of charge and payment intent is taken, before anything is sent", async () => {
  const { call, backend } = await bench();
  const { id, intent } = backend.charge;
  for (const given of [{}, { amount: 5 }, { charge: id, payment_intent: intent }]) {
    const error = await failure(call("create_refund", given));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENTS" });
    expect(error.message).toContain("exactly one");
  }
  expect(backend.requests).toEqual([]);
});

test.each([
  ["more than is left", { amount: 2001 }, /greater than unrefunded amount/],
  ["of a disputed charge", {}, /charge_disputed/],
])("a refund %s is a failure, and no money moves", async (_, more, message) => {
  const { call, backend, state } = await bench();
  backend.charge.disputed = message.source.includes("disputed");
  const before = await state();
  const error = await failure(call("create_refund", { charge: backend.charge.id, ...more }));
  expect(error).toMatchObject({ code: "FAILED", status: 400, mayHaveApplied: false });
  expect(error.message).toMatch(message);
  expect(await state()).toEqual(before);
});

test("a charge that was refunded whole is refused, and so is an intent without a charge", async () => {
  const { call, backend, world } = await bench();
  await call("create_refund", { charge: backend.charge.id });
  const again = await failure(call("create_refund", { charge: backend.charge.id }));
  expect(again).toMatchObject({ code: "FAILED", reason: "charge_already_refunded" });
  const [intent] = world.intents;
  if (intent) intent.latestCharge = null;
  const none = await failure(call("create_refund", { payment_intent: backend.charge.intent }));
  expect(none).toMatchObject({ code: "FAILED", status: 400 });
});

test("ST-11: a refund whose answer was lost names its key, and the same key refunds once", async () => {
  const { call, backend, world } = await bench();
  const args = { charge: backend.charge.id, amount: 500 };
  backend.inject({ kind: "cutAfter", reset: true }, { method: "POST" });
  const lost = await failure(call("create_refund", args, { idempotencyKey: "engine-key" }));
  expect(lost).toMatchObject({ code: "EFFECT_UNCERTAIN", idempotencyKey: "engine-key" });
  const again = await call("create_refund", args, { idempotencyKey: "engine-key" });
  expect(again).toMatchObject({ refund: world.refunds[0]?.id, amount: 500 });
  expect(world.refunds).toHaveLength(1);
  await call("create_refund", args);
  expect(world.refunds).toHaveLength(2);
});

test("a refund whose answer was lost is found as it stands now", async () => {
  const { call, landed, backend, world } = await bench();
  const { id } = addPayment(world, { ...backend.charge, customer: null });
  world.refundStatus = "pending";
  const args = { charge: id };
  backend.inject({ kind: "cutAfter" }, { method: "POST" });
  await failure(call("create_refund", args, { idempotencyKey: "k" }));
  const [refund] = world.refunds;
  Object.assign(refund ?? {}, { status: "failed", failureReason: "lost_or_stolen_card" });
  expect(await landed("create_refund", args, "k")).toMatchObject({
    landed: true,
    result: { refund: refund?.id, status: "failed", failure_reason: "lost_or_stolen_card" },
  });
});
