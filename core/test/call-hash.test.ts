import { callHash, callUuid, InvalidArgumentsError } from "@reversi-connector/core";

test("the same call under the same key comes to the same, in whatever order its facts are told", () => {
  expect(callHash("k", { entity: "event", args: { a: 1, b: 2 } })).toMatch(/^[0-9a-f]{64}$/);
  expect(callHash("k", { args: { b: 2, a: 1 }, entity: "event" })).toBe(
    callHash("k", { entity: "event", args: { a: 1, b: 2 } }),
  );
});

test("another key, another entity and other arguments come to something else", () => {
  const all = [
    callHash("k", { entity: "event", args: {} }),
    callHash("l", { entity: "event", args: {} }),
    callHash("k", { entity: "backup", args: {} }),
    callHash("k", { entity: "event", args: { a: 1 } }),
  ];
  expect(new Set(all).size).toBe(all.length);
});

test("as a UUID it is the same digits", () => {
  const uuid = callUuid("k", { entity: "backup" });
  expect(uuid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(callHash("k", { entity: "backup" }).startsWith(uuid.replaceAll("-", ""))).toBe(true);
});

test.each([undefined, ""])("the key %j is refused: two deliberate calls would be taken for one", (key) => {
  const calls = [() => callHash(key, {}), () => callUuid(key, {})];
  for (const call of calls) {
    expect(call).toThrow("the idempotency key must not be empty; nothing was sent");
    expect(call).toThrow(InvalidArgumentsError);
  }
});
