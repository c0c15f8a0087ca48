import { ConflictError } from "@reversi-connector/core";
import { addIntent, moveIntent } from "@reversi-connector/stripe/sandbox";
import { bench, failure } from "./bench.ts";

const args = { amount: 1000, currency: "eur" };
type Made = { readonly payment_intent: string; readonly status: string };
const created = async (more: object = {}) => {
  const on = await bench();
  const before = await on.state();
  const result = await on.call<Made>("create_payment_intent", { ...args, ...more });
  const intent = on.world.intents.at(-1);
  if (!intent) throw new Error("no intent was made");
  return { ...on, before, result, intent };
};

test("an intent is made unconfirmed, and its client secret stays where it is", async () => {
  const { result, intent } = await created();
  expect(result).toEqual({
    payment_intent: intent.id,
    status: "requires_payment_method",
    amount: 1000,
    currency: "eur",
    customer: null,
    livemode: false,
    created: intent.created,
  });
});

test("an intent with everything set arrives at Stripe as it was given", async () => {
  const { call, backend, world } = await bench();
  const given = {
    ...{ amount: 500, currency: "jpy", customer: backend.ada.id, description: "Größe: 5 & more = +1" },
    ...{ payment_method: backend.paymentMethod, receipt_email: "ada@example.com" },
    ...{ statement_descriptor_suffix: "BOOKS", capture_method: "manual" },
    allowed_payment_method_types: ["card", "link"],
  };
  const result = await call("create_payment_intent", given, { idempotencyKey: "k" });
  expect(result).toMatchObject({ status: "requires_confirmation", customer: backend.ada.id, amount: 500 });
  expect(world.intents.at(-1)).toMatchObject({
    ...{ amount: 500, currency: "jpy", customer: backend.ada.id, description: given.description },
    ...{ paymentMethod: backend.paymentMethod, receiptEmail: "ada@example.com", suffix: "BOOKS" },
    ...{ captureMethod: "manual", allowedTypes: ["card", "link"], metadata: { reversi_op: "k" } },
  });
});

test("ST-04: nested fields are sent in brackets and mean the same when decoded", async () => {
  const { call, world, writes } = await bench();
  const metadata = { "a b": "c&d=e", é: "ü+", "50%": "[x]", plus: "1+1" };
  await call("create_payment_intent", { ...args, metadata }, { idempotencyKey: "k" });
  expect(world.intents.at(-1)?.metadata).toEqual({ ...metadata, reversi_op: "k" });
  const [{ text = "", headers = {} } = {}] = writes();
  expect(headers["content-type"]).toBe("application/x-www-form-urlencoded");
  expect(text).toContain("metadata[a%20b]=c%26d%3De&metadata[%C3%A9]=%C3%BC%2B");
  expect(text).not.toMatch(/object|undefined|null/);
});

test.each([
  ["brackets in a metadata key", { metadata: { "k[x]": "1" } }],
  ["confirm", { confirm: false }],
  ["payment_method_types, which Stripe removed", { payment_method_types: ["card"] }],
  ["off_session", { off_session: true }],
  ["an address to return to", { return_url: "https://example.com" }],
  ["ST-07: a fraction", { amount: 19.99 }],
  ["ST-07: a number beyond all integers", { amount: 1e21 }],
  ["ST-07: text", { amount: "1000" }],
  ["ST-07: a negative amount", { amount: -5 }],
  ["ST-07: nothing", { amount: 0 }],
  ["ST-07: NaN", { amount: Number.NaN }],
  ["an upper-case currency", { currency: "EUR" }],
  ["a customer of another shape", { customer: "../refunds" }],
])("%s is refused before anything is sent", async (_, changes) => {
  const { call, backend } = await bench();
  const error = await failure(call("create_payment_intent", { ...args, ...changes }));
  expect(error).toMatchObject({ code: "INVALID_ARGUMENTS" });
  expect(backend.requests).toEqual([]);
});

test("ST-07: the amount is nobody's to multiply", async () => {
  const { intent, writes } = await created({ amount: 500, currency: "jpy" });
  expect(intent).toMatchObject({ amount: 500, currency: "jpy" });
  expect(writes()[0]?.text).toMatch(/^amount=500&currency=jpy&/);
});

test("what Stripe refuses is a failure in Stripe's words, and nothing is made", async () => {
  const { call, state } = await bench();
  const before = await state();
  const unknown = await failure(call("create_payment_intent", { ...args, customer: "cus_none" }));
  expect(unknown).toMatchObject({ code: "FAILED", status: 400, reason: "resource_missing" });
  expect(unknown.message).toContain("No such customer: 'cus_none'");
  expect(unknown.requestId).toMatch(/^req_/);
  const small = await failure(call("create_payment_intent", { ...args, amount: 3 }));
  expect(small).toMatchObject({ code: "FAILED", status: 400, reason: "amount_too_small" });
  expect(await state()).toEqual(before);
});

