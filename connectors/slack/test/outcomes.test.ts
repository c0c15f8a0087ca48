import { inspect } from "node:util";
import { type Checkpoint, EffectUncertainError } from "@reversi-connector/core";
import { slack } from "@reversi-connector/slack";
import { bot, react, say } from "@reversi-connector/slack/sandbox";
import { type Bench, bench, failure, general, refusal } from "./bench.ts";

const key = "key-1";
type Write = readonly [tool: string, argsOf: (on: Bench) => object];
const post: Write = ["post_message", () => ({ channel: general, text: "Hello" })];
const forward: readonly Write[] = [
  post,
  ["add_reaction", ({ first }) => ({ channel: general, timestamp: first.ts, name: "tada" })],
];
const undoes: readonly Write[] = [
  [
    "delete_message",
    ({ backend: { world, general: channel } }) => ({
      channel: general,
      ts: say(world, channel, { user: bot.user, text: "x" }).ts,
      thread_ts: null,
    }),
  ],
  [
    "remove_reaction",
    ({ backend, first }) => {
      react(backend.world, first, bot.user, "tada");
      return { channel: general, timestamp: first.ts, name: "tada" };
    },
  ],
];
const all = [...forward, ...undoes];
const method = "POST";

/** Calls a tool and keeps what it made durable. */
async function lose({ call }: Bench, tool: string, args: object) {
  const kept: Checkpoint[] = [];
  const checkpoint = async (next: Checkpoint) => void kept.push(next);
  const error = await failure(call(tool, args, { idempotencyKey: key, checkpoint }));
  return { error, checkpoint: kept[0] };
}

describe("an answer that is lost", () => {
  test.each(all)("HT-01: %s sent once, connection cut after the effect: unknown", async (tool, argsOf) => {
    const on = await bench();
    const args = argsOf(on);
    const before = await on.state();
    on.backend.inject({ kind: "cutAfter", reset: true }, { method });
    const { error } = await lose(on, tool, args);
    expect(EffectUncertainError.is(error)).toBe(true);
    expect(on.writes()).toHaveLength(1);
    expect(await on.state()).not.toEqual(before);
  });

  test.each(all)("%s, cut before the effect: unknown, and calling again succeeds", async (tool, argsOf) => {
    const on = await bench();
    const args = argsOf(on);
    const before = await on.state();
    on.backend.inject({ kind: "cutBefore" }, { method });
    expect(EffectUncertainError.is((await lose(on, tool, args)).error)).toBe(true);
    expect(await on.state()).toEqual(before);
    await on.call(tool, args);
    expect(await on.state()).not.toEqual(before);
  });

  test.each(all)(
    "HT-06: %s answered with a body that is cut, or is no JSON: unknown",
    async (tool, argsOf) => {
      for (const fault of [
        { kind: "garbage" },
        { kind: "cutBody" },
        { kind: "cutBody", chunked: true },
      ] as const) {
        const on = await bench();
        const args = argsOf(on);
        on.backend.inject(fault, { method });
        expect(EffectUncertainError.is((await lose(on, tool, args)).error)).toBe(true);
      }
    },
  );

  test.each(all)("%s never answered: unknown when its time is over", async (tool, argsOf) => {
    const on = await bench({ timeoutMs: 150 });
    const args = argsOf(on);
    on.backend.inject({ kind: "hang" }, { method });
    const { error } = await lose(on, tool, args);
    expect(EffectUncertainError.is(error)).toBe(true);
    expect(error.message).toContain("no answer within 150 ms");
  });

  test.each(
    all.flatMap(([tool, argsOf]) =>
      (
        [
          ["HTTP 502", { kind: "status", status: 502, body: "<h1>Bad gateway</h1>" }],
          ...["fatal_error", "internal_error", "service_unavailable", "request_timeout"].map(
            (error) => [error, refusal(error)] as const,
          ),
        ] as const
      ).map(([name, fault]) => ({ tool, argsOf, name, fault })),
    ),
  )("$tool answered with $name after the effect: failed, and perhaps done all the same", async (given) => {
    const on = await bench();
    const args = given.argsOf(on);
    on.backend.inject({ ...given.fault, effect: true }, { method });
    const { error, checkpoint } = await lose(on, given.tool, args);
    expect(error).toMatchObject({ code: "FAILED", status: given.fault.status, mayHaveApplied: true });
    expect(error.message).toContain("it may have taken effect all the same");
    expect(error.expectedResult).toEqual(checkpoint?.result);
    expect(on.writes()).toHaveLength(1);
  });

  test.each(forward)("%s: landed tells the truth both ways, late delivery included", async (tool, argsOf) => {
    const on = await bench();
    const args = argsOf(on);
    on.backend.inject({ kind: "late" }, { method });
    const { error, checkpoint } = await lose(on, tool, args);
    expect(error.expectedResult).toEqual(checkpoint?.result);
    expect(await on.landed(tool, args, key, checkpoint)).toEqual({ landed: false });
    await on.backend.settle();
    const answer = await on.landed(tool, args, key, checkpoint);
    expect(answer).toMatchObject({ landed: true, result: checkpoint?.result ?? { channel: general } });
    expect(on.writes()).toHaveLength(1);
  });

  test.each(forward)("%s: the undo of what landed ends in the prior state", async (tool, argsOf) => {
    const on = await bench();
    const args = argsOf(on);
    const before = await on.state();
    on.backend.inject({ kind: "cutAfter" }, { method });
    const { checkpoint } = await lose(on, tool, args);
    const answer = await on.landed(tool, args, key, checkpoint);
    await on.undo(tool, args, (answer as { result: object }).result);
    expect(await on.state()).toEqual(before);
  });

  test("add_reaction: the undo from the checkpoint alone ends in the prior state", async () => {
    for (const had of [false, true]) {
      for (const kind of ["cutBefore", "cutAfter"] as const) {
        const on = await bench();
        if (had) react(on.backend.world, on.first, bot.user, "tada");
        const before = await on.state();
        on.backend.inject({ kind }, { method });
        const args = { channel: general, timestamp: on.first.ts, name: "tada" };
        const { checkpoint } = await lose(on, "add_reaction", args);
        const { already } = await on.undo("add_reaction", args, checkpoint?.result ?? {});
        expect(already).toBe(had || kind === "cutBefore");
        expect(await on.state()).toEqual(before);
      }
    }
  });

  test.each(undoes)(
    "%s: afterwards holds tells the truth, and repeating it succeeds",
    async (tool, argsOf) => {
      for (const kind of ["cutBefore", "cutAfter"] as const) {
        const on = await bench();
        const args = argsOf(on);
        on.backend.inject({ kind }, { method });
        await lose(on, tool, args);
        expect(await on.holds(tool, args)).toBe(kind === "cutAfter");
        expect(await on.call(tool, args)).toMatchObject({ already: kind === "cutAfter" });
        expect(await on.holds(tool, args)).toBe(true);
      }
    },
  );
});

