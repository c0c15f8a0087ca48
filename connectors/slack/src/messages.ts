import { s } from "@reversi-connector/core";
import type { HttpReader } from "@reversi-connector/http";
import { post, saysOneOf, tool } from "./client.ts";
import { findMarked, isGone, type MessageName, marker } from "./history.ts";
import { already, channel, channelOf, isChannelId, type Message, timestamp, timestampOf } from "./objects.ts";

/** Whether Slack refuses to delete a message because that is done already. */
async function isDone(client: HttpReader, name: MessageName, refusal: unknown): Promise<boolean> {
  if (saysOneOf(refusal, "message_not_found")) return true;
  // A placeholder cannot be deleted: only a look tells it from a message of somebody else.
  return saysOneOf(refusal, "cant_delete_message") && (await isGone(client, name)) === true;
}

export const deleteMessage = tool
  .idempotent("delete_message", {
    description: "Delete a message of this bot. A message that is gone already is success.",
    permission: "slack:messages:delete",
    input: s.object(
      { channel, ts: timestamp },
      { thread_ts: s.nullable(timestampOf("Parent of a reply: where to look it up.")) },
    ),
    output: s.object({ channel, ts: timestamp, already }),
    target: ["channel", "ts"],
  })
  .holds(({ client, args }) => isGone(client, args))
  .run(async ({ client, args }) => {
    const { channel, ts } = args;
    try {
      await post<Message>(client, "chat.delete", { channel, ts }, (deleted) => deleted.ts === ts);
      return { channel, ts, already: false };
    } catch (error) {
      if (await isDone(client, args, error)) return { channel, ts, already: true };
      throw error;
    }
  });

interface Threaded {
  readonly ts: string;
  readonly thread_ts?: string | undefined;
}
/** A message that has replies names itself as its thread. */
const resultOf = (channel: string, { ts, thread_ts = ts }: Threaded) => ({
  ...{ channel, ts },
  thread_ts: thread_ts === ts ? null : thread_ts,
});

interface Posted {
  readonly channel: string;
  readonly ts: string;
  readonly message?: Partial<Threaded>;
}

export const postMessage = tool
  .reversible("post_message", {
    description: "Post a message.",
    permission: "slack:messages:write",
    input: s.object(
      {
        channel: s.string("Channel id (preferred), `#name` or user id.", { minLength: 1, maxLength: 100 }),
        text: s.string("Text, Slack mrkdwn.", { minLength: 1, maxLength: 40_000 }),
      },
      {
        thread_ts: timestampOf("Post as a reply to this message."),
        reply_broadcast: s.boolean("Show the reply in the channel too.", { default: false }),
        unfurl_links: s.boolean("Show link previews.", { default: false }),
        unfurl_media: s.boolean("Show media previews.", { default: false }),
      },
    ),
    output: s.object({
      channel: channelOf("Id of the channel it really went to."),
      ts: timestamp,
      thread_ts: s.nullable(timestampOf("Parent, for a reply.")),
    }),
    additive: true,
    compensation: {
      tool: deleteMessage,
      argument_map: { channel: "result.channel", ts: "result.ts", thread_ts: "result.thread_ts" },
    },
    requires: [{ tool: "slack.post_message", match: { thread_ts: "result.ts" } }],
    residue: [
      {
        id: "seen",
        text: "People may have read it or been notified; replies stay, and a parent with replies leaves a placeholder.",
      },
    ],
  })
  .landed(async ({ client, args: { channel, thread_ts }, since, idempotencyKey }) => {
    // A name is no address to read from.
    if (idempotencyKey === undefined || !isChannelId(channel)) return "unknown";
    const made = await findMarked(client, { channel, thread_ts }, idempotencyKey, since);
    if (made === "unknown") return made;
    return made ? { landed: true, result: resultOf(channel, made) } : { landed: false };
  })
  .run(async ({ client, args: { thread_ts, reply_broadcast, ...content }, idempotencyKey }) => {
    const made = await post<Posted>(
      client,
      "chat.postMessage",
      {
        ...content,
        ...(thread_ts !== undefined && { thread_ts, reply_broadcast }),
        metadata: marker(idempotencyKey),
      },
      ({ channel, ts }) => Boolean(channel) && Boolean(ts),
    );
    return resultOf(made.channel, { ts: made.ts, thread_ts: made.message?.thread_ts ?? thread_ts });
  });
