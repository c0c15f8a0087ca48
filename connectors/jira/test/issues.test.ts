import { ada, moveToProject, rule } from "../src/sandbox.ts";
import { bench, failure } from "./bench.ts";

const task = { project: "PROJ", issue_type: "Task", summary: "New" };

test("get_issue shows an issue under its id, its key, and a key from before a move", async () => {
  const on = await bench();
  const { issue, address } = on.backend;
  const shown = await on.call("get_issue", { issue_id: issue.id });
  expect(shown).toEqual({
    ...{ issue_id: issue.id, issue_key: "PROJ-1", project: "PROJ", issue_type: "Bug" },
    ...{ summary: "Broken link", description: "On the front page.\n\nSince yesterday." },
    ...{ status: "To Do", status_id: "10000", assignee: "Ada", parent_key: null, subtasks: [] },
    url: `${address}/browse/PROJ-1`,
    created_at: issue.created.replace("+0000", "+00:00"),
    updated_at: issue.updated.replace("+0000", "+00:00"),
  });
  const help = on.issueWith("HELP-1").project;
  moveToProject(on.world, issue, ada, help);
  expect(await on.call("get_issue", { issue_id: "PROJ-1" })).toMatchObject({
    issue_id: issue.id,
    issue_key: "HELP-2",
    project: "HELP",
  });
});

test("get_issue names the parent and the sub-tasks, and shows no description as null", async () => {
  const on = await bench();
  await on.call("create_issue", { ...task, issue_type: "Sub-task", parent_id: "PROJ-2" });
  expect(await on.call("get_issue", { issue_id: "PROJ-2" })).toMatchObject({
    ...{ subtasks: ["PROJ-3"], description: null, assignee: null },
  });
  expect(await on.call("get_issue", { issue_id: "PROJ-3" })).toMatchObject({ parent_key: "PROJ-2" });
});

test("an address at Atlassian's gateway stays the issue's url", async () => {
  const on = await bench();
  const self =
    "https://api.atlassian.com/ex/jira/11111111-2222-3333-4444-555555555555/rest/api/3/issue/10099";
  const body = { id: "10099", key: "PROJ-9", self };
  on.backend.inject({ kind: "status", status: 201, body }, { method: "POST" });
  expect(await on.call("create_issue", task)).toEqual({ issue_id: "10099", issue_key: "PROJ-9", url: self });
});

describe("a new issue", () => {
  test("is made with what was given, by ids or by names, and carries the key of its call", async () => {
    const on = await bench();
    const args = { project: "10000", issue_type: "10002", summary: "New", labels: ["a", "b"] };
    const made = await on.call("create_issue", args, { idempotencyKey: "key-1" });
    expect(made).toEqual({
      issue_id: on.issueWith("PROJ-3").id,
      issue_key: "PROJ-3",
      url: `${on.backend.address}/browse/PROJ-3`,
    });
    expect(on.bodies()).toEqual([
      {
        fields: {
          ...{ project: { id: "10000" }, issuetype: { id: "10002" } },
          ...{ summary: "New", labels: ["a", "b"] },
        },
        properties: [{ key: "reversi.op", value: { op: "key-1" } }],
      },
    ]);
    await on.call("create_issue", { ...task, issue_type: "Sub-task", parent_id: "PROJ-3" });
    expect(on.bodies()[1]).toMatchObject({
      fields: { project: { key: "PROJ" }, issuetype: { name: "Sub-task" }, parent: { key: "PROJ-3" } },
    });
  });

  test.each(["DELETE_ISSUES", "BROWSE_PROJECTS"])(
    "is not made by an account without %s, which could not undo it",
    async (permission) => {
      const on = await bench();
      on.world.permissions.delete(permission);
      const error = await failure(on.call("create_issue", task));
      expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
      if (permission === "DELETE_ISSUES")
        expect(error.message).toContain("lacks DELETE_ISSUES in project PROJ");
      expect(on.writes()).toEqual([]);
    },
  );

  test("is refused in Jira's words, field by field", async () => {
    const on = await bench();
    for (const [change, message] of [
      [{ issue_type: "Story" }, "issuetype: Specify a valid issue type"],
      [
        { issue_type: "Sub-task" },
        "parentId: Issue type is a sub-task but parent issue key or id not specified.",
      ],
      [{ parent_id: "PROJ-1" }, "parentId: Given parent work item"],
    ] as const) {
      const error = await failure(on.call("create_issue", { ...task, ...change }));
      expect(error).toMatchObject({ code: "FAILED", status: 400, mayHaveApplied: false });
      expect(error.message).toContain(message);
    }
    on.world.permissions.delete("CREATE_ISSUES");
    expect(await failure(on.call("create_issue", task))).toMatchObject({ status: 403 });
    expect(await failure(on.call("create_issue", { ...task, project: "SECRET" }))).toMatchObject({
      status: 404,
    });
  });

  test("is deleted by its id, though its key has changed", async () => {
    const on = await bench();
    const made = await on.call("create_issue", task);
    moveToProject(on.world, on.issueWith(made["issue_id"]), rule, on.issueWith("HELP-1").project);
    expect(await on.undo("create_issue", task, made)).toEqual({ issue_id: made["issue_id"], already: false });
    expect(await on.undo("create_issue", task, made)).toMatchObject({ already: true });
  });
});
