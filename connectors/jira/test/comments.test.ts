import { ConflictError, hashOf } from "@reversi-connector/core";
import { documentOf } from "../src/adf.ts";
import { ada, addComment, editComment, me, moveToProject, removeComment } from "../src/sandbox.ts";
import { type Bench, bench, failure } from "./bench.ts";

const args = { issue_id: "PROJ-1", body: "One\n\nTwo" };
const last = (on: Bench) => {
  const comment = on.backend.issue.comments.at(-1);
  if (!comment) throw new Error("there is no comment");
  return comment;
};

test("a comment is written as a document, names the issue by its id, and is undone", async () => {
  const on = await bench();
  const before = await on.state();
  const made = await on.call("add_comment", args, { idempotencyKey: "key-1" });
  expect(made).toEqual({
    issue_id: on.backend.issue.id,
    comment_id: last(on).id,
    sha256: hashOf(documentOf(args.body)),
  });
  expect(on.bodies()).toEqual([
    { body: documentOf(args.body), properties: [{ key: "reversi.op", value: { op: "key-1" } }] },
  ]);
  expect(await on.undo("add_comment", args, made)).toEqual({
    comment_id: made["comment_id"],
    already: false,
  });
  expect(await on.undo("add_comment", args, made)).toMatchObject({ already: true });
  expect(await on.state()).toEqual({ ...(before as object), mails: 1 });
  expect(on.writes()).toHaveLength(2);
});

test("a comment on a service project is for agents alone where that is said", async () => {
  const on = await bench();
  const service = { issue_id: "HELP-1", body: "x" };
  await on.call("add_comment", { ...service, internal: true });
  await on.call("add_comment", service);
  expect(on.issueWith("HELP-1").comments.map(({ internal }) => internal)).toEqual([true, false]);
});

test("a comment of blank lines alone is Jira's to refuse", async () => {
  const on = await bench();
  const error = await failure(on.call("add_comment", { ...args, body: "\n" }));
  expect(error).toMatchObject({ code: "FAILED", status: 400, mayHaveApplied: false });
  expect(error.message).toContain("can not be empty");
});

test("a comment follows its issue into another project", async () => {
  const on = await bench();
  const made = await on.call("add_comment", args);
  moveToProject(on.world, on.backend.issue, ada, on.issueWith("HELP-1").project);
  expect(await on.undo("add_comment", args, made)).toMatchObject({ already: false });
});

describe("an edit by somebody else survives", () => {
  const bold = {
    ...documentOf(""),
    content: [{ type: "paragraph", content: [{ type: "text", text: "One", marks: [{ type: "strong" }] }] }],
  };
  test.each([
    ["another text", documentOf("Ada's")],
    ["another formatting of the same text", bold],
  ])("%s is a conflict, unless the operator says otherwise", async (_, body) => {
    const on = await bench();
    const made = await on.call("add_comment", { ...args, body: "One" });
    editComment(on.world, last(on), ada, body);
    const error = await failure(on.undo("add_comment", args, made));
    expect(ConflictError.is(error)).toBe(true);
    expect(error).toMatchObject({ expected: made["sha256"], found: hashOf(body) });
    expect(last(on).body).toEqual(body);
    const forced = await on.undo("add_comment", args, made, { onConflict: "overwrite" });
    expect(forced).toMatchObject({ already: false });
  });

  test("the order of a document's members is no edit", async () => {
    const on = await bench();
    const made = await on.call("add_comment", args);
    const { type, version, content } = documentOf(args.body);
    editComment(on.world, last(on), me, { content, version, type });
    expect(await on.undo("add_comment", args, made)).toMatchObject({ already: false });
  });

  test.each([[{}], [{ expected_sha256: null }]])(
    "%j: without a hash a comment is deleted as told",
    async (given) => {
      const on = await bench();
      const comment = on.comment();
      const name = { issue_id: "PROJ-1", comment_id: comment.id };
      expect(await on.call("delete_comment", { ...name, ...given })).toMatchObject({ already: false });
    },
  );
});

