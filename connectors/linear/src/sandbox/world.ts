import { randomUUID } from "node:crypto";

export interface Organization {
  readonly id: string;
  readonly name: string;
  readonly urlKey: string;
}
export interface User {
  readonly id: string;
  readonly name: string;
}
export interface State {
  readonly id: string;
  readonly name: string;
  readonly type: string;
}
/** A label or a project. */
export interface Named {
  readonly id: string;
  readonly name: string;
}
export interface Team {
  readonly id: string;
  readonly organization: string;
  readonly key: string;
  readonly name: string;
  readonly states: readonly State[];
  /** False: a private team that the key's owner is no member of. */
  visible: boolean;
  /** Of its newest issue; no number is ever used again. */
  lastNumber: number;
}
export interface Issue {
  readonly id: string;
  readonly creator: string;
  readonly createdAt: string;
  team: string;
  number: number;
  previousIdentifiers: string[];
  title: string;
  description: string | null;
  priority: number;
  state: string;
  assignee: string | null;
  labels: string[];
  project: string | null;
  parent: string | null;
  dueDate: string | null;
  updatedAt: string;
  archivedAt: string | null;
  trashed: boolean;
}
export interface Comment {
  readonly id: string;
  /** Null below a project update or the like. */
  readonly issue: string | null;
  readonly author: string;
  readonly parent: string | null;
  readonly createdAt: string;
  body: string;
  editedAt: string | null;
  updatedAt: string;
}
export type Scope = "read" | "write" | "issues:create" | "comments:create";

/** Everything the sandbox knows; tests change it as other people would. */
export interface World {
  /** The workspace that the key belongs to. */
  organization: Organization;
  readonly teams: Team[];
  readonly users: readonly User[];
  readonly labels: readonly Named[];
  readonly projects: readonly Named[];
  readonly issues: Issue[];
  readonly comments: Comment[];
  /** What the key, or the token, may do. */
  readonly scopes: Set<Scope>;
  /** With which status Linear answers what it refuses in GraphQL's way; it does either. */
  readonly statuses: {
    notFound: 200 | 400;
    issueTaken: 200 | 400;
    commentTaken: 200 | 400;
    invalid: 200 | 400;
  };
  rateLimitStatus: 400 | 429;
  /** Requests left in this hour. */
  remaining: number;
  /** What mutations do: their work, or nothing while they answer `success: false`, or `true`. */
  mutations: "act" | "fail" | "pretend";
  /** True: "not found" to whoever changes what belongs to an archived issue, readable as it is. */
  archivedIsClosed: boolean;
  lastSyncId: number;
}

const now = () => new Date().toISOString();

export const identifierOf = ({ teams }: World, { team, number }: Issue): string =>
  `${teams.find(({ id }) => id === team)?.key}-${number}`;

/** What the editor makes of Markdown: line ends and blanks at the end do not survive. */
export const normalized = (text: string) => text.replace(/\r\n?/g, "\n").trimEnd();

export function newIssue(
  world: World,
  team: Team,
  given: Pick<Issue, "title"> & Partial<Omit<Issue, "team" | "number">>,
): Issue {
  const at = now();
  return {
    id: randomUUID(),
    creator: world.users[0]?.id ?? "",
    team: team.id,
    number: ++team.lastNumber,
    previousIdentifiers: [],
    description: null,
    priority: 0,
    state: team.states[0]?.id ?? "",
    assignee: null,
    labels: [],
    project: null,
    parent: null,
    dueDate: null,
    archivedAt: null,
    trashed: false,
    createdAt: at,
    updatedAt: at,
    ...given,
  };
}

export function openIssue(world: World, given: Parameters<typeof newIssue>[2], [team] = world.teams): Issue {
  if (!team) throw new Error("an issue needs a team");
  const issue = newIssue(world, team, given);
  world.issues.push(issue);
  return issue;
}

export const newComment = (
  world: World,
  given: Pick<Comment, "issue" | "body"> & Partial<Comment>,
): Comment => {
  const at = now();
  return {
    id: randomUUID(),
    author: world.users[0]?.id ?? "",
    parent: null,
    createdAt: at,
    updatedAt: at,
    editedAt: null,
    ...given,
  };
};

export function addComment(world: World, given: Parameters<typeof newComment>[1]): Comment {
  const comment = newComment(world, given);
  world.comments.push(comment);
  return comment;
}

/** As its author would. */
export function editComment(comment: Comment, body: string): void {
  comment.body = body;
  comment.editedAt = now();
  comment.updatedAt = now();
}

/** Removes a comment, and the replies to it. */
export function removeComment({ comments }: World, { id }: Comment): void {
  const kept = comments.filter((comment) => comment.id !== id && comment.parent !== id);
  comments.splice(0, comments.length, ...kept);
}

export function archiveIssue(issue: Issue, { trash = false } = {}): void {
  issue.archivedAt ??= now();
  issue.trashed ||= trash;
  issue.updatedAt = now();
}

/** Deletes an issue for good, as the trash does after 30 days. */
export function eraseIssue({ issues, comments }: World, { id }: Issue): void {
  issues.splice(0, issues.length, ...issues.filter((issue) => issue.id !== id));
  comments.splice(0, comments.length, ...comments.filter((comment) => comment.issue !== id));
}

export function moveIssue(world: World, issue: Issue, team: Team): void {
  issue.previousIdentifiers.push(identifierOf(world, issue));
  issue.team = team.id;
  issue.number = ++team.lastNumber;
}

const id = (text: string) => `${text.padStart(8, "0")}-0000-4000-8000-000000000000`;
const statesFrom = (first: number): State[] =>
  [
    ["Backlog", "backlog"],
    ["In Progress", "started"],
    ["Done", "completed"],
  ].map(([name = "", type = ""], index) => ({ id: id(`${first + index}`), name, type }));

/** The workspace `acme`: team `ENG` with issues ENG-1 and ENG-2, and team `OPS`. */
export function newWorld(): World {
  const organization = { id: id("acce"), name: "Acme", urlKey: "acme" };
  const team = { organization: organization.id, visible: true, lastNumber: 0 };
  const world: World = {
    organization,
    teams: [
      { ...team, id: id("10"), key: "ENG", name: "Engineering", states: statesFrom(11) },
      { ...team, id: id("20"), key: "OPS", name: "Operations", states: statesFrom(21) },
    ],
    users: ["agent", "ada", "grace"].map((name, index) => ({ id: id(`3${index}`), name })),
    labels: ["Bug", "Improvement"].map((name, index) => ({ id: id(`4${index}`), name })),
    projects: [{ id: id("50"), name: "Launch" }],
    issues: [],
    comments: [],
    scopes: new Set(["read", "write"]),
    statuses: { notFound: 200, issueTaken: 400, commentTaken: 200, invalid: 400 },
    rateLimitStatus: 400,
    remaining: 5000,
    mutations: "act",
    archivedIsClosed: false,
    lastSyncId: 4_123_456,
  };
  const [, ada, grace] = world.users;
  openIssue(world, {
    title: "Broken link",
    description: "See /docs",
    creator: ada?.id ?? "",
    assignee: ada?.id ?? null,
  });
  openIssue(world, { title: "Write the docs", creator: grace?.id ?? "" });
  return world;
}
