import { ConnectorError, InvalidArgumentsError } from "@reversi-connector/core";
import { openIssue } from "@reversi-connector/github/sandbox";
import { bench, failure } from "./bench.ts";

test("an issue is read with all that people see of it", async () => {
  const { call } = await bench();
  expect(await call("get_issue", { issue_number: 1 })).toEqual({
    issue_number: 1,
    title: "Broken link",
    body: "See /docs",
    state: "open",
    state_reason: null,
    labels: ["bug"],
    assignees: [],
    author: "ada",
    comments: 0,
    locked: false,
    is_pull_request: false,
    url: "https://github.com/acme/site/issues/1",
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    closed_at: null,
  });
  expect(await call("get_issue", { issue_number: 2 })).toMatchObject({ is_pull_request: true, body: null });
});

test("MC-09: an issue with a body of 60 kB is returned whole", async () => {
  const { call, backend } = await bench();
  const body = "á line of text\n".repeat(4000);
  const { number } = openIssue(backend.world, backend.site, { title: "Long", body });
  expect((await call("get_issue", { issue_number: number }))["body"]).toBe(body);
});

test("reading an issue that does not exist fails with GitHub's status and words", async () => {
  const { call } = await bench();
  const error = await failure(call("get_issue", { issue_number: 99 }));
  expect(error).toMatchObject({
    name: "ConnectorError",
    status: 404,
    reason: "Not Found",
    mayHaveApplied: false,
  });
  expect(error.message).toBe(
    "HTTP 404: GET /repos/acme/site/issues/99: Not Found: check the name, and what the token may see and do",
  );
  expect(error.requestId).toMatch(/^[0-9A-F-]{36}$/);
});

test("an issue that was transferred is not read under its new number", async () => {
  const { call, backend } = await bench();
  backend.world.repositories.push({ ...backend.site, id: 7, name: "elsewhere" });
  const old = openIssue(backend.world, backend.site, { title: "Moves" });
  old.movedTo = "/repositories/7/issues/1";
  const error = await failure(call("get_issue", { issue_number: old.number }));
  expect(error.message).toMatch(/issue 3 of acme\/site was transferred.*elsewhere\/issues\/1/);
});

test("create_issue says what GitHub made of the request, and sends nothing but the arguments", async () => {
  const { call, writes } = await bench();
  const args = { title: "Typo", body: "On page 3", labels: ["BUG"], assignees: ["ada"] };
  expect(await call("create_issue", args)).toEqual({
    issue_number: 3,
    state: "open",
    labels: ["bug"],
    assignees: ["ada"],
    url: "https://github.com/acme/site/issues/3",
  });
  expect(writes().map((request) => request.json())).toEqual([args]);
});

test("without push access the result shows that labels and assignees were dropped", async () => {
  const { call, backend } = await bench();
  backend.site.push = false;
  const args = { title: "Typo", labels: ["bug"], assignees: ["ada"] };
  expect(await call("create_issue", args)).toMatchObject({ labels: [], assignees: [] });
});

test("a refused issue says which field was wrong, and nothing was made", async () => {
  const { call, state } = await bench();
  const before = await state();
  const error = await failure(call("create_issue", { title: "Typo", assignees: ["nobody"] }));
  expect(error).toMatchObject({ status: 422, reason: "Validation Failed" });
  expect(error.message).toContain("Issue assignees invalid");
  expect(await state()).toEqual(before);
});

test("the undo of create_issue leaves the issue closed, and nothing else", async () => {
  const { call, undo, holds, undoOf, state } = await bench();
  const args = { title: "Typo", body: "On page 3", labels: ["bug"] };
  const result = await call("create_issue", args);
  const { repositories } = (await state()) as { repositories: Record<string, { issues: object[] }> };
  expect(await holds("close_issue", undoOf("create_issue", args, result).args)).toBe(false);

  expect(await undo("create_issue", args, result)).toEqual({
    issue_number: 3,
    state: "closed",
    already: false,
  });

  const expected = structuredClone(repositories);
  Object.assign(expected["acme/site"]?.issues[2] ?? {}, { state: "closed", state_reason: "not_planned" });
  expect(await state()).toEqual({ repositories: expected });
  expect(await holds("close_issue", undoOf("create_issue", args, result).args)).toBe(true);
});

