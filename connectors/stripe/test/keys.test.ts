import { addIntent, age, moveIntent } from "@reversi-connector/stripe/sandbox";
import { type Bench, bench, failure } from "./bench.ts";

const stored = { kind: "status", status: 500 } as const;
const context = { idempotencyKey: "engine-key" };

type Create = readonly [tool: string, args: (on: Bench) => object];
const creates: readonly Create[] = [
  ["create_customer", () => ({ name: "Alan", metadata: { a: "1" } })],
  ["create_payment_intent", () => ({ amount: 700, currency: "eur" })],
  ["create_refund", ({ backend }) => ({ charge: backend.charge.id, amount: 500 })],
];

test.each(creates)("%s twice under one key has one effect and one result", async (tool, argsOf) => {
  const on = await bench();
  const first = await on.call(tool, argsOf(on), context);
  const after = await on.state();
  expect(await on.call(tool, argsOf(on), context)).toEqual(first);
  expect(await on.state()).toEqual(after);
  expect(on.writes().map(({ headers }) => headers["idempotency-key"])).toEqual(["engine-key", "engine-key"]);
});

test.each(creates)(
  "%s twice without a key has two effects, each under a key of its own",
  async (...create) => {
    const [tool, argsOf] = create;
    const on = await bench();
    const first = await on.call(tool, argsOf(on));
    expect(await on.call(tool, argsOf(on))).not.toEqual(first);
    const keys = on.writes().map(({ headers }) => headers["idempotency-key"]);
    expect(new Set(keys).size).toBe(2);
    for (const key of keys) expect(key).toMatch(/^[0-9a-f-]{36}$/);
  },
);

test.each(creates)("%s never finds what another key made", async (tool, argsOf) => {
  const on = await bench();
  await on.call(tool, argsOf(on), { idempotencyKey: "another" });
  expect(await on.landed(tool, argsOf(on), "engine-key")).toEqual({ landed: false });
});

test("ST-01: a key that was used with other arguments is a definite error that names the key conflict", async () => {
  const { call, state } = await bench();
  await call("create_customer", { name: "A" }, context);
  const before = await state();
  const error = await failure(call("create_customer", { name: "B" }, context));
  expect(error).toMatchObject({ code: "FAILED", status: 400, reason: "idempotency_error" });
  expect(error).toMatchObject({ mayHaveApplied: false });
  expect(error.message).toMatch(/only be used with the same parameters.*key other than 'engine-key'/);
  expect(await state()).toEqual(before);
});

test("ST-01: a key that was used by another tool is refused in the same way", async () => {
  const { call, world } = await bench();
  const { id } = addIntent(world, { amount: 700, currency: "eur" });
  await call("create_customer", { name: "A" }, context);
  const error = await failure(call("cancel_payment_intent", { payment_intent: id }, context));
  expect(error).toMatchObject({ code: "FAILED", status: 400, reason: "idempotency_error" });
  expect(error.message).toMatch(/same endpoint they were first used for/);
});

test.each(["", "a b", "ключ", "x".repeat(256), "line\nbreak"])(
  "the key %j, which no header could carry, is refused before anything is sent",
  async (idempotencyKey) => {
    const on = await bench();
    const undoes: Create[] = [
      ["delete_customer", ({ backend }) => ({ customer: backend.ada.id })],
      ["cancel_payment_intent", () => ({ payment_intent: "pi_1" })],
    ];
    for (const [tool, argsOf] of [...creates, ...undoes]) {
      const error = await failure(on.call(tool, argsOf(on), { idempotencyKey }));
      expect(error).toMatchObject({ code: "INVALID_ARGUMENTS" });
      expect(error.message).toContain("idempotency key");
    }
    expect(on.backend.requests).toEqual([]);
  },
);

