import assert from "node:assert/strict";
import { HttpException, Version3Client } from "jira.js";
import { software, witness } from "../support.js";

const clientFor = ({ address, options }, apiToken = options.token) =>
  new Version3Client({
    host: address,
    authentication: { basic: { email: options.email, apiToken } },
  });

const { does, raises, run } = await witness("jira", software("jira.js"), (backend) => clientFor(backend));

const text = (...paragraphs) => ({
  type: "doc",
  version: 1,
  content: paragraphs.map((words) => ({ type: "paragraph", content: [{ type: "text", text: words }] })),
});
const task = { project: { key: "PROJ" }, issuetype: { name: "Task" } };
const issueIdOrKey = "PROJ-1";

does("tells whose token it is", async ({ sdk }) => {
  const me = await sdk.myself.getCurrentUser();
  assert.equal(me.displayName, "Reversi Agent");
});

does("reads an issue", async ({ sdk, call }) => {
  const issue = await sdk.issues.getIssue({ issueIdOrKey, fields: ["summary", "status", "labels"] });
  assert.deepEqual(
    [issue.key, issue.fields.summary, issue.fields.status.name],
    ["PROJ-1", "Broken link", "To Do"],
  );
  const ours = await call("get_issue", { issue_id: issueIdOrKey });
  assert.equal(ours.summary, issue.fields.summary);
});

does("creates an issue with a description and labels, and deletes it", async ({ sdk, backend }) => {
  const made = await sdk.issues.createIssue({
    fields: { ...task, summary: "Typo", description: text("One", "Two"), labels: ["a", "b"] },
  });
  assert.match(made.key, /^PROJ-\d+$/);
  const { fields } = await sdk.issues.getIssue({ issueIdOrKey: made.id });
  assert.deepEqual(
    [fields.summary, fields.labels, fields.description],
    ["Typo", ["a", "b"], text("One", "Two")],
  );
  await sdk.issues.deleteIssue({ issueIdOrKey: made.key });
  assert.equal(
    backend.world.issues.some(({ id }) => id === made.id),
    false,
  );
});

does("creates a sub-task, and deletes it with its parent", async ({ sdk }) => {
  const parent = await sdk.issues.createIssue({ fields: { ...task, summary: "Parent" } });
  const child = await sdk.issues.createIssue({
    fields: { ...task, issuetype: { name: "Sub-task" }, parent: { key: parent.key }, summary: "Child" },
  });
  await sdk.issues.deleteIssue({ issueIdOrKey: parent.key, deleteSubtasks: true });
  await assert.rejects(sdk.issues.getIssue({ issueIdOrKey: child.id }), { status: 404 });
});

does("sees the issue of create_issue gone after its undo", async ({ sdk, call }) => {
  const made = await call(
    "create_issue",
    { project: "PROJ", issue_type: "Task", summary: "Ours" },
    { idempotencyKey: "run-1" },
  );
  const { fields } = await sdk.issues.getIssue({ issueIdOrKey: made.issue_key });
  assert.equal(fields.summary, "Ours");
  await call("delete_issue", { issue_id: made.issue_id, project: "PROJ" });
  await assert.rejects(sdk.issues.getIssue({ issueIdOrKey: made.issue_key }), { status: 404 });
});

does("comments, reads the comment and deletes it", async ({ sdk }) => {
  const made = await sdk.issueComments.addComment({ issueIdOrKey, comment: text("I think so") });
  assert.deepEqual([made.author.displayName, made.body], ["Reversi Agent", text("I think so")]);
  const read = await sdk.issueComments.getComment({ issueIdOrKey, id: made.id });
  assert.deepEqual(read, made);
  await sdk.issueComments.deleteComment({ issueIdOrKey, id: made.id });
  await assert.rejects(sdk.issueComments.getComment({ issueIdOrKey, id: made.id }), { status: 404 });
});

does("lists comments, newest first, page by page", async ({ sdk }) => {
  await sdk.issueComments.addComment({ issueIdOrKey, comment: text("second") });
  const page = await sdk.issueComments.getComments({
    issueIdOrKey,
    orderBy: "-created",
    maxResults: 1,
    startAt: 0,
  });
  assert.deepEqual([page.total, page.comments.map(({ body }) => body)], [2, [text("second")]]);
});

