import assert from "node:assert/strict";
import {
  ErrorCode,
  LogLevel,
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebAPIRequestError,
  WebClient,
} from "@slack/web-api";
import { software, thrownBy, witness } from "../support.js";

const clientFor = ({ options }, more = {}) =>
  new WebClient(options.token, {
    slackApiUrl: `${options.baseUrl}/`,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    logLevel: LogLevel.ERROR,
    ...more,
  });

const { does, raises, run } = await witness("slack", software("@slack/web-api"), (backend) =>
  clientFor(backend),
);

const channel = "C0GENERAL01";
/** The message that somebody else has posted. */
const first = ({ general }) => ({ channel, timestamp: general.messages[0].ts });

does("tells whose token it is", async ({ sdk }) => {
  const { ok, user, team, user_id } = await sdk.auth.test();
  assert.deepEqual([ok, user, team, user_id], [true, "reversi-agent", "Acme", "U0BOT0BOT1"]);
});

does("lists channels of all kinds, page by page", async ({ sdk, call }) => {
  const seen = [];
  const types = "public_channel,private_channel,mpim,im";
  for await (const { ok, channels } of sdk.paginate("conversations.list", { types, limit: 2 })) {
    assert.equal(ok, true);
    seen.push(...channels.map(({ id }) => id));
  }
  assert.deepEqual(seen, ["C0GENERAL01", "C0RANDOM001", "G0PLANS0001"]);
  const ours = await call("list_channels", { types: types.split(",") });
  assert.deepEqual(
    ours.channels.map((each) => each.channel),
    seen,
  );
});

does("posts a message with blocks, metadata and link previews", async ({ sdk, backend }) => {
  const posted = await sdk.chat.postMessage({
    channel,
    text: "Deploy finished & *green*",
    blocks: [{ type: "section", text: { type: "mrkdwn", text: "Deploy finished" } }],
    metadata: { event_type: "deploy", event_payload: { version: "1.2" } },
    unfurl_links: true,
    unfurl_media: false,
  });
  assert.deepEqual([posted.ok, posted.channel, posted.message.user], [true, channel, "U0BOT0BOT1"]);
  assert.equal(posted.message.metadata.event_type, "deploy");
  assert.equal(backend.general.messages.at(-1).ts, posted.ts);
});

does("answers in a thread, and reads the thread", async ({ sdk, backend }) => {
  const { timestamp: ts } = first(backend);
  const posted = await sdk.chat.postMessage({
    channel,
    text: "Morning!",
    thread_ts: ts,
    reply_broadcast: true,
  });
  assert.equal(posted.message.thread_ts, ts);
  const { messages, has_more } = await sdk.conversations.replies({ channel, ts });
  assert.deepEqual([messages.map((each) => each.ts), has_more], [[ts, posted.ts], false]);
});

does("reads the history, newest first, page by page", async ({ sdk }) => {
  await sdk.chat.postMessage({ channel, text: "three" });
  const texts = [];
  for await (const page of sdk.paginate("conversations.history", {
    channel,
    limit: 2,
    include_all_metadata: true,
  })) {
    texts.push(...page.messages.map(({ text }) => text));
  }
  assert.deepEqual(texts, ["three", "Who deploys today?", "Good morning"]);
});

does("deletes a message", async ({ sdk }) => {
  const { ts } = await sdk.chat.postMessage({ channel, text: "Never mind" });
  const gone = await sdk.chat.delete({ channel, ts });
  assert.deepEqual([gone.ok, gone.ts], [true, ts]);
});

does("sees what post_message posted, and that its undo took it away", async ({ sdk, call }) => {
  const { ts } = await call("post_message", { channel: "#general", text: "Ours" });
  const latest = async () => (await sdk.conversations.history({ channel, limit: 1 })).messages[0];
  assert.deepEqual([(await latest()).ts, (await latest()).text], [ts, "Ours"]);
  await call("delete_message", { channel, ts });
  assert.notEqual((await latest()).ts, ts);
});

does("opens a conversation by posting to a user", async ({ sdk }) => {
  const { channel: opened } = await sdk.chat.postMessage({ channel: "U0ADA0ADA1", text: "Hello" });
  assert.match(opened, /^D/);
});

does("adds, reads and removes a reaction", async ({ sdk, backend }) => {
  const item = first(backend);
  assert.equal((await sdk.reactions.add({ ...item, name: "thumbsup" })).ok, true);
  const { message, type } = await sdk.reactions.get({ ...item, full: true });
  assert.equal(type, "message");
  assert.deepEqual(
    message.reactions.map(({ name, count }) => [name, count]),
    [
      ["wave", 1],
      ["+1", 1],
    ],
  );
  assert.equal((await sdk.reactions.remove({ ...item, name: "thumbsup" })).ok, true);
});

does("sees the reaction of add_reaction, and its undo", async ({ sdk, backend, call }) => {
  const item = first(backend);
  const names = async () => (await sdk.reactions.get(item)).message.reactions.map(({ name }) => name);
  await call("add_reaction", { ...item, name: "tada" });
  assert.deepEqual(await names(), ["wave", "tada"]);
  await call("remove_reaction", { ...item, name: "tada" });
  assert.deepEqual(await names(), ["wave"]);
});

