import { readFileSync } from "node:fs";
import type { Plan, Subject } from "@reversi-connector/certification-kit";
import { linear } from "./index.ts";
import { apiKey } from "./sandbox/wire.ts";
import { addComment, editComment, type LinearSandbox, sandbox } from "./sandbox.ts";

type Calls = Readonly<Record<string, Plan<LinearSandbox> | readonly Plan<LinearSandbox>[]>>;

const issueIn = ({ world }: LinearSandbox) => {
  const [issue] = world.issues;
  if (!issue) throw new Error("the sandbox starts with issues");
  return issue;
};
/** What a map hands to an undo, so that "not found" can be proved. */
const place = ({ world }: LinearSandbox) => ({ expected_organization_id: world.organization.id });

/** Good calls in the workspace `acme`: team `ENG` with ENG-1 and ENG-2. */
const calls: Calls = {
  "linear.get_issue": { args: { issue_id: "ENG-1" } },
  "linear.create_issue": [
    { title: "an issue", args: ({ backend: { team } }) => ({ team_id: team.id, title: "Typo" }) },
    {
      title: "a sub-issue with all that it can have",
      args: ({ backend: { team, world } }) => ({
        team_id: team.id,
        title: "Typo",
        description: "On the first page\n",
        priority: 2,
        state_id: team.states[1]?.id,
        assignee_id: world.users[1]?.id,
        label_ids: world.labels.map(({ id }) => id),
        project_id: world.projects[0]?.id,
        parent_id: "ENG-1",
        due_date: "2026-12-24",
      }),
    },
  ],
  "linear.archive_issue": {
    args: ({ backend }) => ({ issue_id: issueIn(backend).id, team_id: backend.team.id, ...place(backend) }),
  },
  "linear.add_comment": [
    {
      title: "a comment",
      args: { issue_id: "ENG-1", body: "Looking into it\r\n" },
      edit({ world: { comments } }, { result }) {
        const comment = comments.find(({ id }) => id === result.comment_id);
        if (comment) editComment(comment, "Looking into it. Edit: fixed!");
      },
    },
    {
      title: "a comment that somebody answers",
      args: { issue_id: "ENG-2", body: "Anybody?" },
      edit({ world }, { result }) {
        addComment(world, { issue: result.issue_id, parent: result.comment_id, body: "Me!" });
      },
    },
    {
      title: "a reply",
      args: ({ backend }) => ({
        issue_id: "ENG-1",
        body: "Thanks",
        parent_id: addComment(backend.world, { issue: issueIn(backend).id, body: "Fixed" }).id,
      }),
      edit({ world: { comments } }, { result }) {
        const comment = comments.find(({ id }) => id === result.comment_id);
        if (comment) editComment(comment, "Thanks a lot");
      },
    },
  ],
  "linear.delete_comment": {
    args: ({ backend }) => ({
      comment_id: addComment(backend.world, { issue: issueIn(backend).id, body: "Me too" }).id,
      issue_id: issueIn(backend).id,
      ...place(backend),
    }),
  },
};

interface State {
  readonly issues: readonly { readonly identifier: string; readonly archived: boolean }[];
}

const schemaHashes: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL("../schema-hashes.json", import.meta.url), "utf8"),
);

/** What the certification needs to know about this connector. */
export const subject = {
  connector: ({ address, credential, timeoutMs }) =>
    linear({ apiKey: credential, baseUrl: address, timeoutMs }),
  backend: () => sandbox(),
  wire: (backend, { http }) =>
    http(backend, {
      address: backend.address,
      writes: ({ text }) => JSON.parse(text).query.startsWith("mutation"),
    }),
  credential: apiKey,
  schemaHashes,
  calls,
  residue: {
    "issue-archived": (before: State, after: State) => ({
      ...after,
      issues: after.issues.filter(
        ({ identifier, archived }) =>
          !archived || before.issues.some((issue) => issue.identifier === identifier),
      ),
    }),
    notified: "the sandbox sends no notifications",
  },
  contract: (folder, kit) => kit.graphql(`${folder}/linear.graphql`),
  permit({ world, team }, access) {
    team.visible = access !== "none";
    if (access === "none") world.scopes.clear();
  },
} satisfies Subject<LinearSandbox>;