test("a label that the repository lacked stays in it after the undo", async () => {
  const { call, undo, backend } = await bench();
  const args = { title: "Typo", labels: ["brand new"] };
  await undo("create_issue", args, await call("create_issue", args));
  expect(backend.site.labels.map(({ name }) => name)).toContain("brand new");
});

test("closing a closed issue changes nothing and sends no write", async () => {
  const { call, state, writes } = await bench();
  await call("close_issue", { issue_number: 1, state_reason: "completed" });
  const before = await state();
  expect(await call("close_issue", { issue_number: 1 })).toMatchObject({ state: "closed", already: true });
  expect(await state()).toEqual(before);
  expect(writes()).toHaveLength(1);
});

test("close_issue refuses a pull request before it sends anything", async () => {
  const { call, state, writes } = await bench();
  const before = await state();
  const error = await failure(call("close_issue", { issue_number: 2 }));
  expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
  expect(error.message).toMatch(/pull\/2 is a pull request, not an issue; nothing was sent/);
  expect(writes()).toEqual([]);
  expect(await state()).toEqual(before);
});

test("a deleted issue counts as closed, whenever it was deleted", async () => {
  const { call, holds, backend } = await bench();
  const { world, site } = backend;
  const issue = openIssue(world, site, { title: "Gone soon" });
  const { number } = issue;
  backend.inject(
    { kind: "status", status: 410, body: { message: "This issue was deleted" } },
    { method: "PATCH" },
  );
  expect(await call("close_issue", { issue_number: number })).toMatchObject({ already: true });
  issue.deleted = true;
  expect(await call("close_issue", { issue_number: number })).toMatchObject({ already: true });
  expect(await holds("close_issue", { issue_number: number })).toBe(true);
});

test("a repository whose issues are switched off does not count as one whose issue is closed", async () => {
  const { call, holds, backend } = await bench();
  backend.site.hasIssues = false;
  const error = await failure(call("close_issue", { issue_number: 1 }));
  expect(error).toMatchObject({ status: 410, reason: "Issues are disabled for this repo" });
  await expect(holds("close_issue", { issue_number: 1 })).rejects.toThrow(/disabled/);
});

test("an issue that is not found counts as closed only while the repository can be read", async () => {
  const { call, holds, backend } = await bench();
  expect(await call("close_issue", { issue_number: 99 })).toMatchObject({ already: true });
  expect(await holds("close_issue", { issue_number: 99 })).toBe(true);
  backend.site.visible = false;
  const error = await failure(call("close_issue", { issue_number: 99 }));
  expect(error).toMatchObject({ code: "FAILED", status: 404 });
  expect(error.message).toMatch(/acme\/site cannot be read, so nobody can tell/);
  await expect(holds("close_issue", { issue_number: 99 })).rejects.toThrow(/nobody can tell/);
});

test.each([403, 404] as const)(
  "closing without permission (answered %i) fails and says so",
  async (refusal) => {
    const { call, backend, state } = await bench();
    backend.world.refusal = refusal;
    backend.site.permissions.issues = "read";
    const before = await state();
    const error = await failure(call("close_issue", { issue_number: 1 }));
    expect(error).toMatchObject({ code: "FAILED", status: refusal, mayHaveApplied: false });
    if (refusal === 403) expect(error.message).toContain("the token needs issues=write");
    expect(await state()).toEqual(before);
  },
);

test("an archived repository refuses every write", async () => {
  const { call, backend } = await bench();
  backend.site.archived = true;
  for (const [tool, args] of [
    ["create_issue", { title: "x" }],
    ["close_issue", { issue_number: 1 }],
    ["add_comment", { issue_number: 1, body: "x" }],
    ["add_labels", { issue_number: 1, labels: ["x"] }],
    ["create_branch", { branch: "x" }],
  ] as const) {
    expect((await failure(call(tool, args))).message).toMatch(/HTTP 403.*archived/);
  }
});

test.each([
  ["owner with a slash", { owner: "a/b" }],
  ["repository that is a dot segment", { repo: ".." }],
  ["unknown argument", { assignee: "ada" }],
  ["title that is too long", { title: "x".repeat(257) }],
])("%s is refused before anything is sent", async (_, wrong) => {
  const { call, backend } = await bench();
  const error = await failure(call("create_issue", { title: "x", ...wrong }));
  expect(InvalidArgumentsError.is(error)).toBe(true);
  expect(ConnectorError.is(error)).toBe(false);
  expect(backend.requests).toEqual([]);
});
