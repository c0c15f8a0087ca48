import { ConnectorError, EffectUncertainError } from "../src/index.ts";
import { box, failure, token } from "./box.ts";

const undo = { name: "a", old: null };
const forward = { name: "a", text: "new" };
const result = { name: "a", old: "before", about: "x" };

describe("holds", () => {
  test("asks with a client that cannot write", async () => {
    const { holds, shelf } = box({ holds: async ({ client }) => Object.keys(client).join() === "get" });
    expect(await holds(undo)).toBe(true);
    expect(shelf.log).toEqual(["reader"]);
  });
  test("sees the goal state that run brings about", async () => {
    const { connector, holds } = box();
    expect(await holds(undo)).toBe(false);
    await connector.tools["box.restore"]?.({ name: "a", old: "old" });
    expect(await holds(undo)).toBe(true);
  });
  test.each([undefined, null, "yes", 1, {}])(
    "takes nothing but yes and no for an answer: %p is unknown",
    async (answer) => {
      expect(await box({ holds: async () => answer as never }).holds(undo)).toBe("unknown");
    },
  );
  test("checks its arguments, and refuses the credential in them, before anything is read", async () => {
    const { holds, shelf } = box();
    expect(await failure(holds({ name: "a" }))).toMatchObject({ code: "INVALID_ARGUMENTS" });
    expect(await failure(holds({ name: token, old: null }))).toMatchObject({ code: "INVALID_ARGUMENTS" });
    expect(shelf.log).toEqual([]);
  });
  test.each<[string, unknown]>([
    ["an unknown outcome", new EffectUncertainError(`lost ${token}`)],
    ["a failure that may have applied", new ConnectorError(`HTTP 500 ${token}`, { mayHaveApplied: true })],
    ["an unknown error", new TypeError(token)],
  ])("never ends with a doubt about an effect: %s", async (_what, thrown) => {
    const error = await failure(box({ holds: async () => Promise.reject(thrown) }).holds(undo));
    expect(error).toMatchObject({
      code: "FAILED",
      mayHaveApplied: false,
      message: expect.stringMatching(/\[redacted\]$/),
    });
  });
  test("ends soon when its time is up, without doubt", async () => {
    const { holds } = box({ holds: () => new Promise(() => {}) }, { timeoutMs: 10 });
    expect(await failure(holds(undo))).toMatchObject({
      code: "FAILED",
      message: "box.restore: no answer within 10 ms",
    });
  });
  test("that was cancelled before reads nothing", async () => {
    const { holds, shelf } = box();
    const error = await failure(holds(undo, { signal: AbortSignal.abort() }));
    expect(error).toMatchObject({ code: "FAILED", message: "box.restore: cancelled" });
    expect(shelf.log).toEqual([]);
  });
});

describe("landed", () => {
  test("is told what the caller knows: since when, the key, the checkpoint; and cannot write", async () => {
    const seen: unknown[] = [];
    const { connector } = box({
      landed: async ({ args, since, checkpoint, idempotencyKey, client }) => {
        seen.push(args, since, checkpoint, idempotencyKey, Object.keys(client));
        return { landed: false };
      },
    });
    const checkpoint = { result: { name: "a" }, evidence: { seen: 1 } };
    const since = new Date(5);
    const answer = await connector.landed["box.put"]?.(forward, { since, checkpoint, idempotencyKey: "k" });
    expect(answer).toEqual({ landed: false });
    expect(seen).toEqual([{ ...forward, note: "none" }, since, checkpoint, "k", ["get"]]);
  });
  test("proves with the whole result", async () => {
    expect(await box({ landed: async () => ({ landed: true, result }) }).landed(forward)).toEqual({
      landed: true,
      result,
    });
  });
  test.each<[string, unknown]>([
    ["a result that lacks what the undo needs", { landed: true, result: { name: "a" } }],
    ["a result with more in it than there should be", { landed: true, result: { ...result, password: "" } }],
    ["no result", { landed: true }],
    ["a bare yes", true],
    ["nothing", undefined],
    ["a word", "perhaps"],
    ["half an answer", { landed: "true", result }],
  ])("stays unknown with %s", async (_what, answer) => {
    expect(await box({ landed: async () => answer as never }).landed(forward)).toBe("unknown");
  });
  test("does not let the credential out, and does not rewrite what the undo needs", async () => {
    const told = (changes: object) =>
      box({ landed: async () => ({ landed: true, result: { ...result, ...changes } }) }).landed(forward);
    expect(await told({ about: token })).toEqual({
      landed: true,
      result: { ...result, about: "[redacted]" },
    });
    expect(await told({ old: token })).toBe("unknown");
    expect(await told({ old: "vendor_abc" })).toEqual({
      landed: true,
      result: { ...result, old: "vendor_abc" },
    });
  });
  test("never ends with a doubt about an effect", async () => {
    const { landed } = box({ landed: async () => Promise.reject(new EffectUncertainError("lost")) });
    expect(await failure(landed(forward))).toMatchObject({ code: "FAILED", mayHaveApplied: false });
  });
});
