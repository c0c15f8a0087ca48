import assert from "node:assert/strict";
import { GitbeakerRequestError, GitbeakerRetryError, Gitlab } from "@gitbeaker/rest";
import { software, witness } from "../support.js";

const clientFor = ({ address, options }, more = { token: options.token }) =>
  new Gitlab({ host: address, ...more });

const { does, raises, run } = await witness("gitlab", software("@gitbeaker/rest"), (backend) =>
  clientFor(backend),
);

const project = "acme/tools/site";
const id = 45_670_123;

does("reads a project by its path and by its id", async ({ sdk }) => {
  const found = await sdk.Projects.show(project);
  assert.deepEqual([found.id, found.path_with_namespace, found.default_branch], [id, project, "main"]);
  assert.deepEqual(await sdk.Projects.show(id), found);
});

does("takes an OAuth token as well", async ({ backend }) => {
  const sdk = clientFor(backend, { oauthToken: backend.options.token });
  assert.equal((await sdk.Projects.show(id)).id, id);
});

does("reads an issue", async ({ sdk, call }) => {
  const issue = await sdk.Issues.show(1, { projectId: project });
  assert.deepEqual(
    [issue.iid, issue.title, issue.state, issue.labels],
    [1, "Broken link", "opened", ["bug"]],
  );
  const ours = await call("get_issue", { project, issue_iid: 1 });
  assert.deepEqual([ours.title, ours.labels, ours.url], [issue.title, issue.labels, issue.web_url]);
});

does("creates an issue with labels", async ({ sdk, backend }) => {
  const made = await sdk.Issues.create(project, "Typo", {
    description: "On **page** 1",
    labels: "bug,typo",
    confidential: true,
  });
  assert.deepEqual([made.title, made.description, made.confidential], ["Typo", "On **page** 1", true]);
  assert.deepEqual([...made.labels].sort(), ["bug", "typo"]);
  assert.equal(backend.site.issues.at(-1).iid, made.iid);
});

does("sees what create_issue made, and that its undo closed it", async ({ sdk, call }) => {
  const { project_id, issue_iid } = await call("create_issue", { project, title: "Ours" });
  assert.equal((await sdk.Issues.show(issue_iid, { projectId: project_id })).state, "opened");
  await call("close_issue", { project: project_id, issue_iid });
  assert.equal((await sdk.Issues.show(issue_iid, { projectId: project_id })).state, "closed");
});

does("closes an issue, and opens it again", async ({ sdk }) => {
  const { iid } = await sdk.Issues.create(project, "Ours");
  const closed = await sdk.Issues.edit(project, iid, { stateEvent: "close" });
  assert.equal(closed.state, "closed");
  assert.notEqual(closed.closed_at, null);
  assert.equal((await sdk.Issues.edit(project, iid, { stateEvent: "reopen" })).state, "opened");
});

does("writes a note, reads it and deletes it", async ({ sdk }) => {
  const made = await sdk.IssueNotes.create(project, 1, "Looking into it", { internal: true });
  assert.deepEqual(
    [made.body, made.internal, made.author.username],
    ["Looking into it", true, "reversi-agent"],
  );
  const read = await sdk.IssueNotes.show(project, 1, made.id);
  assert.deepEqual([read.id, read.body], [made.id, made.body]);
  await sdk.IssueNotes.remove(project, 1, made.id);
  await assert.rejects(sdk.IssueNotes.show(project, 1, made.id), { name: "GitbeakerRequestError" });
});

does(
  "reads the note of add_note, edited since, which its undo does not overwrite",
  async ({ sdk, backend, call }) => {
    const { project_id, note_id, sha256 } = await call("add_note", { project, issue_iid: 1, body: "Ours" });
    assert.equal((await sdk.IssueNotes.show(project_id, 1, note_id)).body, "Ours");
    backend.site.issues[0].notes.find((note) => note.id === note_id).body = "Edited";
    const undo = { project: project_id, issue_iid: 1, note_id, expected_sha256: sha256 };
    await assert.rejects(call("delete_note", undo), { code: "CONFLICT" });
    assert.equal((await sdk.IssueNotes.show(project_id, 1, note_id)).body, "Edited");
  },
);

does("creates a branch with slashes, reads it and deletes it", async ({ sdk }) => {
  const main = await sdk.Branches.show(project, "main");
  const made = await sdk.Branches.create(project, "feature/ü x".replace(" ", "-"), "main");
  assert.deepEqual([made.commit.id, made.protected, made.default], [main.commit.id, false, false]);
  assert.deepEqual(await sdk.Branches.show(project, made.name), made);
  await sdk.Branches.remove(project, made.name);
  await assert.rejects(sdk.Branches.show(project, made.name), { message: "404 Branch Not Found" });
});

