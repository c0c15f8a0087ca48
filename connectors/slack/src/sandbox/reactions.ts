import { messageOf, reactionsOf } from "./objects.ts";
import type { Call, Method } from "./wire.ts";
import { bot, type Channel, listedName, type Message, react, unreact } from "./world.ts";

/** The message that a reaction is for. */
function itemIn(call: Call): { readonly channel: Channel; readonly message: Message } {
  const { args, fail } = call;
  if (!args.has("channel") || !args.has("timestamp")) fail("no_item_specified");
  if (!/^\d{10}\.\d{6}$/.test(args.text("timestamp"))) fail("bad_timestamp");
  const channel = call.channel();
  if (!channel.members.has(bot.user)) fail("not_in_channel");
  const message = call.message(channel, args.text("timestamp"));
  return message.deleted ? fail("message_not_found") : { channel, message };
}

/** One that may be changed. */
function changing(call: Call): Message {
  const { world, args, fail, need } = call;
  need("reactions:write");
  const { channel, message } = itemIn(call);
  if (channel.archived) fail("is_archived");
  if (listedName(world.emoji, args.text("name")) === undefined) fail("invalid_name");
  if (channel.lockedThreads.has(message.root ?? message.ts)) fail("thread_locked");
  return message;
}

const maxEmoji = 23;

export const add: Method = (call) => {
  const { world, args, fail } = call;
  const message = changing(call);
  const name = listedName(world.emoji, args.text("name")) ?? "";
  if (message.reactions.size >= maxEmoji && !message.reactions.has(name)) fail("too_many_emoji");
  if (!react(world, message, bot.user, name)) fail("already_reacted");
  return {};
};

export const remove: Method = (call) => {
  const { world, args, fail } = call;
  if (!unreact(world, changing(call), bot.user, args.text("name"))) fail("no_reaction");
  return {};
};

export const get: Method = (call) => {
  call.need("reactions:read");
  const { channel, message } = itemIn(call);
  const shown = messageOf(channel, message);
  const full = call.args.is("full") && message.reactions.size > 0;
  const reactions = full && { reactions: reactionsOf(message, Number.POSITIVE_INFINITY) };
  return { type: "message", channel: channel.id, message: { ...shown, ...reactions } };
};
