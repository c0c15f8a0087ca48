import { s } from "@reversi-connector/core";

/** Slack's objects, as far as the tools read them. */
export interface Message {
  /** With the channel, the message's id. Text: as a number it would lose digits. */
  readonly ts: string;
  /** The thread it is in; its own `ts` for one that has replies. */
  readonly thread_ts?: string;
  /** `tombstone`: deleted, and there for its replies' sake. */
  readonly subtype?: string;
  readonly metadata?: {
    readonly event_type: string;
    readonly event_payload: Readonly<Record<string, unknown>>;
  };
  readonly reactions?: readonly Reaction[];
}
export interface Reaction {
  readonly name: string;
  /** May be cut short; `count` is not. */
  readonly users: readonly string[];
  readonly count: number;
}
/** What lists end with: an empty cursor at the end. */
export interface Page {
  readonly response_metadata?: { readonly next_cursor?: string };
}

const channelId = "^[CGD][A-Z0-9]{1,30}$";
export const isChannelId = (text: string): boolean => new RegExp(channelId).test(text);

/** Schemas of values that several tools share. */
export const channelOf = (description: string) => s.string(description, { pattern: channelId });
export const timestampOf = (description: string) =>
  s.string(description, { pattern: "^[0-9]{1,16}\\.[0-9]{1,6}$" });
export const channel = channelOf("Channel id, such as `C012AB3CD45`.");
export const timestamp = timestampOf("Message timestamp, a string such as `1719828000.123456`.");
export const already = s.boolean("True when nothing had to be done.");
