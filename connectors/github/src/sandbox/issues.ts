import { type JsonSchema, s } from "@reversi-connector/core";
import { commentOf, issueOf, labelOf, labelsOn } from "./objects.ts";
import { type Call, type Endpoint, moved, page } from "./wire.ts";
import {
  findLabel,
  type Issue,
  login,
  now,
  openIssue,
  putLabels,
  sameName,
  setState,
  addComment as storeComment,
  type World,
} from "./world.ts";

function findIssue({ request, repository, fail }: Call): Issue {
  const found = repository.issues.find(({ number }) => String(number) === request.params["number"]);
  if (!found) return fail(404, "Not Found");
  if (found.movedTo !== undefined) moved(request, found.movedTo);
  if (found.deleted) fail(410, "This issue was deleted");
  if (!repository.hasIssues && found.head === undefined) fail(410, "Issues are disabled for this repo");
  return found;
}

const findComment = ({ request, repository, fail }: Call) => {
  const found = repository.comments.find(({ id }) => String(id) === request.params["comment"]);
  const issue = repository.issues.find(({ number }) => number === found?.issue);
  return found && issue && !issue.deleted && issue.movedTo === undefined ? found : fail(404, "Not Found");
};

const atMost = (
  max: number,
  call: Call,
  resource: string,
  field: string,
  value: string | null | undefined,
) => {
  if (value && value.length > max) {
    call.invalid(resource, field, "custom", `${field} is too long (maximum is ${max} characters)`);
  }
};

const labelItem: JsonSchema = {
  anyOf: [s.string(), { type: "object", properties: { name: s.string() }, required: ["name"] }],
};
const labelItems: JsonSchema = { type: "array", items: labelItem };
/** A label with `suggest` is only suggested, not put on. */
type LabelItems = readonly (string | { readonly name: string; readonly suggest?: boolean })[];

function labelNames(items: LabelItems | undefined, call: Call): string[] | undefined {
  const names = items
    ?.filter((item) => typeof item === "string" || item.suggest !== true)
    .map((item) => (typeof item === "string" ? item : item.name));
  for (const name of names ?? []) {
    if (name === "") call.invalid("Label", "name", "missing_field");
    atMost(50, call, "Label", "name", name);
  }
  return names;
}

interface IssueBody {
  readonly title?: string | number;
  readonly body?: string | null;
  readonly state?: "open" | "closed";
  readonly state_reason?: string | null;
  readonly labels?: LabelItems;
  readonly assignee?: string | null;
  readonly assignees?: readonly string[];
  readonly milestone?: unknown;
  readonly type?: unknown;
}
const issueFields = {
  title: s.stringOrInteger(),
  labels: labelItems,
  assignee: s.nullable(s.string()),
  assignees: s.array(s.string()),
  milestone: s.json(),
  type: s.json(),
  issue_field_values: s.json(),
};
const newIssue = s.object({}, { ...issueFields, body: s.string() });
const changedIssue = s.object(
  {},
  {
    ...issueFields,
    body: s.nullable(s.string()),
    state: s.oneOf(["open", "closed"]),
    state_reason: s.nullable(s.oneOf(["completed", "not_planned", "duplicate", "reopened"])),
  },
);

/** The fields of an issue that may be set, checked; those that need push access are dropped without a word. */
function settable(call: Call, schema: JsonSchema, world: World) {
  const given = call.json<IssueBody>(schema);
  const { push } = call.repository;
  const title = given.title === undefined ? undefined : String(given.title);
  if (title === "") call.invalid("Issue", "title", "missing_field");
  atMost(256, call, "Issue", "title", title);
  atMost(65_536, call, "Issue", "body", given.body);
  const labels = push ? labelNames(given.labels, call) : undefined;
  const wanted = given.assignees ?? (given.assignee ? [given.assignee] : undefined);
  const assignees = push ? wanted : undefined;
  if (assignees?.some((name) => !world.users.includes(name))) call.invalid("Issue", "assignees", "invalid");
  for (const field of ["milestone", "type"] as const) {
    if (push && (given[field] ?? null) !== null) call.invalid("Issue", field, "invalid");
  }
  return { ...given, title, labels, assignees: assignees && [...assignees] };
}

export const getIssue: Endpoint = (call) => {
  call.need("issues", "read");
  return { status: 200, body: issueOf(call.base, call.repository, findIssue(call)) };
};

