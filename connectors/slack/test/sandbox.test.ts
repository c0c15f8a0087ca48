import type { SandboxModule } from "@reversi-connector/core";
import { type SlackOptions, slack } from "@reversi-connector/slack";
import * as module from "@reversi-connector/slack/sandbox";
import { bench, general } from "./bench.ts";
import { vendor } from "./vendor.ts";

const asModule: SandboxModule<SlackOptions> = module;
const message = { channel: general, text: "x" };
const form = { "content-type": "application/x-www-form-urlencoded" };

test("another process attaches by the address alone", async () => {
  const { backend } = await bench();
  const elsewhere = slack(asModule.attach(backend.address));
  expect(await elsewhere.tools["slack.list_channels"]?.({})).toMatchObject({ next_cursor: null });
  await elsewhere.close();
});

test.each([
  ["no token", { authorization: undefined }, message, "not_authed"],
  ["a wrong token", { authorization: "Bearer xoxb-wrong-0123456789" }, message, "invalid_auth"],
  ["another scheme", { authorization: "Basic eDp5" }, message, "invalid_auth"],
  ["another content type", { "content-type": "application/xml" }, message, "invalid_post_type"],
  ["no content type", { "content-type": undefined }, new TextEncoder().encode("{}"), "missing_post_type"],
  ["another charset", { "content-type": "application/json; charset=utf-16" }, message, "invalid_charset"],
  ["no JSON", {}, "{", "invalid_json"],
  ["no object", {}, "[]", "json_not_object"],
  ["an argument that is none", {}, { ...message, txt: "y" }, "invalid_arguments"],
  ["an argument of another kind", {}, { ...message, unfurl_links: "perhaps" }, "invalid_arguments"],
  ["a token among the arguments", form, "channel=C0GENERAL01&text=x&token=xoxb-1", "invalid_arguments"],
  ["no channel", {}, { text: "x" }, "invalid_arguments"],
  ["a channel that is none", {}, { ...message, channel: "C0NONE00001" }, "channel_not_found"],
  ["a private channel without the bot", {}, { ...message, channel: "C0SECRET001" }, "channel_not_found"],
  ["its name", {}, { ...message, channel: "#secret" }, "channel_not_found"],
  ["the bot itself", {}, { ...message, channel: module.bot.user }, "channel_not_found"],
  ["a public channel without the bot", {}, { ...message, channel: "#random" }, "not_in_channel"],
  ["no text", {}, { channel: general }, "no_text"],
  ["two texts", {}, { ...message, markdown_text: "y" }, "markdown_text_conflict"],
  ["a long markdown text", {}, { channel: general, markdown_text: "y".repeat(12_001) }, "msg_too_long"],
  [
    "metadata without a payload",
    {},
    { ...message, metadata: { event_type: "x" } },
    "invalid_metadata_format",
  ],
  [
    "metadata with an odd type",
    {},
    { ...message, metadata: { event_type: "a b", event_payload: {} } },
    "invalid_metadata_format",
  ],
  [
    "large metadata",
    {},
    { ...message, metadata: { event_type: "x", event_payload: { op: "y".repeat(9000) } } },
    "metadata_too_large",
  ],
  ["an answer to nothing", {}, { ...message, thread_ts: "1700000000.000100" }, "cannot_reply_to_message"],
])("%s is refused with HTTP 200 and Slack's code", async (_, changes, body, error) => {
  const { ask, state } = await vendor();
  const before = await state();
  const answer = await ask("POST", "chat.postMessage", body, changes);
  expect([answer.status, answer.body.ok, answer.body.error]).toEqual([200, false, error]);
  expect(await state()).toEqual(before);
});

test.each([
  ["a page that is too large", "conversations.list?limit=1001", "invalid_limit"],
  ["a kind that is none", "conversations.list?types=channel", "invalid_types"],
  ["a cursor that is none", "conversations.list?cursor=abc", "invalid_cursor"],
  ["a number that is none", "conversations.list?limit=many", "invalid_arguments"],
  ["an argument that is none", "conversations.list?archived=true", "invalid_arguments"],
  ["no channel", "conversations.history", "invalid_arguments"],
  ["a time that is none", `conversations.history?channel=${general}&oldest=yesterday`, "invalid_ts_oldest"],
  [
    "a thread that is none",
    `conversations.replies?channel=${general}&ts=1700000000.000100`,
    "thread_not_found",
  ],
  ["no message", "reactions.get?full=true", "no_item_specified"],
  ["a short timestamp", `reactions.get?channel=${general}&timestamp=1.2`, "bad_timestamp"],
  ["a message that is none", `chat.getPermalink?channel=${general}&message_ts=1.2`, "message_not_found"],
  ["a method that is none", "conversations.lists", "unknown_method"],
  ["a read of a method that writes", "chat.delete?channel=C0GENERAL01", "unknown_method"],
])("%s is refused: GET %s", async (_, path, error) => {
  const { get } = await vendor();
  const answer = await get(path);
  expect(answer).toMatchObject({ status: 200, body: { ok: false, error } });
  expect(answer.headers).toMatchObject({ "x-slack-req-id": expect.stringMatching(/^[0-9a-f]{32}$/) });
});

test.each([
  ["chat:write", "POST", "chat.postMessage", message],
  ["chat:write", "POST", "chat.delete", { channel: general, ts: "1.2" }],
  ["reactions:write", "POST", "reactions.add", { channel: general, timestamp: "1.2", name: "tada" }],
  ["reactions:read", "GET", `reactions.get?channel=${general}&timestamp=1.2`, undefined],
  ["channels:read", "GET", "conversations.list", undefined],
  ["channels:history", "GET", `conversations.history?channel=${general}`, undefined],
  ["channels:history", "GET", `conversations.replies?channel=${general}&ts=1.2`, undefined],
])("without %s, %s %s names it as needed", async (scope, method, path, body) => {
  const { ask, backend } = await vendor();
  backend.world.scopes.delete(scope);
  const answer = await ask(method, path, body, body ? {} : { "content-type": undefined });
  expect(answer.body).toMatchObject({ ok: false, error: "missing_scope", needed: scope });
  expect(answer.body.provided).toBe(answer.headers["x-oauth-scopes"]);
  expect(answer.body.provided.split(",")).not.toContain(scope);
});
