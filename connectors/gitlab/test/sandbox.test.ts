import type { SandboxModule } from "@reversi-connector/core";
import { type GitLabOptions, gitlab } from "@reversi-connector/gitlab";
import * as module from "@reversi-connector/gitlab/sandbox";
import { bench, site } from "./bench.ts";

const asModule: SandboxModule<GitLabOptions> = module;

/** Speaks to the sandbox without the connector. */
async function vendor() {
  const on = await bench();
  const { token } = on.backend.options;
  const good: Record<string, string> = { "private-token": token, "content-type": "application/json" };
  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    changes: Record<string, string | undefined> = {},
  ) => {
    const headers = Object.entries({ ...good, ...changes }).filter(([, value]) => value !== undefined);
    const response = await fetch(`${on.backend.address}/api/v4/projects/${path}`, {
      method,
      headers: headers as [string, string][],
      redirect: "manual",
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: /json/.test(response.headers.get("content-type") ?? "") ? JSON.parse(text) : text,
    };
  };
  return { ...on, ask };
}
const project = encodeURIComponent(site.project);
const issues = `${project}/issues`;
const branches = `${project}/repository/branches`;

test("another process attaches by the address alone", async () => {
  const { backend } = await bench();
  const elsewhere = gitlab(asModule.attach(backend.address));
  expect(await elsewhere.tools["gitlab.get_issue"]?.({ ...site, issue_iid: 1 })).toMatchObject({
    state: "opened",
  });
  await elsewhere.close();
});

test.each([
  ["no token", { "private-token": undefined }, 401, { message: "401 Unauthorized" }],
  ["a wrong token", { "private-token": `glpat-${"x".repeat(20)}` }, 401, { message: "401 Unauthorized" }],
  [
    "another content type",
    { "content-type": "text/plain" },
    415,
    { error: "The provided content-type 'text/plain' is not supported." },
  ],
])("%s is refused", async (_, changes, status, body) => {
  const { ask, state } = await vendor();
  const before = await state();
  expect(await ask("POST", issues, { title: "x" }, changes)).toMatchObject({ status, body });
  expect(await state()).toEqual(before);
});

test("the token is taken as a bearer too", async () => {
  const { ask, backend } = await vendor();
  const authorization = `Bearer ${backend.options.token}`;
  expect((await ask("GET", project, undefined, { "private-token": undefined, authorization })).status).toBe(
    200,
  );
});

