import { EffectUncertainError } from "@reversi-connector/core";
import { bench, failure, general, refusal } from "./bench.ts";
import { all, method, post } from "./writes.ts";

describe("SL-01: HTTP 200 is no success", () => {
  test.each([
    ["channel_not_found", {}, /check the id/],
    ["not_in_channel", {}, /invite the bot/],
    ["is_archived", {}, /is_archived/],
    ["invalid_auth", {}, /invalid_auth/],
    [
      "missing_scope",
      { needed: "chat:write", provided: "channels:read" },
      /needs chat:write, and has channels:read/,
    ],
  ])("%s is a definite error", async (error, details, message) => {
    for (const [tool, argsOf] of all) {
      const on = await bench();
      const args = argsOf(on);
      const before = await on.state();
      on.backend.inject(refusal(error, details), { method });
      const thrown = await failure(on.call(tool, args));
      expect(thrown).toMatchObject({ code: "FAILED", status: 200, reason: error, mayHaveApplied: false });
      expect(thrown.message).toMatch(message);
      expect(await on.state()).toEqual(before);
    }
  });

  test("a refusal without a code is a definite error too", async () => {
    const on = await bench();
    on.backend.inject({ kind: "status", status: 200, body: { ok: false } }, { method });
    const error = await failure(on.call("post_message", post[1](on)));
    expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
    expect(error.message).toContain("refused without a code");
  });

  const ids = { channel: general, ts: "1719828000.123456" };
  test.each([
    [{}],
    [{ ok: "true", ...ids }],
    [{ ok: 1, ...ids }],
    [{ ok: true }],
    [{ ok: true, channel: general }],
    [{ ok: true, ts: ids.ts }],
    [{ ok: true, channel: "general", ts: ids.ts }],
    [{ ok: true, channel: general, ts: 1719828000.123456 }],
    [[]],
    [null],
  ])("%j proves nothing", async (body) => {
    for (const [tool, argsOf] of all) {
      const on = await bench();
      const args = argsOf(on);
      // A reaction's answer carries nothing but `ok`.
      if (tool.endsWith("reaction") && (body as { ok?: unknown } | null)?.ok === true) continue;
      on.backend.inject({ kind: "status", status: 200, body }, { method });
      expect(EffectUncertainError.is(await failure(on.call(tool, args)))).toBe(true);
    }
  });
});

describe("SL-02: rate limits", () => {
  const body = { ok: false, error: "ratelimited" };
  const inAMinute = new Date(Date.now() + 60_000).toUTCString();
  test.each([
    ["429 with Retry-After", 429, { "retry-after": "30" }, body, 30],
    ["429 without the header", 429, {}, body, undefined],
    ["429 with a date", 429, { "retry-after": inAMinute }, body, 60],
    ["429 with a page of a proxy", 429, {}, "<h1>Slow down</h1>", undefined],
    ["200 with ratelimited", 200, {}, body, undefined],
    ["200 with rate_limited", 200, { "retry-after": "30" }, { ...body, error: "rate_limited" }, 30],
  ])(
    "%s is one definite error with the waiting time, if known",
    async (_, status, headers, answer, seconds) => {
      for (const [tool, argsOf] of all) {
        const on = await bench();
        const args = argsOf(on);
        const before = await on.state();
        on.backend.inject({ kind: "status", status, headers, body: answer }, { method });
        const error = await failure(on.call(tool, args));
        expect(error).toMatchObject({ code: "FAILED", status, mayHaveApplied: false });
        expect(error.message).toMatch(
          seconds === undefined ? /without a word on how long/ : /try again in \d+ s/,
        );
        if (seconds === undefined) expect(error.retryAfterSeconds).toBeUndefined();
        else expect(Math.abs((error.retryAfterSeconds ?? 0) - seconds)).toBeLessThanOrEqual(5);
        expect(on.writes()).toHaveLength(1);
        expect(await on.state()).toEqual(before);
      }
    },
  );

  test.each([200, 429] as const)(
    "the sandbox's own limit, with HTTP %i, is met in the same way",
    async (status) => {
      const on = await bench();
      on.backend.world.rateLimitStatus = status;
      on.backend.inject({ kind: "rateLimit", retryAfter: 30 });
      const error = await failure(on.call("post_message", post[1](on)));
      expect(error).toMatchObject({ status, reason: "ratelimited", retryAfterSeconds: 30 });
    },
  );

  test("a wait that is shorter than the call's time is waited for, and the message is posted once", async () => {
    const on = await bench();
    on.backend.inject({ kind: "rateLimit", retryAfter: 0 });
    await on.call("post_message", post[1](on));
    expect(on.writes().map(({ handled }) => handled)).toEqual([false, true]);
    expect(on.backend.general.messages).toHaveLength(3);
  });
});

describe("a redirect", () => {
  test.each([301, 302, 303, 307, 308])("HT-05: %i to another host is not followed", async (status) => {
    const [here, other] = [await bench(), await bench()];
    const headers = { location: `${other.backend.address}/api/chat.postMessage` };
    here.backend.inject({ kind: "status", status, headers }, { times: 2 });
    for (const call of [here.call("post_message", post[1](here)), here.call("list_channels", {})]) {
      expect(await failure(call)).toMatchObject({ code: "FAILED", status });
    }
    expect(other.backend.requests).toEqual([]);
  });
});

test("a connection that is refused sent nothing: a write is not uncertain", async () => {
  const { backend, call } = await bench();
  backend.inject({ kind: "refuse" });
  const error = await failure(call("post_message", { channel: general, text: "x" }));
  expect(error.message).toContain("nothing was sent");
  expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
});