test("a read that fails ends add_reaction before anything is written", async () => {
  for (const skip of [0, 1]) {
    const on = await bench();
    const before = await on.state();
    on.backend.inject({ kind: "status", status: 500 }, { method: "GET", skip });
    const args = { channel: general, timestamp: on.first.ts, name: "tada" };
    expect(await failure(on.call("add_reaction", args))).toMatchObject({ code: "FAILED", status: 500 });
    expect(on.writes()).toEqual([]);
    expect(await on.state()).toEqual(before);
  }
});

test("holds and landed send reads only", async () => {
  const on = await bench();
  for (const [tool, argsOf] of undoes) await on.holds(tool, argsOf(on));
  const result = { channel: general, timestamp: on.first.ts, name: "tada", added: true };
  for (const [tool, argsOf] of forward) await on.landed(tool, argsOf(on), key, { result });
  expect(on.backend.requests.length).toBeGreaterThanOrEqual(6);
  expect(on.writes()).toEqual([]);
});

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

describe("secrets", () => {
  const everything = (error: unknown) =>
    [
      inspect(error, { depth: 10, showHidden: true }),
      JSON.stringify(error, Object.getOwnPropertyNames(error ?? {})),
      (error as Error).message,
      (error as Error).stack,
    ].join("\n");
  const message = { channel: general, text: "x" };

  test("SE-02: no error shows the token, whatever went wrong and whatever came back", async () => {
    const { call, backend, connector } = await bench();
    const { token, baseUrl = "" } = backend.options;
    const errors: unknown[] = [];
    for (const as of ["json", "html", "text", "header"] as const) {
      for (const status of [200, 400, 401, 403, 500]) {
        backend.inject({ kind: "echo", as, status });
        errors.push(await failure(call("post_message", message)));
      }
    }
    for (const text of [token, encodeURIComponent(token), Buffer.from(token).toString("base64")]) {
      for (const details of [{}, { needed: text, provided: text }]) {
        backend.inject(refusal(text, details), { times: 2 });
        errors.push(await failure(call("post_message", message)), await failure(call("list_channels", {})));
      }
    }
    const tls = slack({ token, baseUrl: baseUrl.replace("http:", "https:") });
    errors.push(await failure(tls.tools["slack.list_channels"]?.({}) ?? Promise.resolve()));
    await tls.close();
    backend.inject({ kind: "refuse" });
    errors.push(await failure(call("list_channels", {})), await failure(call("post_message", message)));
    for (const error of errors) {
      expect(everything(error)).not.toContain(token);
      expect(everything(error)).not.toContain(Buffer.from(token).toString("base64").slice(2, -4));
      expect(error).not.toHaveProperty("cause");
    }
    expect(inspect(connector, { depth: 10, showHidden: true })).not.toContain(token);
  });

  test("nothing of a refusal is repeated but its code and its scopes", async () => {
    const { call, backend } = await bench();
    const response_metadata = { messages: ["[ERROR] my private words"] };
    backend.inject(refusal("invalid_arguments", { response_metadata, needed: "my private words" }));
    const error = await failure(call("post_message", message));
    expect(error.message).toBe("HTTP 200: POST /api/chat.postMessage: invalid_arguments");
  });

  test.each([
    "xoxb-12345678901-12345678901-abcdefABCDEF",
    "xoxe.xoxp-1-Mi0yLTEyMzQ1Njc4OTA",
    "xapp-1-A012AB3CD45-12345678901-abcdef",
  ])("SE-01: the configured value is hidden whatever its shape, and %s besides", async (foreign) => {
    const { backend } = await bench();
    const odd = slack({ token: "abc.def-123", baseUrl: backend.options.baseUrl });
    backend.inject(refusal("missing_scope", { needed: `abc.def-123,${foreign}` }));
    const error = await failure(odd.tools["slack.post_message"]?.(message) ?? Promise.resolve());
    await odd.close();
    expect(error.message).toMatch(/needs \[redacted\],\[redacted\], and/);
  });

  test("SE-01: a token that is too short, or that holds a blank, is refused without being shown", () => {
    for (const token of ["abcd", "xoxb-abc def0123456789", "xoxb-abc\ndef0123456789", "<your token>", ""]) {
      expect(() => slack({ token })).toThrow(/token \(SLACK_BOT_TOKEN\)/);
      expect(() => slack({ token })).not.toThrow(/abc/);
    }
  });

  test("a text that holds the token is refused before anything is sent", async () => {
    const { call, backend } = await bench();
    const text = `my token is ${backend.options.token}`;
    expect(await failure(call("post_message", { ...message, text }))).toMatchObject({
      code: "INVALID_ARGUMENTS",
    });
    expect(backend.requests).toEqual([]);
  });

  test("the token travels in no address and no body", async () => {
    const on = await bench();
    for (const [tool, argsOf] of all) await on.call(tool, argsOf(on));
    for (const { path, text } of on.backend.requests)
      expect(path + text).not.toContain(on.backend.options.token);
  });

  test("a wrong token, and one that was revoked, are Slack's refusals", async () => {
    const { backend, call } = await bench();
    const wrong = slack({ token: "xoxb-wrong-0123456789", baseUrl: backend.options.baseUrl });
    const error = await failure(wrong.tools["slack.list_channels"]?.({}) ?? Promise.resolve());
    await wrong.close();
    expect(error).toMatchObject({ status: 200, reason: "invalid_auth" });
    expect(error.requestId).toMatch(/^[0-9a-f]{32}$/);
    backend.world.tokenWorks = false;
    expect(await failure(call("list_channels", {}))).toMatchObject({ reason: "token_revoked" });
  });
});

test("a connection that is refused sent nothing: a write is not uncertain", async () => {
  const { backend, call } = await bench();
  backend.inject({ kind: "refuse" });
  const error = await failure(call("post_message", { channel: general, text: "x" }));
  expect(error.message).toContain("nothing was sent");
  expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
});
