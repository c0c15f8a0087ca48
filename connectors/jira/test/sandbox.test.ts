import type { SandboxModule } from "@reversi-connector/core";
import { documentOf } from "../src/adf.ts";
import { type JiraOptions, jira } from "../src/index.ts";
import * as module from "../src/sandbox.ts";
import { bench, refusal } from "./bench.ts";

const asModule: SandboxModule<JiraOptions> = module;

/** Speaks to the sandbox without the connector. */
async function vendor() {
  const on = await bench();
  const { email, token, baseUrl } = on.backend.options;
  const good = {
    authorization: `Basic ${Buffer.from(`${email}:${token}`).toString("base64")}`,
    "content-type": "application/json",
  };
  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    changes: Record<string, string | undefined> = {},
  ) => {
    const headers = Object.entries({ ...good, ...changes }).filter(([, value]) => value !== undefined);
    const response = await fetch(`${baseUrl}/rest/api/3${path}`, {
      method,
      headers: headers as [string, string][],
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
type Asked = Parameters<Awaited<ReturnType<typeof vendor>>["ask"]>;

const fields = { project: { key: "PROJ" }, issuetype: { name: "Task" }, summary: "x" };
const issue = (change: object, more: object = {}): Asked => [
  "POST",
  "/issue",
  { fields: { ...fields, ...change }, ...more },
];
const jql = (text: string): Asked => ["GET", `/search/jql?jql=${encodeURIComponent(text)}`];
const text = (content: object[]) => ({ type: "doc", version: 1, content });

test("another process attaches by the address alone", async () => {
  const { backend } = await bench();
  const elsewhere = jira(asModule.attach(backend.address));
  expect(await elsewhere.tools["jira.get_issue"]?.({ issue_id: "PROJ-1" })).toMatchObject({
    status: "To Do",
  });
  await elsewhere.close();
});

describe("a request that Jira refuses", () => {
  test.each<[string, Asked, number, RegExp]>([
    ["a broken body", ["POST", "/issue", "{"], 400, /error parsing JSON/],
    ["a list", ["POST", "/issue", "[]"], 400, /error parsing JSON/],
    ["an unknown member", issue({}, { title: "x" }), 400, /Unrecognized field/],
    ["an unknown field", issue({ title: "x" }), 400, /"title":"Field 'title' cannot be set/],
    ["no project", issue({ project: undefined }), 400, /valid project/],
    ["a hidden project", issue({ project: { key: "SECRET" } }), 400, /valid project/],
    ["no type", issue({ issuetype: undefined }), 400, /valid issue type/],
    ["no summary", issue({ summary: undefined }), 400, /You must specify a summary/],
    ["a long summary", issue({ summary: "x".repeat(256) }), 400, /less than 255/],
    ["a summary of two lines", issue({ summary: "a\nb" }), 400, /newline/],
    ["a plain description", issue({ description: "x" }), 400, /Atlassian Document/],
    ["another version", issue({ description: { ...text([]), version: 2 } }), 400, /Atlassian Document/],
    ["an empty text", issue({ description: text([{ type: "text", text: "" }]) }), 400, /Atlassian Document/],
    [
      "an empty text inside",
      issue({ description: text([{ type: "paragraph", content: [{ type: "text", text: "" }] }]) }),
      400,
      /Atlassian Document/,
    ],
    ["a long description", issue({ description: documentOf("x".repeat(32_768)) }), 400, /too long/],
    ["a label with a blank", issue({ labels: ["a b"] }), 400, /contains spaces/],
    ["a sub-task on its own", issue({ issuetype: { name: "Sub-task" } }), 400, /parent issue key or id/],
    ["a task below a bug", issue({ parent: { key: "PROJ-1" } }), 400, /hierarchy/],
    ["a parent that is none", issue({ parent: { key: "PROJ-99" } }), 400, /Could not find issue/],
    ["a property without a value", issue({}, { properties: [{ key: "x" }] }), 400, /INVALID_INPUT/],
    ["an issue that is none", ["GET", "/issue/PROJ-99"], 404, /Issue does not exist/],
    ["a hidden issue", ["GET", "/issue/SECRET-1"], 404, /Issue does not exist/],
    ["an unknown field to show", ["GET", "/issue/PROJ-1?fields=title"], 400, /'title'/],
    ["an unknown query", ["GET", "/issue/PROJ-1?field=status"], 400, /'field'/],
    [
      "a comment that is none",
      ["GET", "/issue/PROJ-1/comment/1"],
      404,
      /Can not find a comment for the id: 1\./,
    ],
    ["a plain comment", ["POST", "/issue/PROJ-1/comment", { body: "x" }], 400, /Atlassian Document/],
    [
      "an empty comment",
      ["POST", "/issue/PROJ-1/comment", { body: documentOf("") }],
      400,
      /can not be empty/,
    ],
    [
      "a long comment",
      ["POST", "/issue/PROJ-1/comment", { body: documentOf("x".repeat(32_768)) }],
      400,
      /too long/,
    ],
    ["another order", ["GET", "/issue/PROJ-1/comment?orderBy=updated"], 400, /orderBy/],
    ["a page that is none", ["GET", "/issue/PROJ-1/comment?startAt=x"], 400, /not a number/],
    ["no transition", ["POST", "/issue/PROJ-1/transitions", {}], 400, /Missing 'transition'/],
    [
      "a transition that is not possible",
      ["POST", "/issue/PROJ-1/transitions", { transition: { id: "21" } }],
      400,
      /workflow operation \(Stop\) that is not valid/,
    ],
    ["no permissions", ["GET", "/mypermissions?projectKey=PROJ"], 400, /required/],
    ["a permission that is none", ["GET", "/mypermissions?permissions=FLY"], 400, /FLY/],
    [
      "a hidden project's",
      ["GET", "/mypermissions?projectKey=SECRET&permissions=DELETE_ISSUES"],
      404,
      /SECRET/,
    ],
    ["an unbounded search", ["GET", "/search/jql"], 400, /Unbounded/],
    ["another order of a search", jql('project = "PROJ" ORDER BY rank ASC'), 400, /order/],
    ["another clause", jql('summary ~ "x" ORDER BY key DESC'), 400, /not understood/],
    ["a search in a hidden project", jql('project = "SECRET" ORDER BY key DESC'), 400, /does not exist/],
    ["the search of before", ["GET", "/search?jql=x"], 410, /has been removed/],
    ["a path that is none", ["GET", "/issues"], 404, /Not Found/],
  ])("%s", async (_, request, status, words) => {
    const { ask, state } = await vendor();
    const before = await state();
    const answer = await ask(...request);
    expect(answer).toMatchObject({
      status,
      body: { errorMessages: expect.any(Array), errors: expect.any(Object) },
    });
    expect(JSON.stringify(answer.body)).toMatch(words);
    expect(await state()).toEqual(before);
  });

  test("another content type", async () => {
    const { ask } = await vendor();
    expect(await ask("POST", "/issue", "{}", { "content-type": "text/plain" })).toMatchObject({
      status: 415,
    });
  });

  test.each([
    ["CREATE_ISSUES", issue({}), 403],
    ["DELETE_ISSUES", ["DELETE", "/issue/PROJ-2"], 403],
    ["ADD_COMMENTS", ["POST", "/issue/PROJ-1/comment", { body: documentOf("x") }], 400],
    ["TRANSITION_ISSUES", ["POST", "/issue/PROJ-1/transitions", { transition: { id: "11" } }], 400],
    ["BROWSE_PROJECTS", ["GET", "/issue/PROJ-1"], 404],
  ] as [string, Asked, number][])("without %s", async (permission, request, status) => {
    const { ask, world } = await vendor();
    world.permissions.delete(permission);
    expect(await ask(...request)).toMatchObject({ status, body: { errorMessages: [expect.any(String)] } });
  });
});

describe("strangers", () => {
  test.each([
    ["GET", "/issue/PROJ-1", 404],
    ["GET", "/issue/PROJ-1/transitions", 404],
    ["GET", "/myself", 401],
    ["DELETE", "/issue/PROJ-1", 401],
  ])("%s %s", async (method, path, status) => {
    const { ask } = await vendor();
    const wrong = await ask(method, path, undefined, { authorization: "Basic bWU6bWU=" });
    expect(wrong).toMatchObject({ status, headers: { "x-seraph-loginreason": "AUTHENTICATED_FAILED" } });
    const none = await ask(method, path, undefined, { authorization: undefined });
    expect(none.status).toBe(status);
    expect(Object.keys(none.headers)).not.toContain("x-seraph-loginreason");
  });

  test("see a public site, and nothing tells them so but a header", async () => {
    const { ask, world } = await vendor();
    world.isPublic = true;
    const stranger = await ask("GET", "/issue/PROJ-1", undefined, { authorization: "Basic bWU6bWU=" });
    expect(stranger).toMatchObject({
      status: 200,
      headers: { "x-seraph-loginreason": "AUTHENTICATED_FAILED" },
    });
    const known = await ask("GET", "/issue/PROJ-1");
    expect(known.headers["x-aaccountid"]).toBe(module.me.accountId);
  });
});

test("a sub-task goes with its parent only when that is asked for", async () => {
  const { ask, world } = await vendor();
  await ask(...issue({ issuetype: { name: "Sub-task" }, parent: { key: "PROJ-2" } }));
  const refused = await ask("DELETE", "/issue/PROJ-2");
  expect(refused).toMatchObject({
    status: 400,
    body: { errorMessages: [expect.stringContaining("has subtasks")] },
  });
  expect(await ask("DELETE", "/issue/PROJ-2?deleteSubtasks=true")).toMatchObject({
    status: 204,
    body: undefined,
  });
  expect(world.issues.map(({ key }) => key)).toEqual(["PROJ-1", "HELP-1", "SECRET-1"]);
});

test("times are written as Jira writes them, and the history lists who changed what, oldest first", async () => {
  const { ask, backend, world } = await vendor();
  await ask("POST", "/issue/PROJ-1/transitions", { transition: { id: "31" } });
  module.rename(world, backend.issue, module.ada, "y");
  const { body } = await ask("GET", "/issue/PROJ-1/changelog");
  const change = (author: string, field: string) => ({
    created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+0000$/),
    author: { displayName: author },
    items: expect.arrayContaining([expect.objectContaining({ field })]),
  });
  expect(body).toMatchObject({
    ...{ startAt: 0, total: 2, isLast: true },
    values: [change(module.me.displayName, "status"), change("Ada", "summary")],
  });
  const { body: newest } = await ask("GET", "/issue/PROJ-1?expand=changelog&fields=status");
  expect(newest.changelog.histories).toMatchObject([change("Ada", "summary"), {}]);
});

test("the search comes in pages, and lags where it is told to", async () => {
  const { ask, world } = await vendor();
  for (let count = 0; count < 3; count++) await ask(...issue({}));
  world.searchLags = true;
  const late = await ask(...issue({}));
  const query = encodeURIComponent('project = "PROJ" AND creator = currentUser() ORDER BY key DESC');
  const page = async (more: string) =>
    (await ask("GET", `/search/jql?jql=${query}&maxResults=2${more}`)).body;
  const first = await page("");
  expect(first).toMatchObject({ isLast: false, issues: [{ key: "PROJ-5" }, { key: "PROJ-4" }] });
  const second = await page(`&nextPageToken=${first.nextPageToken}`);
  expect(second).toMatchObject({ isLast: true, issues: [{ key: "PROJ-3" }] });
  expect(await page(`&reconcileIssues=${late.body.id}`)).toMatchObject({ issues: [{ key: "PROJ-6" }, {}] });
  module.index(world);
  expect(await page("")).toMatchObject({ issues: [{ key: "PROJ-6" }, {}] });
});

test("too many requests are answered with 429 and the reason in a header", async () => {
  const { ask, backend } = await vendor();
  backend.inject({ kind: "rateLimit", retryAfter: 30 });
  const answer = await ask("GET", "/myself");
  expect(answer).toMatchObject({ status: 429, body: refusal("Rate limit exceeded.") });
  expect(answer.headers).toMatchObject({ "retry-after": "30", "ratelimit-reason": "jira-burst-based" });
});
