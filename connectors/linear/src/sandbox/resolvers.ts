import { type Failure, failure } from "./errors.ts";
import { commentOf, connectionOf, issueOf, type ListArguments, shownUser, teamOf } from "./objects.ts";
import {
  addComment,
  archiveIssue,
  type Comment,
  type Issue,
  identifierOf,
  newComment,
  newIssue,
  normalized,
  removeComment,
  type Scope,
  type Team,
  type World,
} from "./world.ts";

/** What answers a field of `Query` or `Mutation`. */
export type Resolver = (world: World, args: never) => object;

const notFound = ({ statuses }: World, entity: string): Failure =>
  failure("input", `Entity not found: ${entity}`, `Could not find referenced ${entity}.`, statuses.notFound);
const malformed = ({ statuses }: World, why: string): Failure =>
  failure("input", "Argument Validation Error", why, statuses.invalid);

function need({ scopes }: World, ...oneOf: Scope[]): void {
  if (oneOf.some((scope) => scopes.has(scope))) return;
  throw failure("forbidden", `Invalid scope: \`${oneOf[0]}\` required`);
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const uuid4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

const isVisible = ({ organization }: World, team: Team | undefined) =>
  team?.visible === true && team.organization === organization.id;
const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();

function findTeam(world: World, id: string): Team {
  const team = world.teams.find((candidate) => same(candidate.id, id));
  if (!team || !isVisible(world, team)) throw notFound(world, "Team");
  return team;
}

/** By UUID, by identifier, or by one that it had in another team. */
function findIssue(world: World, name: string): Issue {
  const found = world.issues.find(
    (issue) =>
      same(issue.id, name) ||
      same(identifierOf(world, issue), name) ||
      issue.previousIdentifiers.some((former) => same(former, name)),
  );
  const team = world.teams.find(({ id }) => id === found?.team);
  if (!found || !isVisible(world, team)) throw notFound(world, "Issue");
  return found;
}

function findComment(world: World, id: string): Comment {
  const found = world.comments.find((comment) => same(comment.id, id));
  if (!found) throw notFound(world, "Comment");
  const issue = world.issues.find((candidate) => candidate.id === found.issue);
  const team = world.teams.find((candidate) => candidate.id === issue?.team);
  if (issue && !isVisible(world, team)) throw notFound(world, "Comment");
  return found;
}

/** A new thing's id: the one that the client chose, when nothing has it yet. */
function checkId(world: World, entity: "Issue" | "Comment", id: string | undefined): void {
  if (id === undefined) return;
  if (!uuid4.test(id)) throw malformed(world, "id must be a UUID");
  const taken = [...world.issues, ...world.comments].some((thing) => same(thing.id, id));
  if (!taken) return;
  const status = entity === "Issue" ? world.statuses.issueTaken : world.statuses.commentTaken;
  const shown = `Entity ${entity} with id ${id} already exists.`;
  throw failure("input", `conflict on insert of ${entity}`, shown, status);
}

interface IssueInput {
  readonly id?: string;
  readonly teamId: string;
  readonly title?: string | null;
  readonly description?: string | null;
  readonly priority?: number | null;
  readonly stateId?: string | null;
  readonly assigneeId?: string | null;
  readonly labelIds?: readonly string[] | null;
  readonly projectId?: string | null;
  readonly parentId?: string | null;
  readonly dueDate?: string | null;
}

/** Refuses ids of another form, and those of nothing. */
function checkReferences(world: World, team: Team, input: IssueInput): void {
  const known = (entity: string, field: string, among: readonly { id: string }[], ids: readonly string[]) => {
    for (const id of ids) {
      if (!uuid.test(id)) throw malformed(world, `${field} must be a UUID`);
      if (!among.some((thing) => same(thing.id, id))) throw notFound(world, entity);
    }
  };
  const one = (id: string | null | undefined) => (id ? [id] : []);
  known("WorkflowState", "stateId", team.states, one(input.stateId));
  known("User", "assigneeId", world.users, one(input.assigneeId));
  known("Project", "projectId", world.projects, one(input.projectId));
  known("IssueLabel", "labelIds", world.labels, input.labelIds ?? []);
}

const isDate = (text: string) => {
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().slice(0, 10) === text;
};

function issueFrom(
  world: World,
  input: IssueInput,
): { readonly team: Team; readonly given: Partial<Issue> & { title: string } } {
  if (!uuid.test(input.teamId)) throw malformed(world, "teamId must be a UUID");
  const team = findTeam(world, input.teamId);
  checkReferences(world, team, input);
  const { id, title, description, priority, dueDate } = input;
  checkId(world, "Issue", id);
  if (!title) throw malformed(world, "title should not be empty");
  if (priority && (priority < 0 || priority > 4)) throw malformed(world, "priority must be between 0 and 4");
  if (dueDate && !isDate(dueDate)) throw malformed(world, "dueDate must be a date");
  const given = {
    ...(id !== undefined && { id }),
    title,
    description: description ? normalized(description) : null,
    priority: priority ?? 0,
    ...(input.stateId && { state: input.stateId }),
    assignee: input.assigneeId ?? null,
    labels: [...(input.labelIds ?? [])],
    project: input.projectId ?? null,
    parent: input.parentId ? findIssue(world, input.parentId).id : null,
    dueDate: dueDate ?? null,
  };
  return { team, given };
}

interface CommentInput {
  readonly id?: string;
  readonly issueId?: string;
  readonly body?: string;
  readonly parentId?: string | null;
}
function commentFrom(world: World, { id, issueId, body, parentId }: CommentInput): Comment {
  if (issueId === undefined) throw malformed(world, "one of issueId, projectUpdateId … is required");
  if (!body?.trim()) throw malformed(world, "body should not be empty");
  const issue = open(world, findIssue(world, issueId), "Issue");
  const parent = parentId ? findComment(world, parentId) : undefined;
  if (parent && (parent.parent !== null || parent.issue !== issue.id)) throw notFound(world, "Comment");
  checkId(world, "Comment", id);
  return newComment(world, {
    ...(id !== undefined && { id }),
    issue: issue.id,
    body: normalized(body),
    parent: parent?.id ?? null,
  });
}

/** The issue, when what belongs to it may be changed. */
function open(world: World, issue: Issue, entity: "Issue" | "Comment"): Issue {
  if (world.archivedIsClosed && (issue.archivedAt !== null || issue.trashed)) throw notFound(world, entity);
  return issue;
}

/** Acts, unless mutations only say that they do; and what every payload holds. */
function act(world: World, action: () => void): { readonly success: boolean; readonly lastSyncId: number } {
  if (world.mutations === "act") action();
  return { success: world.mutations !== "fail", lastSyncId: ++world.lastSyncId };
}

interface ById {
  readonly id: string;
}

export const resolvers: Readonly<Record<"Query" | "Mutation", Readonly<Record<string, Resolver>>>> = {
  Query: {
    viewer(world) {
      const [me] = world.users;
      need(world, "read");
      return shownUser(me ?? { id: "", name: "" }, me);
    },
    organization(world) {
      need(world, "read");
      return world.organization;
    },
    team(world, { id }: ById) {
      need(world, "read");
      return teamOf(findTeam(world, id));
    },
    issue(world, { id }: ById) {
      need(world, "read");
      return issueOf(world, findIssue(world, id));
    },
    comment(world, { id = "" }: Partial<ById>) {
      need(world, "read");
      return commentOf(world, findComment(world, id));
    },
    comments(world, args: ListArguments) {
      need(world, "read");
      return connectionOf(world, args, ({ issue }) => {
        const found = world.issues.find(({ id }) => id === issue);
        return (
          !found ||
          isVisible(
            world,
            world.teams.find(({ id }) => id === found.team),
          )
        );
      });
    },
  },
  Mutation: {
    issueCreate(world, { input }: { readonly input: IssueInput }) {
      need(world, "write", "issues:create");
      const { team, given } = issueFrom(world, input);
      const issue = newIssue(world, team, given);
      const payload = act(world, () => world.issues.push(issue));
      return { ...payload, issue: payload.success ? issueOf(world, issue) : null };
    },
    issueArchive(world, { id, trash }: ById & { readonly trash?: boolean }) {
      need(world, "write");
      const issue = findIssue(world, id);
      if (issue.trashed) open(world, issue, "Issue");
      const payload = act(world, () => archiveIssue(issue, { trash: trash === true }));
      return { ...payload, entity: issueOf(world, issue) };
    },
    issueUnarchive(world, { id }: ById) {
      need(world, "write");
      const issue = findIssue(world, id);
      const payload = act(world, () => Object.assign(issue, { archivedAt: null, trashed: false }));
      return { ...payload, entity: issueOf(world, issue) };
    },
    commentCreate(world, { input }: { readonly input: CommentInput }) {
      need(world, "write", "comments:create");
      const comment = commentFrom(world, input);
      return { ...act(world, () => addComment(world, comment)), comment: commentOf(world, comment) };
    },
    commentDelete(world, { id }: ById) {
      need(world, "write");
      const comment = findComment(world, id);
      const issue = world.issues.find((candidate) => candidate.id === comment.issue);
      if (issue) open(world, issue, "Comment");
      return { ...act(world, () => removeComment(world, comment)), entityId: comment.id };
    },
  },
};
