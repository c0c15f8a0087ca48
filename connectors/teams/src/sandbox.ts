import type { Sandbox } from "@reversi-connector/core";
import { type Sandbox as Server, startSandbox } from "@reversi-connector/http/sandbox";
import type { TeamsOptions } from "./client.ts";
import { handler } from "./sandbox/routes.ts";
import { errorBody, limited, token } from "./sandbox/wire.ts";
import { type Channel, type Message, newWorld, visibleState, type World } from "./sandbox/world.ts";

export { colleague, openChannel, say, take, user } from "./sandbox/world.ts";
export type { Channel, Message, World };

/** A Microsoft Graph on 127.0.0.1 with one team. Faults are injected on its wire. */
export interface TeamsSandbox extends Sandbox<TeamsOptions>, Omit<Server, "url"> {
  /** All it knows; to be changed as other people would. */
  readonly world: World;
  /** The team's first channel. */
  readonly general: Channel;
}

/** Options for a sandbox that runs already, in whichever process. */
export const attach = (address: string): TeamsOptions => ({ token, baseUrl: `${address}/v1.0` });

/** Starts a sandbox. */
export async function sandbox(): Promise<TeamsSandbox> {
  const world = newWorld();
  const server = await startSandbox({
    handle: handler(world),
    errorBody: (status, message) => errorBody(status, message),
    rateLimit: limited,
  });
  const [general] = world.team.channels;
  if (!general) throw new Error("the sandbox starts with a channel");
  const { url: address, ...wire } = server;
  const state = async () => visibleState(world);
  return { ...wire, address, options: attach(address), world, general, state };
}
