import type { Document } from "../adf.ts";
import {
  type Account,
  ada,
  type ChangedField,
  type Project,
  type StoredComment,
  type StoredIssue,
  type StoredTransition,
  statuses,
  type World,
} from "./world.ts";

const nextId = (world: World): string => String(++world.ids);
/** A moment that was never used before, as Jira writes it. */
function nextTime(world: World): string {
  world.clock = Math.max(world.clock + 1, Date.now());
  return new Date(world.clock).toISOString().replace("Z", "+0000");
}

type NewIssue = Pick<StoredIssue, "project" | "type" | "summary"> & Partial<StoredIssue>;

/** Makes an issue, as anybody. */
export function addIssue(world: World, given: NewIssue): StoredIssue {
  const now = nextTime(world);
  const issue: StoredIssue = {
    id: nextId(world),
    key: `${given.project.key}-${++given.project.lastNumber}`,
    parent: undefined,
    creator: ada,
    properties: new Map(),
    description: null,
    status: statuses.toDo,
    resolution: null,
    assignee: null,
    labels: [],
    ...{ comments: [], worklogs: [], attachments: [], history: [] },
    ...{ created: now, updated: now },
    indexed: !world.searchLags,
    ...given,
  };
  world.issues.push(issue);
  return issue;
}

type NewComment = Pick<StoredComment, "author" | "body"> & Partial<StoredComment>;

/** Comments, as anybody. */
export function addComment(world: World, issue: StoredIssue, given: NewComment): StoredComment {
  const now = nextTime(world);
  const times = { created: now, updated: now };
  const comment: StoredComment = {
    ...{ id: nextId(world), updateAuthor: given.author, internal: false, properties: new Map() },
    ...times,
    ...given,
  };
  issue.comments.push(comment);
  issue.updated = now;
  return comment;
}

/** Edits a comment, as anybody. */
export function editComment(world: World, comment: StoredComment, author: Account, body: Document): void {
  Object.assign(comment, { body, updateAuthor: author, updated: nextTime(world) });
}

/** Changes fields of an issue, as anybody, with an entry in its history. */
export function changeIssue(
  world: World,
  issue: StoredIssue,
  author: Account,
  items: readonly ChangedField[],
  change: Partial<StoredIssue>,
): void {
  const now = nextTime(world);
  issue.history.push({ id: nextId(world), author, created: now, items });
  Object.assign(issue, change, { updated: now });
}

/** Moves an issue through the workflow, as anybody. */
export function moveIssue(
  world: World,
  issue: StoredIssue,
  author: Account,
  { to, resolution }: Pick<StoredTransition, "to" | "resolution">,
): void {
  const { status: from, resolution: before } = issue;
  const moved = { from: from.id, fromText: from.name, to: to.id, toText: to.name };
  const resolved = { from: before, fromText: before, to: resolution ?? null, toText: resolution ?? null };
  const items: ChangedField[] = [
    ...(from.id === to.id ? [] : [{ field: "status", ...moved }]),
    ...(resolution === undefined || resolution === before ? [] : [{ field: "resolution", ...resolved }]),
  ];
  const change = { status: to, ...(resolution !== undefined && { resolution }) };
  if (items.length > 0) changeIssue(world, issue, author, items, change);
}

/** Changes an issue's summary, as anybody. */
export const rename = (world: World, issue: StoredIssue, author: Account, summary: string) =>
  changeIssue(
    ...([world, issue, author] as const),
    [{ field: "summary", from: null, fromText: issue.summary, to: null, toText: summary }],
    { summary },
  );

/** Moves an issue to another project: its key changes, and the old one still leads to it. */
export function moveToProject(world: World, issue: StoredIssue, author: Account, project: Project): void {
  const key = `${project.key}-${++project.lastNumber}`;
  world.oldKeys.set(issue.key, issue);
  const item = { field: "Key", from: null, fromText: issue.key, to: null, toText: key };
  changeIssue(world, issue, author, [item], { key, project });
}

export const removeIssue = ({ issues }: World, issue: StoredIssue) =>
  void issues.splice(issues.indexOf(issue), 1);
export const removeComment = ({ comments }: StoredIssue, comment: StoredComment) =>
  void comments.splice(comments.indexOf(comment), 1);

export const subtasksOf = ({ issues }: World, issue: StoredIssue) =>
  issues.filter(({ parent }) => parent === issue);

/** Lets the search know all that is there. */
export const index = ({ issues }: World) => {
  for (const issue of issues) issue.indexed = true;
};
