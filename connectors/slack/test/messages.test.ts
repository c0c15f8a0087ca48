import { say, take } from "@reversi-connector/slack/sandbox";
import { ada, bench, failure, general, grace, refusal } from "./bench.ts";

type Posted = { channel: string; ts: string; thread_ts: string | null };
const args = { channel: general, text: "Deploy finished" };
const posted = async (given: object = args) => {
  const on = await bench();
  const before = await on.state();
  const result = await on.call<Posted>("post_message", given, { idempotencyKey: "key-1" });
  const message = on.backend.world.channels
    .flatMap(({ messages }) => messages)
    .find(({ ts }) => ts === result.ts);
  if (!message) throw new Error("nothing was posted");
  return { ...on, before, result, message };
};

test("a message is posted with the key of its call in its metadata, and nothing of it in the text", async () => {
  const { result, message, writes } = await posted();
  expect(result).toEqual({ channel: general, ts: expect.stringMatching(/^\d{10}\.\d{6}$/), thread_ts: null });
  expect(message).toMatchObject({ text: args.text, metadata: { event_payload: { op: "key-1" } } });
  const [request] = writes();
  expect(request?.headers["content-type"]).toBe("application/json; charset=utf-8");
  expect(request?.json()).toEqual({
    ...args,
    unfurl_links: false,
    unfurl_media: false,
    metadata: { event_type: "reversi_op", event_payload: { op: "key-1" } },
  });
});

test("previews are shown only when asked for", async () => {
  const { writes } = await posted({ ...args, unfurl_links: true, unfurl_media: true });
  expect(writes()[0]?.json()).toMatchObject({ unfurl_links: true, unfurl_media: true });
});

test("the undo of post_message brings the channel back to what it was", async () => {
  const { undo, undone, state, before, result } = await posted();
  expect(await undone("post_message", args, result)).toBe(false);
  const { channel, ts } = result;
  expect(await undo("post_message", args, result)).toEqual({ channel, ts, already: false });
  expect(await state()).toEqual(before);
  expect(await undone("post_message", args, result)).toBe(true);
});

test("repeating the undo of a message changes nothing", async () => {
  const { undo, backend, result, state } = await posted();
  say(backend.world, backend.general, { user: ada, text: args.text });
  await undo("post_message", args, result);
  const after = await state();
  expect(await undo("post_message", args, result)).toMatchObject({ already: true });
  expect(await state()).toEqual(after);
});

test.each([
  ["#general", general],
  ["general", general],
  [ada, "D0ADA0ADA1"],
])("SL-06: posted to %s, the undo names the channel of the reply", async (channel, id) => {
  const { undo, state, before, result, writes } = await posted({ channel, text: "x" });
  expect(result.channel).toBe(id);
  await undo("post_message", { channel, text: "x" }, result);
  expect(writes()[1]?.json()).toEqual({ channel: id, ts: result.ts });
  expect(await state()).toEqual(before);
});

describe("a reply", () => {
  test.each([false, true])("is taken back (shown in the channel too: %s)", async (reply_broadcast) => {
    const on = await bench();
    const before = await on.state();
    const reply = { ...args, thread_ts: on.first.ts, reply_broadcast };
    const result = await on.call<Posted>("post_message", reply);
    expect(result.thread_ts).toBe(on.first.ts);
    expect(on.writes()[0]?.json()).toMatchObject({ thread_ts: on.first.ts, reply_broadcast });
    expect(await on.undone("post_message", reply, result)).toBe(false);
    await on.undo("post_message", reply, result);
    expect(await on.undone("post_message", reply, result)).toBe(true);
    expect(await on.state()).toEqual(before);
  });

  test("to a reply lands in the thread that Slack says", async () => {
    const on = await bench();
    const earlier = say(on.backend.world, on.backend.general, { user: ada, text: "x", root: on.first.ts });
    const result = await on.call<Posted>("post_message", { ...args, thread_ts: earlier.ts });
    expect(result.thread_ts).toBe(on.first.ts);
    expect(await on.undone("post_message", args, result)).toBe(false);
  });

  test("is gone when its thread is, on Slack's word for the message itself", async () => {
    const { undone, backend, result, sent } = await posted();
    backend.general.messages.length = 0;
    const reply = { ...result, thread_ts: "1700000000.000100" };
    expect(await undone("post_message", args, reply)).toBe(true);
    expect(sent().slice(-2)).toEqual(["GET conversations.replies", "GET chat.getPermalink"]);
  });

  test("is not taken for gone where it is looked up without, or in the middle of, its thread", async () => {
    const { call, holds, first, backend } = await bench();
    const { channel, ts } = await call<Posted>("post_message", { ...args, thread_ts: first.ts });
    const other = say(backend.world, backend.general, { user: ada, text: "x", root: first.ts });
    expect(await holds("delete_message", { channel, ts })).toBe("unknown");
    expect(await holds("delete_message", { channel, ts, thread_ts: other.ts })).toBe("unknown");
    await call("delete_message", { channel, ts });
    expect(await holds("delete_message", { channel, ts })).toBe(true);
  });
});

