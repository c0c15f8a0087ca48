import type { Document } from "../adf.ts";
import { isDocument, lengthOf, maxLength, noDocument, tooLong } from "./document.ts";
import { changeOf, fieldNames, issueOf, nameOf, pageOf, siteOf } from "./objects.ts";
import { addIssue, removeIssue, subtasksOf } from "./people.ts";
import { type Call, type Endpoint, noContent, ok } from "./wire.ts";
import { type IssueType, issueTypes, me, type Project, type StoredIssue } from "./world.ts";

export const getIssue: Endpoint = (call) => {
  const query = call.query("fields", "expand", "properties", "updateHistory", "fieldsByKeys", "failFast");
  const issue = call.issue();
  const fields = query.has("fields") ? call.words("fields", fieldNames) : fieldNames;
  const withChangelog = call.words("expand", ["changelog"]).length > 0;
  const properties = query.get("properties")?.split(",") ?? [];
  const shown = { fields, properties, withChangelog };
  return ok(issueOf(call.world, siteOf(call.request), issue, shown));
};

type Reference = { readonly id?: unknown; readonly key?: unknown; readonly name?: unknown } | undefined;
const known = ["project", "issuetype", "summary", "description", "parent", "labels"];

const typeFor = (reference: Reference): IssueType | undefined =>
  issueTypes.find(({ id, name }) => id === reference?.id || name === reference?.name);
const projectFor = (call: Call, reference: Reference): Project | undefined =>
  call.project(String(reference?.id ?? reference?.key ?? ""));
const parentFor = ({ world }: Call, reference: Reference): StoredIssue | undefined =>
  world.issues.find(({ id, key }) => id === reference?.id || key === reference?.key);

function parentProblem(type: IssueType, reference: Reference, parent: StoredIssue | undefined) {
  if (reference === undefined) {
    const missing = "Issue type is a sub-task but parent issue key or id not specified.";
    return type.hierarchyLevel < 0 ? missing : undefined;
  }
  if (!parent) return "Could not find issue by id or key.";
  const fits = parent.type.hierarchyLevel === type.hierarchyLevel + 1;
  return fits ? undefined : "Given parent work item does not belong to appropriate hierarchy.";
}

function summaryProblem(summary: unknown) {
  if (typeof summary !== "string" || summary.trim() === "") return "You must specify a summary of the issue.";
  if (summary.length > 255) return "Summary must be less than 255 characters.";
  const isLine = !/[\r\n]/.test(summary);
  return isLine ? undefined : "The summary is invalid because it contains newline characters.";
}

function descriptionProblem(description: unknown) {
  if (description === undefined || description === null) return undefined;
  if (!isDocument(description)) return noDocument;
  return lengthOf(description) > maxLength ? tooLong : undefined;
}

function labelsProblem(labels: unknown) {
  if (labels === undefined) return undefined;
  if (!Array.isArray(labels) || labels.some((label) => typeof label !== "string"))
    return "data was not an array";
  const blank = labels.find((label) => /\s/.test(label));
  return blank === undefined ? undefined : `The label '${blank}' contains spaces which is invalid.`;
}

/** The properties that a request sets. */
export function propertiesIn({ fail }: Call, given: unknown): ReadonlyMap<string, unknown> {
  const list = given ?? [];
  const fits =
    Array.isArray(list) &&
    list.every(({ key, value, ...others }) => {
      const isKnown = typeof key === "string" && key.length <= 255 && Object.keys(others).length === 0;
      return isKnown && value !== undefined && JSON.stringify(value).length <= 32_768;
    });
  return fits ? new Map(list.map(({ key, value }) => [key, value])) : fail(400, "INVALID_INPUT");
}

export const createIssue: Endpoint = (call) => {
  const { world, failFields, checkFields, fail } = call;
  call.query("updateHistory");
  const body = call.body("fields", "properties", "update", "historyMetadata", "transition");
  const fields = (body["fields"] ?? {}) as Record<string, unknown>;
  const off = (name: string) =>
    `Field '${name}' cannot be set. It is not on the appropriate screen, or unknown.`;
  const unset = Object.keys(fields).filter((name) => !known.includes(name));
  checkFields(Object.fromEntries(unset.map((name) => [name, off(name)])));
  const project = projectFor(call, fields["project"] as Reference);
  if (!project) return failFields({ project: "Specify a valid project ID or key" });
  const type = typeFor(fields["issuetype"] as Reference);
  if (!type) return failFields({ issuetype: "Specify a valid issue type" });
  if (!call.may("CREATE_ISSUES")) fail(403, "You do not have permission to create issues in this project.");
  const parent = parentFor(call, fields["parent"] as Reference);
  const { summary, description = null, labels = [] } = fields;
  checkFields({
    summary: summaryProblem(summary),
    description: descriptionProblem(description),
    labels: labelsProblem(labels),
    parentId: parentProblem(type, fields["parent"] as Reference, parent),
  });
  const issue = addIssue(world, {
    ...{ project, type, parent, creator: me },
    summary: String(summary),
    description: description as Document | null,
    labels: labels as string[],
    properties: propertiesIn(call, body["properties"]),
  });
  world.mails++;
  return ok(nameOf(siteOf(call.request), issue), 201);
};

export const deleteIssue: Endpoint = (call) => {
  const { world, fail, may } = call;
  const withSubtasks = call.query("deleteSubtasks").get("deleteSubtasks") ?? "false";
  if (!["true", "false"].includes(withSubtasks)) fail(400, "deleteSubtasks must be true or false");
  const issue = call.issue();
  if (!may("DELETE_ISSUES")) fail(403, "You do not have permission to delete issues in this project.");
  const subtasks = subtasksOf(world, issue);
  if (subtasks.length > 0 && withSubtasks === "false") {
    const how = "You must specify the 'deleteSubtasks' parameter to delete this issue and all its subtasks.";
    fail(400, `The issue '${issue.key}' has subtasks.  ${how}`);
  }
  for (const gone of [issue, ...subtasks]) removeIssue(world, gone);
  return noContent;
};

/** Oldest first. */
export const listChanges: Endpoint = (call) => {
  call.query("startAt", "maxResults");
  const { id, history } = call.issue();
  const startAt = call.number("startAt", 0);
  const maxResults = Math.min(call.number("maxResults", 100), 100);
  const site = siteOf(call.request);
  const { page, place } = pageOf(history, startAt, maxResults);
  return ok({
    self: `${site}/rest/api/3/issue/${id}/changelog?maxResults=${maxResults}&startAt=${startAt}`,
    ...place,
    isLast: startAt + page.length >= history.length,
    values: page.map((change) => changeOf(site, change)),
  });
};
