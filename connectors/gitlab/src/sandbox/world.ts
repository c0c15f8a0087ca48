import { createHash } from "node:crypto";

/** Microseconds since 1970, as GitLab keeps them. */
export type Time = number;

export interface Note {
  /** One for all of GitLab. */
  readonly id: number;
  readonly author: string;
  readonly internal: boolean;
  readonly createdAt: Time;
  body: string;
  updatedAt: Time;
}

export interface Issue {
  /** One for all of GitLab. */
  readonly id: number;
  /** The number in the project. */
  readonly iid: number;
  readonly author: string;
  readonly createdAt: Time;
  readonly notes: Note[];
  title: string;
  description: string | null;
  state: "opened" | "closed";
  labels: string[];
  confidential: boolean;
  locked: boolean;
  updatedAt: Time;
  closedAt: Time | null;
  /** The id of the issue it was moved to; it is closed then. */
  movedToId: number | null;
}

export interface Commit {
  readonly title: string;
  readonly authoredAt: Time;
}

/** Roles, and the number that the API shows for each. */
export const roles = { none: 0, guest: 10, planner: 15, reporter: 20, developer: 30, maintainer: 40 };
export type Role = keyof typeof roles;

export interface Project {
  readonly id: number;
  /** Groups and name: `acme/tools/site`. */
  path: string;
  defaultBranch: string;
  issuesEnabled: boolean;
  readonly labels: string[];
  readonly issues: Issue[];
  /** Name → SHA. */
  readonly branches: Map<string, string>;
  readonly tags: Map<string, string>;
  readonly commits: Map<string, Commit>;
  readonly protectedBranches: Set<string>;
  /** Of whoever owns the token; the project is private. */
  role: Role;
}

/** Everything the sandbox knows; tests change it as other people would. */
export interface World {
  readonly projects: Project[];
  /** Former path, in lower case → the project's id. */
  readonly moved: Map<string, number>;
  /** What the token was made for. */
  scope: "api" | "read_api";
  /** Requests left in this minute. */
  remaining: number;
  /** Notes left in this minute: a limit of the application itself, without headers. */
  remainingNotes: number;
  /** How GitLab words a note that is gone: as its code does, or as it words one that is hidden. */
  missingNote: "404 Not found" | "404 Note Not Found";
  nextId: number;
}

/** Whose token the sandbox knows. */
export const login = "reversi-agent";

let last: Time = 0;
/** Now; no two changes fall into one millisecond, and none falls on a whole one. */
export const now = (): Time => {
  last = Math.max(last + 1000, Date.now() * 1000 + 456);
  return last;
};

export function openIssue(
  world: World,
  project: Project,
  given: Pick<Issue, "title"> & Partial<Pick<Issue, "description" | "author" | "confidential" | "iid">>,
): Issue {
  const at = now();
  const issue: Issue = {
    id: world.nextId++,
    iid: Math.max(0, ...project.issues.map(({ iid }) => iid)) + 1,
    author: login,
    notes: [],
    description: null,
    state: "opened",
    labels: [],
    confidential: false,
    locked: false,
    createdAt: at,
    updatedAt: at,
    closedAt: null,
    movedToId: null,
    ...given,
  };
  project.issues.push(issue);
  return issue;
}

export function setState(issue: Issue, state: Issue["state"]): void {
  if (issue.state === state) return;
  issue.state = state;
  issue.updatedAt = now();
  issue.closedAt = state === "closed" ? issue.updatedAt : null;
}

/** Puts labels on an issue; those the project lacks are made. */
export function putLabels({ labels }: Project, issue: Issue, names: readonly string[]): void {
  for (const name of names) {
    if (!labels.includes(name)) labels.push(name);
    if (!issue.labels.includes(name)) issue.labels.push(name);
  }
}

export function addNote(
  world: World,
  issue: Issue,
  { body, author = login, internal = false }: Pick<Note, "body"> & Partial<Pick<Note, "author" | "internal">>,
): Note {
  const at = now();
  const note = { id: world.nextId++, author, internal, body, createdAt: at, updatedAt: at };
  issue.notes.push(note);
  return note;
}

export function editNote(note: Note, body: string): void {
  note.body = body;
  note.updatedAt = now();
}

/** A new commit and its SHA; git keeps whole seconds. */
export function commit(world: World, { commits }: Project, title = "Change something"): string {
  const sha = createHash("sha1")
    .update(`commit ${world.nextId++}`)
    .digest("hex");
  commits.set(sha, { title, authoredAt: Math.floor(now() / 1e6) * 1e6 });
  return sha;
}

/** `acme/tools/site`: two labels, issues 1 and 2, branches `main` and `docs`. */
export function newWorld(): World {
  const world: World = {
    projects: [],
    moved: new Map(),
    scope: "api",
    remaining: 2000,
    remainingNotes: 60,
    missingNote: "404 Not found",
    nextId: 3_840_512_007, // beyond 32 bits, as GitLab's ids are
  };
  const site: Project = {
    id: 45_670_123,
    path: "acme/tools/site",
    defaultBranch: "main",
    issuesEnabled: true,
    labels: ["bug", "documentation"],
    issues: [],
    branches: new Map(),
    tags: new Map(),
    commits: new Map(),
    protectedBranches: new Set(["main"]),
    role: "developer",
  };
  world.projects.push(site);
  const issue = openIssue(world, site, {
    title: "Broken link",
    description: "See the docs",
    author: "ada",
  });
  putLabels(site, issue, ["bug"]);
  openIssue(world, site, { title: "Write the docs", author: "grace" });
  site.branches.set("main", commit(world, site)).set("docs", commit(world, site, "Add docs"));
  return world;
}

/** What a user could see, without ids that GitLab gives out and without times. */
export const visibleState = ({ projects }: World) => ({
  projects: Object.fromEntries(
    projects.map(({ path, labels, issues, branches, tags }) => [
      path,
      {
        labels: [...labels].sort(),
        issues: issues.map(({ iid, title, description, state, author, confidential, locked, ...issue }) => ({
          ...{ iid, title, description, state, author, confidential, locked },
          labels: [...issue.labels].sort(),
          notes: issue.notes.map(({ author, body, internal }) => ({ author, body, internal })),
        })),
        branches: Object.fromEntries([...branches].sort()),
        tags: Object.fromEntries([...tags].sort()),
      },
    ]),
  ),
});
