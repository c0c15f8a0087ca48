import assert from "node:assert/strict";
import { RequestError } from "@octokit/request-error";
import { Octokit } from "@octokit/rest";
import { software, witness } from "../support.js";

const site = { owner: "acme", repo: "site" };
const issue = { ...site, issue_number: 1 };
const silent = { debug() {}, info() {}, warn() {}, error() {} };

const { does, raises, run } = await witness(
  "github",
  software("@octokit/rest"),
  ({ address, options }) => new Octokit({ auth: options.token, baseUrl: address, log: silent }),
);

does("reads an issue", async ({ sdk }) => {
  const { data, status } = await sdk.rest.issues.get(issue);
  assert.equal(status, 200);
  assert.equal(data.number, 1);
  assert.equal(data.state, "open");
  assert.deepEqual(
    data.labels.map(({ name }) => name),
    ["bug"],
  );
});

does("creates an issue with labels and assignees", async ({ sdk, backend }) => {
  const { data, status } = await sdk.rest.issues.create({
    ...site,
    title: "Typo",
    body: "On the first page",
    labels: ["bug", { name: "typo" }],
    assignees: ["ada"],
  });
  assert.equal(status, 201);
  assert.deepEqual([data.title, data.body, data.assignees[0].login], ["Typo", "On the first page", "ada"]);
  assert.equal(backend.site.issues.at(-1).number, data.number);
});

does("sees what create_issue made, and what its undo left", async ({ sdk, call }) => {
  const { issue_number } = await call("create_issue", { ...site, title: "Ours", labels: ["bug"] });
  const before = await sdk.rest.issues.get({ ...site, issue_number });
  assert.deepEqual([before.data.title, before.data.state], ["Ours", "open"]);
  await call("close_issue", { ...site, issue_number });
  const after = await sdk.rest.issues.get({ ...site, issue_number });
  assert.equal(after.data.state, "closed");
});

does("closes an issue, and opens it again", async ({ sdk, call }) => {
  const closed = await sdk.rest.issues.update({ ...issue, state: "closed", state_reason: "not_planned" });
  assert.deepEqual([closed.data.state, closed.data.state_reason], ["closed", "not_planned"]);
  assert.equal((await call("get_issue", issue)).state, "closed");
  const open = await sdk.rest.issues.update({ ...issue, state: "open" });
  assert.equal(open.data.state, "open");
});

does("comments, reads the comment and deletes it", async ({ sdk }) => {
  const made = await sdk.rest.issues.createComment({ ...issue, body: "Looking **into** it" });
  assert.equal(made.status, 201);
  const comment = { ...site, comment_id: made.data.id };
  const read = await sdk.rest.issues.getComment(comment);
  assert.deepEqual(read.data, made.data);
  const gone = await sdk.rest.issues.deleteComment(comment);
  assert.equal(gone.status, 204);
});

does("pages through comments by the Link header", async ({ sdk }) => {
  for (const body of ["one", "two", "three"]) await sdk.rest.issues.createComment({ ...issue, body });
  const all = await sdk.paginate(sdk.rest.issues.listComments, { ...issue, per_page: 2 });
  assert.deepEqual(
    all.slice(-3).map(({ body }) => body),
    ["one", "two", "three"],
  );
});

does("adds and removes labels", async ({ sdk, call }) => {
  const name = "needs triage/ü?";
  const { data } = await sdk.rest.issues.addLabels({ ...issue, labels: [name, "documentation"] });
  assert.deepEqual(data.map((label) => label.name).sort(), ["bug", "documentation", name]);
  assert.equal((await sdk.rest.issues.getLabel({ ...site, name })).data.name, name);
  const left = await sdk.rest.issues.removeLabel({ ...issue, name });
  assert.deepEqual(left.data.map((label) => label.name).sort(), ["bug", "documentation"]);
  await call("remove_labels", { ...issue, labels: ["documentation"] });
  const listed = await sdk.rest.issues.listLabelsOnIssue(issue);
  assert.deepEqual(
    listed.data.map((label) => label.name),
    ["bug"],
  );
});

does("creates a branch, reads it and deletes it", async ({ sdk }) => {
  const main = await sdk.rest.git.getRef({ ...site, ref: "heads/main" });
  const { sha } = main.data.object;
  const made = await sdk.rest.git.createRef({ ...site, ref: "refs/heads/feature/x", sha });
  assert.equal(made.status, 201);
  assert.deepEqual(made.data.object.sha, sha);
  const gone = await sdk.rest.git.deleteRef({ ...site, ref: "heads/feature/x" });
  assert.equal(gone.status, 204);
});

