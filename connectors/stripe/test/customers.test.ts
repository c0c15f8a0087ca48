import { ConflictError, InvalidArgumentsError } from "@reversi-connector/core";
import { removeCustomer, subscribe } from "@reversi-connector/stripe/sandbox";
import { bench, failure } from "./bench.ts";

const args = { name: "Alan Turing", email: "alan@example.com", metadata: { order: "7" } };
const created = async () => {
  const on = await bench();
  const before = await on.state();
  const result = await on.call<{ customer: string }>("create_customer", args, { idempotencyKey: "key-1" });
  const customer = on.world.customers.at(-1);
  if (!customer) throw new Error("no customer was made");
  return { ...on, before, result, customer };
};

test("a customer is made with what was given, and with the call's key in its metadata", async () => {
  const { result, customer, writes } = await created();
  expect(result).toEqual({ customer: customer.id, livemode: false, created: customer.created });
  expect(customer).toMatchObject({
    name: "Alan Turing",
    email: "alan@example.com",
    phone: null,
    metadata: { order: "7", reversi_op: "key-1" },
  });
  expect(writes().map(({ headers }) => headers["idempotency-key"])).toEqual(["key-1"]);
});

test("the metadata key reversi_op is refused before anything is sent", async () => {
  const { call, backend } = await bench();
  for (const [name, own] of [
    ["create_customer", {}],
    ["create_payment_intent", { amount: 500, currency: "eur" }],
    ["create_refund", { charge: backend.charge.id }],
  ] as const) {
    const error = await failure(call(name, { ...own, metadata: { reversi_op: "mine" } }));
    expect(InvalidArgumentsError.is(error)).toBe(true);
    expect(error).toMatchObject({ problems: [{ at: "metadata.reversi_op", rule: "is reserved" }] });
  }
  expect(backend.requests).toEqual([]);
});

test("the undo of create_customer leaves nothing but the record of a deleted customer", async () => {
  const { undo, undoOf, holds, state, before, result } = await created();
  expect(await holds("delete_customer", undoOf("create_customer", result).args)).toBe(false);
  expect(await undo("create_customer", result)).toEqual({ customer: result.customer, already: false });
  const residue = { [result.customer]: { id: result.customer, object: "customer", deleted: true } };
  expect(await state()).toEqual({ ...before, customers: { ...before.customers, ...residue } });
  expect(await holds("delete_customer", undoOf("create_customer", result).args)).toBe(true);
});

test("repeating the undo changes nothing and sends no second deletion", async () => {
  const { undo, state, result, writes } = await created();
  await undo("create_customer", result);
  const after = await state();
  expect(await undo("create_customer", result)).toEqual({ customer: result.customer, already: true });
  expect(await state()).toEqual(after);
  expect(writes()).toHaveLength(2);
});

test("a customer that somebody else deleted is success, before the undo or in the middle of it", async () => {
  for (const method of ["GET", "DELETE"]) {
    const { undo, meanwhile, world, result, customer } = await created();
    meanwhile(method, () => removeCustomer(world, customer));
    expect(await undo("create_customer", result)).toEqual({ customer: result.customer, already: true });
  }
});

test("a customer that Stripe does not know is gone; one of the other mode is not", async () => {
  const { call, holds, world, writes } = await bench();
  expect(await call("delete_customer", { customer: "cus_never" })).toMatchObject({ already: true });
  expect(await holds("delete_customer", { customer: "cus_never" })).toBe(true);
  world.otherMode.add("cus_live");
  const error = await failure(call("delete_customer", { customer: "cus_live" }));
  expect(error).toMatchObject({ code: "FAILED", status: 404, reason: "resource_missing" });
  expect(error.message).toMatch(/a similar object exists in live mode/);
  await expect(holds("delete_customer", { customer: "cus_live" })).rejects.toThrow(/HTTP 404/);
  expect(writes()).toEqual([]);
});

test.each([
  ["of a proxy", "<h1>Not found</h1>"],
  ["of another address", { error: { type: "invalid_request_error", message: "Unrecognized request URL" } }],
  [
    "for another customer",
    {
      error: {
        type: "invalid_request_error",
        code: "resource_missing",
        message: "No such customer: 'cus_other'",
      },
    },
  ],
])("a 404 %s does not make a customer gone", async (_, body) => {
  const { undo, undoOf, holds, backend, result, writes } = await created();
  backend.inject({ kind: "status", status: 404, body }, { method: "GET", times: 2 });
  expect(await failure(undo("create_customer", result))).toMatchObject({ code: "FAILED", status: 404 });
  const { args: undoArgs } = undoOf("create_customer", result);
  await expect(holds("delete_customer", undoArgs)).rejects.toThrow(/HTTP 404/);
  expect(writes()).toHaveLength(1);
});

test("a customer that got a subscription since is a conflict, and the subscription survives", async () => {
  const { undo, world, state, result, customer } = await created();
  const { id } = subscribe(world, customer, "trialing");
  const standing = await state();
  const error = await failure(undo("create_customer", result));
  expect(ConflictError.is(error)).toBe(true);
  expect(error).toMatchObject({ expected: "no subscription", found: `subscription ${id} (trialing)` });
  expect(await state()).toEqual(standing);
});

test("the operator may delete a customer with a subscription, which ends with it", async () => {
  const { undo, world, result, customer } = await created();
  const subscription = subscribe(world, customer);
  const context = { onConflict: "overwrite" } as const;
  expect(await undo("create_customer", result, context)).toMatchObject({ already: false });
  expect(customer.deleted).toBe(true);
  expect(subscription.status).toBe("canceled");
});

test("subscriptions that ended long ago are no conflict, however many pages of them there are", async () => {
  const { undo, world, result, customer } = await created();
  subscribe(world, customer, "canceled");
  for (let index = 0; index < 120; index++) subscribe(world, customer, "incomplete_expired");
  expect(await undo("create_customer", result)).toMatchObject({ already: false });
  const next = await created();
  subscribe(next.world, next.customer);
  for (let index = 0; index < 120; index++) subscribe(next.world, next.customer, "incomplete_expired");
  expect(ConflictError.is(await failure(next.undo("create_customer", next.result)))).toBe(true);
});

test("a key that may not read subscriptions deletes without looking at them", async () => {
  const { undo, world, result } = await created();
  world.denied.add("subscription_read");
  expect(await undo("create_customer", result)).toMatchObject({ already: false });
});

test.each([500, 401, 403])(
  "any other failure to read subscriptions (%i) ends the undo before anything is deleted",
  async (status) => {
    const { undo, backend, result, customer } = await created();
    backend.inject({ kind: "status", status }, { path: /subscriptions/ });
    expect(await failure(undo("create_customer", result))).toMatchObject({ code: "FAILED", status });
    expect(customer.deleted).toBe(false);
  },
);

test("an answer to the deletion that does not say deleted proves nothing", async () => {
  const { undo, backend, result } = await created();
  const body = { id: result.customer, object: "customer" };
  backend.inject({ kind: "status", status: 200, body }, { method: "DELETE" });
  expect(await failure(undo("create_customer", result))).toMatchObject({ code: "EFFECT_UNCERTAIN" });
});
