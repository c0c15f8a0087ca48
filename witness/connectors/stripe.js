import assert from "node:assert/strict";
import Stripe from "stripe";
import { software, witness } from "../support.js";

const clientFor = ({ address, options }, more = {}) => {
  const { hostname, port } = new URL(address);
  const where = { host: hostname, port, protocol: "http" };
  return new Stripe(options.secretKey, { ...where, maxNetworkRetries: 0, telemetry: false, ...more });
};

const { does, raises, run } = await witness("stripe", software("stripe"), (backend) => clientFor(backend));
const { errors } = Stripe;

does("speaks the API version that the sandbox knows", async ({ sdk, backend }) => {
  await sdk.customers.list();
  assert.equal(backend.requests.at(-1).headers["stripe-version"], sdk.getApiField("version"));
});

does("creates, retrieves and deletes a customer", async ({ sdk }) => {
  const made = await sdk.customers.create({
    name: "Alan Turing",
    email: "alan@example.com",
    metadata: { order: "7", "a b": "c&d" },
  });
  assert.deepEqual([made.object, made.name, made.livemode], ["customer", "Alan Turing", false]);
  assert.equal(made.lastResponse.statusCode, 200);
  assert.match(made.lastResponse.requestId, /^req_/);
  const read = await sdk.customers.retrieve(made.id);
  assert.deepEqual({ ...read }, { ...made });
  const gone = await sdk.customers.del(made.id);
  assert.deepEqual({ ...gone }, { id: made.id, object: "customer", deleted: true });
  assert.equal((await sdk.customers.retrieve(made.id)).deleted, true);
});

does("sees what create_customer made, and what its undo left", async ({ sdk, call }) => {
  const { customer } = await call("create_customer", { name: "Ours" }, { idempotencyKey: "run-1" });
  assert.equal((await sdk.customers.retrieve(customer)).name, "Ours");
  await call("delete_customer", { customer });
  assert.equal((await sdk.customers.retrieve(customer)).deleted, true);
});

does("pages through customers by itself", async ({ sdk, backend }) => {
  for (const name of ["a", "b", "c"]) await sdk.customers.create({ name });
  const names = [];
  for await (const { name } of sdk.customers.list({ limit: 2 })) names.push(name);
  assert.deepEqual(names, ["c", "b", "a", backend.grace.name, backend.ada.name]);
});

does("finds a customer by e-mail and time", async ({ sdk, backend }) => {
  const { data } = await sdk.customers.list({
    email: backend.ada.email,
    created: { gte: backend.ada.created },
  });
  assert.deepEqual(
    data.map(({ id }) => id),
    [backend.ada.id],
  );
});

does("creates, retrieves and cancels a payment intent", async ({ sdk, backend }) => {
  const made = await sdk.paymentIntents.create({
    amount: 1000,
    currency: "usd",
    customer: backend.ada.id,
    payment_method: backend.paymentMethod,
    capture_method: "manual",
    metadata: { order: "7" },
  });
  assert.deepEqual(
    [made.object, made.status, made.amount],
    ["payment_intent", "requires_confirmation", 1000],
  );
  assert.deepEqual({ ...(await sdk.paymentIntents.retrieve(made.id)) }, { ...made });
  const canceled = await sdk.paymentIntents.cancel(made.id, { cancellation_reason: "abandoned" });
  assert.deepEqual([canceled.status, canceled.cancellation_reason], ["canceled", "abandoned"]);
});

does("sees what create_payment_intent made canceled after its undo", async ({ sdk, call }) => {
  const { payment_intent } = await call(
    "create_payment_intent",
    { amount: 700, currency: "eur" },
    { idempotencyKey: "run-2" },
  );
  assert.equal((await sdk.paymentIntents.retrieve(payment_intent)).status, "requires_payment_method");
  await call("cancel_payment_intent", { payment_intent });
  assert.equal((await sdk.paymentIntents.retrieve(payment_intent)).status, "canceled");
});