export const createIssue: Endpoint = (call, world) => {
  const { base, repository, fail, invalid } = call;
  call.need("issues", "write");
  if (!repository.hasIssues) fail(410, "Issues are disabled for this repo");
  const { title, body = null, labels = [], assignees = [] } = settable(call, newIssue, world);
  if (title === undefined) return invalid("Issue", "title", "missing_field");
  const issue = openIssue(world, repository, { title, body, assignees });
  putLabels(world, repository, issue, labels);
  const made = issueOf(base, repository, issue);
  return { status: 201, headers: { location: made.url }, body: made };
};

export const updateIssue: Endpoint = (call, world) => {
  const { base, repository } = call;
  call.need("issues", "write");
  const issue = findIssue(call);
  if (issue.author !== login) call.needPush();
  const { title, body, state, state_reason, labels, assignees } = settable(call, changedIssue, world);
  if (title !== undefined) issue.title = title;
  if (body !== undefined) issue.body = body;
  if (assignees) issue.assignees = assignees;
  if (labels) {
    issue.labels = [];
    putLabels(world, repository, issue, labels);
  }
  if (state) setState(issue, state, state_reason ?? (state === "closed" ? "completed" : "reopened"));
  return { status: 200, body: issueOf(base, repository, issue) };
};

export const getComment: Endpoint = (call) => {
  call.need("issues", "read");
  return { status: 200, body: commentOf(call.base, call.repository, findComment(call)) };
};

export const listComments: Endpoint = (call) => {
  call.need("issues", "read");
  const { number } = findIssue(call);
  const comments = call.repository.comments.filter(({ issue }) => issue === number);
  const { items, headers } = page(call, `/issues/${number}/comments`, comments);
  return { status: 200, headers, body: items.map((item) => commentOf(call.base, call.repository, item)) };
};

export const createComment: Endpoint = (call, world) => {
  const { base, repository, fail, invalid } = call;
  call.need("issues", "write");
  const { number, locked } = findIssue(call);
  if (locked && !repository.push) fail(403, "Unable to create comment because issue is locked.");
  const { body } = call.json<{ readonly body: string }>(s.object({ body: s.string() }));
  if (body.trim() === "") invalid("IssueComment", "data", "unprocessable", "Body cannot be blank");
  atMost(65_536, call, "IssueComment", "body", body);
  const made = commentOf(base, repository, storeComment(world, repository, { issue: number, body }));
  return { status: 201, headers: { location: made.url }, body: made };
};

export const deleteComment: Endpoint = (call) => {
  call.need("issues", "write");
  const comment = findComment(call);
  if (comment.author !== login) call.needPush();
  const { comments } = call.repository;
  comments.splice(comments.indexOf(comment), 1);
  return { status: 204 };
};

export const listLabels: Endpoint = (call) => {
  call.need("issues", "read");
  const issue = findIssue(call);
  const { items, headers } = page(
    call,
    `/issues/${issue.number}/labels`,
    labelsOn(call.base, call.repository, issue),
  );
  return { status: 200, headers, body: items };
};

export const addLabels: Endpoint = (call, world) => {
  const { base, repository, fail } = call;
  call.need("issues", "write");
  const issue = findIssue(call);
  call.needPush();
  const schema = s.object({ labels: s.array(labelItem, undefined, { minItems: 1 }) });
  const { labels } = call.json<{ readonly labels: LabelItems }>(schema);
  const names = labelNames(labels, call) ?? [];
  if (issue.labels.length + names.length > 100 && names.some((name) => !issue.labels.includes(name))) {
    fail(422, "Issues can have at most 100 labels");
  }
  putLabels(world, repository, issue, names);
  return { status: 200, body: labelsOn(base, repository, issue) };
};

export const removeLabel: Endpoint = (call) => {
  const { base, request, repository, fail } = call;
  call.need("issues", "write");
  const issue = findIssue(call);
  call.needPush();
  const name = issue.labels.find((label) => sameName(label, request.params["name"] ?? ""));
  if (name === undefined) return fail(404, "Label does not exist");
  issue.labels = issue.labels.filter((label) => label !== name);
  issue.updatedAt = now();
  return { status: 200, body: labelsOn(base, repository, issue) };
};

export const getLabel: Endpoint = (call) => {
  const { base, request, repository, fail } = call;
  call.need("issues", "read");
  const label = findLabel(repository, request.params["name"] ?? "");
  return label ? { status: 200, body: labelOf(base, repository, label) } : fail(404, "Not Found");
};
