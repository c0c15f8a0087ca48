import { failure } from "./errors.ts";
import { type Comment, type Issue, identifierOf, type Team, type User, type World } from "./world.ts";

/** Objects as the schema shows them; a function is a field with arguments, or one that leads on. */

const userOf = ({ users }: World, id: string | null) => {
  const user = users.find((candidate) => candidate.id === id);
  return user ? shownUser(user, users[0]) : null;
};
const began = "2026-01-05T09:00:00.000Z";
export const shownUser = ({ id, name }: User, me: User | undefined) => ({
  id,
  name,
  displayName: name,
  email: `${name}@acme.example`,
  url: `https://linear.app/acme/profiles/${name}`,
  isMe: id === me?.id,
  ...{ active: true, isAssignable: true, isMentionable: true, canAccessAnyPublicTeam: true },
  ...{ guest: false, admin: false, owner: false, app: false, supportsAgentSessions: false },
  ...{ createdIssueCount: 0, avatarBackgroundColor: "#5e6ad2", initials: name.slice(0, 1).toUpperCase() },
  ...{ createdAt: began, updatedAt: began, inviteHash: id.slice(0, 8) },
});

export const teamOf = ({ id, key, name }: Team) => ({ id, key, name, archivedAt: null });

const slug = (title: string) =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
const urlOf = (world: World, issue: Issue) =>
  `https://linear.app/${world.organization.urlKey}/issue/${identifierOf(world, issue)}/${slug(issue.title)}`;

const priorities = ["No priority", "Urgent", "High", "Medium", "Low"];
const byId = (id: string | null) => (id === null ? null : { id });
/** What an issue shows besides. */
const plain = ({ priority, labels, title, dueDate, parent, project }: Issue) => ({
  ...{ dueDate, labelIds: labels, parent: byId(parent), project: byId(project) },
  priorityLabel: priorities[priority],
  branchName: slug(title),
  ...{ boardOrder: 0, sortOrder: 0, prioritySortOrder: 0, customerTicketCount: 0 },
  ...{ reactions: [], reactionData: [], inheritsSharedAccess: false },
  sharedAccess: {
    ...{ isShared: false, sharedWithCount: 0, sharedWithUsers: [] },
    ...{ viewerHasOnlySharedAccess: false, disallowedIssueFields: [] },
  },
});

export function issueOf(world: World, issue: Issue): Readonly<Record<string, unknown>> {
  const team = world.teams.find(({ id }) => id === issue.team);
  if (!team) throw new Error("an issue without its team");
  const states = world.teams.flatMap(({ states: all }) => all);
  const position = team.states.findIndex(({ id }) => id === issue.state);
  const { id, title, description, priority, number, previousIdentifiers } = issue;
  return {
    ...{ id, title, description, priority, number, previousIdentifiers },
    identifier: identifierOf(world, issue),
    url: urlOf(world, issue),
    state: { ...states.find((state) => state.id === issue.state), position },
    team: teamOf(team),
    assignee: userOf(world, issue.assignee),
    creator: userOf(world, issue.creator),
    // Linear writes null for an issue that is not in the trash.
    trashed: issue.trashed || null,
    archivedAt: issue.archivedAt,
    createdAt: issue.createdAt,
    updatedAt: issue.updatedAt,
    comments: (args: ListArguments) => connectionOf(world, args, (comment) => comment.issue === id),
    ...plain(issue),
  };
}

export function commentOf(world: World, comment: Comment): Readonly<Record<string, unknown>> {
  const issue = world.issues.find(({ id }) => id === comment.issue);
  const { id, body, createdAt, updatedAt, editedAt } = comment;
  const page = issue ? urlOf(world, issue) : `https://linear.app/${world.organization.urlKey}/updates`;
  return {
    ...{ id, body, createdAt, updatedAt, editedAt },
    archivedAt: null,
    issue: issue ? () => issueOf(world, issue) : null,
    issueId: comment.issue,
    parentId: comment.parent,
    parent: byId(comment.parent),
    ...{ reactions: [], reactionData: [] },
    url: `${page}#comment-${id.slice(0, 8)}`,
    user: userOf(world, comment.author),
  };
}

/** Whether a comparator lets an id pass. */
const fits = (id: string | null, { eq, in: among }: Comparator = {}) =>
  (eq === undefined || eq === id) && (among === undefined || among.includes(id ?? ""));

interface Comparator {
  readonly eq?: string;
  readonly in?: readonly string[];
}
export interface ListArguments {
  readonly first?: number;
  readonly after?: string | null;
  readonly last?: number | null;
  readonly before?: string | null;
  readonly filter?: { readonly id?: Comparator; readonly issue?: { readonly id?: Comparator } };
}

/** One page of comments, newest first. */
export function connectionOf(world: World, args: ListArguments, among: (comment: Comment) => boolean) {
  const { first = 50, after = null, last = null, before = null, filter = {} } = args;
  if (last !== null || before !== null) {
    const why = "the sandbox pages forwards only";
    throw failure("input", "Argument Validation Error", why, world.statuses.invalid);
  }
  if (first < 1 || first > 250) {
    throw failure(
      "input",
      "Argument Validation Error",
      "first must be between 1 and 250",
      world.statuses.invalid,
    );
  }
  const all = world.comments
    .filter(
      (comment) => among(comment) && fits(comment.id, filter.id) && fits(comment.issue, filter.issue?.id),
    )
    .reverse();
  const start = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1;
  if (after !== null && start === 0) {
    throw failure(
      "input",
      "Argument Validation Error",
      "after is no cursor of this list",
      world.statuses.invalid,
    );
  }
  const nodes = all.slice(start, start + first);
  return {
    nodes: nodes.map((comment) => commentOf(world, comment)),
    pageInfo: {
      hasNextPage: start + nodes.length < all.length,
      hasPreviousPage: start > 0,
      startCursor: nodes[0]?.id ?? null,
      endCursor: nodes.at(-1)?.id ?? null,
    },
  };
}