does("lists payment intents of a customer", async ({ sdk, backend }) => {
  const { data, has_more } = await sdk.paymentIntents.list({ customer: backend.ada.id });
  assert.deepEqual([data.length, has_more], [1, false]);
});

does("retrieves a charge", async ({ sdk, backend, call }) => {
  const charge = await sdk.charges.retrieve(backend.charge.id);
  assert.deepEqual([charge.object, charge.amount, charge.refunded], ["charge", 2000, false]);
  const ours = await call("retrieve_charge", { charge: charge.id });
  assert.equal(ours.amount, charge.amount);
});

does("refunds a part, then the rest by its intent", async ({ sdk, backend }) => {
  const part = await sdk.refunds.create({ charge: backend.charge.id, amount: 500, reason: "duplicate" });
  assert.deepEqual([part.object, part.amount, part.status], ["refund", 500, "succeeded"]);
  assert.deepEqual({ ...(await sdk.refunds.retrieve(part.id)) }, { ...part });
  const rest = await sdk.refunds.create({ payment_intent: backend.charge.intent });
  assert.equal(rest.amount, 1500);
  const { data } = await sdk.refunds.list({ charge: backend.charge.id });
  assert.equal(data.length, 2);
  assert.equal((await sdk.charges.retrieve(backend.charge.id)).refunded, true);
});

does("lists events by type", async ({ sdk }) => {
  const made = await sdk.customers.create({ name: "Event" }, { idempotencyKey: "key-e" });
  const { data } = await sdk.events.list({ types: ["customer.created"], limit: 1 });
  assert.deepEqual([data[0].data.object.id, data[0].request.idempotency_key], [made.id, "key-e"]);
});

does("gets the first answer again under the same idempotency key", async ({ sdk, backend }) => {
  const once = () => sdk.customers.create({ name: "Once" }, { idempotencyKey: "key-1" });
  const [first, second] = [await once(), await once()];
  assert.deepEqual({ ...second }, { ...first });
  assert.equal(second.lastResponse.headers["idempotent-replayed"], "true");
  assert.equal(backend.world.customers.filter(({ name }) => name === "Once").length, 1);
});

does("repeats a lost answer under the key it made, and nothing happens twice", async ({ backend }) => {
  const eager = clientFor(backend, { maxNetworkRetries: 1 });
  backend.inject({ kind: "cutAfter" }, { method: "POST" });
  const made = await eager.customers.create({ name: "Lost" });
  const found = backend.world.customers.filter(({ name }) => name === "Lost");
  assert.deepEqual(
    found.map(({ id }) => id),
    [made.id],
  );
});

const error = (Class, statusCode, more = {}) => ({ class: Class, type: Class.name, statusCode, ...more });
const {
  StripeInvalidRequestError,
  StripeAuthenticationError,
  StripePermissionError,
  StripeRateLimitError,
  StripeIdempotencyError,
  StripeAPIError,
  StripeConnectionError,
} = errors;
const list = ({ sdk }) => sdk.customers.list();
const injected = (fault) => (bench) => {
  bench.backend.inject(fault);
  return list(bench);
};

