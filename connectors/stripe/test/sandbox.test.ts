import type { SandboxModule } from "@reversi-connector/core";
import { type StripeOptions, stripe } from "@reversi-connector/stripe";
import * as module from "@reversi-connector/stripe/sandbox";
import { vendor } from "./bench.ts";

const asModule: SandboxModule<StripeOptions> = module;
const key = { "idempotency-key": "k" };

test("another process attaches by the address alone", async () => {
  const { backend } = await vendor();
  const elsewhere = stripe(asModule.attach(backend.address));
  const charge = await elsewhere.tools["stripe.retrieve_charge"]?.({ charge: backend.charge.id });
  expect(charge).toMatchObject({ amount: 2000, refunded: false });
  await elsewhere.close();
});

test("basic authentication is taken too, with the key as the user's name", async () => {
  const { ask, backend } = await vendor();
  const authorization = `Basic ${Buffer.from(`${backend.options.secretKey}:`).toString("base64")}`;
  expect(await ask("GET", "/v1/customers", undefined, { authorization })).toMatchObject({ status: 200 });
});

test.each([
  ["no key", { authorization: undefined }, 401, /did not provide an API key/],
  ["a wrong key", { authorization: "Bearer sk_test_wrong1234" }, 401, /provided: sk_test_\*{16}1234$/],
  ["no version", { "stripe-version": undefined }, 400, /Stripe-Version/],
  ["an unknown version", { "stripe-version": "2020-08-27" }, 400, /Invalid Stripe API version: 2020-08-27/],
  ["JSON", { "content-type": "application/json" }, 400, /application\/x-www-form-urlencoded/],
])("%s is refused, and nothing is kept under the key", async (_, changes, status, message) => {
  const { ask, state, world } = await vendor();
  const before = await state();
  const answer = await ask("POST", "/v1/customers", "name=x", { ...key, ...changes });
  expect(answer.status).toBe(status);
  expect(answer.body.error).toMatchObject({
    type: "invalid_request_error",
    message: expect.stringMatching(message),
  });
  expect(answer.headers["request-id"]).toMatch(/^req_/);
  expect(await state()).toEqual(before);
  expect(world.keys.size).toBe(0);
});

const intents = "/v1/payment_intents";
test.each([
  ["POST", "/v1/customers", "nam=x", "parameter_unknown", /Received unknown parameter: nam/],
  ["POST", "/v1/customers", "coupon=x", "parameter_unknown", /coupon/],
  ["POST", "/v1/customers", "email=x", "email_invalid", /Invalid email address/],
  ["POST", "/v1/customers", `phone=${"1".repeat(21)}`, undefined, /at most 20/],
  ["POST", "/v1/customers", "name[a]=x", undefined, /Invalid string/],
  ["POST", "/v1/customers", "metadata=x", undefined, /Invalid object/],
  ["POST", "/v1/customers", `metadata[${"k".repeat(41)}]=x`, undefined, /up to 40/],
  ["POST", "/v1/customers", `metadata[k]=${"x".repeat(501)}`, undefined, /up to 500/],
  ["POST", "/v1/customers", "metadata[a][b]=x", undefined, /must be strings/],
  ["POST", "/v1/customers", "metadata[=x", undefined, /Invalid parameter name/],
  ["POST", "/v1/customers?name=x", "name=x", "parameter_unknown", /name/],
  ["POST", intents, "currency=eur", "parameter_missing", /Missing required param: amount/],
  ["POST", intents, "amount=19.99&currency=eur", "parameter_invalid_integer", /Invalid integer: 19.99/],
  ["POST", intents, "amount=-5&currency=eur", "parameter_invalid_integer", /greater than or equal to 1/],
  ["POST", intents, "amount=500&currency=xxx", undefined, /Invalid currency: xxx/],
  ["POST", intents, "amount=500&currency=EUR", undefined, /Invalid currency/],
  ["POST", intents, "amount=500&currency=", "parameter_invalid_empty", /cannot be unset/],
  ["POST", intents, "amount=500&currency=eur&capture_method=x", undefined, /must be one of automatic/],
  ["POST", intents, "amount=500&currency=eur&allowed_payment_method_types=card", undefined, /Invalid array/],
  ["POST", intents, "amount=500&currency=eur&payment_method_types[]=card", "parameter_unknown", /types/],
  ["POST", "/v1/refunds", "amount=5", undefined, /One of the following params/],
  ["POST", "/v1/refunds", "charge=ch_1&payment_intent=pi_1", undefined, /only specify one/],
  ["GET", "/v1/customers?limit=0", undefined, "parameter_invalid_integer", /limit/],
  ["GET", "/v1/customers?limit=101", undefined, "parameter_invalid_integer", /limit/],
  ["GET", "/v1/customers?created[after]=1", undefined, "parameter_unknown", /created\[after\]/],
  ["GET", "/v1/customers?page=2", undefined, "parameter_unknown", /page/],
])("%s %s with %j is refused before it executes", async (method, path, form, code, message) => {
  const { ask, state, world } = await vendor();
  const before = await state();
  const answer = await ask(method, path, form, key);
  expect(answer.status).toBe(400);
  expect(answer.body.error).toMatchObject({ message: expect.stringMatching(message) });
  expect(answer.body.error.code).toBe(code);
  expect(await state()).toEqual(before);
  expect(world.keys.size).toBe(0);
});

