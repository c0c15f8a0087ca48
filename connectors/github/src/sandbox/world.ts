import { createHash } from "node:crypto";

export interface Label {
  readonly id: number;
  readonly name: string;
  readonly color: string;
  readonly description: string | null;
}

export interface Issue {
  readonly id: number;
  /** Pull requests share the numbers; none is ever used again. */
  readonly number: number;
  readonly author: string;
  readonly createdAt: string;
  title: string;
  body: string | null;
  state: "open" | "closed";
  stateReason: string | null;
  /** As they are spelt in the repository. */
  labels: string[];
  assignees: string[];
  locked: boolean;
  deleted: boolean;
  updatedAt: string;
  closedAt: string | null;
  /** The branch of a pull request. */
  head?: string;
  /** Where it was transferred to: `/repositories/2/issues/7`. */
  movedTo?: string;
}

export interface Comment {
  readonly id: number;
  readonly issue: number;
  readonly author: string;
  readonly createdAt: string;
  body: string;
  updatedAt: string;
}

export type GitObject = { readonly type: "commit" } | { readonly type: "tag"; readonly sha: string };
export type Access = "none" | "read" | "write";

export interface Repository {
  readonly id: number;
  owner: string;
  name: string;
  defaultBranch: string;
  archived: boolean;
  hasIssues: boolean;
  readonly labels: Label[];
  readonly issues: Issue[];
  readonly comments: Comment[];
  /** `heads/main`, `tags/v1` → the object they point at. */
  readonly refs: Map<string, string>;
  readonly objects: Map<string, GitObject>;
  readonly protectedBranches: Set<string>;
  /** False: it answers 404 to everything, as a private repository does that the token may not see. */
  visible: boolean;
  /** The role of the token's owner; without it labels and assignees of new issues are dropped silently. */
  push: boolean;
  /** What the token itself may do. */
  readonly permissions: { issues: Access; contents: Access };
}

/** Everything the sandbox knows; tests change it as other people would. */
export interface World {
  readonly repositories: Repository[];
  /** Former full names, in lower case → the repository's id. */
  readonly renamed: Map<string, number>;
  readonly users: readonly string[];
  /** How a missing permission is answered: said plainly, or hidden. */
  refusal: 403 | 404;
  /** How GitHub answers the deletion of a reference that is not there: 422 for years, 404 of late. */
  missingReference: 404 | 422;
  rateLimitStatus: 403 | 429;
  /** Requests left in this hour. */
  remaining: number;
  nextId: number;
}

/** Whose token the sandbox knows. */
export const login = "reversi-agent";
export const now = () => `${new Date().toISOString().slice(0, 19)}Z`;

export const sameName = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();
export const findLabel = ({ labels }: Repository, name: string) =>
  labels.find((label) => sameName(label.name, name));

export const createLabel = (world: World, repository: Repository, name: string, color = "ededed"): Label => {
  const label = { id: world.nextId++, name, color, description: null };
  repository.labels.push(label);
  return label;
};

/** Puts labels on an issue; those the repository lacks are made. */
export function putLabels(
  world: World,
  repository: Repository,
  issue: Issue,
  names: readonly string[],
): void {
  for (const wanted of names) {
    const { name } = findLabel(repository, wanted) ?? createLabel(world, repository, wanted);
    if (!issue.labels.includes(name)) issue.labels.push(name);
  }
  issue.updatedAt = now();
}

export function openIssue(
  world: World,
  { issues }: Repository,
  given: Pick<Issue, "title"> & Partial<Pick<Issue, "body" | "assignees" | "author" | "head">>,
): Issue {
  const at = now();
  const issue: Issue = {
    id: world.nextId++,
    number: (issues.at(-1)?.number ?? 0) + 1,
    author: login,
    body: null,
    state: "open",
    stateReason: null,
    labels: [],
    assignees: [],
    locked: false,
    deleted: false,
    createdAt: at,
    updatedAt: at,
    closedAt: null,
    ...given,
  };
  issues.push(issue);
  return issue;
}

export function setState(issue: Issue, state: Issue["state"], reason: string | null): void {
  if (issue.state === state) return;
  issue.state = state;
  issue.stateReason = issue.head === undefined ? reason : null;
  issue.closedAt = state === "closed" ? now() : null;
  issue.updatedAt = now();
}

export function addComment(
  world: World,
  { comments }: Repository,
  { issue, body, author = login }: Pick<Comment, "issue" | "body"> & Partial<Pick<Comment, "author">>,
): Comment {
  const at = now();
  const comment = { id: world.nextId++, issue, body, author, createdAt: at, updatedAt: at };
  comments.push(comment);
  return comment;
}

/** A new commit and its SHA. */
export function commit(world: World, { objects }: Repository): string {
  const sha = createHash("sha1")
    .update(`commit ${world.nextId++}`)
    .digest("hex");
  objects.set(sha, { type: "commit" });
  return sha;
}

/** Removes a branch or tag; a pull request from it is closed, as GitHub does. */
export function removeRef({ refs, issues }: Repository, ref: string): void {
  refs.delete(ref);
  for (const issue of issues) if (ref === `heads/${issue.head}`) setState(issue, "closed", null);
}

/** `acme/site`: a few labels, issue 1, pull request 2, branches `main` and `docs`. */
export function newWorld(): World {
  const world: World = {
    repositories: [],
    renamed: new Map(),
    users: [login, "ada", "grace"],
    refusal: 403,
    missingReference: 422,
    rateLimitStatus: 403,
    remaining: 5000,
    nextId: 3_051_187_003, // beyond 32 bits, as GitHub's ids are
  };
  const site: Repository = {
    id: 1_296_269,
    owner: "acme",
    name: "site",
    defaultBranch: "main",
    archived: false,
    hasIssues: true,
    labels: [],
    issues: [],
    comments: [],
    refs: new Map(),
    objects: new Map(),
    protectedBranches: new Set(),
    visible: true,
    push: true,
    permissions: { issues: "write", contents: "write" },
  };
  world.repositories.push(site);
  createLabel(world, site, "bug", "d73a4a");
  createLabel(world, site, "documentation", "0075ca");
  createLabel(world, site, "good first issue", "7057ff");
  const issue = openIssue(world, site, { title: "Broken link", body: "See /docs", author: "ada" });
  putLabels(world, site, issue, ["bug"]);
  openIssue(world, site, { title: "Write the docs", author: "grace", head: "docs" });
  site.refs.set("heads/main", commit(world, site)).set("heads/docs", commit(world, site));
  return world;
}

/** What a user could see, without ids that GitHub gives out and without times. */
export const visibleState = ({ repositories }: World) => ({
  repositories: Object.fromEntries(
    repositories.map(({ owner, name, labels, issues, comments, refs }) => [
      `${owner}/${name}`,
      {
        labels: labels.map((label) => label.name).sort(),
        issues: issues
          .filter(({ deleted }) => !deleted)
          .map(({ number, title, body, state, stateReason, assignees, author, locked, ...issue }) => ({
            ...{ number, title, body, state, state_reason: stateReason, assignees, author, locked },
            pull_request: issue.head !== undefined,
            labels: [...issue.labels].sort(),
            comments: comments
              .filter((comment) => comment.issue === number)
              .map((comment) => ({ author: comment.author, body: comment.body })),
          })),
        refs: Object.fromEntries([...refs].sort()),
      },
    ]),
  ),
});
