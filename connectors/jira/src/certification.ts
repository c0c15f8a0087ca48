import { readFileSync } from "node:fs";
import type { Plan, Subject } from "@reversi-connector/certification-kit";
import { documentOf } from "./adf.ts";
import { jira } from "./index.ts";
import { token } from "./sandbox/wire.ts";
import { listedPermissions } from "./sandbox/world.ts";
import {
  ada,
  addComment,
  attach,
  editComment,
  type JiraSandbox,
  me,
  moveIssue,
  rename,
  sandbox,
} from "./sandbox.ts";

type Calls = Readonly<Record<string, Plan<JiraSandbox> | readonly Plan<JiraSandbox>[]>>;
type Edit = NonNullable<Plan<JiraSandbox>["edit"]>;
type After = NonNullable<Plan<JiraSandbox>["after"]>;

const issueWith = ({ world }: JiraSandbox, id: unknown) => world.issues.find((issue) => issue.id === id);
const subtask = { project: "PROJ", issue_type: "Sub-task", summary: "Look first" };

/** Somebody comments on the new issue. */
const commented: Edit = (backend, { result }) => {
  const issue = issueWith(backend, result.issue_id);
  if (issue) addComment(backend.world, issue, { author: ada, body: documentOf("I am on it") });
};
/** Somebody renames it. */
const renamed: Edit = (backend, { result }) => {
  const issue = issueWith(backend, result.issue_id);
  if (issue) rename(backend.world, issue, ada, "Ada's");
};
/** Somebody edits the new comment. */
const edited: Edit = (backend, { result }) => {
  const comment = issueWith(backend, result.issue_id)?.comments.find(({ id }) => id === result.comment_id);
  if (comment) editComment(backend.world, comment, ada, documentOf("Edited by a person"));
};
/** Somebody moves the issue on. */
const movedOn: Edit = (backend, { result }) => {
  const issue = issueWith(backend, result.issue_id);
  const onward = backend.world.transitions.find(
    ({ to }) => ![result.status_id, result.previous_status_id].includes(to.id),
  );
  if (issue && onward) moveIssue(backend.world, issue, ada, onward);
};

/** A second step on the issue that the first one has made, or moved. */
const below: After = {
  "jira.create_issue: parent_id = result.issue_id": ({ result }) => ({
    ...subtask,
    parent_id: result.issue_id,
  }),
  "jira.create_issue: parent_id = result.issue_key": ({ result }) => ({
    ...subtask,
    parent_id: result.issue_key,
  }),
};
const onward: After = {
  "jira.transition_issue: issue_id = result.issue_id": ({ result }) => ({
    issue_id: result.issue_id,
    transition: "Finish",
  }),
  "jira.transition_issue: issue_id = result.issue_key": ({ result }) => ({
    issue_id: result.issue_key,
    transition: "Finish",
  }),
};

/** Good calls on the sandbox's first issue, which is to do, and second one, which is in progress. */
const calls: Calls = {
  "jira.get_issue": { args: { issue_id: "PROJ-1" } },
  "jira.create_issue": [
    {
      title: "a task",
      args: { project: "PROJ", issue_type: "Task", summary: "New", description: "One\n\nTwo", labels: ["a"] },
      edit: commented,
      after: below,
    },
    { title: "by ids", args: { project: "10000", issue_type: "10002", summary: "New" }, edit: renamed },
    { title: "a sub-task", args: { ...subtask, parent_id: "PROJ-2" }, edit: commented },
  ],
  "jira.add_comment": [
    { title: "on an issue", args: { issue_id: "PROJ-1", body: "Done\n\nI think" }, edit: edited },
    { title: "for agents", args: { issue_id: "HELP-1", body: "Hm", internal: true }, edit: edited },
  ],
  "jira.transition_issue": [
    { title: "by name", args: { issue_id: "PROJ-1", transition: "start" }, edit: movedOn, after: onward },
    { title: "by id", args: { issue_id: "PROJ-2", transition: "21" }, edit: movedOn },
    {
      title: "by status, with a resolution",
      args: { issue_id: "PROJ-1", transition: "Done" },
      edit: movedOn,
    },
  ],
  "jira.delete_issue": {
    args: async ({ call }) => {
      const { issue_id } = await call("jira.create_issue", { ...subtask, issue_type: "Bug" });
      return { issue_id, project: "PROJ" };
    },
  },
  "jira.delete_comment": {
    args({ backend: { world, issue } }) {
      const comment = addComment(world, issue, { author: me, body: documentOf("Never mind") });
      return { issue_id: issue.id, comment_id: comment.id };
    },
  },
  "jira.restore_status": {
    args: { issue_id: "PROJ-2", previous_status_id: "10000", expected_status_id: "3" },
  },
};

interface SeenIssue {
  readonly resolution: string | null;
  readonly history: readonly unknown[];
}
interface State {
  readonly mails: number;
  readonly numbers: object;
  readonly issues: Readonly<Record<string, SeenIssue>>;
}
/** The state with one member of each issue as it was before. */
const asBefore = (member: keyof SeenIssue) => (before: State, after: State) => ({
  ...after,
  issues: Object.fromEntries(
    Object.entries(after.issues).map(([key, issue]) => [
      key,
      { ...issue, [member]: before.issues[key]?.[member] ?? null },
    ]),
  ),
});

const schemaHashes: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL("../schema-hashes.json", import.meta.url), "utf8"),
);

/** Where the sandbox differs from the published description, as the vendor does. */
const deviations = {
  "*: answer 4*: a body that is not described":
    "Jira sends its error collection with every refusal; the description shows the body of a few",
  "*: answer 429: the status is not described": "rate limits are described in a text of their own",
  "*: answer 403: the status is not described": "what a captcha or a missing scope is answered with",
  "*: answer 400: the status is not described": "query parameters that Jira overlooks are refused here",
  "*: answer 415: the status is not described": "a body of another media type",
};

/** What the certification needs to know about this connector. */
export const subject = {
  connector: ({ address, credential, timeoutMs }) =>
    jira({ ...attach(address), token: credential, timeoutMs }),
  backend: () => sandbox(),
  wire: (backend, { http }) => http(backend, { address: backend.address }),
  credential: token,
  calls,
  contract: (folder, kit) => kit.openApi(`${folder}/jira.json`, { deviations }),
  schemaHashes,
  residue: {
    "number-used": (before: State, after: State) => ({ ...after, numbers: before.numbers }),
    notified: (before: State, after: State) => ({ ...after, mails: before.mails }),
    history: asBefore("history"),
    "post-functions": asBefore("resolution"),
  },
  permit({ world: { projects, permissions } }, access) {
    if (access === "none") for (const project of projects) project.visible = false;
    else
      for (const permission of permissions)
        if (!listedPermissions.includes(permission)) permissions.delete(permission);
  },
} satisfies Subject<JiraSandbox>;
