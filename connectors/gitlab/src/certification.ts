import { readFileSync } from "node:fs";
import type { Plan, Subject } from "@reversi-connector/certification-kit";
import { gitlab } from "./index.ts";
import { token } from "./sandbox/wire.ts";
import { addNote, commit, editNote, type GitLabSandbox, sandbox } from "./sandbox.ts";

const site = { project: "acme/tools/site" };
const issue = { ...site, issue_iid: 1 };

type Calls = Readonly<Record<string, Plan<GitLabSandbox> | readonly Plan<GitLabSandbox>[]>>;

const editLastNote: NonNullable<Plan<GitLabSandbox>["edit"]> = ({ site: { issues } }, { result }) => {
  const note = issues.flatMap(({ notes }) => notes).find(({ id }) => id === result.note_id);
  if (note) editNote(note, "Looking into it. Edit: fixed!");
};

/** Good calls on `acme/tools/site`: issue 1 has the label `bug`; `main` is protected. */
const calls: Calls = {
  "gitlab.get_issue": { args: issue },
  "gitlab.create_issue": [
    { title: "an issue", args: { ...site, title: "Typo", description: "On the first page" } },
    {
      title: "a confidential issue with labels, one of them new",
      args: { ...site, title: "Typo", labels: ["bug", "typo"], confidential: true },
    },
  ],
  "gitlab.close_issue": { args: issue },
  "gitlab.add_note": [
    { title: "a note", args: { ...issue, body: "Looking into it" }, edit: editLastNote },
    {
      title: "an internal note",
      args: { ...issue, body: "Not for all", internal: true },
      edit: editLastNote,
    },
  ],
  "gitlab.delete_note": {
    args({
      backend: {
        world,
        site: { issues },
      },
    }) {
      const [first] = issues;
      if (!first) throw new Error("the sandbox starts with an issue");
      return { ...issue, note_id: addNote(world, first, { body: "Me too" }).id };
    },
  },
  "gitlab.create_branch": [
    {
      title: "from the default branch",
      args: { ...site, branch: "feature/x" },
      edit: ({ world, site: project }) => project.branches.set("feature/x", commit(world, project)),
    },
    {
      title: "from another branch",
      args: { ...site, branch: "hotfix", from: "docs" },
      edit: ({ world, site: project }) => project.branches.set("hotfix", commit(world, project)),
    },
  ],
  "gitlab.delete_branch": { args: { ...site, branch: "docs" } },
};

interface State {
  readonly projects: Readonly<
    Record<
      string,
      { readonly labels: readonly string[]; readonly issues: readonly { iid: number; state: string }[] }
    >
  >;
}
type Project = State["projects"][string];

/** The state with each project as `change` makes it. */
const each = (before: State, after: State, change: (was: Project, is: Project) => Partial<Project>) => ({
  ...after,
  projects: Object.fromEntries(
    Object.entries(after.projects).map(([path, is]) => {
      const was = before.projects[path] ?? is;
      return [path, { ...is, ...change(was, is) }];
    }),
  ),
});

/** Those that were published. */
const schemaHashes: Record<string, string> = JSON.parse(
  readFileSync(new URL("../schema-hashes.json", import.meta.url), "utf8"),
);

/** Where the sandbox differs from the published description, as the vendor does. */
const deviations = {
  "GET /api/v4/projects/*: it is not described":
    "the published description leaves the project itself out; the documentation has it",
  "*: answer 429: a body that is not described": "“Retry later”, as text",
  "*: answer 415: the status is not described": "a body of another media type",
};

/** What the certification needs to know about this connector. */
export const subject = {
  connector: ({ address, credential, timeoutMs }) =>
    gitlab({ token: credential, baseUrl: address, timeoutMs }),
  backend: () => sandbox(),
  wire: (backend, { http }) => http(backend, { address: backend.address }),
  credential: token,
  calls,
  schemaHashes,
  residue: {
    "issue-closed": (before: State, after: State) =>
      each(before, after, (was, { issues }) => ({
        issues: issues.filter(
          ({ iid, state }) => state !== "closed" || was.issues.some((i) => i.iid === iid),
        ),
      })),
    "label-created": (before: State, after: State) =>
      each(before, after, (was, { labels }) => ({
        labels: labels.filter((name) => was.labels.includes(name)),
      })),
    notified: "the sandbox sends no mails",
    ci: "the sandbox runs no pipelines",
  },
  contract: (folder, kit) => kit.openApi(`${folder}/gitlab.json`, { deviations }),
  permit({ site: project }, access) {
    project.role = access === "none" ? "none" : "developer";
  },
  strictness: {
    accepts: {
      unknown_query: "GitLab ignores query parameters that it does not know",
      unknown_field: "GitLab ignores fields that it does not know",
    },
  },
} satisfies Subject<GitLabSandbox>;