does("sees the branch of create_branch gone after its undo", async ({ sdk, call }) => {
  const { project_id, branch, sha } = await call("create_branch", { project, branch: "ours", from: "docs" });
  assert.equal((await sdk.Branches.show(project_id, branch)).commit.id, sha);
  await call("delete_branch", { project: project_id, branch, expected_sha: sha });
  await assert.rejects(sdk.Branches.show(project_id, branch), { message: "404 Branch Not Found" });
});

does("reads a tag", async ({ sdk, backend }) => {
  backend.site.tags.set("v1", backend.site.branches.get("main"));
  const tag = await sdk.Tags.show(project, "v1");
  assert.deepEqual([tag.name, tag.commit.id], ["v1", backend.site.branches.get("main")]);
});

does("follows the redirect of a project that moved", async ({ sdk, backend }) => {
  backend.world.moved.set("acme/old", id);
  assert.equal((await sdk.Issues.show(1, { projectId: "acme/old" })).iid, 1);
});

const failure = (status, description) => ({
  class: GitbeakerRequestError,
  name: "GitbeakerRequestError",
  cause: (cause) => {
    assert.equal(cause.response.status, status);
    assert.match(cause.description, description);
    return true;
  },
});
const read = ({ sdk }) => sdk.Issues.show(1, { projectId: project });
const injected = (fault, where) => (bench) => {
  bench.backend.inject(fault, where);
  return read(bench);
};

raises(
  "GitbeakerRequestError 404: no such project",
  ({ sdk }) => sdk.Projects.show("acme/none"),
  failure(404, /^404 Project Not Found$/),
);
raises(
  "GitbeakerRequestError 404: no such issue",
  ({ sdk }) => sdk.Issues.show(99, { projectId: project }),
  failure(404, /^404 Not found$/),
);
raises(
  "GitbeakerRequestError 400: a branch that exists",
  ({ sdk }) => sdk.Branches.create(project, "docs", "main"),
  failure(400, /^Branch already exists$/),
);
raises(
  "GitbeakerRequestError 400: a reference that does not exist",
  ({ sdk }) => sdk.Branches.create(project, "x", "nowhere"),
  failure(400, /invalid reference name 'nowhere'/),
);
raises(
  "GitbeakerRequestError 400: a title that is empty",
  ({ sdk }) => sdk.Issues.create(project, " "),
  failure(400, /"title":\["can't be blank"\]/),
);
raises(
  "GitbeakerRequestError 405: the default branch",
  ({ sdk }) => sdk.Branches.remove(project, "main"),
  failure(405, /HEAD branch/),
);
raises(
  "GitbeakerRequestError 401: a token that nobody knows",
  ({ backend }) => read({ sdk: clientFor(backend, { token: "glpat-nobody" }) }),
  failure(401, /^401 Unauthorized$/),
);
raises("GitbeakerRequestError 401: a refusal on the wire", injected({ kind: "deny" }), failure(401, /./));
raises(
  "GitbeakerRequestError 403: a role that is too small",
  ({ sdk, backend }) => {
    backend.site.role = "reporter";
    return sdk.Branches.create(project, "x", "main");
  },
  failure(403, /^403 Forbidden$/),
);
raises(
  "GitbeakerRequestError 403: a token that may only read",
  ({ sdk, backend }) => {
    backend.world.scope = "read_api";
    return sdk.Issues.create(project, "x");
  },
  failure(403, /insufficient_scope/),
);
raises(
  "GitbeakerRequestError 409: a conflict",
  injected({ kind: "status", status: 409, body: { message: "409 Conflict" } }),
  failure(409, /^409 Conflict$/),
);
raises(
  "GitbeakerRequestError 500: a breakdown",
  injected({ kind: "status", status: 500 }),
  failure(500, /Something went wrong/),
);
raises(
  "GitbeakerRetryError 429: too many requests, ten times",
  injected({ kind: "rateLimit", retryAfter: 30 }, { times: 10 }),
  { class: GitbeakerRetryError, message: /last status code: 429/ },
);
raises("TypeError fetch failed: a connection that is cut", injected({ kind: "cutAfter" }), {
  name: "TypeError",
  message: "fetch failed",
});

does("goes on when the limit is over", async ({ sdk, backend }) => {
  backend.inject({ kind: "rateLimit", retryAfter: 30 }, { times: 2 });
  assert.equal((await read({ sdk })).iid, 1);
});

run();
