import { messageOf } from "./objects.ts";
import type { Call, Method } from "./wire.ts";
import { bot, type Channel, type Metadata, openChannel, say, take, team } from "./world.ts";

/** An id, a name with or without `#`, or a user: Slack opens the conversation with that one. */
function findTarget({ args, world, channel, fail }: Call): Channel {
  const given = args.text("channel");
  const name = given.replace(/^#/, "");
  const named = world.channels.find(
    (each) => each.name === name && (each.kind === "public_channel" || each.members.has(bot.user)),
  );
  if (named) return named;
  if (!world.users.has(given)) return channel();
  if (given === bot.user) fail("channel_not_found");
  const id = `D${given.slice(1)}`;
  const members = new Set([bot.user, given]);
  return world.channels.find((each) => each.id === id) ?? openChannel(world, { id, kind: "im", members });
}

const maxText = 40_000;
const maxMetadata = 8192;

/** The text as it is shown. */
function textIn({ args, fail }: Call): string {
  const markdown = args.text("markdown_text");
  if (markdown !== "" && (args.has("text") || args.has("blocks"))) fail("markdown_text_conflict");
  if (markdown.length > 12_000) fail("msg_too_long");
  const blocks = ["blocks", "attachments"].some((name) => args.has(name));
  const text = args.text("text") || markdown;
  if (text === "" && !blocks) fail("no_text");
  return text.slice(0, maxText).replace(/&(?!amp;|lt;|gt;)/g, "&amp;");
}

function metadataIn({ args, fail }: Call): Metadata | undefined {
  if (!args.has("metadata")) return undefined;
  const metadata = args.json("metadata") as Partial<Metadata>;
  const { event_type: type, event_payload: payload } = metadata;
  if (typeof type !== "string" || !/^\w{1,255}$/.test(type)) fail("invalid_metadata_format");
  if (typeof payload !== "object" || payload === null) fail("invalid_metadata_format");
  if (JSON.stringify(metadata).length > maxMetadata) fail("metadata_too_large");
  return metadata as Metadata;
}

/** The first message of the thread that is answered to. */
function rootIn({ args, fail }: Call, channel: Channel): string | undefined {
  if (!args.has("thread_ts")) return undefined;
  const parent = channel.messages.find(({ ts }) => ts === args.text("thread_ts"));
  const root = parent?.root ?? parent?.ts ?? fail("cannot_reply_to_message");
  if (channel.lockedThreads.has(root)) fail("restricted_action_thread_locked");
  return root;
}

export const postMessage: Method = (call) => {
  const { args, world, fail, need } = call;
  need("chat:write");
  const channel = findTarget(call);
  if (channel.archived) fail("is_archived");
  if (!channel.members.has(bot.user) && !world.scopes.has("chat:write.public")) fail("not_in_channel");
  if (channel.readOnly) fail("restricted_action_read_only_channel");
  const text = textIn(call);
  const metadata = metadataIn(call);
  const root = rootIn(call, channel);
  const message = say(world, channel, {
    ...{ user: bot.user, text },
    ...(metadata && { metadata }),
    ...(root !== undefined && { root, broadcast: args.is("reply_broadcast") }),
  });
  return { channel: channel.id, ts: message.ts, message: messageOf(channel, message, { metadata: true }) };
};

export const deleteMessage: Method = (call) => {
  const { args, world, fail, need } = call;
  need("chat:write");
  const channel = call.channel();
  if (channel.archived) fail("is_archived");
  const message = call.message(channel, args.text("ts"));
  if (message.deleted) fail(world.tombstoneAnswer);
  if (world.complianceExports) fail("compliance_exports_prevent_deletion");
  if (message.user !== bot.user || !world.mayDelete) fail("cant_delete_message");
  take(channel, message);
  return { channel: channel.id, ts: message.ts };
};

export const getPermalink: Method = (call) => {
  const channel = call.channel();
  const { ts, root } = call.message(channel, call.args.text("message_ts"));
  const thread = root === undefined ? "" : `?thread_ts=${root}&cid=${channel.id}`;
  const permalink = `${team.url}archives/${channel.id}/p${ts.replace(".", "")}${thread}`;
  return { channel: channel.id, permalink };
};
