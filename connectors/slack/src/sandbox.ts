import type { Sandbox } from "@reversi-connector/core";
import { type Sandbox as Server, startSandbox } from "@reversi-connector/http/sandbox";
import type { SlackOptions } from "./client.ts";
import { handler } from "./sandbox/routes.ts";
import { errorBody, limited, token } from "./sandbox/wire.ts";
import { type Channel, type Message, newWorld, visibleState, type World } from "./sandbox/world.ts";

export { bot, openChannel, react, say, take, unreact } from "./sandbox/world.ts";
export type { Channel, Message, World };

/** A Slack on 127.0.0.1 with the channel `general`. Faults are injected on its wire. */
export interface SlackSandbox extends Sandbox<SlackOptions>, Omit<Server, "url"> {
  /** All it knows; to be changed as other people would. */
  readonly world: World;
  readonly general: Channel;
}

/** Options for a sandbox that runs already, in whichever process. */
export const attach = (address: string): SlackOptions => ({ token, baseUrl: `${address}/api` });

/** Starts a sandbox. */
export async function sandbox(): Promise<SlackSandbox> {
  const world = newWorld();
  const server = await startSandbox({
    handle: handler(world),
    errorBody,
    rateLimit: (retryAfter) => limited(world, retryAfter),
  });
  const [general] = world.channels;
  if (!general) throw new Error("the sandbox starts with a channel");
  const { url: address, ...wire } = server;
  const state = async () => visibleState(world);
  return { ...wire, address, options: attach(address), world, general, state };
}
