import type { Holds } from "@reversi-connector/core";
import type { HttpReader, Query } from "@reversi-connector/http";
import { get, unlessHidden, unlessSays } from "./client.ts";
import type { Message, Page } from "./objects.ts";

/** Slack's history is one list for a channel, and one for each thread. */
interface Where {
  readonly channel: string;
  /** The thread's first message; without one, the channel itself. */
  readonly thread_ts?: string | null | undefined;
}
interface History extends Page {
  readonly messages: readonly Message[];
  readonly has_more?: boolean;
}

const readHistory = (client: HttpReader, { channel, thread_ts }: Where, query: Query) =>
  get<History>(
    client,
    thread_ts ? "conversations.replies" : "conversations.history",
    { channel, ...(thread_ts && { ts: thread_ts }), inclusive: true, ...query },
    ({ messages }) => Array.isArray(messages),
  );

/** A thread always shows its first message. Asked for by a reply in its middle, it shows little else. */
const isWhole = (messages: readonly Message[], { thread_ts }: Where) =>
  !thread_ts || messages.some(({ ts, thread_ts: root = ts }) => ts === thread_ts && root === ts);

export interface MessageName extends Where {
  readonly ts: string;
}

/** True on Slack's word that the channel has no such message. That it has one may be said of a placeholder as well. */
async function hasNoPermalink(client: HttpReader, { channel, ts }: MessageName): Promise<Holds> {
  const query = { channel, message_ts: ts };
  const reading = get<{ permalink: string }>(client, "chat.getPermalink", query, ({ permalink }) =>
    Boolean(permalink),
  );
  return (await unlessSays(reading, "message_not_found")) ? "unknown" : true;
}

/** Whether a message is deleted, its placeholder included; "unknown" when the bot may not read the channel. */
export async function isGone(client: HttpReader, name: MessageName): Promise<Holds> {
  const { ts, thread_ts } = name;
  // 15 is the least that Slack grants to any app; the thread's first message is one of them.
  const reading = readHistory(client, name, { oldest: ts, latest: ts, limit: thread_ts ? 15 : 1 });
  const answer = await unlessSays(unlessHidden(reading), "thread_not_found");
  const found = answer?.body.messages.find((message) => message.ts === ts);
  if (found) return found.subtype === "tombstone";
  // A channel's history leaves out replies: it proves something only where the message is known to be none.
  const proven = answer && thread_ts !== undefined && isWhole(answer.body.messages, name);
  return proven ? true : hasNoPermalink(client, name);
}

const eventType = "reversi_op";
/** The key of the call that posts a message, where programs see it and people do not. */
export const marker = (op: string | undefined) => ({ event_type: eventType, event_payload: { op } });

const maxPages = 10;
/** How far this host's clock may be from Slack's, in seconds. */
const clockSlack = 60;

/**
 * The message that carries the key of a call; undefined when the whole history since then has none; "unknown" when it
 * cannot be read whole, or not in time that both clocks agree on.
 */
export async function findMarked(client: HttpReader, where: Where, op: string, since: Date) {
  const oldest = Math.floor(since.getTime() / 1000) - clockSlack;
  const seen: Message[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < maxPages; pages++) {
    const query = { oldest, limit: 100, include_all_metadata: true, cursor };
    const answer = await unlessSays(unlessHidden(readHistory(client, where, query)), "thread_not_found");
    if (answer === undefined) return "unknown";
    const { messages, has_more, response_metadata } = answer.body;
    const made = messages.find(
      ({ metadata }) => metadata?.event_type === eventType && metadata.event_payload["op"] === op,
    );
    if (made) return made;
    seen.push(...messages);
    cursor = response_metadata?.next_cursor || undefined;
    if (cursor !== undefined) continue;
    const clocksAgree = Math.abs(Date.parse(answer.headers["date"] ?? "") - Date.now()) < clockSlack * 1000;
    return !has_more && clocksAgree && isWhole(seen, where) ? undefined : "unknown";
  }
  return "unknown";
}
