import {
  type Checkpoint,
  ConflictError,
  ConnectorError,
  type Context,
  EffectUncertainError,
  InvalidArgumentsError,
} from "../src/index.ts";
import { box, failure, token } from "./box.ts";

const good = { name: "a", text: "new" };
const never = () => new Promise<never>(() => {});
const encoded = encodeURIComponent(token);

describe("before anything is sent", () => {
  test.each<[string, unknown, string]>([
    ["a missing argument", { name: "a" }, "box.put: text is required"],
    ["an unknown one", { ...good, x: 1 }, "box.put: x is not a known name (known: name, text, note)"],
    [
      "no arguments at all",
      undefined,
      "box.put: arguments must be an object, not undefined (leave it out instead)",
    ],
  ])("%s is refused, and the client is not even made", async (_what, args, message) => {
    const { put, shelf } = box();
    const error = await failure(put(args));
    expect(InvalidArgumentsError.is(error)).toBe(true);
    expect(error).toMatchObject({ message });
    expect(shelf.log).toEqual([]);
  });
  test.each([token, `x${encoded}`, Buffer.from(`me:${token}`).toString("base64")])(
    "the configured credential is refused in an argument: %s",
    async (text) => {
      const { put, shelf } = box();
      const error = await failure(put({ name: "a", text }));
      expect(InvalidArgumentsError.is(error)).toBe(true);
      expect(error).toMatchObject({
        message: "box.put: text holds the configured credential; nothing was sent",
        problems: [{ at: "text", rule: "holds the configured credential" }],
      });
      expect(shelf.log).toEqual([]);
    },
  );
  test("a text that merely looks like a token is an argument like any other", async () => {
    const { put, shelf } = box();
    const result = await put({ name: "a", text: "vendor_abc" });
    expect(shelf.items.get("a")).toBe("vendor_abc");
    expect(result).toEqual({ name: "a", old: null, about: "vendor_abc" });
  });
  test("a call that was cancelled already is not begun", async () => {
    const { put, shelf } = box();
    const error = await failure(put(good, { signal: AbortSignal.abort() }));
    expect(error).toMatchObject({
      code: "FAILED",
      mayHaveApplied: false,
      message: "box.put: cancelled; nothing was sent",
    });
    expect(shelf.log).toEqual([]);
  });
  test("a client that cannot be made changed nothing", async () => {
    const { put } = box({
      client: () => {
        throw new TypeError("the pool has ended");
      },
    });
    expect(await failure(put(good))).toMatchObject({
      code: "FAILED",
      mayHaveApplied: false,
      message: "box.put: internal error: the pool has ended",
    });
  });
});

test("defaults are filled in, and the caller's object is left as it was", async () => {
  const seen: unknown[] = [];
  const { put } = box({
    put: async ({ args }) => {
      seen.push(args);
      return { name: args.name, old: null, about: "" };
    },
  });
  await put(Object.freeze({ ...good }));
  expect(seen).toEqual([{ ...good, note: "none" }]);
});

describe("the idempotency key", () => {
  /** The key that a write and a read were given, and the error of a write whose outcome is unknown. */
  const run = async (context?: Context) => {
    const keys: (string | undefined)[] = [];
    const { put, read } = box({
      put: async ({ idempotencyKey }) => {
        keys.push(idempotencyKey);
        throw new EffectUncertainError("lost");
      },
      read: async ({ idempotencyKey }) => {
        keys.push(idempotencyKey);
        return { text: "" };
      },
    });
    const error = await failure(put(good, context));
    await read({ name: "a" }, context);
    return { keys, error };
  };
  test("is the caller's", async () => {
    const { keys, error } = await run({ idempotencyKey: "k1" });
    expect(keys).toEqual(["k1", "k1"]);
    expect(error).toMatchObject({ code: "EFFECT_UNCERTAIN", idempotencyKey: "k1" });
  });
  test("is made for a write without one, never for a read, and is on the error", async () => {
    const { keys, error } = await run();
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), undefined]);
    expect(error).toMatchObject({ code: "EFFECT_UNCERTAIN", idempotencyKey: keys[0] });
    expect((await run()).keys[0]).not.toBe(keys[0]);
  });
});

