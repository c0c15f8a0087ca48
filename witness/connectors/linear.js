import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import {
  AuthenticationLinearError,
  Comment,
  ForbiddenLinearError,
  GraphqlLinearError,
  InternalLinearError,
  InvalidInputLinearError,
  Issue,
  LinearClient,
  LinearErrorType,
  RatelimitedLinearError,
  UnknownLinearError,
} from "@linear/sdk";
import { software, witness } from "../support.js";

const clientFor = ({ address, options }, more = { apiKey: options.apiKey }) =>
  new LinearClient({ apiUrl: `${address}/graphql`, ...more });

const { does, raises, run } = await witness("linear", software("@linear/sdk"), (backend) =>
  clientFor(backend),
);

const teamId = "00000010-0000-4000-8000-000000000000";

does("reads an issue by its identifier", async ({ sdk, call }) => {
  const issue = await sdk.issue("ENG-1");
  assert.ok(issue instanceof Issue);
  assert.deepEqual(
    [issue.identifier, issue.title, issue.description, issue.priorityLabel],
    ["ENG-1", "Broken link", "See /docs", "No priority"],
  );
  assert.ok(issue.createdAt instanceof Date);
  assert.equal(issue.archivedAt, undefined);
  const ours = await call("get_issue", { issue_id: "ENG-1" });
  assert.deepEqual([ours.issue_id, ours.url, ours.team_id], [issue.id, issue.url, issue.teamId]);
});

does("tells whose key it is", async ({ sdk }) => {
  const me = await sdk.viewer;
  assert.deepEqual([me.name, me.isMe, me.active], ["agent", true, true]);
});

does("takes an OAuth token as well", async ({ backend }) => {
  const { oauthToken } = await import("../../connectors/linear/dist/sandbox.js");
  const sdk = clientFor(backend, { accessToken: oauthToken });
  assert.equal((await sdk.viewer).name, "agent");
});

does("creates an issue under an id of its own", async ({ sdk, backend }) => {
  const id = randomUUID();
  const [label] = backend.world.labels;
  const [, ada] = backend.world.users;
  const payload = await sdk.createIssue({
    id,
    teamId,
    title: "Typo",
    description: "On **page** 1",
    priority: 2,
    labelIds: [label.id],
    assigneeId: ada.id,
    dueDate: "2026-12-24",
  });
  assert.deepEqual([payload.success, payload.issueId], [true, id]);
  const issue = await payload.issue;
  assert.deepEqual(
    [issue.id, issue.title, issue.priorityLabel, issue.dueDate],
    [id, "Typo", "High", "2026-12-24"],
  );
  assert.deepEqual([issue.labelIds, issue.assigneeId], [[label.id], ada.id]);
});

does("archives an issue, and takes it out again", async ({ sdk }) => {
  const { id } = await sdk.issue("ENG-1");
  const archived = await sdk.archiveIssue(id);
  assert.deepEqual([archived.success, archived.entityId], [true, id]);
  assert.ok((await sdk.issue(id)).archivedAt instanceof Date);
  assert.equal((await sdk.unarchiveIssue(id)).success, true);
  assert.equal((await sdk.issue(id)).archivedAt, undefined);
});

does("puts an issue into the trash", async ({ sdk }) => {
  const { id } = await sdk.issue("ENG-2");
  await sdk.archiveIssue(id, { trash: true });
  assert.equal((await sdk.issue(id)).trashed, true);
});

does("sees the issue of create_issue archived after its undo", async ({ sdk, call }) => {
  const made = await call("create_issue", { team_id: teamId, title: "Ours" }, { idempotencyKey: "run-1" });
  const { issue_id, organization_id } = made;
  assert.equal((await sdk.issue(issue_id)).title, "Ours");
  await call("archive_issue", { issue_id, team_id: teamId, expected_organization_id: organization_id });
  assert.ok((await sdk.issue(issue_id)).archivedAt instanceof Date);
});

does("comments, answers, reads the comment and deletes it", async ({ sdk }) => {
  const issue = await sdk.issue("ENG-1");
  const made = await sdk.createComment({ issueId: issue.id, body: "Looking into it" });
  assert.equal(made.success, true);
  const comment = await made.comment;
  assert.ok(comment instanceof Comment);
  assert.deepEqual(
    [comment.body, comment.issueId, comment.editedAt],
    ["Looking into it", issue.id, undefined],
  );
  const answer = await sdk.createComment({ issueId: issue.id, body: "Thanks", parentId: comment.id });
  assert.equal((await answer.comment).parentId, comment.id);
  const gone = await sdk.deleteComment(comment.id);
  assert.deepEqual([gone.success, gone.entityId], [true, comment.id]);
});

does("pages through an issue's comments", async ({ sdk }) => {
  const issue = await sdk.issue("ENG-1");
  for (const body of ["one", "two", "three"]) await sdk.createComment({ issueId: issue.id, body });
  let page = await issue.comments({ first: 2 });
  assert.equal(page.pageInfo.hasNextPage, true);
  page = await page.fetchNext();
  assert.deepEqual(
    page.nodes.map(({ body }) => body),
    ["three", "two", "one"],
  );
});

