import { wide } from "./wide.ts";

export { unions } from "./wide.ts";

/** A field that takes arguments. */
export interface Field {
  readonly type: string;
  readonly args: Readonly<Record<string, string>>;
}
type Fields = Readonly<Record<string, string | Field>>;

const comments: Field = {
  type: "CommentConnection!",
  args: {
    first: "Int",
    after: "String",
    last: "Int",
    before: "String",
    filter: "CommentFilter",
    includeArchived: "Boolean",
    orderBy: "PaginationOrderBy",
  },
};
const input = (name: string) => ({ input: `${name}!` });
const id = { id: "String!" };

/** What the connector asks for, each type with its fields. */
const asked: Readonly<Record<string, Fields>> = {
  Query: {
    comment: { type: "Comment!", args: { id: "String", hash: "String" } },
    comments,
    issue: { type: "Issue!", args: id },
    organization: "Organization!",
    team: { type: "Team!", args: id },
    viewer: "User!",
  },
  Mutation: {
    commentCreate: { type: "CommentPayload!", args: input("CommentCreateInput") },
    commentDelete: { type: "DeletePayload!", args: id },
    issueArchive: { type: "IssueArchivePayload!", args: { ...id, trash: "Boolean" } },
    issueCreate: { type: "IssuePayload!", args: input("IssueCreateInput") },
    issueUnarchive: { type: "IssueArchivePayload!", args: id },
  },
  Issue: {
    id: "ID!",
    archivedAt: "DateTime",
    assignee: "User",
    comments,
    createdAt: "DateTime!",
    creator: "User",
    description: "String",
    identifier: "String!",
    number: "Float!",
    previousIdentifiers: "[String!]!",
    priority: "Float!",
    state: "WorkflowState!",
    team: "Team!",
    title: "String!",
    trashed: "Boolean",
    updatedAt: "DateTime!",
    url: "String!",
  },
  Comment: {
    id: "ID!",
    archivedAt: "DateTime",
    body: "String!",
    createdAt: "DateTime!",
    editedAt: "DateTime",
    issue: "Issue",
    issueId: "String",
    parentId: "String",
    updatedAt: "DateTime!",
    url: "String!",
    user: "User",
  },
  Team: { id: "ID!", archivedAt: "DateTime", key: "String!", name: "String!" },
  User: {
    id: "ID!",
    active: "Boolean!",
    displayName: "String!",
    email: "String!",
    isMe: "Boolean!",
    name: "String!",
  },
  WorkflowState: { id: "ID!", name: "String!", position: "Float!", type: "String!" },
  Organization: { id: "ID!", name: "String!", urlKey: "String!" },
  IssuePayload: { issue: "Issue", lastSyncId: "Float!", success: "Boolean!" },
  CommentPayload: { comment: "Comment!", lastSyncId: "Float!", success: "Boolean!" },
  DeletePayload: { entityId: "String!", lastSyncId: "Float!", success: "Boolean!" },
  IssueArchivePayload: { entity: "Issue", lastSyncId: "Float!", success: "Boolean!" },
  CommentConnection: { nodes: "[Comment!]!", pageInfo: "PageInfo!" },
  PageInfo: {
    endCursor: "String",
    hasNextPage: "Boolean!",
    hasPreviousPage: "Boolean!",
    startCursor: "String",
  },
};

/** The part of Linear's schema that the sandbox answers for. */
export const outputs: Readonly<Record<string, Fields>> = Object.fromEntries(
  [...new Set([...Object.keys(asked), ...Object.keys(wide)])].map((type) => [
    type,
    { ...wide[type], ...asked[type] },
  ]),
);

const compared = { eq: "ID", in: "[ID!]" };
/** Its input types: what is not listed is refused, though Linear may know it. */
export const inputs: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  IssueCreateInput: {
    id: "String",
    teamId: "String!",
    title: "String",
    description: "String",
    priority: "Int",
    stateId: "String",
    assigneeId: "String",
    labelIds: "[String!]",
    projectId: "String",
    parentId: "String",
    dueDate: "TimelessDate",
  },
  CommentCreateInput: {
    id: "String",
    issueId: "String",
    body: "String",
    parentId: "String",
    doNotSubscribeToIssue: "Boolean",
  },
  CommentFilter: { id: "IDComparator", issue: "NullableIssueFilter" },
  NullableIssueFilter: { id: "IssueIDComparator" },
  IDComparator: compared,
  IssueIDComparator: compared,
};

const isText = (value: unknown) => typeof value === "string";
const isInteger = (value: unknown) => Number.isInteger(value) && Math.abs(value as number) < 2 ** 31;
/** What a scalar accepts. */
export const scalars: Readonly<Record<string, (value: unknown) => boolean>> = {
  String: isText,
  ID: (value) => isText(value) || isInteger(value),
  Boolean: (value) => typeof value === "boolean",
  Int: isInteger,
  Float: (value) => typeof value === "number",
  DateTime: isText,
  TimelessDate: isText,
  PaginationOrderBy: (value) => value === "createdAt" || value === "updatedAt",
};
