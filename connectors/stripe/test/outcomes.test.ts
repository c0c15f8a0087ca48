import { EffectUncertainError } from "@reversi-connector/core";
import { addIntent } from "@reversi-connector/stripe/sandbox";
import { type Bench, bench, failure } from "./bench.ts";

type Write = readonly [tool: string, method: string, args: (on: Bench) => object];
const creates: readonly Write[] = [
  ["create_customer", "POST", () => ({ name: "Alan" })],
  ["create_payment_intent", "POST", () => ({ amount: 700, currency: "eur" })],
  ["create_refund", "POST", ({ backend }) => ({ charge: backend.charge.id, amount: 500 })],
];
const undoes: readonly Write[] = [
  ["delete_customer", "DELETE", ({ backend }) => ({ customer: backend.ada.id })],
  [
    "cancel_payment_intent",
    "POST",
    ({ world }) => ({ payment_intent: addIntent(world, { amount: 700, currency: "eur" }).id }),
  ],
];
const all = [...creates, ...undoes];
const context = { idempotencyKey: "engine-key" };

describe("an answer that is lost", () => {
  test.each(all)("%s sent once, connection cut after the effect: unknown", async (tool, method, argsOf) => {
    const on = await bench();
    const args = argsOf(on);
    const before = await on.state();
    on.backend.inject({ kind: "cutAfter", reset: true }, { method });
    const error = await failure(on.call(tool, args, context));
    expect(EffectUncertainError.is(error)).toBe(true);
    expect(error).toMatchObject({ idempotencyKey: "engine-key" });
    expect(on.writes()).toHaveLength(1);
    expect(await on.state()).not.toEqual(before);
  });

  test.each(all)("%s without a caller's key names the one it made", async (tool, method, argsOf) => {
    const on = await bench();
    on.backend.inject({ kind: "cutAfter" }, { method });
    const error = await failure(on.call(tool, argsOf(on)));
    expect(error).toMatchObject({ idempotencyKey: on.writes()[0]?.headers["idempotency-key"] });
  });

  test.each(all)(
    "%s, connection cut before the effect: unknown, and calling again succeeds",
    async (...write) => {
      const [tool, method, argsOf] = write;
      const on = await bench();
      const args = argsOf(on);
      const before = await on.state();
      on.backend.inject({ kind: "cutBefore" }, { method });
      expect(EffectUncertainError.is(await failure(on.call(tool, args, context)))).toBe(true);
      expect(await on.state()).toEqual(before);
      await on.call(tool, args, context);
      expect(await on.state()).not.toEqual(before);
    },
  );

  test.each(all)(
    "HT-06: %s answered with a body cut half way, or with no JSON: unknown",
    async (...write) => {
      const [tool, method, argsOf] = write;
      const faults = [
        { kind: "garbage" },
        { kind: "garbage", body: "{}" },
        { kind: "cutBody" },
        { kind: "cutBody", chunked: true },
      ] as const;
      for (const fault of faults) {
        const on = await bench();
        const args = argsOf(on);
        on.backend.inject(fault, { method });
        expect(EffectUncertainError.is(await failure(on.call(tool, args)))).toBe(true);
      }
    },
  );

  test.each(all)("%s never answered: unknown when its time is over", async (tool, method, argsOf) => {
    const on = await bench({ timeoutMs: 150 });
    const args = argsOf(on);
    on.backend.inject({ kind: "hang" }, { method });
    const error = await failure(on.call(tool, args));
    expect(EffectUncertainError.is(error)).toBe(true);
    expect(error.message).toContain("no answer within 150 ms");
  });

  test.each(all)("%s answered with 424 or 502: failed, and perhaps done all the same", async (...write) => {
    const [tool, method, argsOf] = write;
    for (const status of [424, 502]) {
      const on = await bench();
      const args = argsOf(on);
      on.backend.inject({ kind: "status", status, effect: true, body: "<h1>Sorry</h1>" }, { method });
      const error = await failure(on.call(tool, args));
      expect(error).toMatchObject({ code: "FAILED", status, mayHaveApplied: true });
    }
  });

  test.each(creates)("%s: landed tells the truth both ways, late delivery included", async (...write) => {
    const [tool, method, argsOf] = write;
    for (const eventsLate of [false, true]) {
      const on = await bench();
      const args = argsOf(on);
      on.world.eventsLate = eventsLate;
      on.backend.inject({ kind: "late" }, { method });
      await failure(on.call(tool, args, context));
      expect(await on.landed(tool, args, "engine-key")).toEqual({ landed: false });
      await on.backend.settle();
      const answer = await on.landed(tool, args, "engine-key");
      expect(on.writes()).toHaveLength(1);
      const result = await on.call(tool, args, context);
      expect(answer).toEqual({ landed: true, result });
    }
  });

  test.each(creates.slice(0, 2))(
    "%s: what landed is undone by what landed brings",
    async (tool, method, argsOf) => {
      const on = await bench();
      const args = argsOf(on);
      on.backend.inject({ kind: "cutAfter" }, { method });
      await failure(on.call(tool, args, context));
      const { result } = (await on.landed(tool, args, "engine-key")) as { result: object };
      expect(await on.undo(tool, result)).toMatchObject({ already: false });
      const { tool: undo, args: undoArgs } = on.undoOf(tool, result);
      expect(await on.holds(undo, undoArgs)).toBe(true);
    },
  );

  test.each(undoes)(
    "%s: after a lost answer holds tells the truth, and repeating it succeeds",
    async (...write) => {
      const [tool, method, argsOf] = write;
      for (const kind of ["cutBefore", "cutAfter"] as const) {
        const on = await bench();
        const args = argsOf(on);
        on.backend.inject({ kind }, { method });
        await failure(on.call(tool, args, context));
        expect(await on.holds(tool, args)).toBe(kind === "cutAfter");
        expect(await on.call(tool, args, context)).toMatchObject({ already: kind === "cutAfter" });
        expect(await on.holds(tool, args)).toBe(true);
      }
    },
  );

  test("no tool makes a checkpoint: nothing is known before Stripe answers", async () => {
    const on = await bench();
    const kept: unknown[] = [];
    const checkpoint = async (made: unknown) => void kept.push(made);
    for (const [tool, , argsOf] of all) await on.call(tool, argsOf(on), { checkpoint });
    expect(kept).toEqual([]);
  });
});

