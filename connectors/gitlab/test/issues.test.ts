import { ConnectorError, InvalidArgumentsError } from "@reversi-connector/core";
import { openIssue, setState } from "@reversi-connector/gitlab/sandbox";
import { bench, failure } from "./bench.ts";

test("an issue is read with all that people see of it", async () => {
  const { call, backend } = await bench();
  expect(await call("get_issue", { issue_iid: 1 })).toEqual({
    project_id: backend.site.id,
    issue_iid: 1,
    title: "Broken link",
    description: "See the docs",
    state: "opened",
    labels: ["bug"],
    assignees: [],
    author: "ada",
    confidential: false,
    moved_to_id: null,
    url: "https://gitlab.com/acme/tools/site/-/issues/1",
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    closed_at: null,
  });
});

test("MC-09: an issue with a description of 60 kB is returned whole", async () => {
  const { call, backend } = await bench();
  const description = "á line of text\n".repeat(4000);
  const { iid } = openIssue(backend.world, backend.site, { title: "Long", description });
  expect((await call("get_issue", { issue_iid: iid }))["description"]).toBe(description);
});

test("an issue that moved is reported with where it went, and counts as closed", async () => {
  const { call, backend } = await bench();
  const [issue] = backend.site.issues;
  if (issue) {
    issue.movedToId = 5_000_000_001;
    setState(issue, "closed");
  }
  const found = await call("get_issue", { issue_iid: 1 });
  expect(found).toMatchObject({ state: "closed", moved_to_id: 5_000_000_001, closed_at: expect.any(String) });
  expect(await call("close_issue", { issue_iid: 1 })).toMatchObject({ already: true });
});

test("reading an issue that does not exist fails with GitLab's status and words", async () => {
  const { call } = await bench();
  const error = await failure(call("get_issue", { issue_iid: 99 }));
  expect(error).toMatchObject({
    name: "ConnectorError",
    status: 404,
    reason: "404 Not found",
    mayHaveApplied: false,
  });
  expect(error.message).toBe(
    "HTTP 404: GET /api/v4/projects/acme%2Ftools%2Fsite/issues/99: 404 Not found: check the name, and what the token may see and do",
  );
  expect(error.requestId).toMatch(/^[0-9a-f-]{36}$/);
});

describe("GL-01: the path of a nested group", () => {
  test("is one segment, encoded once", async () => {
    const { call, backend, writes } = await bench();
    backend.site.path = "g/sub/deep/my.proj";
    await call("create_issue", { project: "g/sub/deep/my.proj", title: "x" });
    expect(writes().map(({ path }) => path)).toEqual(["/api/v4/projects/g%2Fsub%2Fdeep%2Fmy.proj/issues"]);
  });

  test.each([["number"], ["text"]])("may be the numeric id as %s", async (kind) => {
    const { call, backend } = await bench();
    const { id } = backend.site;
    const project = kind === "number" ? id : String(id);
    expect(await call("get_issue", { project, issue_iid: 1 })).toMatchObject({ project_id: id });
    expect(backend.requests[0]?.path).toBe(`/api/v4/projects/${id}/issues/1`);
  });

  test.each([
    "g%2Fproj",
    "g%252Fproj",
    "proj",
    "/g/proj",
    "g/proj/",
    "g//proj",
    "g/../proj",
    "../g/proj",
    "./proj",
    "g/.",
    "g/proj?x=1",
    "g/proj#1",
    "g/pr oj",
    "-g/proj",
    "0",
    "007",
    "-1",
    "g\\proj",
    "g/pröj",
  ])("is refused as %j before anything is sent", async (project) => {
    const { call, holds, backend } = await bench();
    const inputs = { issue_iid: 1, note_id: 1, branch: "x", title: "x", body: "x" };
    for (const [tool, names] of [
      ["get_issue", ["issue_iid"]],
      ["create_issue", ["title"]],
      ["close_issue", ["issue_iid"]],
      ["add_note", ["issue_iid", "body"]],
      ["delete_note", ["issue_iid", "note_id"]],
      ["create_branch", ["branch"]],
      ["delete_branch", ["branch"]],
    ] as const) {
      const args = { project, ...Object.fromEntries(names.map((name) => [name, inputs[name]])) };
      const error = await failure(call(tool, args));
      expect(InvalidArgumentsError.is(error)).toBe(true);
      expect(error).toMatchObject({ problems: [{ at: "project" }] });
    }
    await expect(holds("close_issue", { project, issue_iid: 1 })).rejects.toThrow(/not percent-encoded/);
    expect(backend.requests).toEqual([]);
  });
});

