import {
  ConflictError,
  ConnectorError,
  EffectUncertainError,
  errorBody,
  InvalidArgumentsError,
  isConnectorError,
  refuseArgument,
} from "../src/index.ts";

const address: string = "../src/errors.ts?copy";
/** What a second installed copy of the package would export. */
const copy: typeof import("../src/errors.ts") = await import(address);

const ours = { ConflictError, ConnectorError, EffectUncertainError, InvalidArgumentsError };
type Name = keyof typeof ours;
const names = Object.keys(ours) as Name[];

describe.each(names)("%s", (name) => {
  test("is recognised when another copy of the package made it", () => {
    const error = new copy[name]("x");
    expect(error).not.toBeInstanceOf(ours[name]);
    expect(ours[name].is(error)).toBe(true);
    expect(copy[name].is(new ours[name]("x"))).toBe(true);
    expect(isConnectorError(error)).toBe(true);
  });
  test("is taken for no other kind", () => {
    for (const other of names) expect(ours[other].is(new ours[name]("x"))).toBe(other === name);
  });
  test("has its name, and is an Error", () => {
    expect(new ours[name]("x")).toMatchObject({ name, message: "x" });
    expect(new ours[name]("x")).toBeInstanceOf(Error);
  });
});

test.each([undefined, null, "EFFECT_UNCERTAIN", 1, {}, new Error("x"), { code: "FAILED" }, Symbol("x")])(
  "%p is none of them",
  (value) => {
    expect(isConnectorError(value)).toBe(false);
    for (const name of names) expect(ours[name].is(value)).toBe(false);
  },
);
test("a code of a later version is not relied on", () => {
  const error = Object.assign(new Error("x"), { [Symbol.for("@reversi-connector/core/error")]: "PARTLY" });
  expect(isConnectorError(error)).toBe(false);
  expect(errorBody(error)).toEqual({ code: "FAILED", message: "x" });
});

describe("on the wire", () => {
  test("an invalid argument is its message", () => {
    const problems = [{ at: "a", rule: "is required" }];
    expect(errorBody(new InvalidArgumentsError("x.y: a is required", { problems }))).toEqual({
      code: "INVALID_ARGUMENTS",
      message: "x.y: a is required",
    });
  });
  test("a failure carries what the backend answered", () => {
    const error = new ConnectorError("HTTP 429", {
      status: 429,
      reason: "rate_limited",
      requestId: "r1",
      retryAfterSeconds: 0,
    });
    expect(errorBody(error)).toEqual({
      code: "FAILED",
      message: "HTTP 429",
      status: 429,
      reason: "rate_limited",
      request_id: "r1",
      retry_after_seconds: 0,
    });
  });
  test("a failure that may have applied says so, with what is known of the result", () => {
    const error = new ConnectorError("HTTP 500", {
      status: 500,
      mayHaveApplied: true,
      expectedResult: { id: 1 },
    });
    expect(errorBody(error)).toEqual({
      code: "FAILED",
      message: "HTTP 500",
      status: 500,
      may_have_applied: true,
      expected_result: { id: 1 },
    });
  });
  test("a conflict is its message", () => {
    expect(errorBody(new ConflictError("changed", { expected: 1, found: 2 }))).toEqual({
      code: "CONFLICT",
      message: "changed",
    });
  });
  test("an unknown outcome carries the key and what is known of the result", () => {
    const error = new EffectUncertainError("lost", { idempotencyKey: "k", expectedResult: { id: 1 } });
    expect(errorBody(error)).toEqual({
      code: "EFFECT_UNCERTAIN",
      message: "lost",
      idempotency_key: "k",
      expected_result: { id: 1 },
    });
  });
  test("is the same when another copy made the error", () => {
    expect(errorBody(new copy.EffectUncertainError("lost", { idempotencyKey: "k" }))).toEqual({
      code: "EFFECT_UNCERTAIN",
      message: "lost",
      idempotency_key: "k",
    });
  });

  const nameless = Object.create(null);
  const hostile = {
    get message() {
      throw new Error("no");
    },
  };
  test.each<[string, unknown, string]>([
    ["an error", new TypeError("x is not a function"), "x is not a function"],
    ["several errors in one without a message", new AggregateError([new Error("a")]), "AggregateError"],
    ["a text", "broken", "broken"],
    ["nothing", undefined, "undefined"],
    ["null", null, "null"],
    ["a symbol", Symbol("x"), "Symbol(x)"],
    ["an object without any method", nameless, "something that cannot be shown as text"],
    ["an object that throws when it is read", hostile, "something that cannot be shown as text"],
  ])("whatever else was thrown is a failure: %s", (_what, thrown, message) => {
    expect(errorBody(thrown)).toEqual({ code: "FAILED", message });
  });
});

test("an argument is refused by its name and the rule", () => {
  const refuse = () => refuseArgument("key", "must not be empty");
  expect(refuse).toThrow(InvalidArgumentsError);
  expect(refuse).toThrow("key must not be empty; nothing was sent");
  expect(refuse).toThrow(expect.objectContaining({ problems: [{ at: "key", rule: "must not be empty" }] }));
});
