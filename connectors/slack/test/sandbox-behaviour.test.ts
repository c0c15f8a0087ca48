import * as module from "@reversi-connector/slack/sandbox";
import { ada, general, grace } from "./bench.ts";
import { vendor } from "./vendor.ts";

const message = { channel: general, text: "x" };
const form = { "content-type": "application/x-www-form-urlencoded" };

test("JSON without a charset is taken, with Slack's warning", async () => {
  const { ask } = await vendor();
  const { body } = await ask("POST", "chat.postMessage", message, { "content-type": "application/json" });
  expect(body).toMatchObject({
    ok: true,
    warning: "missing_charset",
    response_metadata: { warnings: ["missing_charset"] },
  });
});

test("forms are taken everywhere, JSON only by methods that write", async () => {
  const { ask, post } = await vendor();
  const metadata = JSON.stringify({ event_type: "x", event_payload: { op: "1" } });
  const body = new URLSearchParams({ ...message, metadata, unfurl_links: "0" }).toString();
  expect((await ask("POST", "chat.postMessage", body, form)).body).toMatchObject({
    ok: true,
    message: { metadata: { event_payload: { op: "1" } } },
  });
  expect((await ask("POST", "conversations.list", "limit=1", form)).body.channels).toHaveLength(1);
  expect((await post("conversations.list", { limit: 1 })).channels).toHaveLength(2);
});

test("no two messages of a channel have one timestamp", async () => {
  const { post } = await vendor();
  const answers = await Promise.all(Array.from({ length: 20 }, () => post("chat.postMessage", message)));
  expect(new Set(answers.map(({ ts }) => ts)).size).toBe(20);
});

test("text is cut above 40,000 characters, and lone ampersands are escaped", async () => {
  const { post } = await vendor();
  const long = await post("chat.postMessage", { ...message, text: "x".repeat(40_001) });
  expect(long.message.text).toHaveLength(40_000);
  const escaped = await post("chat.postMessage", { ...message, text: "a & b &lt; c" });
  expect(escaped.message.text).toBe("a &amp; b &lt; c");
});

test("archived, read-only and locked places refuse what changes them", async () => {
  const { post, backend, first } = await vendor();
  const reply = { ...message, thread_ts: first.ts };
  const item = { channel: general, timestamp: first.ts, name: "tada" };
  backend.general.lockedThreads.add(first.ts);
  expect(await post("chat.postMessage", reply)).toMatchObject({ error: "restricted_action_thread_locked" });
  expect(await post("reactions.add", item)).toMatchObject({ error: "thread_locked" });
  backend.general.readOnly = true;
  expect(await post("chat.postMessage", message)).toMatchObject({
    error: "restricted_action_read_only_channel",
  });
  backend.general.archived = true;
  for (const [method, body] of [
    ["chat.postMessage", message],
    ["chat.delete", { channel: general, ts: first.ts }],
    ["reactions.add", item],
    ["reactions.remove", item],
  ] as const) {
    expect(await post(method, body)).toMatchObject({ error: "is_archived" });
  }
});

test("a thread shows its first message and its replies, the channel those sent there as well", async () => {
  const { post, get, first } = await vendor();
  const reply = (text: string, reply_broadcast: boolean) =>
    post("chat.postMessage", { channel: general, text, thread_ts: first.ts, reply_broadcast });
  const [quiet, loud] = [await reply("quiet", false), await reply("loud", true)];
  const thread = (
    await get(`conversations.replies?channel=${general}&ts=${first.ts}&oldest=${loud.ts}&inclusive=true`)
  ).body;
  expect(thread.messages).toMatchObject([
    { ts: first.ts, thread_ts: first.ts, reply_count: 2, latest_reply: loud.ts },
    { text: "loud", thread_ts: first.ts, subtype: "thread_broadcast" },
  ]);
  const history = (await get(`conversations.history?channel=${general}`)).body.messages;
  expect(history.map(({ text }: { text: string }) => text)).toEqual([
    "loud",
    "Who deploys today?",
    "Good morning",
  ]);
  const { permalink } = (await get(`chat.getPermalink?channel=${general}&message_ts=${quiet.ts}`)).body;
  expect(permalink).toMatch(new RegExp(`thread_ts=${first.ts}&cid=${general}$`));
});

