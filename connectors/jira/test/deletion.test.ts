import { ConflictError } from "@reversi-connector/core";
import { documentOf } from "../src/adf.ts";
import { ada, addComment, changeIssue, me, removeIssue, rename, rule } from "../src/sandbox.ts";
import { type Bench, bench, failure, refusal } from "./bench.ts";

const task = { project: "PROJ", issue_type: "Task", summary: "New" };

describe("what others did to a new issue survives", () => {
  const edits: readonly [string, (on: Bench, issue: ReturnType<Bench["issueWith"]>) => void, string][] = [
    [
      "a comment",
      (on, issue) => addComment(on.world, issue, { author: ada, body: documentOf("x") }),
      "comments: 1",
    ],
    [
      "a comment by a rule",
      (on, issue) => addComment(on.world, issue, { author: rule, body: documentOf("x") }),
      "comments: 1",
    ],
    [
      "an edit of a comment of one's own",
      (on, issue) => addComment(on.world, issue, { author: me, updateAuthor: ada, body: documentOf("x") }),
      "comments: 1",
    ],
    ["logged work", (_, issue) => issue.worklogs.push({ id: "1", author: ada }), "worklogs: 1"],
    [
      "a file",
      (_, issue) => issue.attachments.push({ id: "1", author: ada, filename: "a.png" }),
      "attachments: 1",
    ],
    ["another title", (on, issue) => rename(on.world, issue, ada, "Ada's"), "changes: 1"],
  ];
  test.each(edits)("%s is a conflict, unless the operator says otherwise", async (_, edit, found) => {
    const on = await bench();
    const made = await on.call("create_issue", task);
    edit(on, on.issueWith(made["issue_id"]));
    const before = await on.state();
    const error = await failure(on.undo("create_issue", task, made));
    expect(ConflictError.is(error)).toBe(true);
    expect(error).toMatchObject({ expected: "nothing by others", found });
    expect(await on.state()).toEqual(before);
    const forced = await on.undo("create_issue", task, made, { onConflict: "overwrite" });
    expect(forced).toMatchObject({ already: false });
  });

  test("comments that Jira does not show may be anybody's", async () => {
    const on = await bench();
    const made = await on.call("create_issue", task);
    const issue = on.issueWith(made["issue_id"]);
    for (let count = 0; count < 101; count++) {
      addComment(on.world, issue, { author: me, body: documentOf("x") });
    }
    expect(await failure(on.undo("create_issue", task, made))).toMatchObject({ found: "comments: 1" });
  });

  test("a project without time tracking has nothing there that others could have left", async () => {
    const on = await bench();
    on.world.tracksTime = false;
    const made = await on.call("create_issue", task);
    expect(await on.undo("create_issue", task, made)).toMatchObject({ already: false });
  });

  test("what a rule changed, and what the run itself did, is no conflict", async () => {
    const on = await bench();
    const made = await on.call("create_issue", task);
    const issue = on.issueWith(made["issue_id"]);
    const assigned = { field: "assignee", from: null, fromText: null, to: ada.accountId, toText: "Ada" };
    changeIssue(on.world, issue, rule, [assigned], { assignee: ada });
    await on.call("transition_issue", { issue_id: issue.id, transition: "Start" });
    await on.call("add_comment", { issue_id: issue.id, body: "x" });
    expect(await on.undo("create_issue", task, made)).toMatchObject({ already: false });
  });

  test("sub-tasks keep their parent, whoever asks: Jira refuses", async () => {
    const on = await bench();
    const made = await on.call("create_issue", task);
    await on.call("create_issue", { ...task, issue_type: "Sub-task", parent_id: made["issue_id"] });
    for (const onConflict of ["refuse", "overwrite"] as const) {
      const error = await failure(on.undo("create_issue", task, made, { onConflict }));
      expect(error).toMatchObject({ code: "FAILED", status: 400, mayHaveApplied: false });
      expect(error.message).toContain("has subtasks");
    }
    expect(on.issueWith("PROJ-4").parent).toBe(on.issueWith("PROJ-3"));
  });
});