does("gets a permalink", async ({ sdk, backend }) => {
  const { permalink } = await sdk.chat.getPermalink({ channel, message_ts: first(backend).timestamp });
  assert.match(permalink, /^https:\/\/acme\.slack\.com\/archives\/C0GENERAL01\/p\d{16}$/);
});

const says = (error) => ({
  class: WebAPIPlatformError,
  code: ErrorCode.PlatformError,
  data: (data) => data.ok === false && data.error === error,
});
const post = ({ sdk }) => sdk.chat.postMessage({ channel, text: "x" });

raises(
  "PlatformError channel_not_found: no such channel",
  ({ sdk }) => sdk.chat.postMessage({ channel: "C000000000", text: "x" }),
  says("channel_not_found"),
);
raises(
  "PlatformError message_not_found: no such message",
  ({ sdk }) => sdk.chat.delete({ channel, ts: "1700000000.000100" }),
  says("message_not_found"),
);
raises(
  "PlatformError cant_delete_message: somebody else's message",
  ({ sdk, backend }) => sdk.chat.delete({ channel, ts: first(backend).timestamp }),
  says("cant_delete_message"),
);
raises(
  "PlatformError already_reacted: a reaction twice",
  async ({ sdk, backend }) => {
    await sdk.reactions.add({ ...first(backend), name: "eyes" });
    return sdk.reactions.add({ ...first(backend), name: "eyes" });
  },
  says("already_reacted"),
);
raises(
  "PlatformError no_reaction: none to remove",
  ({ sdk, backend }) => sdk.reactions.remove({ ...first(backend), name: "eyes" }),
  says("no_reaction"),
);
raises(
  "PlatformError no_text: nothing to say",
  ({ sdk }) => sdk.chat.postMessage({ channel, text: "" }),
  says("no_text"),
);
raises(
  "PlatformError is_archived: an archived channel",
  (bench) => {
    bench.backend.general.archived = true;
    return post(bench);
  },
  says("is_archived"),
);
raises(
  "PlatformError missing_scope: a scope that the token lacks",
  (bench) => {
    bench.backend.world.scopes.delete("chat:write");
    return post(bench);
  },
  {
    ...says("missing_scope"),
    data: (data) => data.error === "missing_scope" && data.needed === "chat:write",
  },
);
raises(
  "PlatformError invalid_auth: a token that nobody knows",
  ({ backend }) => clientFor({ options: { ...backend.options, token: "xoxb-nobody" } }).auth.test(),
  says("invalid_auth"),
);
raises(
  "PlatformError not_authed: no token",
  ({ backend }) => clientFor({ options: { ...backend.options, token: undefined } }).auth.test(),
  says("not_authed"),
);
raises(
  "PlatformError token_revoked: a token that was revoked",
  (bench) => {
    bench.backend.world.tokenWorks = false;
    return post(bench);
  },
  says("token_revoked"),
);
raises(
  "PlatformError unknown_method: a method that does not exist",
  ({ sdk }) => sdk.apiCall("chat.shout", { channel }),
  says("unknown_method"),
);
raises(
  "RateLimitedError: too many requests",
  (bench) => {
    bench.backend.inject({ kind: "rateLimit", retryAfter: 30 });
    return post(bench);
  },
  { class: WebAPIRateLimitedError, code: ErrorCode.RateLimitedError, retryAfter: 30 },
);
raises(
  "HTTPError 403: a refusal on the wire",
  (bench) => {
    bench.backend.inject({ kind: "deny", status: 403 });
    return post(bench);
  },
  { class: WebAPIHTTPError, code: ErrorCode.HTTPError, statusCode: 403 },
);
raises(
  "HTTPError 500: a breakdown",
  (bench) => {
    bench.backend.inject({ kind: "status", status: 500 });
    return post(bench);
  },
  { class: WebAPIHTTPError, code: ErrorCode.HTTPError, statusCode: 500 },
);
raises(
  "RequestError: a connection that is cut",
  (bench) => {
    bench.backend.inject({ kind: "cutAfter" });
    return post(bench);
  },
  { class: WebAPIRequestError, code: ErrorCode.RequestError },
);

does(
  "posts twice when it repeats a lost answer by itself, which our tool does not",
  async ({ backend, call }) => {
    const before = backend.general.messages.length;
    const eager = clientFor(backend, { retryConfig: { retries: 1, minTimeout: 1, maxTimeout: 1 } });
    backend.inject({ kind: "cutAfter" });
    await eager.chat.postMessage({ channel, text: "once?" });
    assert.equal(backend.general.messages.length, before + 2);
    backend.inject({ kind: "cutAfter" });
    const lost = await thrownBy(() => call("post_message", { channel, text: "once" }));
    assert.equal(lost.code, "EFFECT_UNCERTAIN");
    assert.equal(backend.general.messages.length, before + 3);
  },
);

run();