test("a deleted message with replies stays as a placeholder that nobody can react to or delete", async () => {
  const { post, get, backend } = await vendor();
  const { ts } = await post("chat.postMessage", message);
  module.say(backend.world, backend.general, { user: ada, text: "y", root: ts });
  expect(await post("chat.delete", { channel: general, ts })).toEqual({ ok: true, channel: general, ts });
  const [placeholder] = (await get(`conversations.history?channel=${general}&oldest=${ts}&inclusive=true`))
    .body.messages;
  expect(placeholder).toMatchObject({
    subtype: "tombstone",
    user: "USLACKBOT",
    hidden: true,
    reply_count: 1,
  });
  for (const tombstone of ["message_not_found", "cant_delete_message"] as const) {
    backend.world.tombstoneAnswer = tombstone;
    expect(await post("chat.delete", { channel: general, ts })).toEqual({ ok: false, error: tombstone });
  }
  const item = { channel: general, timestamp: ts, name: "tada" };
  expect(await post("reactions.add", item)).toMatchObject({ error: "message_not_found" });
});

test("metadata is shown only when asked for, and histories come in pages with a cursor", async () => {
  const { post, get, backend } = await vendor();
  await post("chat.postMessage", { ...message, metadata: { event_type: "x", event_payload: {} } });
  backend.world.historyLimit = 2;
  const path = `conversations.history?channel=${general}`;
  const plain = (await get(path)).body;
  expect(plain.messages[0]).not.toHaveProperty("metadata");
  expect([plain.messages.length, plain.has_more]).toEqual([2, true]);
  const cursor = encodeURIComponent(plain.response_metadata.next_cursor);
  const rest = (await get(`${path}&cursor=${cursor}&include_all_metadata=true`)).body;
  expect([rest.messages.length, rest.has_more, rest.response_metadata.next_cursor]).toEqual([1, false, ""]);
  const full = (await get(`${path}&include_all_metadata=true`)).body;
  expect(full.messages[0].metadata).toEqual({ event_type: "x", event_payload: {} });
});

test("times are compared to the microsecond, their edges only when asked for", async () => {
  const { get, first } = await vendor();
  const count = async (query: string) =>
    (await get(`conversations.history?channel=${general}&${query}`)).body.messages.length;
  expect(await count(`oldest=${first.ts}&latest=${first.ts}`)).toBe(0);
  expect(await count(`oldest=${first.ts}&latest=${first.ts}&inclusive=true`)).toBe(1);
  expect(await count(`oldest=${first.ts}`)).toBe(1);
  expect(await count("oldest=0")).toBe(2);
});

test("reactions belong to people, are listed under one name, and are 23 at most", async () => {
  const { post, get, backend, first } = await vendor();
  const item = { channel: general, timestamp: first.ts };
  const add = (name: string) => post("reactions.add", { ...item, name });
  expect(await add("thumbsup")).toEqual({ ok: true });
  expect(await add("+1")).toEqual({ ok: false, error: "already_reacted" });
  expect(await add(":tada:")).toMatchObject({ error: "invalid_name" });
  expect(await add("tada::skin-tone-2")).toMatchObject({ error: "invalid_name" });
  expect(await add("+1::skin-tone-9")).toMatchObject({ error: "invalid_name" });
  expect(await post("reactions.remove", { ...item, name: "wave" })).toMatchObject({ error: "no_reaction" });
  for (const user of [ada, "U1AAA", "U2AAA", "U3AAA"]) module.react(backend.world, first, user, "wave");
  const query = `reactions.get?channel=${general}&timestamp=${first.ts}`;
  const waves = async (path: string) => (await get(path)).body.message.reactions[0];
  expect(await waves(query)).toEqual({ name: "wave", users: [grace, ada, "U1AAA"], count: 5 });
  expect((await waves(`${query}&full=true`)).users).toHaveLength(5);
  for (let index = 0; index < 21; index++) module.react(backend.world, first, ada, `own-${index}`);
  expect(await add("eyes")).toMatchObject({ error: "too_many_emoji" });
  expect(await add("wave")).toEqual({ ok: true });
});

test("channels come in pages that are cut before anything is left out", async () => {
  const { get } = await vendor();
  const types = "types=public_channel,private_channel";
  const page = async (cursor = "") => (await get(`conversations.list?${types}&limit=1${cursor}`)).body;
  const names: string[][] = [];
  for (let next = await page(); ; ) {
    names.push(next.channels.map(({ name }: { name: string }) => name));
    const { next_cursor } = next.response_metadata;
    if (next_cursor === "") break;
    expect(Buffer.from(next_cursor, "base64").toString()).toMatch(/^team:[CG]/);
    next = await page(`&cursor=${encodeURIComponent(next_cursor)}`);
  }
  expect(names).toEqual([["general"], ["random"], ["plans"], []]);
});

test("too many requests are answered with 429 and Retry-After, or with 200, as the sandbox is told", async () => {
  const { get, backend } = await vendor();
  for (const status of [429, 200] as const) {
    backend.world.rateLimitStatus = status;
    backend.inject({ kind: "rateLimit", retryAfter: 30 });
    const answer = await get("auth.test");
    expect(answer).toMatchObject({ status, body: { ok: false, error: "ratelimited" } });
    expect(answer.headers["retry-after"]).toBe("30");
  }
});