test("the undo of create_payment_intent leaves nothing but the canceled intent", async () => {
  const { undo, undoOf, holds, state, before, result, intent } = await created();
  const { args: undoArgs } = undoOf("create_payment_intent", result);
  expect(await holds("cancel_payment_intent", undoArgs)).toBe(false);
  expect(await undo("create_payment_intent", result)).toEqual({
    payment_intent: intent.id,
    status: "canceled",
    already: false,
  });
  const after = await state();
  expect(after.payment_intents[intent.id]?.status).toBe("canceled");
  delete after.payment_intents[intent.id];
  expect(after).toEqual(before);
  expect(await holds("cancel_payment_intent", undoArgs)).toBe(true);
});

test("repeating the undo changes nothing and sends nothing but a read", async () => {
  const { undo, state, result, writes } = await created();
  await undo("create_payment_intent", result);
  const after = await state();
  expect(await undo("create_payment_intent", result)).toMatchObject({ already: true });
  expect(await state()).toEqual(after);
  expect(writes()).toHaveLength(2);
});

test.each(["requires_confirmation", "requires_action", "requires_capture"] as const)(
  "an intent that somebody took to %s is a conflict and stays; the operator may cancel it",
  async (status) => {
    const { undo, world, state, result, intent } = await created();
    moveIntent(world, intent, status);
    const standing = await state();
    const error = await failure(undo("create_payment_intent", result));
    expect(ConflictError.is(error)).toBe(true);
    expect(error).toMatchObject({ expected: "requires_payment_method", found: status });
    expect(await state()).toEqual(standing);
    const forced = await undo("create_payment_intent", result, { onConflict: "overwrite" });
    expect(forced).toMatchObject({ status: "canceled", already: false });
    expect(intent.status).toBe("canceled");
  },
);

test.each(["succeeded", "processing"] as const)(
  "ST-08: an intent that is %s is a failed step, and nothing is sent",
  async (status) => {
    const { undo, world, result, intent, writes } = await created();
    moveIntent(world, intent, status);
    const error = await failure(undo("create_payment_intent", result));
    expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
    expect(error.message).toContain(`is ${status}`);
    expect(intent.status).toBe(status);
    expect(writes()).toHaveLength(1);
  },
);

test.each([
  ["canceled", true],
  ["succeeded", false],
  ["processing", false],
] as const)("ST-08: %s in the middle of the undo is told by the intent's own state", async (status, met) => {
  const { undo, meanwhile, world, result, intent } = await created();
  meanwhile("POST", () => moveIntent(world, intent, status));
  if (met) {
    expect(await undo("create_payment_intent", result)).toMatchObject({ status: "canceled", already: true });
    return;
  }
  const error = await failure(undo("create_payment_intent", result));
  expect(error).toMatchObject({
    status: 400,
    reason: "payment_intent_unexpected_state",
    mayHaveApplied: false,
  });
  expect(error.message).toContain(`a status of ${status}`);
  expect(error.message).not.toContain("spent");
});

test("a payment under way is canceled as told where Stripe can still call it back", async () => {
  const { call, world } = await bench();
  const { id } = addIntent(world, { ...args, status: "processing" });
  const refused = await failure(call("cancel_payment_intent", { payment_intent: id }));
  expect(refused).toMatchObject({ reason: "payment_intent_unexpected_state" });
  world.processingCancelable = true;
  expect(await call("cancel_payment_intent", { payment_intent: id })).toMatchObject({ already: false });
});

test("without a state to compare it cancels as told, with the reason given", async () => {
  const { call, world } = await bench();
  const intent = addIntent(world, { ...args, status: "requires_capture" });
  await call("cancel_payment_intent", { payment_intent: intent.id, cancellation_reason: "abandoned" });
  expect(intent).toMatchObject({ status: "canceled", cancellationReason: "abandoned" });
});

test("an intent that Stripe does not know is a failure, not a canceled one", async () => {
  const { call, holds } = await bench();
  const unknown = { payment_intent: "pi_none" };
  expect(await failure(call("cancel_payment_intent", unknown))).toMatchObject({
    code: "FAILED",
    status: 404,
  });
  await expect(holds("cancel_payment_intent", unknown)).rejects.toThrow(/HTTP 404/);
});

test("an answer to the cancellation that does not say canceled proves nothing", async () => {
  const { undo, backend, result, intent } = await created();
  const body = { id: intent.id, object: "payment_intent", status: intent.status };
  backend.inject({ kind: "status", status: 200, body }, { method: "POST" });
  expect(await failure(undo("create_payment_intent", result))).toMatchObject({ code: "EFFECT_UNCERTAIN" });
});