does("sees the branch that create_branch made gone after its undo", async ({ sdk, call }) => {
  const { branch, sha } = await call("create_branch", { ...site, branch: "ours" });
  const { data } = await sdk.rest.git.getRef({ ...site, ref: "heads/ours" });
  assert.equal(data.object.sha, sha);
  await call("delete_branch", { ...site, branch, expected_sha: sha });
  await assert.rejects(sdk.rest.git.getRef({ ...site, ref: "heads/ours" }), { status: 404 });
});

does("edits a comment of add_comment, which its undo does not overwrite", async ({ sdk, backend, call }) => {
  const { comment_id, sha256 } = await call("add_comment", { ...issue, body: "Ours" });
  const { data } = await sdk.rest.issues.getComment({ ...site, comment_id });
  assert.equal(data.body, "Ours");
  backend.site.comments.find(({ id }) => id === comment_id).body = "Edited";
  await assert.rejects(call("delete_comment", { ...site, comment_id, expected_sha256: sha256 }), {
    code: "CONFLICT",
  });
  assert.equal((await sdk.rest.issues.getComment({ ...site, comment_id })).data.body, "Edited");
});

does("reads the repository", async ({ sdk }) => {
  const { data } = await sdk.rest.repos.get(site);
  assert.deepEqual([data.full_name, data.default_branch], ["acme/site", "main"]);
});

does("follows the redirect of a renamed repository", async ({ sdk, backend }) => {
  backend.world.renamed.set("acme/old", backend.site.id);
  const { data } = await sdk.rest.issues.get({ ...issue, repo: "old" });
  assert.equal(data.number, 1);
});

const get = ({ sdk }) => sdk.rest.issues.get(issue);
const injected = (fault) => (bench) => {
  bench.backend.inject(fault);
  return get(bench);
};
const documented = (response) => /^https:\/\/docs\.github\.com\/rest/.test(response.data.documentation_url);
const error = (status, message) => ({ class: RequestError, name: "HttpError", status, message });

raises(
  "RequestError 404: an issue that is not there",
  ({ sdk }) => sdk.rest.issues.get({ ...site, issue_number: 999 }),
  { ...error(404, /^Not Found/), response: documented },
);
raises(
  "RequestError 410: a deleted issue",
  ({ sdk, backend }) => {
    backend.site.issues[0].deleted = true;
    return get({ sdk });
  },
  error(410, /deleted/),
);
raises(
  "RequestError 401: a token that nobody knows",
  ({ backend }) =>
    new Octokit({ auth: "ghp_nobody", baseUrl: backend.address, log: silent }).rest.issues.get(issue),
  error(401, /^Bad credentials/),
);
raises("RequestError 401: a refusal on the wire", injected({ kind: "deny" }), error(401, /./));
raises("RequestError 403: a refusal on the wire", injected({ kind: "deny", status: 403 }), error(403, /./));
raises(
  "RequestError 403: a permission that is missing",
  ({ sdk, backend }) => {
    backend.site.permissions.issues = "read";
    return sdk.rest.issues.createComment({ ...issue, body: "x" });
  },
  error(403, /^Resource not accessible by personal access token/),
);
raises(
  "RequestError 422: a branch that exists",
  async ({ sdk }) => {
    const { data } = await sdk.rest.git.getRef({ ...site, ref: "heads/main" });
    return sdk.rest.git.createRef({ ...site, ref: "refs/heads/docs", sha: data.object.sha });
  },
  error(422, /^Reference already exists/),
);
raises(
  "RequestError 422: a comment without a text",
  ({ sdk }) => sdk.rest.issues.createComment({ ...issue, body: " " }),
  {
    ...error(422, /^Validation Failed: \{"resource":"IssueComment","field":"data","code":"unprocessable"/),
    response: (response) => response.data.errors.length === 1,
  },
);
raises("RequestError 403: the secondary limit", injected({ kind: "rateLimit", retryAfter: 7 }), {
  ...error(403, /secondary rate limit/),
  response: ({ headers }) => headers["retry-after"] === "7",
});
raises(
  "RequestError 429: the primary limit",
  (bench) => {
    Object.assign(bench.backend.world, { remaining: 0, rateLimitStatus: 429 });
    return get(bench);
  },
  {
    ...error(429, /^API rate limit exceeded/),
    response: ({ headers }) => headers["x-ratelimit-remaining"] === "0",
  },
);
raises(
  "RequestError 500: a breakdown",
  injected({ kind: "status", status: 500 }),
  error(500, /Something went wrong/),
);
raises("RequestError 500: a connection that is cut", injected({ kind: "cutAfter" }), error(500, /./));

run();