describe("a checkpoint", () => {
  test("is durable before the write, and the write before the result", async () => {
    const { put, shelf } = box();
    const checkpoint = async (kept: Checkpoint) => {
      await new Promise(setImmediate);
      shelf.log.push(`kept ${JSON.stringify(kept)}`);
    };
    await put(good, { checkpoint });
    expect(shelf.log).toEqual(["client", 'kept {"result":{"name":"a","old":null}}', "set a"]);
  });
  test.each<[string, () => Promise<void>]>([
    ["refuses", async () => Promise.reject(new Error("disk full"))],
    [
      "throws at once",
      () => {
        throw new Error("disk full");
      },
    ],
    ["throws what is no error", () => Promise.reject("disk full")],
  ])("that the caller %s aborts before the write", async (_how, checkpoint) => {
    const { put, shelf } = box();
    const error = await failure(put(good, { checkpoint }));
    expect(error).toMatchObject({
      code: "FAILED",
      mayHaveApplied: false,
      message: "box.put: the checkpoint was refused (disk full); nothing was written",
    });
    expect(shelf.items.size).toBe(0);
  });
  test("that is never confirmed aborts before the write when time is up", async () => {
    const { put, shelf } = box({}, { timeoutMs: 20 });
    const error = await failure(put(good, { checkpoint: never }));
    expect(error).toMatchObject({
      code: "FAILED",
      mayHaveApplied: false,
      message: "box.put: no answer within 20 ms; nothing was written",
    });
    expect(shelf.items.size).toBe(0);
  });
  test("that was confirmed after the call was cancelled comes too late", async () => {
    const controller = new AbortController();
    const { put, shelf } = box();
    const checkpoint = async () => controller.abort();
    const error = await failure(put(good, { checkpoint, signal: controller.signal }));
    expect(error).toMatchObject({
      code: "FAILED",
      mayHaveApplied: false,
      message: "box.put: cancelled; nothing was written",
    });
    expect(shelf.items.size).toBe(0);
  });
  test("with the configured credential in it is refused, for it could not be kept as it is", async () => {
    const { put, shelf } = box();
    shelf.items.set("a", `old ${token}`);
    const kept: Checkpoint[] = [];
    const error = await failure(put(good, { checkpoint: async (next) => void kept.push(next) }));
    expect(error).toMatchObject({
      code: "FAILED",
      message: "box.put: result.old holds the configured credential; nothing was written",
    });
    expect(shelf.items.get("a")).toBe(`old ${token}`);
    expect(kept).toEqual([]);
  });
  test("keeps what merely looks like a token byte for byte", async () => {
    const { put, shelf } = box();
    shelf.items.set("a", "vendor_abc");
    const kept: Checkpoint[] = [];
    expect(await put(good, { checkpoint: async (next) => void kept.push(next) })).toMatchObject({
      old: "vendor_abc",
    });
    expect(kept).toEqual([{ result: { name: "a", old: "vendor_abc" } }]);
  });
  test("that contains itself is refused before the write", async () => {
    const loop: { self?: unknown } = {};
    loop.self = loop;
    const { put } = box({
      put: async ({ checkpoint }) =>
        (await checkpoint({ result: {}, evidence: { seen: loop as never } })) as never,
    });
    expect(await failure(put(good))).toMatchObject({ code: "FAILED", mayHaveApplied: false });
  });
  test("that is refused after an earlier one says nothing of what was written between", async () => {
    const { put } = box({
      put: async ({ checkpoint, client }) => {
        await checkpoint({ result: { name: "a" } });
        client.set("a", "half");
        await checkpoint({ result: { name: "a", old: "half" } });
        return { name: "a", old: null, about: "" };
      },
    });
    let count = 0;
    const checkpoint = async () => {
      if (++count === 2) throw new Error("disk full");
    };
    expect(await failure(put(good, { checkpoint }))).toMatchObject({
      code: "FAILED",
      mayHaveApplied: true,
      expectedResult: { name: "a" },
      message: "box.put: the checkpoint was refused (disk full)",
    });
  });
});

describe("a result that lacks what it must carry", () => {
  test("leaves the outcome of a write unknown, with what was durable before", async () => {
    const { put } = box({
      put: async ({ checkpoint }) => {
        await checkpoint({ result: { name: "a", old: null } });
        return { name: "a", old: null } as never;
      },
    });
    expect(await failure(put(good, { idempotencyKey: "k" }))).toMatchObject({
      code: "EFFECT_UNCERTAIN",
      message: "box.put: the answer does not carry what it must: about is required",
      idempotencyKey: "k",
      expectedResult: { name: "a", old: null },
    });
  });
  test.each([undefined, null, "ok", []])("even when it is %p", async (result) => {
    const error = await failure(box({ put: async () => result as never }).put(good));
    expect(error).toMatchObject({
      code: "EFFECT_UNCERTAIN",
      message: expect.stringMatching("the result must be an object"),
    });
  });
  test("is an error for a read, without doubt", async () => {
    const error = await failure(box({ read: async () => ({}) as never }).read({ name: "a" }));
    expect(error).toMatchObject({
      code: "FAILED",
      mayHaveApplied: false,
      message: "box.read: the answer does not carry what it must: text is required",
    });
  });
});