describe("ST-02: a failure that Stripe keeps under its key", () => {
  const toCancel = async () => {
    const on = await bench();
    const intent = addIntent(on.world, { amount: 700, currency: "eur" });
    const args = { payment_intent: intent.id, expected_status: intent.status };
    return { ...on, intent, args };
  };

  test("is repeated, the error says that the key is spent, and the next key completes the undo", async () => {
    const { call, backend, intent, args } = await toCancel();
    backend.inject(stored, { method: "POST" });
    const first = await failure(call("cancel_payment_intent", args, context));
    expect(first).toMatchObject({ code: "FAILED", status: 500, mayHaveApplied: true });
    expect(first.message).not.toContain("spent");
    for (let again = 0; again < 2; again++) {
      const error = await failure(call("cancel_payment_intent", args, context));
      expect(error).toMatchObject({ code: "FAILED", status: 500 });
      expect(error.message).toMatch(/HTTP 500.*the idempotency key is spent/);
    }
    expect(intent.status).toBe("requires_payment_method");
    const next = { idempotencyKey: "next-key" };
    expect(await call("cancel_payment_intent", args, next)).toMatchObject({ already: false });
  });

  test("is no failure when the intent is canceled all the same", async () => {
    const { call, backend, args, writes } = await toCancel();
    backend.inject({ ...stored, effect: true }, { method: "POST" });
    await failure(call("cancel_payment_intent", args, context));
    expect(await call("cancel_payment_intent", args, context)).toMatchObject({ already: true });
    expect(writes()).toHaveLength(1);
  });

  test("is no failure when somebody cancels the intent just before it is repeated", async () => {
    const { call, meanwhile, backend, world, intent, args } = await toCancel();
    backend.inject(stored, { method: "POST" });
    await failure(call("cancel_payment_intent", args, context));
    meanwhile("POST", () => moveIntent(world, intent, "canceled"));
    expect(await call("cancel_payment_intent", args, context)).toMatchObject({ already: true });
  });

  test("is believed when the intent cannot be read", async () => {
    const { call, backend, args } = await toCancel();
    backend.inject(stored, { method: "POST" });
    await failure(call("cancel_payment_intent", args, context));
    backend.inject({ kind: "status", status: 503 }, { method: "GET", skip: 1 });
    const error = await failure(call("cancel_payment_intent", args, context));
    expect(error).toMatchObject({ status: 500, mayHaveApplied: true });
    expect(error.message).toContain("spent");
  });

  test("is told by the intent's present state when it was a refusal", async () => {
    const { call, meanwhile, world, intent } = await toCancel();
    const args = { payment_intent: intent.id };
    moveIntent(world, intent, "processing");
    await failure(call("cancel_payment_intent", args, context));
    moveIntent(world, intent, "requires_payment_method");
    const error = await failure(call("cancel_payment_intent", args, context));
    expect(error).toMatchObject({ status: 400, reason: "payment_intent_unexpected_state" });
    expect(error.message).toContain("spent");
    meanwhile("POST", () => moveIntent(world, intent, "canceled"));
    expect(await call("cancel_payment_intent", args, context)).toMatchObject({ already: true });
  });

  test.each(creates)("%s: is repeated as a failure while nothing was made", async (tool, argsOf) => {
    const on = await bench();
    const before = await on.state();
    on.backend.inject(stored, { method: "POST" });
    const first = await failure(on.call(tool, argsOf(on), context));
    expect(first).toMatchObject({ code: "FAILED", status: 500, mayHaveApplied: true });
    const again = await failure(on.call(tool, argsOf(on), context));
    expect(again).toMatchObject({ code: "FAILED", status: 500, mayHaveApplied: true });
    expect(again.message).toContain("spent");
    expect(await on.state()).toEqual(before);
  });

  test.each(creates)("%s: brings what was made all the same, once", async (tool, argsOf) => {
    const on = await bench();
    on.backend.inject({ ...stored, effect: true }, { method: "POST" });
    await failure(on.call(tool, argsOf(on), context));
    const after = await on.state();
    const result = await on.call(tool, argsOf(on), context);
    expect(await on.landed(tool, argsOf(on), "engine-key")).toEqual({ landed: true, result });
    expect(await on.state()).toEqual(after);
  });
});

test("a key that is still in use may yet take effect: the error says so, and the first call goes on", async () => {
  const { call, world } = await bench();
  let release = () => {};
  world.hold = new Promise<void>((resolve) => {
    release = resolve;
  });
  const customers = world.customers.length;
  const both = [1, 2].map(() => call("create_customer", { name: "A" }, context));
  const refused = await Promise.race(both.map(failure));
  expect(refused).toMatchObject({ status: 409, reason: "idempotency_key_in_use", mayHaveApplied: true });
  release();
  const ended = await Promise.allSettled(both);
  expect(ended.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(world.customers).toHaveLength(customers + 1);
});

test("MC-12: the same call sent again by its host is made once under one key", async () => {
  const { call, backend, world } = await bench();
  const customers = world.customers.length;
  backend.inject({ kind: "hang", effect: true }, { method: "POST" });
  const stop = new AbortController();
  const first = failure(call("create_customer", { name: "A" }, { ...context, signal: stop.signal }));
  const second = await call("create_customer", { name: "A" }, context).finally(() => stop.abort());
  expect(await first).toMatchObject({ code: "EFFECT_UNCERTAIN", idempotencyKey: "engine-key" });
  expect(second).toMatchObject({ customer: world.customers.at(-1)?.id });
  expect(world.customers).toHaveLength(customers + 1);
});

test("a key that Stripe forgot could act twice: two objects with one key are no evidence", async () => {
  const { call, landed, world } = await bench();
  const first = await call("create_customer", { name: "A" }, context);
  age(world, 25);
  expect(await call("create_customer", { name: "A" }, context)).not.toEqual(first);
  expect(await landed("create_customer", { name: "A" }, "engine-key")).toBe("unknown");
});
