import { issueOf, noteOf } from "./objects.ts";
import { runQuickActions } from "./quick-actions.ts";
import type { Call, Endpoint } from "./wire.ts";
import {
  addNote,
  type Issue,
  login,
  type Note,
  now,
  openIssue,
  putLabels,
  roles,
  setState,
} from "./world.ts";

const isAtLeast = ({ project }: Call, role: keyof typeof roles) => roles[project.role] >= roles[role];

/** As the token's owner sees it: a confidential one is hidden from guests. */
function findIssue(call: Call, param: string): Issue {
  const iid = call.id(param);
  const found = call.project.issues.find((issue) => issue.iid === iid);
  const isHidden = found?.confidential && found.author !== login && !isAtLeast(call, "planner");
  return found && !isHidden && call.project.issuesEnabled ? found : call.fail(404, "404 Not found");
}

function checkIssue(
  call: Call,
  { title, description }: { readonly title?: unknown; readonly description?: unknown },
) {
  if (`${title ?? "-"}`.trim() === "") call.invalidField("title", "can't be blank");
  if (`${title ?? ""}`.length > 255) call.invalidField("title", "is too long (maximum is 255 characters)");
  if (`${description ?? ""}`.length > 1_048_576) {
    call.invalidField("description", "is too long (maximum is 1048576 characters)");
  }
}
const namesIn = (labels: unknown) =>
  (Array.isArray(labels) ? labels : `${labels ?? ""}`.split(","))
    .map((name) => `${name}`.trim())
    .filter((name) => name !== "");
const isTrue = (value: unknown) => `${value ?? "0"}` === "true" || `${value ?? "0"}` === "1";

const common = {
  title: "string",
  description: "string",
  labels: "names",
  confidential: "boolean",
  due_date: "string",
  milestone_id: "integer",
  issue_type: "string",
} as const;

export const getIssue: Endpoint = (call) => ({
  status: 200,
  body: issueOf(call.api, call.project, findIssue(call, "issue_iid")),
});

export const createIssue: Endpoint = (call) => {
  const { api, project, world } = call;
  const given = call.fields({ ...common, iid: "integer", created_at: "string" }, ["title"]);
  if (!project.issuesEnabled) call.fail(403, "403 Forbidden");
  checkIssue(call, given);
  const issue = openIssue(world, project, {
    title: `${given["title"]}`,
    confidential: isTrue(given["confidential"]),
  });
  if (isAtLeast(call, "planner")) putLabels(project, issue, namesIn(given["labels"]));
  if (given["description"] !== undefined) {
    issue.description = runQuickActions(project, issue, `${given["description"]}`).text;
  }
  return { status: 201, body: issueOf(api, project, issue) };
};

const events: Readonly<Record<string, Issue["state"]>> = { close: "closed", reopen: "opened" };

export const updateIssue: Endpoint = (call) => {
  const { api, project } = call;
  const given = call.fields({ ...common, state_event: "string", discussion_locked: "boolean" }, []);
  const names = Object.keys(given);
  if (names.length === 0) {
    const all = [...Object.keys(common), "state_event", "discussion_locked"].sort().join(", ");
    call.invalid(`${all} are missing, at least one parameter must be provided`);
  }
  const state = given["state_event"] === undefined ? undefined : events[`${given["state_event"]}`];
  if (names.includes("state_event") && !state) call.invalid("state_event does not have a valid value");
  const issue = findIssue(call, "issue_iid");
  if (issue.author !== login) call.need("planner");
  checkIssue(call, given);
  if (given["title"] !== undefined) issue.title = `${given["title"]}`;
  if (given["description"] !== undefined) issue.description = `${given["description"]}`;
  if (given["confidential"] !== undefined) issue.confidential = isTrue(given["confidential"]);
  if (given["labels"] !== undefined) {
    issue.labels = [];
    putLabels(project, issue, namesIn(given["labels"]));
  }
  if (names.some((name) => name !== "state_event")) issue.updatedAt = now();
  if (state) setState(issue, state);
  return { status: 200, body: issueOf(api, project, issue) };
};

const seesInternal = (call: Call, issue: Issue) => isAtLeast(call, "planner") || issue.author === login;

function findNote(call: Call, issue: Issue): Note {
  const id = call.id("note_id");
  return issue.notes.find((note) => note.id === id) ?? call.fail(404, call.world.missingNote);
}

export const getNote: Endpoint = (call) => {
  call.id("note_id");
  const issue = findIssue(call, "noteable_id");
  const note = findNote(call, issue);
  if (note.internal && !seesInternal(call, issue)) call.fail(404, "404 Note Not Found");
  return { status: 200, body: noteOf(call.project, issue, note) };
};

const badNote = (call: Call, why: string) =>
  call.fail(400, `400 Bad request - Note {:note=>[${JSON.stringify(why)}]}`);

export const createNote: Endpoint = (call) => {
  const { project, world } = call;
  const kinds = {
    body: "string",
    internal: "boolean",
    confidential: "boolean",
    created_at: "string",
  } as const;
  const given = call.fields(kinds, ["body"]);
  if (world.remainingNotes <= 0) {
    const error = "This endpoint has been requested too many times. Try again later.";
    return { status: 429, body: { message: { error } } };
  }
  const issue = findIssue(call, "noteable_id");
  if (issue.locked) call.need("planner");
  if (`${given["body"]}`.trim() === "") badNote(call, "can't be blank");
  if (`${given["body"]}`.length > 1_000_000) badNote(call, "is too long (maximum is 1000000 characters)");
  world.remainingNotes--;
  const { text, changes, summary } = runQuickActions(project, issue, `${given["body"]}`);
  if (text === "") return { status: 202, body: { commands_changes: changes, summary } };
  const internal = isTrue(given["internal"] ?? given["confidential"]);
  const note = addNote(world, issue, { body: text, internal });
  return { status: 201, body: noteOf(project, issue, note, changes) };
};

export const deleteNote: Endpoint = (call) => {
  call.id("note_id");
  const issue = findIssue(call, "noteable_id");
  const note = findNote(call, issue);
  if (note.internal && !seesInternal(call, issue)) call.fail(403, "403 Forbidden");
  if (note.author !== login) call.need("maintainer");
  call.unmodifiedSince(note.updatedAt);
  issue.notes.splice(issue.notes.indexOf(note), 1);
  return { status: 204 };
};
