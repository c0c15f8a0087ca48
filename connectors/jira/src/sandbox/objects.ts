import type { SandboxRequest } from "@reversi-connector/http/sandbox";
import { subtasksOf } from "./people.ts";
import type {
  Account,
  IssueType,
  Project,
  StoredChange,
  StoredComment,
  StoredIssue,
  StoredStatus,
  World,
} from "./world.ts";

/** The root of all addresses, as the sandbox was called. */
export const siteOf = ({ headers }: SandboxRequest) => `http://${headers["host"]}`;

export const userOf = (site: string, { accountId, accountType, displayName }: Account) => ({
  self: `${site}/rest/api/3/user?accountId=${accountId}`,
  ...{ accountId, accountType, displayName },
  ...{ active: true, timeZone: "Europe/Zurich" },
});

const categories = {
  new: { id: 2, key: "new", colorName: "blue-gray", name: "To Do" },
  indeterminate: { id: 4, key: "indeterminate", colorName: "yellow", name: "In Progress" },
  done: { id: 3, key: "done", colorName: "green", name: "Done" },
};
export const statusOf = (site: string, { id, name, category }: StoredStatus) => ({
  self: `${site}/rest/api/3/status/${id}`,
  ...{ id, name, description: "", iconUrl: `${site}/` },
  statusCategory: {
    self: `${site}/rest/api/3/statuscategory/${categories[category].id}`,
    ...categories[category],
  },
});

const typeOf = (site: string, { id, name, hierarchyLevel }: IssueType) => ({
  self: `${site}/rest/api/3/issuetype/${id}`,
  ...{ id, name, hierarchyLevel, description: "", subtask: hierarchyLevel < 0 },
});
const projectOf = (site: string, { id, key, isService }: Project) => ({
  self: `${site}/rest/api/3/project/${id}`,
  ...{ id, key, name: key, simplified: false, projectTypeKey: isService ? "service_desk" : "software" },
});

export const nameOf = (site: string, { id, key }: StoredIssue) => ({
  ...{ id, key, self: `${site}/rest/api/3/issue/${id}` },
});
const linkedOf = (site: string, issue: StoredIssue) => ({
  ...nameOf(site, issue),
  fields: {
    summary: issue.summary,
    status: statusOf(site, issue.status),
    issuetype: typeOf(site, issue.type),
  },
});

export const commentOf = (site: string, { id: issue, project }: StoredIssue, comment: StoredComment) => ({
  self: `${site}/rest/api/3/issue/${issue}/comment/${comment.id}`,
  id: comment.id,
  author: userOf(site, comment.author),
  body: comment.body,
  updateAuthor: userOf(site, comment.updateAuthor),
  created: comment.created,
  updated: comment.updated,
  jsdPublic: !(project.isService && comment.internal),
});

/** One page of a list, and where it stands in it. */
export const pageOf = <Item>(items: readonly Item[], startAt: number, maxResults: number) => ({
  page: items.slice(startAt, startAt + maxResults),
  place: { startAt, maxResults, total: items.length },
});

/** How many comments and worklogs Jira shows inside an issue. */
const shownInside = { comments: 100, worklogs: 20 };

type Field = (world: World, site: string, issue: StoredIssue) => unknown;
/** Field → its value in an issue. */
const values: Readonly<Record<string, Field>> = {
  summary: (_, __, { summary }) => summary,
  status: (_, site, { status }) => statusOf(site, status),
  description: (_, __, { description }) => description,
  issuetype: (_, site, { type }) => typeOf(site, type),
  project: (_, site, { project }) => projectOf(site, project),
  assignee: (_, site, { assignee }) => assignee && userOf(site, assignee),
  creator: (_, site, { creator }) => userOf(site, creator),
  labels: (_, __, { labels }) => labels,
  resolution: (_, site, { resolution }) =>
    resolution && { self: `${site}/rest/api/3/resolution/10000`, id: "10000", name: resolution },
  parent: (_, site, { parent }) => parent && linkedOf(site, parent),
  subtasks: (world, site, issue) => subtasksOf(world, issue).map((subtask) => linkedOf(site, subtask)),
  created: (_, __, { created }) => created,
  updated: (_, __, { updated }) => updated,
  comment: (_, site, issue) => {
    const { page, place } = pageOf(issue.comments, 0, shownInside.comments);
    return { comments: page.map((comment) => commentOf(site, issue, comment)), ...place };
  },
  worklog: ({ tracksTime }, site, { worklogs }) => {
    if (!tracksTime) return undefined;
    const { page, place } = pageOf(worklogs, 0, shownInside.worklogs);
    return { worklogs: page.map(({ id, author }) => ({ id, author: userOf(site, author) })), ...place };
  },
  attachment: (_, site, { attachments }) =>
    attachments.map(({ id, author, filename }) => ({ id, filename, author: userOf(site, author) })),
};
export const fieldNames = Object.keys(values);

export const changeOf = (site: string, { id, author, created, items }: StoredChange) => ({
  ...{ id, author: userOf(site, author), created },
  items: items.map((item) => ({
    ...{ field: item.field, fieldtype: "jira", fieldId: item.field.toLowerCase() },
    ...{ from: item.from, fromString: item.fromText, to: item.to, toString: item.toText },
  })),
});

export interface Shown {
  readonly fields: readonly string[];
  readonly properties: readonly string[];
  readonly withChangelog?: boolean;
}

/** An issue with the fields and properties that were asked for. */
export function issueOf(world: World, site: string, issue: StoredIssue, shown: Shown) {
  const fields = shown.fields
    .map((name) => [name, values[name]?.(world, site, issue)] as const)
    .filter(([, value]) => value !== undefined);
  // The latest changes come first here, and last in the list of their own.
  const { page, place } = pageOf([...issue.history].reverse(), 0, 100);
  return {
    expand: "renderedFields,names,schema,operations,editmeta,changelog,versionedRepresentations",
    ...nameOf(site, issue),
    fields: Object.fromEntries(fields),
    ...(shown.withChangelog && {
      changelog: { ...place, histories: page.map((change) => changeOf(site, change)) },
    }),
    ...(shown.properties.length > 0 && {
      properties: Object.fromEntries(
        shown.properties.flatMap((name) =>
          issue.properties.has(name) ? [[name, issue.properties.get(name)]] : [],
        ),
      ),
    }),
  };
}
