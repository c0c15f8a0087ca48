import type { Sandbox } from "@reversi-connector/core";
import { type Sandbox as Server, startSandbox } from "@reversi-connector/http/sandbox";
import type { GitHubOptions } from "./client.ts";
import { handler } from "./sandbox/routes.ts";
import { errorBody, secondaryLimit, token } from "./sandbox/wire.ts";
import { newWorld, type Repository, visibleState, type World } from "./sandbox/world.ts";

export { addComment, commit, openIssue, putLabels, removeRef, setState } from "./sandbox/world.ts";
export type { Repository, World };

/** A GitHub on 127.0.0.1 with the repository `acme/site`. Faults are injected on its wire. */
export interface GitHubSandbox extends Sandbox<GitHubOptions>, Omit<Server, "url"> {
  /** All it knows; to be changed as other people would. */
  readonly world: World;
  /** `acme/site`. */
  readonly site: Repository;
}

/** Options for a sandbox that runs already, in whichever process. */
export const attach = (address: string): GitHubOptions => ({ token, baseUrl: address });

/** Starts a sandbox. */
export async function sandbox(): Promise<GitHubSandbox> {
  const world = newWorld();
  const server = await startSandbox({
    handle: handler(world),
    errorBody,
    rateLimit: (retryAfter) => secondaryLimit(world, retryAfter),
  });
  const [site] = world.repositories;
  if (!site) throw new Error("the sandbox starts with a repository");
  const { url: address, ...wire } = server;
  return { ...wire, address, options: attach(address), world, site, state: async () => visibleState(world) };
}
