import type { Sandbox } from "@reversi-connector/core";
import { type Sandbox as Server, startSandbox } from "@reversi-connector/http/sandbox";
import type { LinearOptions } from "./client.ts";
import { errorBody } from "./sandbox/errors.ts";
import { visibleState } from "./sandbox/visible.ts";
import { apiKey, handler, oauthToken, rateLimit } from "./sandbox/wire.ts";
import { newWorld, type Team, type World } from "./sandbox/world.ts";

export {
  addComment,
  archiveIssue,
  editComment,
  eraseIssue,
  moveIssue,
  openIssue,
  removeComment,
} from "./sandbox/world.ts";
export type { Team, World };
export { oauthToken };

/** A Linear on 127.0.0.1 with the workspace `acme` and its team `ENG`. Faults are injected on its wire. */
export interface LinearSandbox extends Sandbox<LinearOptions>, Omit<Server, "url"> {
  /** All it knows; to be changed as other people would. */
  readonly world: World;
  /** `ENG`. */
  readonly team: Team;
}

/** Options for a sandbox that runs already, in whichever process. */
export const attach = (address: string): LinearOptions => ({ apiKey, baseUrl: address });

/** Starts a sandbox. */
export async function sandbox(): Promise<LinearSandbox> {
  const world = newWorld();
  const server = await startSandbox({
    handle: handler(world),
    errorBody,
    rateLimit: (retryAfter) => rateLimit(world, retryAfter),
  });
  const [team] = world.teams;
  if (!team) throw new Error("the sandbox starts with a team");
  const { url: address, ...wire } = server;
  return { ...wire, address, options: attach(address), world, team, state: async () => visibleState(world) };
}