describe("an error that nobody threw on purpose", () => {
  test.each<[string, unknown, string]>([
    ["an error", new TypeError("x is not a function"), "x is not a function"],
    ["a text", "broken", "broken"],
    ["nothing", undefined, "undefined"],
    ["a symbol", Symbol("s"), "Symbol(s)"],
    ["an object without any method", Object.create(null), "something that cannot be shown as text"],
    [
      "an error of a later version",
      Object.assign(new Error("new"), { [Symbol.for("@reversi-connector/core/error")]: "PARTLY" }),
      "new",
    ],
  ])("is no proof that a write did nothing: %s", async (_what, thrown, message) => {
    const { put, read } = box({
      put: async () => Promise.reject(thrown),
      read: async () => Promise.reject(thrown),
    });
    expect(await failure(put(good))).toMatchObject({
      name: "ConnectorError",
      code: "FAILED",
      mayHaveApplied: true,
      message: `box.put: internal error: ${message}`,
    });
    expect(await failure(read({ name: "a" }))).toMatchObject({
      code: "FAILED",
      mayHaveApplied: false,
      message: `box.read: internal error: ${message}`,
    });
  });
  test("may be thrown before the handler returns its promise", async () => {
    const { put } = box({
      put: () => {
        throw new Error("at once");
      },
    });
    expect(await failure(put(good))).toMatchObject({ code: "FAILED", mayHaveApplied: true });
  });
  test("comes with what was durable before the write", async () => {
    const { put } = box({
      put: async ({ checkpoint }) => {
        await checkpoint({ result: { name: "a", old: null } });
        throw new TypeError("oops");
      },
    });
    expect(await failure(put(good))).toMatchObject({
      mayHaveApplied: true,
      expectedResult: { name: "a", old: null },
    });
  });
});

describe("an error that was thrown on purpose", () => {
  test("keeps everything it says", async () => {
    const given = { status: 503, reason: "busy", requestId: "r", retryAfterSeconds: 2, mayHaveApplied: true };
    const { put } = box({
      put: async ({ checkpoint }) => {
        await checkpoint({ result: { name: "a" } });
        throw new ConnectorError("HTTP 503", given);
      },
    });
    expect(await failure(put(good))).toMatchObject({
      ...given,
      message: "HTTP 503",
      expectedResult: { name: "a" },
    });
  });
  test("carries no result of something that did not happen", async () => {
    const { put } = box({
      put: async ({ checkpoint }) => {
        await checkpoint({ result: { name: "a" } });
        throw new ConnectorError("HTTP 404", { status: 404 });
      },
    });
    expect(await failure(put(good))).toMatchObject({
      status: 404,
      mayHaveApplied: false,
      expectedResult: undefined,
    });
  });
  test("prefers what the connection itself knows of the result", async () => {
    const { put } = box({
      put: async ({ checkpoint }) => {
        await checkpoint({ result: { name: "a" } });
        throw new EffectUncertainError("lost", { expectedResult: { name: "b" }, idempotencyKey: "own" });
      },
    });
    expect(await failure(put(good, { idempotencyKey: "k" }))).toMatchObject({
      expectedResult: { name: "b" },
      idempotencyKey: "own",
    });
  });
  test("is a conflict with both states", async () => {
    const { put } = box({
      put: async () => Promise.reject(new ConflictError("changed", { expected: "a", found: { b: 1 } })),
    });
    expect(await failure(put(good))).toMatchObject({ code: "CONFLICT", expected: "a", found: { b: 1 } });
  });
  test.each([
    new EffectUncertainError("lost"),
    new ConnectorError("HTTP 500", { status: 500, mayHaveApplied: true }),
  ])("leaves no doubt about a read, whatever its connection says: %p", async (thrown) => {
    const error = await failure(box({ read: async () => Promise.reject(thrown) }).read({ name: "a" }));
    expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false, message: thrown.message });
  });
});