does(
  "reads the comment of add_comment, edited since, which its undo does not overwrite",
  async ({ sdk, backend, call }) => {
    const { issue_id, comment_id, sha256 } = await call(
      "add_comment",
      { issue_id: issueIdOrKey, body: "Ours" },
      { idempotencyKey: "run-2" },
    );
    const read = () => sdk.issueComments.getComment({ issueIdOrKey: issue_id, id: comment_id });
    assert.deepEqual((await read()).body, text("Ours"));
    backend.issue.comments.find(({ id }) => id === comment_id).body = text("Edited");
    const undo = { issue_id, comment_id, expected_sha256: sha256 };
    await assert.rejects(call("delete_comment", undo), { code: "CONFLICT" });
    assert.deepEqual((await read()).body, text("Edited"));
  },
);

does("lists the transitions with their fields, and runs one", async ({ sdk }) => {
  const { transitions } = await sdk.issues.getTransitions({ issueIdOrKey, expand: "transitions.fields" });
  const start = transitions.find(({ name }) => name === "Start");
  assert.equal(start.to.name, "In Progress");
  await sdk.issues.doTransition({ issueIdOrKey, transition: { id: start.id } });
  const { fields } = await sdk.issues.getIssue({ issueIdOrKey, fields: ["status"] });
  assert.equal(fields.status.name, "In Progress");
  const { values } = await sdk.issues.getChangeLogs({ issueIdOrKey });
  assert.equal(values.at(-1).items[0].field, "status");
});

does("sees the status that transition_issue set, and its undo", async ({ sdk, call }) => {
  const status = async () =>
    (await sdk.issues.getIssue({ issueIdOrKey, fields: ["status"] })).fields.status.name;
  const { issue_id, previous_status, previous_status_id, status_id } = await call("transition_issue", {
    issue_id: issueIdOrKey,
    transition: "Start",
  });
  assert.equal(await status(), "In Progress");
  await call("restore_status", {
    issue_id,
    previous_status,
    previous_status_id,
    expected_status_id: status_id,
  });
  assert.equal(await status(), "To Do");
});

const failure = (status, message) => ({
  class: HttpException,
  status,
  response: (response) => {
    assert.match(JSON.stringify(response), message);
    return true;
  },
});
const read = ({ sdk }) => sdk.issues.getIssue({ issueIdOrKey });
const injected = (fault) => (bench) => {
  bench.backend.inject(fault);
  return read(bench);
};

raises(
  "HttpException 404: no such issue",
  ({ sdk }) => sdk.issues.getIssue({ issueIdOrKey: "PROJ-99" }),
  failure(404, /does not exist or you do not have permission/),
);
raises(
  "HttpException 404: a project that the account does not see",
  ({ sdk }) => sdk.issues.getIssue({ issueIdOrKey: "SECRET-1" }),
  failure(404, /does not exist/),
);
raises(
  "HttpException 404: no such comment",
  ({ sdk }) => sdk.issueComments.getComment({ issueIdOrKey, id: "1" }),
  failure(404, /Can not find a comment/),
);
raises(
  "HttpException 400: no summary",
  ({ sdk }) => sdk.issues.createIssue({ fields: task }),
  failure(400, /You must specify a summary/),
);
raises(
  "HttpException 400: a transition that is not to be had",
  ({ sdk }) => sdk.issues.doTransition({ issueIdOrKey, transition: { id: "999" } }),
  failure(400, /not valid for the current state/),
);
raises(
  "HttpException 401: a token that nobody knows",
  ({ backend }) => clientFor(backend, "ATATT-nobody").myself.getCurrentUser(),
  failure(401, /must be authenticated/),
);
raises(
  "HttpException 403: a permission that is missing",
  ({ sdk, backend }) => {
    backend.world.permissions.delete("DELETE_ISSUES");
    return sdk.issues.deleteIssue({ issueIdOrKey });
  },
  failure(403, /permission to delete/),
);
raises(
  "HttpException 409: an issue that is being changed",
  async ({ sdk, backend }) => {
    backend.world.busy = true;
    const { transitions } = await sdk.issues.getTransitions({ issueIdOrKey });
    return sdk.issues.doTransition({ issueIdOrKey, transition: { id: transitions[0].id } });
  },
  failure(409, /another request/),
);
raises(
  "HttpException 410: the search that was removed",
  ({ sdk }) => sdk.issueSearch.searchForIssuesUsingJql({ jql: "project = PROJ" }),
  failure(410, /./),
);
raises(
  "HttpException 429: too many requests",
  injected({ kind: "rateLimit", retryAfter: 30 }),
  failure(429, /Rate limit exceeded/),
);
raises("HttpException 500: a breakdown", injected({ kind: "status", status: 500 }), failure(500, /./));
raises("AxiosError ECONNRESET: a connection that is cut", injected({ kind: "cutAfter" }), {
  code: "ECONNRESET",
});

run();
