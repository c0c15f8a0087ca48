import type { SandboxModule } from "@reversi-connector/core";
import { type GitHubOptions, github } from "@reversi-connector/github";
import * as module from "@reversi-connector/github/sandbox";
import { bench, site } from "./bench.ts";

const asModule: SandboxModule<GitHubOptions> = module;

/** Speaks to the sandbox without the connector. */
async function vendor() {
  const on = await bench();
  const { token, baseUrl } = on.backend.options;
  const good: Record<string, string> = {
    authorization: `Bearer ${token}`,
    accept: "application/vnd.github+json",
    "x-github-api-version": "2022-11-28",
    "user-agent": "test",
    "content-type": "application/json",
  };
  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    changes: Record<string, string | undefined> = {},
  ) => {
    const headers = Object.entries({ ...good, ...changes }).filter(([, value]) => value !== undefined);
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: headers as [string, string][],
      redirect: "manual",
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: text === "" ? undefined : JSON.parse(text),
    };
  };
  return { ...on, ask };
}
const issues = "/repos/acme/site/issues";

test("another process attaches by the address alone", async () => {
  const { backend } = await bench();
  const elsewhere = github(asModule.attach(backend.address));
  expect(await elsewhere.tools["github.get_issue"]?.({ ...site, issue_number: 1 })).toMatchObject({
    state: "open",
  });
  await elsewhere.close();
});

test.each([
  ["no token", { authorization: undefined }, 401, "Requires authentication"],
  ["a wrong token", { authorization: `Bearer ghp_${"x".repeat(36)}` }, 401, "Bad credentials"],
  ["basic authentication", { authorization: "Basic eDp5" }, 401, "Bad credentials"],
  ["no user agent", { "user-agent": "" }, 403, /User-Agent header/],
  ["an unknown API version", { "x-github-api-version": "2021-01-01" }, 400, /not a supported/],
  ["an unknown media type", { accept: "text/html" }, 415, /Accept/],
  ["another content type", { "content-type": "text/plain" }, 415, /Unsupported Media Type/],
])("%s is refused", async (_, changes, status, message) => {
  const { ask, state } = await vendor();
  const before = await state();
  const answer = await ask("POST", issues, { title: "x" }, changes);
  expect(answer.status).toBe(status);
  expect(answer.body).toMatchObject({
    message: typeof message === "string" ? message : expect.stringMatching(message),
    documentation_url: expect.stringContaining("https://docs.github.com/"),
    status: String(status),
  });
  expect(await state()).toEqual(before);
});

