import { type Call, type Endpoint, find, need, ok } from "./call.ts";
import { addIntent, moveIntent } from "./deeds.ts";
import { intentOf } from "./objects.ts";
import { integer, list, metadata, oneOf, read, text, word } from "./parameters.ts";
import { fail, refuse } from "./wire.ts";
import type { Intent } from "./world.ts";

const intentIn = ({ world, request }: Call): Intent =>
  find(world, world.intents, request.params["id"] ?? "", {
    what: "payment_intent",
    param: "intent",
    inPath: true,
  });

/** Currency → the least amount that Stripe takes. */
const currencies = new Map(
  Object.entries({
    usd: 50,
    eur: 50,
    gbp: 30,
    jpy: 50,
    chf: 50,
    cad: 50,
    aud: 50,
    krw: 50,
    sek: 300,
    kwd: 50,
  }),
);

function checkAmount(amount: number, currency: string): void {
  const known = [...currencies.keys()].join(", ");
  const least =
    currencies.get(currency) ??
    refuse(400, {
      message: `Invalid currency: ${currency}. Stripe currently supports these currencies: ${known}`,
      param: "currency",
    });
  const param = "amount";
  if (amount < 1) {
    const message = "This value must be greater than or equal to 1.";
    refuse(400, { code: "parameter_invalid_integer", message, param });
  }
  if (amount < least) {
    fail(400, { code: "amount_too_small", message: `Amount must be at least ${least} ${currency}`, param });
  }
  if (amount > 99_999_999) {
    fail(400, { code: "amount_too_large", message: "Amount must be no more than 99999999", param });
  }
}

export const createIntent: Endpoint = ({ world, sent, by }) => {
  need(world, "payment_intent", "write");
  const kinds = {
    amount: integer,
    currency: word,
    customer: word,
    description: text(1000),
    payment_method: word,
    receipt_email: word,
    statement_descriptor_suffix: text(22),
    capture_method: oneOf(["automatic", "automatic_async", "manual"]),
    allowed_payment_method_types: list(word),
    metadata,
  };
  const given = read(sent, kinds, ["amount", "currency"]);
  const { amount, currency, customer, payment_method: paymentMethod } = given;
  checkAmount(amount, currency);
  if (customer !== undefined) {
    const living = world.customers.filter(({ deleted }) => !deleted);
    find(world, living, customer, { what: "customer", param: "customer" });
  }
  if (paymentMethod !== undefined && !world.paymentMethods.has(paymentMethod)) {
    const message = `No such PaymentMethod: '${paymentMethod}'`;
    fail(400, { code: "resource_missing", message, param: "payment_method" });
  }
  const made = {
    ...{ amount, currency, customer: customer ?? null, description: given.description ?? null },
    paymentMethod: paymentMethod ?? null,
    receiptEmail: given.receipt_email ?? null,
    suffix: given.statement_descriptor_suffix ?? null,
    captureMethod: given.capture_method ?? "automatic_async",
    allowedTypes: given.allowed_payment_method_types ?? null,
    metadata: given.metadata ?? {},
  };
  return ok(intentOf(addIntent(world, made, by)));
};

export const getIntent: Endpoint = (call) => {
  need(call.world, "payment_intent", "read");
  read(call.sent, {});
  return ok(intentOf(intentIn(call)));
};

const cancelable = [
  "requires_payment_method",
  "requires_capture",
  "requires_confirmation",
  "requires_action",
];

export const cancelIntent: Endpoint = (call) => {
  const { world, sent, by } = call;
  need(world, "payment_intent", "write");
  const reasons = ["duplicate", "fraudulent", "requested_by_customer", "abandoned"] as const;
  const { cancellation_reason: reason = null } = read(sent, { cancellation_reason: oneOf(reasons) });
  const intent = intentIn(call);
  const { status } = intent;
  if (!cancelable.includes(status) && !(status === "processing" && world.processingCancelable)) {
    fail(400, {
      code: "payment_intent_unexpected_state",
      message: `You cannot cancel this PaymentIntent because it has a status of ${status}. Only a PaymentIntent with one of the following statuses may be canceled: ${cancelable.join(", ")}, processing.`,
      payment_intent: intentOf(intent),
    });
  }
  moveIntent(world, intent, "canceled", reason, by);
  return ok(intentOf(intent));
};