test("create_issue says what GitLab made of the request, and sends nothing but the arguments", async () => {
  const { call, backend, writes } = await bench();
  const args = { title: "Typo", description: "On page 3", labels: ["bug", "new"], confidential: true };
  expect(await call("create_issue", args)).toEqual({
    project_id: backend.site.id,
    issue_iid: 3,
    state: "opened",
    labels: ["bug", "new"],
    url: "https://gitlab.com/acme/tools/site/-/issues/3",
  });
  expect(writes().map((request) => request.json())).toEqual([{ ...args, labels: "bug,new" }]);
  expect(await call("get_issue", { issue_iid: 3 })).toMatchObject({
    description: "On page 3",
    confidential: true,
  });
});

test("the result shows that a guest's labels were dropped", async () => {
  const { call, backend } = await bench();
  backend.site.role = "guest";
  expect(await call("create_issue", { title: "Typo", labels: ["bug"] })).toMatchObject({ labels: [] });
});

test("the undo of create_issue leaves the issue closed, and nothing else", async () => {
  const { call, undo, holds, undoOf, state } = await bench();
  const args = { title: "Typo", description: "On page 3", labels: ["bug"] };
  const result = await call("create_issue", args);
  const { projects } = (await state()) as { projects: Record<string, { issues: object[] }> };
  const { args: undoArgs } = undoOf("create_issue", args, result);
  expect(await holds("close_issue", undoArgs)).toBe(false);

  expect(await undo("create_issue", args, result)).toEqual({
    project_id: result["project_id"],
    issue_iid: 3,
    state: "closed",
    already: false,
  });

  const expected = structuredClone(projects);
  Object.assign(expected["acme/tools/site"]?.issues[2] ?? {}, { state: "closed" });
  expect(await state()).toEqual({ projects: expected });
  expect(await holds("close_issue", undoArgs)).toBe(true);
  expect(await undo("create_issue", args, result)).toMatchObject({ already: true });
  expect(await state()).toEqual({ projects: expected });
});

test("GL-03: every request after create_issue names the issue by its number in the project", async () => {
  const { call, undo, backend, sent } = await bench();
  const { world, site } = backend;
  // The number of somebody else's issue is the id of the issue that is made next.
  openIssue(world, site, { title: "Somebody else's", author: "ada", iid: 90_017 });
  world.nextId = 90_017;
  const issue = { title: "Mine" };
  const made = await call<{ issue_iid: number }>("create_issue", issue);
  const note = { issue_iid: made.issue_iid, body: "Mine" };
  await undo("add_note", note, await call("add_note", note));
  await undo("create_issue", issue, made);
  expect(made.issue_iid).toBe(90_018);
  expect(site.issues.filter(({ state }) => state === "closed")).toMatchObject([{ id: 90_017, iid: 90_018 }]);
  for (const line of sent().slice(1)) expect(line).toContain("/issues/90018");
});

test("a label that the project lacked stays in it after the undo", async () => {
  const { call, undo, backend } = await bench();
  const args = { title: "Typo", labels: ["brand new"] };
  await undo("create_issue", args, await call("create_issue", args));
  expect(backend.site.labels).toContain("brand new");
});

test("closing a closed issue changes nothing and sends no write", async () => {
  const { call, state, writes } = await bench();
  await call("close_issue", { issue_iid: 1 });
  const before = await state();
  expect(await call("close_issue", { issue_iid: 1 })).toMatchObject({ state: "closed", already: true });
  expect(await state()).toEqual(before);
  expect(writes()).toHaveLength(1);
});