test.each([
  ["no JSON", "POST", issues, "{", 400, "Problems parsing JSON"],
  ["no object", "POST", issues, "7", 400, "Body should be a JSON object"],
  ["an unknown property", "POST", issues, { title: "x", titel: "y" }, 422, /"titel" is not a permitted key/],
  ["no title", "POST", issues, {}, 422, "Validation Failed"],
  ["a title that is too long", "POST", issues, { title: "x".repeat(257) }, 422, "Validation Failed"],
  ["an unknown milestone", "POST", issues, { title: "x", milestone: 5 }, 422, "Validation Failed"],
  ["an unknown state", "PATCH", `${issues}/1`, { state: "done" }, 422, /properties\/state/],
  ["labels of another kind", "POST", `${issues}/1/labels`, { labels: "x" }, 422, /properties\/labels/],
  ["no labels", "POST", `${issues}/1/labels`, { labels: [] }, 422, /properties\/labels/],
  [
    "a label that is too long",
    "POST",
    `${issues}/1/labels`,
    { labels: ["x".repeat(51)] },
    422,
    "Validation Failed",
  ],
  ["an empty comment", "POST", `${issues}/1/comments`, { body: " " }, 422, "Validation Failed"],
  ["no comment", "POST", `${issues}/1/comments`, {}, 422, /"body" wasn't supplied/],
  ["no SHA", "POST", "/repos/acme/site/git/refs", { ref: "refs/heads/x" }, 422, /"sha" wasn't supplied/],
  [
    "a short ref",
    "POST",
    "/repos/acme/site/git/refs",
    { ref: "x", sha: "a".repeat(40) },
    422,
    /not a valid ref/,
  ],
  ["a short SHA", "POST", "/repos/acme/site/git/refs", { ref: "refs/heads/x", sha: "a" }, 422, /exactly 40/],
  [
    "a missing commit",
    "POST",
    "/repos/acme/site/git/refs",
    { ref: "refs/heads/x", sha: "a".repeat(40) },
    422,
    /exist/,
  ],
  ["a number that is none", "GET", `${issues}/one`, undefined, 404, "Not Found"],
  ["an endpoint that is none", "PUT", `${issues}/1/labels`, { labels: ["x"] }, 404, "Not Found"],
  ["a repository that is none", "GET", "/repos/acme/none", undefined, 404, "Not Found"],
])("%s is refused as GitHub does", async (_, method, path, body, status, message) => {
  const { ask, state } = await vendor();
  const before = await state();
  const answer = await ask(method, path, body);
  expect(answer.status).toBe(status);
  expect(answer.body.message).toEqual(typeof message === "string" ? message : expect.stringMatching(message));
  if (message === "Validation Failed") {
    const problem = { resource: expect.any(String), field: expect.any(String), code: expect.any(String) };
    expect(answer.body.errors).toEqual([expect.objectContaining(problem)]);
  }
  expect(await state()).toEqual(before);
});

test("every answer says what is left of the rate limit, and names the request", async () => {
  const { ask } = await vendor();
  const answers = [await ask("GET", "/repos/acme/site"), await ask("GET", `${issues}/99`)];
  expect(answers.map(({ headers }) => headers["x-ratelimit-remaining"])).toEqual(["4999", "4998"]);
  for (const { headers } of answers) {
    expect(headers).toMatchObject({
      "x-ratelimit-limit": "5000",
      "x-ratelimit-resource": "core",
      "x-ratelimit-reset": expect.stringMatching(/^\d+$/),
      "x-github-request-id": expect.stringMatching(/./),
    });
  }
});

test("both forms of the secondary limit carry retry-after only when told to", async () => {
  const { ask, backend } = await vendor();
  for (const status of [403, 429] as const) {
    backend.world.rateLimitStatus = status;
    backend.inject({ kind: "rateLimit" });
    backend.inject({ kind: "rateLimit", retryAfter: 60 });
    const answers = [await ask("GET", "/repos/acme/site"), await ask("GET", "/repos/acme/site")];
    expect(answers.map((answer) => answer.status)).toEqual([status, status]);
    expect(answers.map(({ headers }) => headers["retry-after"])).toEqual([undefined, "60"]);
  }
});

test("numbers are shared with pull requests and never used again", async () => {
  const { ask, backend } = await vendor();
  expect((await ask("POST", issues, { title: "x" })).body.number).toBe(3);
  const last = backend.site.issues.at(-1);
  if (last) last.deleted = true;
  expect((await ask("GET", `${issues}/3`)).status).toBe(410);
  expect((await ask("POST", issues, { title: "y" })).body.number).toBe(4);
});

test("the state of an issue changes, and its reason only with it", async () => {
  const { ask } = await vendor();
  const patch = async (body: object) => (await ask("PATCH", `${issues}/1`, body)).body;
  expect(await patch({ state_reason: "not_planned" })).toMatchObject({ state: "open", state_reason: null });
  expect(await patch({ state: "closed" })).toMatchObject({ state_reason: "completed" });
  expect(await patch({ state: "closed", state_reason: "not_planned" })).toMatchObject({
    state_reason: "completed",
  });
  expect(
    await patch({ state: "open", title: "New", body: null, labels: ["x"], assignees: ["ada"] }),
  ).toMatchObject({
    state: "open",
    state_reason: "reopened",
    title: "New",
    body: null,
    labels: [{ name: "x", color: "ededed", description: null }],
    assignees: [{ login: "ada" }],
  });
});

test("deleting a branch closes the pull request from it", async () => {
  const { ask, state } = await vendor();
  expect((await ask("DELETE", "/repos/acme/site/git/refs/heads%2Fdocs")).status).toBe(204);
  expect(JSON.stringify(await state())).toContain(
    '"number":2,"title":"Write the docs","body":null,"state":"closed"',
  );
});

test("a branch does not stand beside a branch that is its directory", async () => {
  const { ask, backend } = await vendor();
  const sha = backend.site.refs.get("heads/main");
  const answer = await ask("POST", "/repos/acme/site/git/refs", { ref: "refs/heads/docs/x", sha });
  expect(answer).toMatchObject({ status: 422, body: { message: "Reference update failed" } });
});

test("an empty repository answers 409 for every reference", async () => {
  const { ask, backend } = await vendor();
  backend.site.refs.clear();
  expect((await ask("GET", "/repos/acme/site/git/ref/heads/main")).status).toBe(409);
});

test("a list comes in pages of 30 unless more, at most 100, are asked for", async () => {
  const { ask, backend } = await vendor();
  for (let index = 0; index < 130; index++) {
    module.addComment(backend.world, backend.site, { issue: 1, body: `${index}` });
  }
  const get = async (query: string) => {
    const { body, headers } = await ask("GET", `${issues}/1/comments${query}`);
    return [body.length, headers["link"]?.replaceAll(backend.address, "")];
  };
  const to = (size: number, page: number, rel: string) =>
    `</repositories/1296269/issues/1/comments?per_page=${size}&page=${page}>; rel="${rel}"`;
  expect(await get("")).toEqual([30, `${to(30, 2, "next")}, ${to(30, 5, "last")}`]);
  expect(await get("?per_page=500&page=2")).toEqual([30, `${to(100, 1, "prev")}, ${to(100, 1, "first")}`]);
  expect(await get("?per_page=0&page=x")).toEqual([30, `${to(30, 2, "next")}, ${to(30, 5, "last")}`]);
});

test("a renamed repository redirects, reads with 301 and writes with 307", async () => {
  const { ask, backend } = await vendor();
  backend.site.name = "renamed";
  backend.world.renamed.set("acme/site", backend.site.id);
  const read = await ask("GET", `${issues}/1/labels?per_page=5`);
  expect(read).toMatchObject({ status: 301, body: { message: "Moved Permanently" } });
  expect(read.headers["location"]).toBe(`${backend.address}/repositories/1296269/issues/1/labels?per_page=5`);
  expect((await ask("POST", issues, { title: "x" })).status).toBe(307);
});

test("what the token may not do is refused plainly or hidden, as the sandbox is told", async () => {
  const { ask, backend } = await vendor();
  backend.site.permissions.contents = "read";
  const refused = await ask("DELETE", "/repos/acme/site/git/refs/heads/docs");
  expect(refused).toMatchObject({
    status: 403,
    headers: { "x-accepted-github-permissions": "contents=write" },
    body: { message: "Resource not accessible by personal access token" },
  });
  backend.world.refusal = 404;
  expect((await ask("DELETE", "/repos/acme/site/git/refs/heads/docs")).status).toBe(404);
  expect((await ask("GET", "/repos/acme/site/git/ref/heads/docs")).status).toBe(200);
});
