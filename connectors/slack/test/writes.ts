import type { Checkpoint } from "@reversi-connector/core";
import { bot, react, say } from "@reversi-connector/slack/sandbox";
import { type Bench, failure, general } from "./bench.ts";

export const key = "key-1";
/** A writing tool, and what it is called with. */
export type Write = readonly [tool: string, argsOf: (on: Bench) => object];

export const post: Write = ["post_message", () => ({ channel: general, text: "Hello" })];
export const forward: readonly Write[] = [
  post,
  ["add_reaction", ({ first }) => ({ channel: general, timestamp: first.ts, name: "tada" })],
];
export const undoes: readonly Write[] = [
  [
    "delete_message",
    ({ backend: { world, general: channel } }) => ({
      channel: general,
      ts: say(world, channel, { user: bot.user, text: "x" }).ts,
      thread_ts: null,
    }),
  ],
  [
    "remove_reaction",
    ({ backend, first }) => {
      react(backend.world, first, bot.user, "tada");
      return { channel: general, timestamp: first.ts, name: "tada" };
    },
  ],
];
export const all = [...forward, ...undoes];
/** Of every request that writes. */
export const method = "POST";

/** Calls a tool and keeps what it made durable. */
export async function lose({ call }: Bench, tool: string, args: object) {
  const kept: Checkpoint[] = [];
  const checkpoint = async (next: Checkpoint) => void kept.push(next);
  const error = await failure(call(tool, args, { idempotencyKey: key, checkpoint }));
  return { error, checkpoint: kept[0] };
}