test("an issue that is not found counts as closed only while the project can be read, and its issues too", async () => {
  const { call, holds, backend } = await bench();
  const gone = { issue_iid: 99 };
  expect(await call("close_issue", gone)).toEqual({
    project_id: backend.site.id,
    issue_iid: 99,
    state: "closed",
    already: true,
  });
  expect(await holds("close_issue", gone)).toBe(true);
  backend.site.issuesEnabled = false;
  const disabled = await failure(call("close_issue", { issue_iid: 1 }));
  expect(disabled).toMatchObject({ code: "FAILED", status: 404 });
  expect(disabled.message).toMatch(/the issues of project acme\/tools\/site cannot be read/);
  await expect(holds("close_issue", { issue_iid: 1 })).rejects.toThrow(/nobody can tell/);
  backend.site.role = "none";
  const lost = await failure(call("close_issue", gone));
  expect(lost).toMatchObject({ code: "FAILED", status: 404, mayHaveApplied: false });
  expect(lost.message).toMatch(/acme\/tools\/site cannot be read, so nobody can tell/);
  await expect(holds("close_issue", gone)).rejects.toThrow(/nobody can tell/);
});

test("an issue deleted between the read and the write counts as closed", async () => {
  const { call, backend } = await bench();
  backend.inject(
    { kind: "status", status: 404, body: { message: "404 Not found" } },
    {
      method: "PUT",
      path: () => {
        backend.site.issues.shift();
        return true;
      },
    },
  );
  expect(await call("close_issue", { issue_iid: 1 })).toMatchObject({ already: true });
});

test("a close that GitLab answers without closing is no success", async () => {
  const { call, backend } = await bench();
  const body = { iid: 1, project_id: 1, state: "opened", web_url: "x" };
  backend.inject({ kind: "status", status: 200, body }, { method: "PUT" });
  expect(await failure(call("close_issue", { issue_iid: 1 }))).toMatchObject({ code: "EFFECT_UNCERTAIN" });
});

test("closing without permission fails and says so", async () => {
  const { call, backend, state } = await bench();
  backend.site.role = "guest";
  const before = await state();
  const error = await failure(call("close_issue", { issue_iid: 1 }));
  expect(error).toMatchObject({
    code: "FAILED",
    status: 403,
    reason: "403 Forbidden",
    mayHaveApplied: false,
  });
  expect(await state()).toEqual(before);
});

describe("a project that moved", () => {
  test("is read under its old path, and never written to: the error says that it moved", async () => {
    const { call, backend, state } = await bench();
    backend.site.path = "acme/new-site";
    backend.world.moved.set("acme/tools/site", backend.site.id);
    const before = await state();
    expect(await call("get_issue", { issue_iid: 1 })).toMatchObject({ title: "Broken link" });
    for (const [tool, args] of [
      ["create_issue", { title: "x" }],
      ["close_issue", { issue_iid: 1 }],
      ["add_note", { issue_iid: 1, body: "x" }],
      ["delete_branch", { branch: "docs" }],
    ] as const) {
      const error = await failure(call(tool, args));
      expect(error).toMatchObject({ code: "FAILED", status: 405, mayHaveApplied: false });
      expect(error.message).toMatch(/moved projects: use its new path, or its numeric id/);
    }
    expect(await state()).toEqual(before);
  });

  test("is undone all the same, by its numeric id", async () => {
    const { call, undo, undoOf, backend, state } = await bench();
    const before = await state();
    const [note, branch] = [{ issue_iid: 1, body: "Mine" }, { branch: "feature/x" }];
    const results = { note: await call("add_note", note), branch: await call("create_branch", branch) };
    expect(undoOf("add_note", note, results.note).args).toMatchObject({ project: backend.site.id });
    backend.site.path = "acme/new-site";
    backend.world.moved.set("acme/tools/site", backend.site.id);
    expect(await undo("create_branch", branch, results.branch)).toMatchObject({ already: false });
    expect(await undo("add_note", note, results.note)).toMatchObject({ already: false });
    backend.site.path = "acme/tools/site";
    expect(await state()).toEqual(before);
  });
});

test.each([
  ["title that is too long", { title: "x".repeat(256) }],
  ["empty title", { title: "" }],
  ["label with a comma", { labels: ["a,b"] }],
  ["unknown argument", { assignee: "ada" }],
  ["project that is zero", { project: 0 }],
])("%s is refused before anything is sent", async (_, wrong) => {
  const { call, backend } = await bench();
  const error = await failure(call("create_issue", { title: "x", ...wrong }));
  expect(InvalidArgumentsError.is(error)).toBe(true);
  expect(ConnectorError.is(error)).toBe(false);
  expect(backend.requests).toEqual([]);
});
