import { readFileSync } from "node:fs";
import type { Plan, Subject } from "@reversi-connector/certification-kit";
import { github } from "./index.ts";
import { token } from "./sandbox/wire.ts";
import { addComment, commit, type GitHubSandbox, sandbox } from "./sandbox.ts";

const site = { owner: "acme", repo: "site" };
const issue = { ...site, issue_number: 1 };

type Calls = Readonly<Record<string, Plan<GitHubSandbox> | readonly Plan<GitHubSandbox>[]>>;

/** Good calls on `acme/site`: issue 1 has the label `bug`, number 2 is a pull request from the branch `docs`. */
const calls: Calls = {
  "github.get_issue": { args: issue },
  "github.create_issue": [
    { title: "an issue", args: { ...site, title: "Typo", body: "On the first page" } },
    {
      title: "an issue with labels, one of them new, and assignees",
      args: { ...site, title: "Typo", labels: ["bug", "typo"], assignees: ["ada"] },
    },
  ],
  "github.close_issue": { args: issue, refused: { ...site, issue_number: 2 } },
  "github.add_comment": {
    args: { ...issue, body: "Looking into it" },
    edit({ site: { comments } }, { result }) {
      const comment = comments.find(({ id }) => id === result.comment_id);
      if (comment) comment.body = "Looking into it. Edit: fixed!";
    },
  },
  "github.delete_comment": {
    args: ({ backend: { world, site: repository } }) => ({
      ...site,
      comment_id: addComment(world, repository, { issue: 1, body: "Me too", author: "ada" }).id,
    }),
  },
  "github.add_labels": [
    { title: "a label", args: { ...issue, labels: ["documentation"] } },
    {
      title: "a label that is there already, and one that is not",
      args: { ...issue, labels: ["BUG", "documentation"] },
    },
    { title: "a label that the repository lacks", args: { ...issue, labels: ["needs triage"] } },
  ],
  "github.remove_labels": { args: { ...issue, labels: ["bug"] } },
  "github.create_branch": [
    {
      title: "from the default branch",
      args: { ...site, branch: "feature/x" },
      edit: ({ world, site: repository }) =>
        repository.refs.set("heads/feature/x", commit(world, repository)),
    },
    { title: "from another branch", args: { ...site, branch: "hotfix", from: "docs" } },
  ],
  "github.delete_branch": { args: { ...site, branch: "docs" } },
};

interface State {
  readonly repositories: Readonly<
    Record<
      string,
      { readonly labels: readonly string[]; readonly issues: readonly { number: number; state: string }[] }
    >
  >;
}
type Repository = State["repositories"][string];

/** The state with each repository as `change` makes it. */
const each = (
  before: State,
  after: State,
  change: (was: Repository, is: Repository) => Partial<Repository>,
) => ({
  ...after,
  repositories: Object.fromEntries(
    Object.entries(after.repositories).map(([name, is]) => {
      const was = before.repositories[name] ?? is;
      return [name, { ...is, ...change(was, is) }];
    }),
  ),
});

const schemaHashes: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL("../schema-hashes.json", import.meta.url), "utf8"),
);

/** Where the sandbox differs from the published description, as the vendor does. */
const deviations = {
  "*: answer 401: the status is not described":
    "GitHub answers so to every request without a valid token; the description says it nowhere",
  "*: answer 403: the status is not described":
    "GitHub answers so to every request that the token has no right to; the description says it of a few",
  "*: answer 404: the status is not described":
    "what a token may not see is not found; the description leaves it out where only a token's rights decide",
  "*: answer 400: the status is not described": "a body that is no JSON: “Problems parsing JSON”",
  "*: answer 415: the status is not described": "a body of another media type",
  "*: answer 422: status is not described":
    "GitHub repeats the status in the body of its errors since 2024; the schema of validation errors has not followed",
  "DELETE /repos/{owner}/{repo}/git/refs/{ref}: answer 422: a body that is not described":
    "“Reference does not exist” is the only sign that a ref is gone",
};

/** What the certification needs to know about this connector. */
export const subject = {
  connector: ({ address, credential, timeoutMs }) =>
    github({ token: credential, baseUrl: address, timeoutMs }),
  backend: () => sandbox(),
  wire: (backend, { http }) => http(backend, { address: backend.address }),
  credential: token,
  calls,
  contract: (folder, kit) => kit.openApi(`${folder}/github.json`, { deviations }),
  schemaHashes,
  residue: {
    "issue-closed": (before: State, after: State) =>
      each(before, after, (was, { issues }) => ({
        issues: issues.filter(
          ({ number, state }) => state !== "closed" || was.issues.some((issue) => issue.number === number),
        ),
      })),
    "label-created": (before: State, after: State) =>
      each(before, after, (was, { labels }) => ({
        labels: labels.filter((name) => was.labels.includes(name)),
      })),
    notified: "the sandbox sends no notifications",
    ci: "the sandbox runs no workflows",
  },
  permit({ site: repository }, access) {
    repository.visible = access !== "none";
  },
  strictness: {
    headers: ["user-agent"],
    accepts: { unknown_query: "GitHub ignores query parameters that it does not know" },
  },
} satisfies Subject<GitHubSandbox>;