const long = (length: number) => "x".repeat(length);
test.each([
  ["no JSON", "POST", issues, "{", 400, { error: "message body does not match declared format" }],
  ["no title", "POST", issues, {}, 400, { error: "title is missing" }],
  ["a title of another kind", "POST", issues, { title: {} }, 400, { error: "title is invalid" }],
  ["an empty title", "POST", issues, { title: "" }, 400, { message: { title: ["can't be blank"] } }],
  [
    "a title that is too long",
    "POST",
    issues,
    { title: long(256) },
    400,
    { message: { title: ["is too long (maximum is 255 characters)"] } },
  ],
  [
    "a description that is too long",
    "POST",
    issues,
    { title: "x", description: long(1_048_577) },
    400,
    { message: { description: ["is too long (maximum is 1048576 characters)"] } },
  ],
  ["no change", "PUT", `${issues}/1`, {}, 400, { error: /at least one parameter must be provided$/ }],
  [
    "an unknown event",
    "PUT",
    `${issues}/1`,
    { state_event: "closed" },
    400,
    { error: "state_event does not have a valid value" },
  ],
  ["no body", "POST", `${issues}/1/notes`, {}, 400, { error: "body is missing" }],
  [
    "an empty note",
    "POST",
    `${issues}/1/notes`,
    { body: " " },
    400,
    { message: '400 Bad request - Note {:note=>["can\'t be blank"]}' },
  ],
  [
    "a note that is too long",
    "POST",
    `${issues}/1/notes`,
    { body: long(1_000_001) },
    400,
    { message: /too long \(maximum is 1000000/ },
  ],
  ["no branch and no ref", "POST", branches, {}, 400, { error: "branch is missing, ref is missing" }],
  ["an empty ref", "POST", branches, { branch: "x", ref: "" }, 400, { error: "ref is empty" }],
  [
    "a branch that exists",
    "POST",
    branches,
    { branch: "docs", ref: "main" },
    400,
    { message: "Branch already exists" },
  ],
  [
    "a name that git forbids",
    "POST",
    branches,
    { branch: "a b", ref: "main" },
    400,
    { message: "Branch name is invalid" },
  ],
  [
    "an unknown ref",
    "POST",
    branches,
    { branch: "x", ref: "nowhere" },
    400,
    { message: "Failed to create branch 'x': invalid reference name 'nowhere'" },
  ],
  [
    "a branch below a branch",
    "POST",
    branches,
    { branch: "docs/x", ref: "main" },
    400,
    { message: /conflicts with existing branch hierarchy/ },
  ],
  ["a number that is none", "GET", `${issues}/one`, undefined, 400, { error: "issue_iid is invalid" }],
  ["an issue that is none", "GET", `${issues}/99`, undefined, 404, { message: "404 Not found" }],
  ["a note that is none", "GET", `${issues}/1/notes/5`, undefined, 404, { message: "404 Not found" }],
  ["a branch that is none", "GET", `${branches}/x`, undefined, 404, { message: "404 Branch Not Found" }],
  [
    "a branch name that git forbids",
    "GET",
    `${branches}/a%20b`,
    undefined,
    400,
    { message: "The branch refname is invalid" },
  ],
  ["a project that is none", "GET", "acme%2Fnone", undefined, 404, { message: "404 Project Not Found" }],
  ["a path with a raw slash", "GET", `${site.project}/issues/1`, undefined, 404, { error: "404 Not Found" }],
  ["an endpoint that is none", "PATCH", `${issues}/1`, { title: "x" }, 404, { error: "404 Not Found" }],
  [
    "the default branch",
    "DELETE",
    `${branches}/main`,
    undefined,
    405,
    { message: "Cannot remove HEAD branch" },
  ],
])("%s is refused as GitLab does", async (_, method, path, body, status, words) => {
  const { ask, state } = await vendor();
  const before = await state();
  const [[key, value] = ["", ""]] = Object.entries<unknown>(words);
  expect(await ask(method, path, body)).toMatchObject({
    status,
    body: { [key]: value instanceof RegExp ? expect.stringMatching(value) : value },
  });
  expect(await state()).toEqual(before);
});

test("every answer says what is left of the rate limit, and names the request", async () => {
  const { ask } = await vendor();
  const answers = [await ask("GET", project), await ask("GET", `${issues}/99`)];
  expect(answers.map(({ headers }) => headers["ratelimit-remaining"])).toEqual(["1999", "1998"]);
  for (const { headers } of answers) {
    expect(headers).toMatchObject({
      "ratelimit-limit": "2000",
      "ratelimit-name": "throttle_authenticated_api",
      "ratelimit-reset": expect.stringMatching(/^\d+$/),
      "x-request-id": expect.stringMatching(/./),
    });
  }
});

test("the limit of all requests is plain text, that of notes is JSON without Retry-After", async () => {
  const { ask, backend } = await vendor();
  backend.inject({ kind: "rateLimit", retryAfter: 60 });
  expect(await ask("GET", project)).toMatchObject({
    status: 429,
    headers: { "retry-after": "60", "content-type": expect.stringMatching(/^text\/plain/) },
    body: "Retry later\n",
  });
  backend.world.remaining = 0;
  expect(await ask("GET", project)).toMatchObject({ status: 429, headers: { "ratelimit-remaining": "0" } });
  backend.world.remaining = 10;
  backend.world.remainingNotes = 0;
  const notes = await ask("POST", `${issues}/1/notes`, { body: "x" });
  expect(notes).toMatchObject({
    status: 429,
    body: { message: { error: expect.stringMatching(/too many times/) } },
  });
  expect(notes.headers["retry-after"]).toBeUndefined();
});

describe("quick actions", () => {
  test("alone make no note: 202 without an id, and the issue changes", async () => {
    const { ask, backend } = await vendor();
    const answer = await ask("POST", `${issues}/1/notes`, { body: "/close\n/label ~new" });
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({
      commands_changes: { state_event: "close", add_label_ids: [2] },
      summary: ["Closed this issue.", "Added ~new label."],
    });
    expect(backend.site.issues[0]).toMatchObject({ state: "closed", labels: ["bug", "new"], notes: [] });
  });

  test("in a text are run and taken out of it, but not in a code block", async () => {
    const { ask, backend } = await vendor();
    const body = "text\n/CLOSE\n```\n/reopen\n```\nmore";
    const answer = await ask("POST", `${issues}/1/notes`, { body });
    expect(answer).toMatchObject({
      status: 201,
      body: { body: "text\n```\n/reopen\n```\nmore", commands_changes: { state_event: "close" } },
    });
    expect(backend.site.issues[0]?.state).toBe("closed");
  });

  test("in a description are run as well", async () => {
    const { ask } = await vendor();
    const made = await ask("POST", issues, { title: "x", description: "text\n/confidential" });
    expect(made.body).toMatchObject({ description: "text", confidential: true });
  });
});

test("a deletion under If-Unmodified-Since is refused after a later change, to the microsecond", async () => {
  const { ask, backend } = await vendor();
  const [issue] = backend.site.issues;
  if (!issue) throw new Error("no issue");
  const note = module.addNote(backend.world, issue, { body: "x" });
  const path = `${issues}/1/notes/${note.id}`;
  const { updated_at } = (await ask("GET", path)).body;
  const under = (since: string) => ask("DELETE", path, undefined, { "if-unmodified-since": since });
  const failed = { status: 412, body: { message: "412 Precondition Failed" } };
  expect(await under(updated_at)).toMatchObject(failed);
  const old = new Date(Date.now() - 60_000).toUTCString();
  expect(await under(old)).toMatchObject(failed);
  expect((await under(updated_at.replace("Z", "999Z"))).status).toBe(204);
});

test("what is no time is no condition", async () => {
  const { ask } = await vendor();
  const headers = { "if-unmodified-since": "yesterday" };
  expect((await ask("DELETE", `${branches}/docs`, undefined, headers)).status).toBe(204);
});

test("a project that moved redirects reads, and refuses writes with 405", async () => {
  const { ask, backend } = await vendor();
  const { id } = backend.site;
  backend.site.path = "acme/renamed";
  backend.world.moved.set(site.project, id);
  const read = await ask("GET", `${issues}/1?x=1`);
  expect(read.status).toBe(301);
  expect(read.headers["location"]).toBe(`${backend.address}/api/v4/projects/${id}/issues/1?x=1`);
  expect(await ask("POST", issues, { title: "x" })).toMatchObject({
    status: 405,
    body: { message: "Non GET methods are not allowed for moved projects" },
  });
});

test("a branch can be asked for without its body", async () => {
  const { ask } = await vendor();
  expect((await ask("HEAD", `${branches}/docs`)).status).toBe(204);
  expect((await ask("HEAD", `${branches}/x`)).status).toBe(404);
});

test("the state of an issue changes with an event", async () => {
  const { ask } = await vendor();
  const put = async (body: object) => (await ask("PUT", `${issues}/1`, body)).body;
  expect(await put({ state_event: "close" })).toMatchObject({
    state: "closed",
    closed_at: expect.any(String),
  });
  expect(await put({ state_event: "reopen", title: "New", labels: "a,b" })).toMatchObject({
    state: "opened",
    closed_at: null,
    title: "New",
    labels: ["a", "b"],
  });
});

test("a role decides what is refused and what is hidden", async () => {
  const { ask, backend } = await vendor();
  const [issue] = backend.site.issues;
  if (issue) issue.confidential = true;
  backend.site.role = "guest";
  expect((await ask("GET", `${issues}/1`)).status).toBe(404);
  expect((await ask("GET", `${issues}/2`)).status).toBe(200);
  expect((await ask("GET", `${branches}/docs`)).status).toBe(403);
  backend.site.role = "none";
  expect(await ask("GET", project)).toMatchObject({
    status: 404,
    body: { message: "404 Project Not Found" },
  });
});
