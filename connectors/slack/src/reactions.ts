import { s } from "@reversi-connector/core";
import type { HttpClient, HttpReader } from "@reversi-connector/http";
import { get, post, tool, unlessHidden, unlessSays } from "./client.ts";
import { bareName, hasReacted } from "./emoji.ts";
import { already, channel, type Message, timestamp } from "./objects.ts";

interface ReactionName {
  readonly channel: string;
  readonly timestamp: string;
  readonly name: string;
}
const nameIn = ({ channel, timestamp, name }: ReactionName): ReactionName => ({
  ...{ channel, timestamp },
  name: bareName(name),
});

/** All reactions to a message, none where it is gone; undefined when the bot may not read them. */
function readReactions(client: HttpReader, { channel, timestamp }: ReactionName) {
  const query = { channel, timestamp, full: true };
  const reading = get<{ message: Message }>(client, "reactions.get", query, ({ message }) =>
    Boolean(message),
  );
  const reactions = unlessSays(reading, "message_not_found").then(
    (answer) => answer?.body.message.reactions ?? [],
  );
  return unlessHidden(reactions);
}

/** Whether the bot has reacted so; "unknown" when it may not read reactions, or when that cannot be told. */
async function botReacted(client: HttpReader, reaction: ReactionName) {
  const reactions = await readReactions(client, reaction);
  if (reactions === undefined) return "unknown";
  const { body } = await get<{ user_id: string }>(client, "auth.test", {}, ({ user_id }) => Boolean(user_id));
  return hasReacted(reactions, body.user_id, reaction.name);
}

/** False when Slack says, with one of these codes, that there is nothing to do. */
async function change(
  client: HttpClient,
  method: string,
  reaction: ReactionName,
  ...idle: readonly string[]
): Promise<boolean> {
  const changing = post(client, method, reaction, () => true);
  return (await unlessSays(changing, ...idle)) !== undefined;
}

const nameRules = { minLength: 1, maxLength: 120, pattern: "^[^\\s/?#]+$" };
const name = s.string(
  "Emoji name; outer colons are taken off, a skin tone (`::skin-tone-3`) is kept.",
  nameRules,
);

export const removeReaction = tool
  .idempotent("remove_reaction", {
    description: "Take the bot's own reaction off a message. Does nothing when `added` is false.",
    permission: "slack:reactions:write",
    input: s.object(
      { channel, timestamp, name },
      { added: s.boolean("False when the undone step had added nothing.", { default: true }) },
    ),
    output: s.object({ channel, timestamp, name, already }),
    target: ["channel", "timestamp", "name"],
  })
  .holds(async ({ client, args }) => {
    if (!args.added) return true;
    const there = await botReacted(client, nameIn(args));
    return there === "unknown" ? there : !there;
  })
  .run(async ({ client, args }) => {
    const reaction = nameIn(args);
    if (!args.added) return { ...reaction, already: true };
    const removed = await change(client, "reactions.remove", reaction, "no_reaction", "message_not_found");
    return { ...reaction, already: !removed };
  });

export const addReaction = tool
  .reversible("add_reaction", {
    description: "Add an emoji reaction to a message.",
    permission: "slack:reactions:write",
    input: s.object({ channel, timestamp, name }),
    output: s.object({
      channel,
      timestamp,
      name: s.string("The name as sent.", nameRules),
      added: s.boolean("False when the bot had reacted before: nothing was changed."),
    }),
    additive: true,
    compensation: {
      tool: removeReaction,
      argument_map: {
        channel: "args.channel",
        timestamp: "args.timestamp",
        name: "result.name",
        added: "result.added",
      },
    },
    requires: [{ tool: "slack.post_message", match: { timestamp: "result.ts" } }],
    checkpoint: { result: ["channel", "timestamp", "name", "added"], guard: "added" },
  })
  .landed(async ({ client, args, checkpoint }) => {
    const { added } = checkpoint?.result ?? {};
    if (added === undefined) return "unknown";
    const reaction = nameIn(args);
    const there = await botReacted(client, reaction);
    if (there === "unknown") return there;
    return there ? { landed: true, result: { ...reaction, added } } : { landed: false };
  })
  .run(async ({ client, args, checkpoint }) => {
    const reaction = nameIn(args);
    const before = await botReacted(client, reaction);
    if (before !== "unknown") await checkpoint({ result: { ...reaction, added: !before } });
    const added = await change(client, "reactions.add", reaction, "already_reacted");
    return { ...reaction, added };
  });
