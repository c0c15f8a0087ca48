import type { Sandbox } from "@reversi-connector/core";
import { type Sandbox as Server, startSandbox } from "@reversi-connector/http/sandbox";
import type { GitLabOptions } from "./client.ts";
import { handler } from "./sandbox/routes.ts";
import { errorBody, rateLimit, token } from "./sandbox/wire.ts";
import { newWorld, type Project, visibleState, type World } from "./sandbox/world.ts";

export { addNote, commit, editNote, openIssue, setState } from "./sandbox/world.ts";
export type { Project, World };

/** A GitLab on 127.0.0.1 with the project `acme/tools/site`. Faults are injected on its wire. */
export interface GitLabSandbox extends Sandbox<GitLabOptions>, Omit<Server, "url"> {
  /** All it knows; to be changed as other people would. */
  readonly world: World;
  /** `acme/tools/site`. */
  readonly site: Project;
}

/** Options for a sandbox that runs already, in whichever process. */
export const attach = (address: string): GitLabOptions => ({ token, baseUrl: address });

/** Starts a sandbox. */
export async function sandbox(): Promise<GitLabSandbox> {
  const world = newWorld();
  const server = await startSandbox({
    handle: handler(world),
    errorBody,
    rateLimit: (retryAfter) => rateLimit(world, retryAfter),
  });
  const [site] = world.projects;
  if (!site) throw new Error("the sandbox starts with a project");
  const { url: address, ...wire } = server;
  return { ...wire, address, options: attach(address), world, site, state: async () => visibleState(world) };
}
