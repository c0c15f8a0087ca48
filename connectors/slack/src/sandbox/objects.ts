import { bot, type Channel, type Message, repliesTo, team, type World } from "./world.ts";

const opened = 1_449_252_889;
const nothing = { value: "", creator: "", last_set: 0 };

export const conversationOf = (
  world: World,
  { id, kind, name = "", creator, members, archived }: Channel,
) => {
  if (kind === "im") {
    const [user = ""] = [...members].filter((member) => member !== bot.user);
    const direct = { id, created: opened, is_im: true, is_org_shared: false, is_archived: archived };
    return { ...direct, user, is_user_deleted: !world.users.has(user), priority: 0 };
  }
  return {
    ...{ id, name, name_normalized: name, created: opened, creator },
    is_channel: kind === "public_channel",
    is_group: kind === "private_channel",
    is_im: false,
    is_mpim: kind === "mpim",
    is_private: kind !== "public_channel",
    is_archived: archived,
    is_general: name === "general",
    is_shared: false,
    is_org_shared: false,
    is_ext_shared: false,
    is_member: members.has(bot.user),
    unlinked: 0,
    topic: nothing,
    purpose: nothing,
    previous_names: [],
    num_members: members.size,
  };
};

/** A message as histories show it. */
export function messageOf(channel: Channel, message: Message, { metadata = false } = {}) {
  const { ts, user, text, root, broadcast } = message;
  const replies = repliesTo(channel, message);
  const thread = replies.length > 0 && {
    thread_ts: ts,
    reply_count: replies.length,
    reply_users: [...new Set(replies.map((reply) => reply.user))],
    latest_reply: replies.at(-1)?.ts,
  };
  if (message.deleted) {
    const placeholder = { type: "message", subtype: "tombstone", user: "USLACKBOT", hidden: true };
    return { ...placeholder, ts, text: "This message was deleted.", ...thread };
  }
  return {
    ...{ type: "message", user, text, ts, team: team.id },
    ...(broadcast && { subtype: "thread_broadcast" }),
    ...(user === bot.user && { bot_id: bot.id, app_id: bot.app }),
    ...(root !== undefined && { thread_ts: root }),
    ...thread,
    ...(metadata && message.metadata && { metadata: message.metadata }),
    ...(message.reactions.size > 0 && { reactions: reactionsOf(message, shortList) }),
  };
}

const shortList = 3;
/** Reactions, each with so many of its people. */
export const reactionsOf = ({ reactions }: Message, people: number) =>
  [...reactions].map(([name, users]) => ({ name, users: users.slice(0, people), count: users.length }));