test.each(undoes)(
  "%s: a read that fails ends the call before anything is written",
  async (tool, method, argsOf) => {
    const counted = await bench();
    await counted.call(tool, argsOf(counted));
    const reads = counted.backend.requests.length - 1;
    expect(reads).toBeGreaterThan(0);
    for (let skip = 0; skip < reads; skip++) {
      const on = await bench();
      const args = argsOf(on);
      const before = await on.state();
      on.backend.inject({ kind: "status", status: 500 }, { method: "GET", skip });
      expect(await failure(on.call(tool, args))).toMatchObject({ code: "FAILED", status: 500 });
      expect(on.backend.requests.filter((request) => request.method === method)).toEqual([]);
      expect(await on.state()).toEqual(before);
    }
  },
);

test("a rate limit is an error that was not executed; a short wait that is named is waited for", async () => {
  const { call, backend, state } = await bench();
  const before = await state();
  backend.inject({ kind: "rateLimit" });
  const error = await failure(call("create_customer", {}, context));
  expect(error).toMatchObject({ code: "FAILED", status: 429, reason: "rate_limit", mayHaveApplied: false });
  expect(error.message).toContain("rate limit");
  expect(await state()).toEqual(before);
  backend.inject({ kind: "rateLimit", retryAfter: 0 });
  expect(await call("create_customer", {}, context)).toHaveProperty("customer");
});

test("a right that the key lacks is an error that names it, without the key", async () => {
  const { call, world, backend } = await bench();
  world.denied.add("customer_write");
  const error = await failure(call("create_customer", {}));
  expect(error).toMatchObject({ code: "FAILED", status: 403 });
  expect(error.message).toContain("rak_customer_write");
  expect(error.message).not.toContain(backend.options.secretKey.slice(-4));
});

test.each([301, 302, 307, 308])("%i never turns a write into a success", async (status) => {
  const { call, backend, writes } = await bench();
  backend.inject({ kind: "status", status, headers: { location: "/v1/customers" } });
  expect(await failure(call("create_customer", {}))).toMatchObject({ code: "FAILED", status });
  expect(writes()).toHaveLength(1);
});

test("holds and landed send reads only", async () => {
  const on = await bench();
  for (const [tool, , argsOf] of undoes) await on.holds(tool, argsOf(on));
  for (const [tool, , argsOf] of creates) await on.landed(tool, argsOf(on), "engine-key");
  expect(on.backend.requests.length).toBeGreaterThanOrEqual(8);
  expect(on.writes()).toEqual([]);
});