raises(
  "StripeInvalidRequestError 404 resource_missing: no such charge",
  ({ sdk }) => sdk.charges.retrieve("ch_nobody"),
  error(StripeInvalidRequestError, 404, {
    code: "resource_missing",
    param: "id",
    message: "No such charge: 'ch_nobody'",
  }),
);
raises(
  "StripeInvalidRequestError 400 resource_missing: no such customer to pay",
  ({ sdk }) => sdk.paymentIntents.create({ amount: 500, currency: "usd", customer: "cus_nobody" }),
  error(StripeInvalidRequestError, 400, { code: "resource_missing", param: "customer" }),
);
raises(
  "StripeInvalidRequestError 400 amount_too_small: a tiny amount",
  ({ sdk }) => sdk.paymentIntents.create({ amount: 1, currency: "usd" }),
  error(StripeInvalidRequestError, 400, { code: "amount_too_small" }),
);
raises(
  "StripeInvalidRequestError 400 charge_already_refunded: a second refund",
  async ({ sdk, backend }) => {
    await sdk.refunds.create({ charge: backend.charge.id });
    return sdk.refunds.create({ charge: backend.charge.id });
  },
  error(StripeInvalidRequestError, 400, { code: "charge_already_refunded" }),
);
raises(
  "StripeInvalidRequestError 400 payment_intent_unexpected_state: canceling what is canceled",
  async ({ sdk }) => {
    const { id } = await sdk.paymentIntents.create({ amount: 500, currency: "usd" });
    await sdk.paymentIntents.cancel(id);
    return sdk.paymentIntents.cancel(id);
  },
  error(StripeInvalidRequestError, 400, {
    code: "payment_intent_unexpected_state",
    payment_intent: ({ status }) => status === "canceled",
  }),
);
raises(
  "StripeInvalidRequestError 400 parameter_unknown: a parameter that does not exist",
  ({ sdk }) => sdk.customers.create({ nmae: "Ada" }),
  error(StripeInvalidRequestError, 400, { code: "parameter_unknown", param: "nmae" }),
);
raises(
  "StripeAuthenticationError 401: a key that nobody knows",
  ({ backend }) =>
    clientFor({ ...backend, options: { secretKey: `sk_${"test"}_nobody000000` } }).customers.list(),
  error(StripeAuthenticationError, 401),
);
raises(
  "StripeAuthenticationError 401: a refusal on the wire",
  injected({ kind: "deny" }),
  error(StripeAuthenticationError, 401),
);
raises(
  "StripePermissionError 403: a right that the key lacks",
  (bench) => {
    bench.backend.world.denied.add("customer_read");
    return list(bench);
  },
  error(StripePermissionError, 403),
);
raises(
  "StripeIdempotencyError 400: a key with other parameters",
  async ({ sdk }) => {
    await sdk.customers.create({ name: "a" }, { idempotencyKey: "key-2" });
    return sdk.customers.create({ name: "b" }, { idempotencyKey: "key-2" });
  },
  error(StripeIdempotencyError, 400),
);
raises(
  "StripeAPIError 409 idempotency_key_in_use: a key in use",
  async ({ sdk, backend }) => {
    let release;
    backend.world.hold = new Promise((resolve) => {
      release = resolve;
    });
    const arrived = new Promise((resolve) => {
      const look = () => (backend.world.keys.has("key-3") ? resolve() : setImmediate(look));
      look();
    });
    const first = sdk.customers.create({ name: "a" }, { idempotencyKey: "key-3" });
    await arrived;
    try {
      return await sdk.customers.create({ name: "a" }, { idempotencyKey: "key-3" });
    } finally {
      release();
      await first;
    }
  },
  error(StripeAPIError, 409, { code: "idempotency_key_in_use" }),
);
raises(
  "StripeRateLimitError 429 rate_limit: too many requests",
  injected({ kind: "rateLimit", retryAfter: 7 }),
  error(StripeRateLimitError, 429, {
    code: "rate_limit",
    headers: (headers) => headers["retry-after"] === "7",
  }),
);
raises(
  "StripeAPIError 500: a breakdown",
  injected({ kind: "status", status: 500 }),
  error(StripeAPIError, 500),
);
raises(
  "StripeConnectionError: a connection that is cut, and the one it tries instead",
  (bench) => {
    bench.backend.inject({ kind: "cutAfter" }, { times: 2 });
    return list(bench);
  },
  { class: StripeConnectionError, type: "StripeConnectionError" },
);

does("gets a stored 500 again under the same key, as Stripe answers", async ({ sdk, backend }) => {
  backend.inject({ kind: "status", status: 500 }, { method: "POST" });
  const once = () => sdk.customers.create({ name: "Kept" }, { idempotencyKey: "key-4" });
  await assert.rejects(once, { type: "StripeAPIError", statusCode: 500 });
  await assert.rejects(once, { type: "StripeAPIError", statusCode: 500 });
});

run();
