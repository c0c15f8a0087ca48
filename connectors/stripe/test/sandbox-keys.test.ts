import { age } from "@reversi-connector/stripe/sandbox";
import { vendor } from "./bench.ts";

const key = { "idempotency-key": "k" };
const customers = "/v1/customers";

test("the first answer is repeated word for word, under the first request's id", async () => {
  const { ask, world } = await vendor();
  const first = await ask("POST", customers, "name=x&email=a%40b.c", key);
  const count = world.customers.length;
  Object.assign(world.customers.at(-1) ?? {}, { name: "changed since" });
  const again = await ask("POST", customers, "email=a%40b.c&name=x", key);
  expect(again.body).toEqual(first.body);
  expect(again.headers).toMatchObject({
    "idempotent-replayed": "true",
    "idempotency-key": "k",
    "original-request": first.headers["request-id"],
  });
  expect(again.headers["request-id"]).not.toBe(first.headers["request-id"]);
  expect(first.headers).not.toHaveProperty("idempotent-replayed");
  expect(world.customers).toHaveLength(count);
});

test("other parameters and other endpoints are refused, and the first answer stays", async () => {
  const { ask } = await vendor();
  const first = await ask("POST", customers, "name=x", key);
  const parameters = await ask("POST", customers, "name=y", key);
  expect(parameters).toMatchObject({ status: 400, body: { error: { type: "idempotency_error" } } });
  expect(parameters.body.error.message).toMatch(/^Keys for idempotent requests .* same parameters/);
  const endpoint = await ask("POST", "/v1/refunds", "name=x", key);
  expect(endpoint.body.error.message).toMatch(/same endpoint .* \('\/v1\/refunds' vs '\/v1\/customers'\)/);
  expect((await ask("POST", customers, "name=x", key)).body).toEqual(first.body);
});

test("a failure after execution began is kept; the key then fails though the reason is gone", async () => {
  const { ask, backend } = await vendor();
  backend.charge.disputed = true;
  const form = `charge=${backend.charge.id}`;
  expect((await ask("POST", "/v1/refunds", form, key)).body.error.code).toBe("charge_disputed");
  backend.charge.disputed = false;
  const again = await ask("POST", "/v1/refunds", form, key);
  expect(again).toMatchObject({ status: 400, headers: { "idempotent-replayed": "true" } });
  expect(await ask("POST", "/v1/refunds", form, { "idempotency-key": "other" })).toMatchObject({
    status: 200,
  });
});

test.each([true, false])("a 500 is kept, whether it took effect (%j) or not", async (effect) => {
  const { ask, backend, world } = await vendor();
  const count = world.customers.length + (effect ? 1 : 0);
  backend.inject({ kind: "status", status: 500, effect }, { method: "POST" });
  const first = await ask("POST", customers, "name=x", key);
  expect(first.status).toBe(500);
  for (let again = 0; again < 2; again++) {
    const repeated = await ask("POST", customers, "name=x", key);
    expect(repeated).toMatchObject({ status: 500, body: first.body });
    expect(repeated.headers["idempotent-replayed"]).toBe("true");
  }
  expect(world.customers).toHaveLength(count);
});

test("a 500 of something in front of Stripe is not kept, where the sandbox is told so", async () => {
  const { ask, backend, world } = await vendor();
  world.keepsBreakdowns = false;
  backend.inject({ kind: "status", status: 500 }, { method: "POST" });
  expect((await ask("POST", customers, "name=x", key)).status).toBe(500);
  expect((await ask("POST", customers, "name=x", key)).status).toBe(200);
});

test.each([
  ["a 503 before it", { kind: "status", status: 503 }],
  ["a rate limit", { kind: "rateLimit" }],
  ["a refused key", { kind: "deny" }],
  ["a lost connection before it", { kind: "cutBefore" }],
] as const)("nothing is kept of %s", async (_, fault) => {
  const { ask, backend } = await vendor();
  backend.inject(fault, { method: "POST" });
  await ask("POST", customers, "name=x", key).catch(() => {});
  const second = await ask("POST", customers, "name=y", key);
  expect(second.status).toBe(200);
  expect(second.headers).not.toHaveProperty("idempotent-replayed");
});

test("nothing is kept of a missing right or of parameters that do not fit", async () => {
  const { ask, world } = await vendor();
  world.denied.add("customer_write");
  expect((await ask("POST", customers, "name=x", key)).status).toBe(403);
  world.denied.clear();
  expect((await ask("POST", customers, "nam=x", key)).status).toBe(400);
  expect((await ask("POST", customers, "name=x", key)).status).toBe(200);
});

test("a request in flight makes the next one a 409, with the same parameters or with others", async () => {
  const { ask, world } = await vendor();
  let release = () => {};
  world.hold = new Promise<void>((resolve) => {
    release = resolve;
  });
  const both = ["name=x", "name=y"].map((form) => ask("POST", customers, form, key));
  const refused = await Promise.race(both);
  expect(refused).toMatchObject({ status: 409, body: { error: { code: "idempotency_key_in_use" } } });
  expect(refused.headers["stripe-should-retry"]).toBe("true");
  release();
  expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([200, 409]);
});

test("a key is forgotten after a day, and then acts anew", async () => {
  const { ask, world } = await vendor();
  const first = await ask("POST", customers, "name=x", key);
  age(world, 23);
  expect((await ask("POST", customers, "name=x", key)).body).toEqual(first.body);
  age(world, 2);
  const anew = await ask("POST", customers, "name=y", key);
  expect(anew).toMatchObject({ status: 200, body: { name: "y" } });
  expect(anew.body.id).not.toBe(first.body.id);
});

test("a key means nothing on a DELETE", async () => {
  const { ask, backend, world } = await vendor();
  const path = `${customers}/${backend.ada.id}`;
  expect((await ask("DELETE", path, undefined, key)).body).toEqual({
    ...{ id: backend.ada.id, object: "customer", deleted: true },
  });
  const again = await ask("DELETE", path, undefined, key);
  expect(again.status).toBe(404);
  expect(again.body.error).toMatchObject({ code: "resource_missing", param: "id" });
  expect(world.keys.size).toBe(0);
});

test("a key that is too long is refused", async () => {
  const { ask } = await vendor();
  expect((await ask("POST", customers, "", { "idempotency-key": "k".repeat(256) })).status).toBe(400);
});
