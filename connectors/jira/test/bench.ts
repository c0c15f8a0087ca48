import type { Checkpoint, Connector, Context } from "@reversi-connector/core";
import { failure, undoOf as undoByManifest } from "../../../test/calls.ts";
import { documentOf } from "../src/adf.ts";
import { type JiraOptions, jira } from "../src/index.ts";

export { failure };

import { addComment, addIssue, type JiraSandbox, me, sandbox } from "../src/sandbox.ts";

type Values = Readonly<Record<string, unknown>>;

const started: { readonly connector: Connector; readonly backend: JiraSandbox }[] = [];
afterEach(async () => {
  for (const { connector, backend } of started.splice(0)) {
    await connector.close();
    await backend.close();
    expect(backend.errors).toEqual([]); // what the sandbox itself did wrong
  }
});

/** A connector on a sandbox of its own; both end with the test. */
export async function bench(options: Partial<JiraOptions> = {}) {
  const backend: JiraSandbox = await sandbox();
  const connector: Connector = jira({ ...backend.options, ...options });
  started.push({ connector, backend });
  const { world } = backend;
  const since = new Date();

  const call = async <Result = Values>(name: string, args: object, context: Context = {}) =>
    (await connector.tools[`jira.${name}`]?.(args, context)) as Result;

  /** What an engine would send to undo a call, by the manifest. */
  const undoOf = (name: string, args: object, result: object) =>
    undoByManifest(connector, name, args, result);
  const issueWith = (name: unknown) => {
    const issue = world.issues.find(({ id, key }) => id === name || key === name);
    if (!issue) throw new Error("there is no such issue");
    return issue;
  };
  return {
    backend,
    world,
    connector,
    call,
    undoOf,
    undo: async <Result = Values>(name: string, args: object, result: object, context: Context = {}) => {
      const { tool, args: undoArgs } = undoOf(name, args, result);
      return call<Result>(tool, undoArgs, context);
    },
    holds: (name: string, args: object) => connector.holds[`jira.${name}`]?.(args),
    landed: (name: string, args: object, idempotencyKey?: string, checkpoint?: Checkpoint) =>
      connector.landed[`jira.${name}`]?.(args, { since, checkpoint, idempotencyKey }),
    issueWith,
    /** A comment of the account's own, on PROJ-1. */
    comment: (text = "x") => addComment(world, backend.issue, { author: me, body: documentOf(text) }),
    /** An issue of the account's own. */
    issue(summary = "x") {
      const { project, type } = backend.issue;
      return addIssue(world, { project, type, summary, creator: me });
    },
    /** Acts as somebody else would, just before the first request of this method takes effect. */
    meanwhile(method: string, action: () => void) {
      let done = false;
      const path = () => {
        if (!done) action();
        done = true;
        return false; // the fault itself meets nothing
      };
      backend.inject({ kind: "cutBefore" }, { method, path });
    },
    state: backend.state,
    writes: () => backend.requests.filter(({ method }) => method !== "GET"),
    bodies: () => backend.requests.filter(({ text }) => text !== "").map((request) => request.json()),
    sent: () =>
      backend.requests.map(({ method, pathname }) => `${method} ${pathname.replace("/rest/api/3", "")}`),
  };
}
export type Bench = Awaited<ReturnType<typeof bench>>;

/** Jira's error body. */
export const refusal = (...errorMessages: string[]) => ({ errorMessages, errors: {} });

/** The state without what the manifests declare to stay behind. */
export async function seen({ state }: Bench) {
  const { issues } = (await state()) as { issues: Record<string, Record<string, unknown>> };
  return Object.fromEntries(
    Object.entries(issues).map(([key, { history: _, resolution: __, ...issue }]) => [key, issue]),
  );
}