describe("a message that got replies", () => {
  const answered = async () => {
    const on = await posted();
    const reply = say(on.backend.world, on.backend.general, {
      user: grace,
      text: "Thanks",
      root: on.result.ts,
    });
    return { ...on, reply };
  };

  test("leaves a placeholder, and the replies stay", async () => {
    const { undo, undone, backend, result, message, reply } = await answered();
    expect(await undo("post_message", args, result)).toMatchObject({ already: false });
    expect(message.deleted).toBe(true);
    expect(backend.general.messages).toContain(reply);
    expect(await undone("post_message", args, result)).toBe(true);
  });

  test.each(["message_not_found", "cant_delete_message"] as const)(
    "is deleted already the second time, when Slack says %s",
    async (error) => {
      const { undo, backend, result } = await answered();
      backend.world.tombstoneAnswer = error;
      await undo("post_message", args, result);
      expect(await undo("post_message", args, result)).toMatchObject({ already: true });
    },
  );

  test("is a failure the second time where a refusal cannot be told from one for a standing message", async () => {
    const { undo, backend, result } = await answered();
    backend.world.tombstoneAnswer = "cant_delete_message";
    await undo("post_message", args, result);
    backend.world.scopes.delete("channels:history");
    expect(await failure(undo("post_message", args, result))).toMatchObject({
      reason: "cant_delete_message",
    });
  });
});

test("a message that an administrator deleted is success", async () => {
  const { undo, undone, backend, result, message } = await posted();
  take(backend.general, message);
  expect(await undone("post_message", args, result)).toBe(true);
  expect(await undo("post_message", args, result)).toMatchObject({ already: true });
});

test("somebody else's message is not deleted, nor any where the workspace forbids it", async () => {
  const { call, undo, backend, result, first, state } = await posted();
  const before = await state();
  const { channel } = result;
  expect(await failure(call("delete_message", { channel, ts: first.ts }))).toMatchObject({
    code: "FAILED",
    reason: "cant_delete_message",
    mayHaveApplied: false,
  });
  backend.world.mayDelete = false;
  expect(await failure(undo("post_message", args, result))).toMatchObject({ reason: "cant_delete_message" });
  backend.world.complianceExports = true;
  const error = await failure(undo("post_message", args, result));
  expect(error.reason).toBe("compliance_exports_prevent_deletion");
  expect(await state()).toEqual(before);
});

test("lost access is a failed step, not a message that is gone", async () => {
  const { undo, undone, backend, result, message } = await posted({ channel: "G0PLANS0001", text: "x" });
  const [channel] = backend.world.channels.filter(({ id }) => id === result.channel);
  channel?.members.clear();
  expect(await failure(undo("post_message", args, result))).toMatchObject({ reason: "channel_not_found" });
  await expect(undone("post_message", args, result)).rejects.toThrow(/channel_not_found/);
  for (const error of ["not_in_channel", "is_archived", "token_revoked", "access_denied"]) {
    backend.inject(refusal(error), { method: "POST" });
    expect(await failure(undo("post_message", args, result))).toMatchObject({
      code: "FAILED",
      reason: error,
    });
  }
  expect(channel?.messages).toEqual([message]);
});

test("a proxy that uses Slack's word proves nothing", async () => {
  const { undo, backend, result } = await posted();
  const body = { ok: false, error: "message_not_found" };
  backend.inject({ kind: "status", status: 404, body }, { method: "POST" });
  expect(await failure(undo("post_message", args, result))).toMatchObject({ status: 404 });
});

describe("without the right to read the channel", () => {
  const unread = async () => {
    const on = await posted();
    on.backend.world.scopes.delete("channels:history");
    return on;
  };

  test("a standing message is unknown, the undo is sent all the same, and Slack's word that it is gone counts", async () => {
    const { undo, undone, state, before, result } = await unread();
    expect(await undone("post_message", args, result)).toBe("unknown");
    expect(await undo("post_message", args, result)).toMatchObject({ already: false });
    expect(await state()).toEqual(before);
    expect(await undone("post_message", args, result)).toBe(true);
  });

  test("a placeholder stays unknown", async () => {
    const { undo, undone, backend, result } = await unread();
    say(backend.world, backend.general, { user: grace, text: "Thanks", root: result.ts });
    await undo("post_message", args, result);
    expect(await undone("post_message", args, result)).toBe("unknown");
  });

  test("a lost message is unknown", async () => {
    const { landed } = await unread();
    expect(await landed("post_message", args, "key-1")).toBe("unknown");
  });

  test("a public channel that the bot may post to without being in it is such a channel", async () => {
    const on = await bench();
    const given = { channel: "C0RANDOM001", text: "x" };
    expect(await failure(on.call("post_message", given))).toMatchObject({ reason: "not_in_channel" });
    on.backend.world.scopes.add("chat:write.public");
    const result = await on.call<Posted>("post_message", given, { idempotencyKey: "key-2" });
    expect(await on.undone("post_message", given, result)).toBe("unknown");
    expect(await on.landed("post_message", given, "key-2")).toBe("unknown");
    await on.undo("post_message", given, result);
    expect(await on.undone("post_message", given, result)).toBe(true);
  });
});
