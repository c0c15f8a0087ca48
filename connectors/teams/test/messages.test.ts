import { inspect } from "node:util";
import { ConnectorError, EffectUncertainError } from "@reversi-connector/core";
import { colleague, openChannel, say, take } from "@reversi-connector/teams/sandbox";
import { type Bench, bench, failure } from "./bench.ts";

const posted = async (on: Bench) => {
  const args = { ...on.channel, content: "Deploy finished" };
  const result = await on.call("post_message", args);
  const [, message] = on.backend.general.messages;
  if (!message) throw new Error("nothing was posted");
  return { args, result, message };
};
const own = ({ backend, channel }: Bench) => {
  const message = say(backend.world, backend.general, { content: "Never mind" });
  return { message, args: { ...channel, message_id: message.id } };
};

test("a message is posted, and its undo leaves a placeholder and nothing else", async () => {
  const on = await bench();
  const { args, result } = await posted(on);
  expect(result).toEqual({
    ...on.channel,
    message_id: expect.stringMatching(/^[0-9]{13}$/),
    url: expect.stringMatching(/^https:\/\/teams\.microsoft\.com\//),
    created_at: new Date(Number(result["message_id"])).toISOString(),
  });
  expect(await on.undone("post_message", args, result)).toBe(false);
  expect(await on.undo("post_message", args, result)).toMatchObject({ already: false });
  expect(await on.undone("post_message", args, result)).toBe(true);
  expect(on.backend.general.messages).toMatchObject([{ deleted: undefined }, { deleted: expect.any(Date) }]);
});

test("TM-07: text is sent as text, unchanged, and HTML only where it was asked for", async () => {
  const on = await bench();
  const content = "a < b & <b>x</b>\nline2";
  await on.call("post_message", { ...on.channel, content });
  expect(JSON.parse(on.writes()[0]?.text ?? "")).toEqual({
    importance: "normal",
    body: { contentType: "text", content },
  });
  await on.call("post_message", {
    ...{ ...on.channel, content: "<p>x</p>", content_type: "html", subject: "Deploy", importance: "urgent" },
  });
  expect(on.backend.general.messages).toMatchObject([
    {},
    { content, contentType: "text", subject: null },
    { content: "<p>x</p>", contentType: "html", subject: "Deploy", importance: "urgent" },
  ]);
});

describe("TM-05: channel ids", () => {
  test.each([encodeURIComponent, (id: string) => encodeURIComponent(id).toLowerCase()])(
    "one pasted from a link reaches the same channel, encoded once",
    async (encode) => {
      const on = await bench();
      const args = { ...on.channel, channel_id: encode(on.channel.channel_id), content: "x" };
      const result = await on.call("post_message", args);
      expect(result).toMatchObject(on.channel);
      expect(on.sent()).toEqual(["POST /19%3A4a95f7d8db4c4e7fae857bcebe0623e6%40thread.tacv2/messages"]);
      expect(await on.undone("post_message", args, result)).toBe(false);
      expect(await on.undo("post_message", args, result)).toMatchObject({ already: false });
      expect(await on.undone("post_message", args, result)).toBe(true);
    },
  );

  test.each([
    ...["19:a/b@x", "..", "%2e%2e", "19%3Aa%2Fb%40thread.tacv2", "19%253Aabc%2540thread.tacv2", "19%3", ""],
    ...["19:abc@thread.tacv2/messages/1?", 7, null],
  ])("%s is refused, and nothing is sent", async (channel_id) => {
    const on = await bench();
    const error = await failure(on.call("post_message", { ...on.channel, channel_id, content: "x" }));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENTS" });
    expect(on.sent()).toEqual([]);
  });
});

test("TM-01: an application's token is refused with code, request id and what is needed instead", async () => {
  const on = await bench();
  on.backend.world.tokenKind = "application";
  const error = await failure(on.call("post_message", { ...on.channel, content: "x" }));
  expect(error).toMatchObject({ code: "FAILED", status: 401, reason: "Unauthorized" });
  expect(error.message).toMatch(/application-only context.*delegated token needed/);
  expect(error.requestId).toMatch(/^[0-9a-f-]{36}$/);
  const { args } = own(on);
  expect((await failure(on.call("delete_message", args))).message).toMatch(/delegated token needed/);
});

test("an expired token, and conditional access, say what to do", async () => {
  const on = await bench();
  on.backend.world.tokenWorks = false;
  const args = { ...on.channel, content: "x" };
  expect((await failure(on.call("post_message", args))).message).toMatch(/is expired\.; get a new token/);
  const headers = { "www-authenticate": 'Bearer error="insufficient_claims"' };
  on.backend.inject({ kind: "status", status: 403, headers, body: { error: { code: "", message: "" } } });
  expect((await failure(on.call("post_message", args))).message).toMatch(/sign in again/);
});

test.each([undefined, 17])(
  "TM-03: 429 with Retry-After %s is a definite error, after one request",
  async (retryAfter) => {
    const on = await bench();
    on.backend.inject({ kind: "rateLimit", ...(retryAfter !== undefined && { retryAfter }) });
    const error = await failure(on.call("post_message", { ...on.channel, content: "x" }));
    expect(ConnectorError.is(error) && !EffectUncertainError.is(error)).toBe(true);
    expect([error.status, error.retryAfterSeconds, error.mayHaveApplied]).toEqual([429, retryAfter, false]);
    expect(on.sent()).toHaveLength(1);
  },
);

test.each([
  ["archived", 403],
  ["moderated", 403],
] as const)("a channel that is %s is a definite refusal", async (switched, status) => {
  const on = await bench();
  on.backend.general[switched] = true;
  const error = await failure(on.call("post_message", { ...on.channel, content: "x" }));
  expect(error).toMatchObject({ status, reason: "Forbidden", mayHaveApplied: false });
});

test("more than 28 KB is a definite refusal", async () => {
  const on = await bench();
  const error = await failure(on.call("post_message", { ...on.channel, content: "é".repeat(20_000) }));
  expect(error).toMatchObject({ status: 413, mayHaveApplied: false });
});

describe("a deletion that is repeated", () => {
  test.each([204, 400, 404] as const)(
    "reads first, and sends nothing (Graph would say %d)",
    async (answer) => {
      for (const deletedShows of ["date", "nothing"] as const) {
        const on = await bench();
        Object.assign(on.backend.world, { repeatedDelete: answer, deletedShows });
        const { args } = own(on);
        expect(await on.call("delete_message", args)).toMatchObject({ already: false });
        expect(await on.call("delete_message", args)).toMatchObject({ already: true });
        expect(await on.holds("delete_message", args)).toBe(true);
        expect(on.writes()).toHaveLength(1);
      }
    },
  );

  test.each([400, 404] as const)(
    "by somebody in between is looked up when it is refused with %d",
    async (answer) => {
      const on = await bench();
      on.backend.world.repeatedDelete = answer;
      const { args, message } = own(on);
      const body = { id: message.id, createdDateTime: "2026-07-01T10:05:00Z", body: { content: "x" } };
      on.backend.inject({ kind: "status", status: 200, body }, { method: "GET" });
      take(message);
      expect(await on.call("delete_message", args)).toMatchObject({ already: true });
      expect(on.sent().map((line) => line.split(" ")[0])).toEqual(["GET", "POST", "GET"]);
    },
  );

  test("is success where the message is gone altogether, and its channel can be read", async () => {
    const on = await bench();
    const args = { ...on.channel, message_id: "1782900300000" };
    expect(await on.call("delete_message", args)).toMatchObject({ already: true });
    expect(on.writes()).toEqual([]);
  });
});

test("lost access never passes for a message that is gone", async () => {
  for (const lose of [
    ({ backend }: Bench) => Object.assign(backend.world, { member: false }),
    ({ backend }: Bench) => backend.world.team.channels.splice(0),
  ]) {
    const on = await bench();
    const { args } = own(on);
    lose(on);
    const error = await failure(on.call("delete_message", args));
    expect(error).toMatchObject({ code: "FAILED", status: 404, reason: "NotFound" });
    expect(error.message).toMatch(/nobody can tell what is gone and what is hidden/);
    await expect(on.holds("delete_message", args)).rejects.toThrow(/nobody can tell/);
    expect(on.writes()).toEqual([]);
  }
});

describe("without ChannelMessage.Read.All", () => {
  test("holds is unknown, and the undo is sent all the same", async () => {
    const on = await bench();
    on.backend.world.scopes.delete("ChannelMessage.Read.All");
    const { args, result, message } = await posted(on);
    expect(await on.undone("post_message", args, result)).toBe("unknown");
    expect(await on.undo("post_message", args, result)).toMatchObject({ already: false });
    expect(message.deleted).toBeDefined();
    expect(await on.undone("post_message", args, result)).toBe("unknown");
  });

  test.each([400, 404] as const)("a repeated deletion refused with %d is a failed step", async (answer) => {
    const on = await bench();
    on.backend.world.scopes.delete("ChannelMessage.Read.All");
    on.backend.world.repeatedDelete = answer;
    const { args } = own(on);
    await on.call("delete_message", args);
    expect(await failure(on.call("delete_message", args))).toMatchObject({ code: "FAILED", status: answer });
  });
});

test("a message of somebody else is not deleted", async () => {
  const on = await bench();
  const { id } = say(on.backend.world, on.backend.general, { user: colleague, content: "Mine" });
  const before = await on.state();
  const error = await failure(on.call("delete_message", { ...on.channel, message_id: id }));
  expect(error).toMatchObject({ status: 403, reason: "Forbidden" });
  expect(await on.state()).toEqual(before);
});

const writes = [
  ["post_message", ({ channel }: Bench) => ({ ...channel, content: "x" })],
  ["delete_message", (on: Bench) => own(on).args],
] as const;

describe.each(writes)("%s whose answer is lost", (tool, argsOf) => {
  test.each(["cutBefore", "cutAfter", "late"] as const)(
    "(%s) is unknown, and never repeated",
    async (kind) => {
      const on = await bench();
      const args = argsOf(on);
      const before = await on.state();
      on.backend.inject({ kind }, { method: "POST" });
      expect(EffectUncertainError.is(await failure(on.call(tool, args)))).toBe(true);
      if (kind !== "cutAfter") expect(await on.state()).toEqual(before);
      await on.backend.settle();
      if (kind !== "cutBefore") expect(await on.state()).not.toEqual(before);
      expect(on.writes()).toHaveLength(1);
      if (tool === "delete_message") {
        expect(await on.holds(tool, args)).toBe(kind !== "cutBefore");
        expect(await on.call(tool, args)).toMatchObject({ already: kind !== "cutBefore" });
      }
    },
  );

  test("(504 after the effect) may have taken effect", async () => {
    const on = await bench();
    on.backend.inject({ kind: "status", status: 504, effect: true }, { method: "POST" });
    const error = await failure(on.call(tool, argsOf(on)));
    expect(error).toMatchObject({ status: 504, reason: "GatewayTimeout", mayHaveApplied: true });
  });

  test("(a success without what it must carry) is unknown", async () => {
    const on = await bench();
    on.backend.inject({ kind: "garbage" }, { method: "POST" });
    expect(EffectUncertainError.is(await failure(on.call(tool, argsOf(on))))).toBe(true);
  });
});

test("a message without an id, or another one than was asked for, proves nothing", async () => {
  const on = await bench();
  on.backend.inject({ kind: "status", status: 201, body: { createdDateTime: "2026-07-01T10:05:00Z" } });
  const post = failure(on.call("post_message", { ...on.channel, content: "x" }));
  expect(EffectUncertainError.is(await post)).toBe(true);
  const { args } = own(on);
  for (const body of [
    { id: "1", body: { content: "" } },
    { id: args.message_id },
    { id: args.message_id, body: null },
  ]) {
    on.backend.inject({ kind: "status", status: 200, body });
    expect(await failure(on.call("delete_message", args))).toMatchObject({ code: "FAILED" });
  }
});

describe("channels", () => {
  test("are listed", async () => {
    const { call, channel, backend } = await bench();
    backend.general.archived = true;
    expect(await call("list_channels", { team_id: channel.team_id })).toEqual({
      channels: [
        {
          ...{ channel_id: channel.channel_id, display_name: "General", description: null },
          ...{ membership_type: "standard", is_archived: true },
        },
        expect.objectContaining({ description: "What comes next", membership_type: "private" }),
      ],
      next_cursor: null,
    });
  });

  test("come in pages, to the end", async () => {
    const { call, channel, backend } = await bench();
    for (let index = 0; index < 3; index++) {
      openChannel(backend.world, { id: `19:more${index}@thread.tacv2`, name: `More ${index}` });
    }
    backend.world.channelPage = 2;
    type Listed = { channels: { display_name: string }[]; next_cursor: string | null };
    const names: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page: Listed = await call("list_channels", {
        team_id: channel.team_id,
        ...(cursor && { cursor }),
      });
      names.push(...page.channels.map(({ display_name }) => display_name));
      cursor = page.next_cursor;
    }
    expect(names).toEqual(["General", "Plans", "More 0", "More 1", "More 2"]);
  });

  test("that never end are an error, and a cursor leads nowhere but to them", async () => {
    const { call, channel, backend, sent } = await bench();
    const link = "https://elsewhere.example/me?$skiptoken=abc";
    const body = { value: [], "@odata.nextLink": link };
    backend.inject({ kind: "status", status: 200, body }, { times: 2 });
    const { next_cursor } = await call("list_channels", { team_id: channel.team_id });
    const again = call("list_channels", { team_id: channel.team_id, cursor: next_cursor });
    expect((await failure(again)).message).toMatch(/runs in a circle/);
    expect(sent()).toEqual(["GET ", "GET "]);
  });
});

test("SE-02: no error shows the token", async () => {
  const on = await bench();
  const { token } = on.backend.options;
  for (const as of ["json", "html", "text", "header"] as const) {
    for (const status of [400, 401, 403, 500]) {
      on.backend.inject({ kind: "echo", as, status });
      const error = await failure(on.call("post_message", { ...on.channel, content: "x" }));
      expect(inspect(error, { depth: 10, showHidden: true }) + error.stack).not.toContain(token);
    }
  }
  expect(inspect(on.connector, { depth: 10, showHidden: true })).not.toContain(token);
});