describe("what counts as gone", () => {
  test("404 for the comment, while its issue is shown", async () => {
    const on = await bench();
    const name = { issue_id: "PROJ-1", comment_id: "10099" };
    expect(await on.call("delete_comment", name)).toEqual({ comment_id: "10099", already: true });
    expect(await on.holds("delete_comment", name)).toBe(true);
    expect(on.sent().slice(0, 2)).toEqual(["GET /issue/PROJ-1/comment/10099", "GET /issue/PROJ-1"]);
  });

  test("404 for the issue as well is a failed step", async () => {
    const on = await bench();
    const name = { issue_id: "PROJ-1", comment_id: on.comment().id };
    on.backend.issue.project.visible = false;
    expect(await failure(on.call("delete_comment", name))).toMatchObject({ code: "FAILED", status: 404 });
    expect(await failure(on.holds("delete_comment", name))).toMatchObject({ code: "FAILED", status: 404 });
    on.backend.issue.project.visible = true;
    on.world.loginWorks = false;
    expect(await failure(on.call("delete_comment", name))).toMatchObject({ reason: "AUTHENTICATED_FAILED" });
  });

  test("somebody who deletes it between the read and the write has done it", async () => {
    const on = await bench();
    const comment = on.comment();
    on.meanwhile("DELETE", () => removeComment(on.backend.issue, comment));
    const name = { issue_id: "PROJ-1", comment_id: comment.id };
    expect(await on.call("delete_comment", name)).toMatchObject({ already: true });
  });

  test("400 is how Jira says that the account may not: a failed step", async () => {
    const on = await bench();
    const comment = addComment(on.world, on.backend.issue, { author: ada, body: documentOf("x") });
    on.world.permissions.delete("DELETE_ALL_COMMENTS");
    const error = await failure(on.call("delete_comment", { issue_id: "PROJ-1", comment_id: comment.id }));
    expect(error).toMatchObject({ code: "FAILED", status: 400, mayHaveApplied: false });
    expect(error.message).toContain("permission to delete this comment");
    expect(last(on)).toBe(comment);
  });
});

describe("a lost comment", () => {
  const lost = async () => {
    const on = await bench();
    on.backend.inject({ kind: "cutAfter" }, { method: "POST" });
    await failure(on.call("add_comment", args, { idempotencyKey: "key-1" }));
    on.backend.forget();
    return on;
  };
  const chatter = (on: Bench, count: number) => {
    for (let index = 0; index < count; index++) {
      addComment(on.world, on.backend.issue, { author: ada, body: documentOf(args.body) });
    }
  };

  test("is found by its key behind many others, newest first, and not by its text", async () => {
    const on = await lost();
    const { id: comment_id } = last(on);
    chatter(on, 120);
    const found = { issue_id: on.backend.issue.id, comment_id, sha256: hashOf(documentOf(args.body)) };
    expect(await on.landed("add_comment", args, "key-1")).toEqual({ landed: true, result: found });
    expect(on.sent()).toHaveLength(3);
    expect(await on.landed("add_comment", args, "key-2")).toEqual({ landed: false });
  });

  test("stays unknown without a key, and behind a thousand others", async () => {
    const on = await lost();
    expect(await on.landed("add_comment", args)).toBe("unknown");
    chatter(on, 1000);
    expect(await on.landed("add_comment", args, "key-1", { result: { issue_id: on.backend.issue.id } })).toBe(
      "unknown",
    );
    expect(on.sent()).toHaveLength(10);
  });

  test("stays unknown where a page brings nothing", async () => {
    const on = await lost();
    const body = { comments: [], startAt: 0, maxResults: 100, total: 5 };
    on.backend.inject({ kind: "status", status: 200, body }, { path: (path) => path.includes("/comment") });
    expect(await on.landed("add_comment", args, "key-1")).toBe("unknown");
  });
});
