import { moveIntent, removeCustomer } from "@reversi-connector/stripe/sandbox";
import { bench, failure } from "./bench.ts";

const context = { idempotencyKey: "engine-key" };

describe("the evidence for a lost answer", () => {
  const lost = async (eventsLate = false) => {
    const on = await bench();
    on.world.eventsLate = eventsLate;
    await on.call("create_customer", { name: "Alan" }, context);
    const customer = on.world.customers.at(-1);
    if (!customer) throw new Error("no customer was made");
    const ask = (key?: string) => on.landed("create_customer", { name: "Alan" }, key);
    return { ...on, customer, ask, found: { landed: true, result: expect.anything() } };
  };

  test("is nothing without the call's key", async () => {
    const { ask, backend } = await lost();
    backend.forget();
    expect(await ask()).toBe("unknown");
    expect(backend.requests).toEqual([]);
  });

  test("is the event of the request when somebody took the mark away, or deleted the customer", async () => {
    const { ask, world, customer, found } = await lost();
    customer.metadata = {};
    expect(await ask("engine-key")).toEqual(found);
    removeCustomer(world, customer);
    expect(await ask("engine-key")).toEqual(found);
  });

  test("is the mark alone where the key may not read events", async () => {
    const { ask, world, found } = await lost();
    world.denied.add("event_read");
    expect(await ask("engine-key")).toEqual(found);
    expect(await ask("another")).toEqual({ landed: false });
  });

  test("is none where lists may not be read", async () => {
    const { ask, world } = await lost();
    world.denied.add("customer_read");
    await expect(ask("engine-key")).rejects.toThrow(/HTTP 403.*rak_customer_read/);
  });

  test("is not absence where the clocks disagree: the list may begin too late", async () => {
    const { ask, backend, found } = await lost();
    const body = { object: "list", data: [], has_more: false, url: "/v1/customers" };
    for (const date of ["Thu, 01 Jan 2026 00:00:00 GMT", "noon"]) {
      const list = { kind: "status", status: 200, headers: { date }, body } as const;
      backend.inject(list, { path: /\/v1\/customers/ });
      expect(await ask("another")).toBe("unknown");
    }
    expect(await ask("engine-key")).toEqual(found);
  });

  test("is looked for on every page", async () => {
    const { call, landed, writes, sent } = await bench();
    await call("create_customer", {}, context);
    for (let index = 0; index < 120; index++) await call("create_customer", {});
    const written = writes().length;
    expect(await landed("create_customer", {}, "engine-key")).toMatchObject({ landed: true });
    expect(await landed("create_customer", {}, "another")).toEqual({ landed: false });
    expect(sent().filter((line) => line.includes("starting_after=cus_")).length).toBe(2);
    expect(writes()).toHaveLength(written);
  });

  test("is not absence where the list has no end", async () => {
    const { ask, backend } = await lost(true);
    const data = [{ id: "cus_1", object: "customer", metadata: {} }];
    const body = { object: "list", data, has_more: true, url: "/v1/customers" };
    backend.inject({ kind: "status", status: 200, body }, { path: /\/v1\/customers/, times: 100 });
    expect(await ask("engine-key")).toBe("unknown");
  });

  test("of an intent brings the state it began in, so that a payment that went on is a conflict", async () => {
    for (const began of ["requires_payment_method", "requires_confirmation"]) {
      const on = await bench();
      const { paymentMethod } = on.backend;
      const own = began === "requires_confirmation" ? { payment_method: paymentMethod } : {};
      const args = { amount: 700, currency: "eur", ...own };
      const { payment_intent } = await on.call("create_payment_intent", args, context);
      const intent = on.world.intents.at(-1);
      if (intent) moveIntent(on.world, intent, "requires_capture");
      const answer = await on.landed("create_payment_intent", args, "engine-key");
      expect(answer).toMatchObject({ landed: true, result: { payment_intent, status: began } });
      const { result } = answer as { result: object };
      expect(await failure(on.undo("create_payment_intent", result))).toMatchObject({ code: "CONFLICT" });
    }
  });
});