does("finds comments by a filter", async ({ sdk }) => {
  const issue = await sdk.issue("ENG-2");
  const { commentId } = await sdk.createComment({ issueId: issue.id, body: "Here" });
  const { nodes } = await sdk.comments({ filter: { issue: { id: { eq: issue.id } } } });
  assert.deepEqual(
    nodes.map(({ id }) => id),
    [commentId],
  );
});

does(
  "reads the comment of add_comment, edited since, which its undo does not overwrite",
  async ({ sdk, backend, call }) => {
    const made = await call("add_comment", { issue_id: "ENG-1", body: "Ours" }, { idempotencyKey: "run-2" });
    const { comment_id, issue_id, organization_id, sha256 } = made;
    const read = () => sdk.comment({ id: comment_id });
    assert.equal((await read()).body, "Ours");
    const stored = backend.world.comments.find(({ id }) => id === comment_id);
    stored.body = "Edited";
    const undo = { comment_id, issue_id, expected_organization_id: organization_id, expected_sha256: sha256 };
    await assert.rejects(call("delete_comment", undo), { code: "CONFLICT" });
    assert.equal((await read()).body, "Edited");
    stored.body = "Ours";
    await call("delete_comment", undo);
    await assert.rejects(read, { type: LinearErrorType.InvalidInput });
  },
);

does("asks by hand what the connector asks", async ({ sdk }) => {
  const { data } = await sdk.client.rawRequest(
    "query Issue($id: String!) { organization { id urlKey } issue(id: $id) { state { name } team { key } } }",
    { id: "ENG-1" },
  );
  assert.deepEqual(
    [data.organization.urlKey, data.issue.state.name, data.issue.team.key],
    ["acme", "Backlog", "ENG"],
  );
});

const failure = (Class, type, status, message) => ({
  class: Class,
  type,
  status,
  errors: ([first]) => message.test(first.message),
});
const read = ({ sdk }) => sdk.issue("ENG-1");
const injected = (fault) => (bench) => {
  bench.backend.inject(fault);
  return read(bench);
};
const { InvalidInput, AuthenticationError, Forbidden, Ratelimited, InternalError, GraphqlError, Unknown } =
  LinearErrorType;

raises(
  "InvalidInputLinearError: no such issue",
  ({ sdk }) => sdk.issue("ENG-99"),
  failure(InvalidInputLinearError, InvalidInput, 200, /referenced Issue/),
);
raises(
  "InvalidInputLinearError 400: a comment without a text",
  ({ sdk }) => sdk.createComment({ issueId: "ENG-1", body: " " }),
  failure(InvalidInputLinearError, InvalidInput, 400, /body/),
);
raises(
  "InvalidInputLinearError: an id that is taken",
  async ({ sdk }) => {
    const { id } = await sdk.issue("ENG-1");
    return sdk.createIssue({ id, teamId, title: "x" });
  },
  failure(InvalidInputLinearError, InvalidInput, 400, /already exists/),
);
raises(
  "AuthenticationLinearError 401: a key that nobody knows",
  ({ backend }) => read({ sdk: clientFor(backend, { apiKey: "lin_api_nobody" }) }),
  failure(AuthenticationLinearError, AuthenticationError, 401, /authenticate/),
);
raises(
  "InvalidInputLinearError 400: a key sent as a bearer token",
  ({ backend }) => read({ sdk: clientFor(backend, { accessToken: backend.options.apiKey }) }),
  failure(InvalidInputLinearError, InvalidInput, 400, /Bearer/),
);
raises(
  "ForbiddenLinearError 403: a scope that the key lacks",
  ({ sdk, backend }) => {
    backend.world.scopes.delete("write");
    return sdk.createIssue({ teamId, title: "x" });
  },
  failure(ForbiddenLinearError, Forbidden, 403, /scope/i),
);
raises(
  "ForbiddenLinearError 403: a refusal on the wire",
  injected({ kind: "deny", status: 403 }),
  failure(ForbiddenLinearError, Forbidden, 403, /./),
);
raises(
  "GraphqlLinearError 400: a field that does not exist",
  async ({ sdk }) => {
    const { parseLinearError } = await import("@linear/sdk");
    return sdk.client.rawRequest("{ viewer { nmae } }").catch((error) => {
      throw parseLinearError(error);
    });
  },
  failure(GraphqlLinearError, GraphqlError, 400, /Cannot query field/),
);
raises("RatelimitedLinearError 400: too many requests", injected({ kind: "rateLimit", retryAfter: 30 }), {
  ...failure(RatelimitedLinearError, Ratelimited, 400, /Rate limit/),
  retryAfter: 30,
  requestsLimit: 5000,
});
raises(
  "RatelimitedLinearError 429: too many requests",
  (bench) => {
    Object.assign(bench.backend.world, { rateLimitStatus: 429, remaining: 0 });
    return read(bench);
  },
  { ...failure(RatelimitedLinearError, Ratelimited, 429, /Rate limit/), requestsRemaining: 0 },
);
raises(
  "InternalLinearError 500: a breakdown",
  injected({ kind: "status", status: 500 }),
  failure(InternalLinearError, InternalError, 500, /went wrong/),
);
raises("UnknownLinearError: a connection that is cut", injected({ kind: "cutAfter" }), {
  class: UnknownLinearError,
  type: Unknown,
  status: undefined,
});

run();