describe("JR-06: what counts as gone", () => {
  const unauthorized = refusal("Client must be authenticated to access this resource.");
  const gone = { issue_id: "10099", project: "PROJ" };

  test("404, while Jira knows the account and shows the project", async () => {
    const on = await bench();
    for (const args of [gone, { ...gone, project: "10000" }, { issue_id: "PROJ-99" }]) {
      expect(await on.call("delete_issue", args)).toEqual({ issue_id: args.issue_id, already: true });
      expect(await on.holds("delete_issue", args)).toBe(true);
    }
    expect(on.sent().slice(0, 3)).toEqual(["GET /issue/10099", "GET /myself", "GET /mypermissions"]);
    expect(on.writes()).toEqual([]);
  });

  test("404 and 401 from /myself is a failed step", async () => {
    const on = await bench();
    const path = (path: string) => path.includes("/myself");
    on.backend.inject({ kind: "status", status: 401, body: unauthorized }, { path, times: 2 });
    expect(await failure(on.call("delete_issue", gone))).toMatchObject({ code: "FAILED", status: 401 });
    expect(await failure(on.holds("delete_issue", gone))).toMatchObject({ code: "FAILED", status: 401 });
  });

  test("404 to a token that has expired is a failed step that says so", async () => {
    const on = await bench();
    const { issue_id } = await on.call("create_issue", task);
    for (const isPublic of [false, true]) {
      Object.assign(on.world, { loginWorks: false, isPublic });
      for (const call of [
        on.call("delete_issue", { issue_id, project: "PROJ" }),
        on.call("delete_issue", gone),
        on.call("get_issue", { issue_id: "PROJ-1" }),
        on.holds("delete_issue", gone),
      ]) {
        const error = await failure(call);
        expect(error).toMatchObject({
          code: "FAILED",
          reason: "AUTHENTICATED_FAILED",
          mayHaveApplied: false,
        });
        expect(error.message).toContain("401 in truth");
      }
    }
    expect(on.issueWith(issue_id)).toBeDefined();
  });

  test("404 to a stranger is a failed step, though Jira knows the account the next moment", async () => {
    const on = await bench();
    const headers = { "x-seraph-loginreason": "AUTHENTICATED_FAILED" };
    const body = refusal("Issue does not exist or you do not have permission to see it.");
    for (const [tool, args] of [
      ["delete_issue", gone],
      ["delete_comment", { issue_id: "PROJ-1", comment_id: "10099" }],
    ] as const) {
      on.backend.inject({ kind: "status", status: 404, headers, body });
      const error = await failure(on.call(tool, args));
      expect(error).toMatchObject({ code: "FAILED", status: 404, reason: "AUTHENTICATED_FAILED" });
    }
  });

  test("404 in a project that is hidden is a failed step", async () => {
    const on = await bench();
    const { issue, world } = on.backend;
    issue.project.visible = false;
    for (const project of ["PROJ", "NOWHERE"]) {
      const error = await failure(on.call("delete_issue", { issue_id: issue.id, project }));
      expect(error).toMatchObject({ code: "FAILED", status: 404 });
      expect(error.message).toContain(`the project ${project} cannot be read`);
    }
    issue.project.visible = true;
    world.permissions.delete("BROWSE_PROJECTS");
    expect(await failure(on.holds("delete_issue", { issue_id: issue.id, project: "PROJ" }))).toMatchObject({
      status: 404,
    });
  });

  test("404 without a project to look at is a failed step", async () => {
    const on = await bench();
    const error = await failure(on.call("delete_issue", { issue_id: "10099" }));
    expect(error).toMatchObject({ code: "FAILED", status: 404 });
    expect(error.message).toContain("no project is given");
  });

  test.each([
    ["a proxy's page", "<h1>Not Found</h1>"],
    ["a proxy's JSON", { message: "no route" }],
  ])("404 with %s is a failed step", async (_, body) => {
    const on = await bench();
    on.backend.inject({ kind: "status", status: 404, body });
    expect(await failure(on.call("delete_issue", gone))).toMatchObject({ code: "FAILED", status: 404 });
    expect(on.sent()).toHaveLength(1);
  });

  test("the words may be in any language", async () => {
    const on = await bench();
    const body = refusal("Der Vorgang ist nicht vorhanden.");
    on.backend.inject({ kind: "status", status: 404, body });
    expect(await on.call("delete_issue", gone)).toMatchObject({ already: true });
  });

  test("somebody who deletes it between the read and the write has done it", async () => {
    const on = await bench();
    const issue = on.issue();
    on.meanwhile("DELETE", () => removeIssue(on.world, issue));
    expect(await on.call("delete_issue", { issue_id: issue.id, project: "PROJ" })).toMatchObject({
      already: true,
    });
    expect(on.writes().map(({ status }) => status)).toEqual([404]);
  });

  test("access that is lost between the read and the write is a failed step", async () => {
    const on = await bench();
    const issue = on.issue();
    on.meanwhile("DELETE", () => Object.assign(issue.project, { visible: false }));
    const error = await failure(on.call("delete_issue", { issue_id: issue.id, project: "PROJ" }));
    expect(error).toMatchObject({ code: "FAILED", status: 404 });
    expect(on.issueWith(issue.id)).toBe(issue);
  });

  test("a missing permission to delete is a failed step", async () => {
    const on = await bench();
    on.world.permissions.delete("DELETE_ISSUES");
    const error = await failure(on.call("delete_issue", { issue_id: on.issue().id, project: "PROJ" }));
    expect(error).toMatchObject({ code: "FAILED", status: 403, mayHaveApplied: false });
  });
});

describe("a public site answers strangers, and", () => {
  test("an answer to a stranger is a failure, 200 or not", async () => {
    const on = await bench();
    Object.assign(on.world, { loginWorks: false, isPublic: true });
    const error = await failure(on.call("get_issue", { issue_id: "PROJ-1" }));
    expect(error).toMatchObject({ code: "FAILED", status: 200, reason: "AUTHENTICATED_FAILED" });
  });

  test("a stranger's write that succeeded may have been done", async () => {
    const on = await bench();
    const headers = { "x-seraph-loginreason": "AUTHENTICATED_FAILED" };
    const body = { id: "1", key: "PROJ-9", self: `${on.backend.address}/rest/api/3/issue/1` };
    on.backend.inject({ kind: "status", status: 201, headers, body }, { method: "POST" });
    expect(await failure(on.call("create_issue", task))).toMatchObject({
      code: "FAILED",
      mayHaveApplied: true,
    });
  });
});