test.each([
  ["GET", "/v1/customers/cus_none", "id", "No such customer: 'cus_none'"],
  ["DELETE", "/v1/customers/cus_none", "id", "No such customer: 'cus_none'"],
  ["GET", `${intents}/pi_none`, "intent", "No such payment_intent: 'pi_none'"],
  ["POST", `${intents}/pi_none/cancel`, "intent", "No such payment_intent: 'pi_none'"],
  ["GET", "/v1/charges/ch_none", "id", "No such charge: 'ch_none'"],
  ["GET", "/v1/refunds/re_none", "id", "No such refund: 're_none'"],
])("%s %s is a 404 that names what is missing", async (method, path, param, message) => {
  const { ask } = await vendor();
  const answer = await ask(method, path, method === "POST" ? "" : undefined);
  const error = { type: "invalid_request_error", code: "resource_missing", param, message };
  expect(answer).toMatchObject({ status: 404, body: { error } });
});

test("an address that is none is a 404 of another kind", async () => {
  const { ask } = await vendor();
  const { status, body } = await ask("PUT", "/v1/customers/cus_1", "");
  expect({ status, code: body.error.code }).toEqual({ status: 404, code: undefined });
  expect(body.error.message).toMatch(/^Unrecognized request URL \(PUT: \/v1\/customers\/cus_1\)/);
});

test("a deleted customer is read as deleted, is in no list, takes no payment, and loses its subscriptions", async () => {
  const { ask, backend, state } = await vendor();
  const { grace } = backend;
  await ask("DELETE", `/v1/customers/${grace.id}`);
  expect((await ask("GET", `/v1/customers/${grace.id}`)).body).toEqual({
    ...{ id: grace.id, object: "customer", deleted: true },
  });
  expect((await ask("GET", "/v1/customers")).body.data).toHaveLength(1);
  expect((await ask("GET", `/v1/subscriptions?customer=${grace.id}`)).body.data).toEqual([]);
  const refused = await ask("POST", intents, `amount=500&currency=eur&customer=${grace.id}`);
  expect(refused).toMatchObject({ status: 400, body: { error: { param: "customer" } } });
  const subscriptions = Object.values((await state()).subscriptions);
  expect(subscriptions).toEqual([expect.objectContaining({ customer: grace.id, status: "canceled" })]);
});

test("canceling twice is a 400 that carries the intent", async () => {
  const { ask } = await vendor();
  const { id } = (await ask("POST", intents, "amount=500&currency=eur")).body;
  const canceled = await ask("POST", `${intents}/${id}/cancel`, "cancellation_reason=abandoned");
  expect(canceled.body).toMatchObject({ status: "canceled", cancellation_reason: "abandoned" });
  const again = await ask("POST", `${intents}/${id}/cancel`, "");
  expect(again.status).toBe(400);
  expect(again.body.error).toMatchObject({
    code: "payment_intent_unexpected_state",
    payment_intent: { id, status: "canceled", client_secret: expect.stringMatching(/^pi_\w+_secret_/) },
  });
});

test("a list comes newest first, in pages of ten unless up to a hundred are asked for", async () => {
  const { ask, world } = await vendor();
  for (let index = 0; index < 12; index++) module.addCustomer(world, { email: `${index % 2}@example.com` });
  const get = async (query: string) => {
    const { body } = await ask("GET", `/v1/customers${query}`);
    return { ids: body.data.map(({ id }: { readonly id: string }) => id), more: body.has_more };
  };
  const all = world.customers.map(({ id }) => id).reverse();
  expect(await get("")).toEqual({ ids: all.slice(0, 10), more: true });
  expect(await get(`?starting_after=${all[9]}`)).toEqual({ ids: all.slice(10), more: false });
  expect((await get("?limit=100")).ids).toHaveLength(14);
  expect((await get("?limit=100&email=1%40example.com")).ids).toHaveLength(6);
  const now = world.customers[2]?.created ?? 0; // after the two that were there
  expect((await get(`?created[gt]=${now + 5}`)).ids).toEqual([]);
  expect((await get(`?created[gte]=${now}&created[lte]=${now + 60}&limit=100`)).ids).toEqual(
    all.slice(0, 12),
  );
  expect((await ask("GET", "/v1/customers?starting_after=cus_none")).status).toBe(400);
});

test("an event names the request that caused it, and its key; what people do has neither", async () => {
  const { ask, backend, world } = await vendor();
  const { headers, body } = await ask("POST", "/v1/customers", "name=x", key);
  module.removeCustomer(world, backend.ada);
  const [deleted, created] = (
    await ask("GET", "/v1/events?types[]=customer.created&types[]=customer.deleted")
  ).body.data;
  expect(deleted).toMatchObject({
    type: "customer.deleted",
    request: null,
    data: { object: { deleted: true } },
  });
  expect(created).toMatchObject({ object: "event", type: "customer.created", data: { object: body } });
  expect(created.request).toEqual({ id: headers["request-id"], idempotency_key: "k" });
  world.eventsLate = true;
  expect((await ask("GET", "/v1/events")).body.data).toEqual([]);
});

test("a rate limit says its reason, and how long to wait only when told to", async () => {
  const { ask, backend } = await vendor();
  backend.inject({ kind: "rateLimit" });
  backend.inject({ kind: "rateLimit", retryAfter: 3 });
  const answers = [await ask("GET", "/v1/customers"), await ask("GET", "/v1/customers")];
  expect(answers.map(({ status }) => status)).toEqual([429, 429]);
  expect(answers.map(({ headers }) => headers["retry-after"])).toEqual([undefined, "3"]);
  expect(answers[0]?.headers["stripe-rate-limited-reason"]).toBe("global-rate");
  expect(answers[0]?.body.error.code).toBe("rate_limit");
});

test("what a restricted key may not do is refused with the right it needs", async () => {
  const { ask, backend, world } = await vendor();
  world.denied.add("charge_write");
  const { status, body } = await ask("POST", "/v1/refunds", `charge=${backend.charge.id}`);
  expect(status).toBe(403);
  expect(body.error.message).toMatch(/'sk_test_\*+\w{4}' does not have .* 'rak_charge_write'/);
});
