import type { Sandbox } from "@reversi-connector/core";
import { type Sandbox as Server, startSandbox } from "@reversi-connector/http/sandbox";
import type { JiraOptions } from "./client.ts";
import { handler } from "./sandbox/routes.ts";
import { newWorld, visibleState } from "./sandbox/start.ts";
import { email, errorBody, limited, token } from "./sandbox/wire.ts";
import type { StoredIssue, World } from "./sandbox/world.ts";

export {
  addComment,
  addIssue,
  changeIssue,
  editComment,
  index,
  moveIssue,
  moveToProject,
  removeComment,
  removeIssue,
  rename,
} from "./sandbox/people.ts";
export { ada, me, rule, statuses } from "./sandbox/world.ts";
export type { StoredIssue, World };

/** A Jira on 127.0.0.1 with the project PROJ. Faults are injected on its wire. */
export interface JiraSandbox extends Sandbox<JiraOptions>, Omit<Server, "url"> {
  /** All it knows; to be changed as other people would. */
  readonly world: World;
  /** PROJ-1, by somebody else. */
  readonly issue: StoredIssue;
}

/** Options for a sandbox that runs already, in whichever process. */
export const attach = (address: string): JiraOptions => ({ baseUrl: address, email, token });

/** Starts a sandbox. */
export async function sandbox(): Promise<JiraSandbox> {
  const world = newWorld();
  const server = await startSandbox({ handle: handler(world), errorBody, rateLimit: limited });
  const [issue] = world.issues;
  if (!issue) throw new Error("the sandbox starts with an issue");
  const { url: address, ...wire } = server;
  return { ...wire, address, options: attach(address), world, issue, state: async () => visibleState(world) };
}
