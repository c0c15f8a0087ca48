import { createHash } from "node:crypto";
import { ConflictError } from "@reversi-connector/core";
import { addComment } from "@reversi-connector/github/sandbox";
import { type Bench, bench, failure } from "./bench.ts";

const args = { issue_number: 1, body: "Looking into it" };
const commented = async () => {
  const on: Bench = await bench();
  const before = await on.state();
  const result = await on.call<{ comment_id: number; sha256: string }>("add_comment", args);
  const [comment] = on.backend.site.comments;
  if (!comment) throw new Error("no comment was made");
  return { ...on, before, result, comment };
};

test("a comment is made with its id, which exceeds 32 bits, and the hash of its text", async () => {
  const { result } = await commented();
  expect(result).toEqual({
    issue_number: 1,
    comment_id: expect.any(Number),
    sha256: createHash("sha256").update(args.body).digest("hex"),
    url: `https://github.com/acme/site/issues/1#issuecomment-${result.comment_id}`,
  });
  expect(result.comment_id).toBeGreaterThan(2 ** 31);
});

test("nothing is added to the text, and its line ends stay", async () => {
  const { call, backend } = await bench();
  const body = "a\r\n\r\n@ada  b 😀\n";
  const { sha256 } = await call("add_comment", { issue_number: 1, body });
  expect(backend.site.comments.map((comment) => comment.body)).toEqual([body]);
  expect(sha256).toBe(createHash("sha256").update(body).digest("hex"));
});

test("the undo of add_comment brings the issue back to what it was", async () => {
  const { undo, undoOf, holds, state, before, result } = await commented();
  const { args: undoArgs } = undoOf("add_comment", args, result);
  expect(await holds("delete_comment", undoArgs)).toBe(false);
  expect(await undo("add_comment", args, result)).toEqual({ comment_id: result.comment_id, already: false });
  expect(await state()).toEqual(before);
  expect(await holds("delete_comment", undoArgs)).toBe(true);
});

test("GH-10: a comment that somebody deleted is success, once the repository was seen", async () => {
  const { undo, backend, result, sent, writes } = await commented();
  backend.site.comments.length = 0;
  expect(await undo("add_comment", args, result)).toMatchObject({ already: true });
  expect(sent().slice(-2)).toEqual([
    `GET /repos/acme/site/issues/comments/${result.comment_id}`,
    "GET /repos/acme/site",
  ]);
  expect(writes()).toHaveLength(1);
});

test("GH-10: lost access is a failed step, not a comment that is gone", async () => {
  const { undo, undoOf, holds, backend, result } = await commented();
  backend.site.visible = false;
  const error = await failure(undo("add_comment", args, result));
  expect(error).toMatchObject({ code: "FAILED", status: 404, mayHaveApplied: false });
  expect(error.message).toMatch(/nobody can tell what is gone and what is hidden/);
  await expect(holds("delete_comment", undoOf("add_comment", args, result).args)).rejects.toThrow(/HTTP 404/);
  expect(backend.site.comments).toHaveLength(1);
});

test("a right that is missing for the deletion alone is a failed step too", async () => {
  const { call, backend } = await bench();
  const { id } = addComment(backend.world, backend.site, { issue: 1, body: "x", author: "ada" });
  backend.world.refusal = 404;
  backend.site.push = false;
  const error = await failure(call("delete_comment", { comment_id: id }));
  expect(error).toMatchObject({ code: "FAILED", status: 404, reason: "Not Found" });
  expect(backend.site.comments).toHaveLength(1);
});

test("a comment deleted between the read and the deletion is success", async () => {
  const { undo, backend, result } = await commented();
  const notFound = { message: "Not Found", status: "404" };
  backend.inject({ kind: "status", status: 404, effect: true, body: notFound }, { method: "DELETE" });
  expect(await undo("add_comment", args, result)).toMatchObject({ already: true });
});

test("a comment that somebody edited is a conflict, and the edit survives", async () => {
  const { undo, backend, result, comment } = await commented();
  comment.body = "Looking into it. Edit: found it.";
  const error = await failure(undo("add_comment", args, result));
  expect(ConflictError.is(error)).toBe(true);
  expect(error).toMatchObject({ expected: result.sha256, found: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(error.message).not.toContain("found it");
  expect(backend.site.comments).toEqual([comment]);
});

test("the operator may delete an edited comment", async () => {
  const { undo, state, before, result, comment } = await commented();
  comment.body = "Edited";
  const context = { onConflict: "overwrite" } as const;
  expect(await undo("add_comment", args, result, context)).toMatchObject({ already: false });
  expect(await state()).toEqual(before);
});

test.each([{}, { expected_sha256: null }])(
  "without a hash to compare (%j) it deletes as told",
  async (guard) => {
    const { call, state, before, result, comment } = await commented();
    comment.body = "Edited";
    await call("delete_comment", { comment_id: result.comment_id, ...guard });
    expect(await state()).toEqual(before);
  },
);

test("repeating the undo of a comment changes nothing", async () => {
  const { undo, backend, result, state, writes } = await commented();
  addComment(backend.world, backend.site, { issue: 1, body: args.body });
  await undo("add_comment", args, result);
  const after = await state();
  expect(await undo("add_comment", args, result)).toMatchObject({ already: true });
  expect(await state()).toEqual(after);
  expect(writes()).toHaveLength(2);
});

test("the comment of an issue that was deleted is gone with it", async () => {
  const { undo, backend, result } = await commented();
  for (const issue of backend.site.issues) issue.deleted = true;
  expect(await undo("add_comment", args, result)).toMatchObject({ already: true });
});

test("a locked conversation refuses the comment and says why", async () => {
  const { call, backend } = await bench();
  const [issue] = backend.site.issues;
  if (issue) issue.locked = true;
  backend.site.push = false;
  expect((await failure(call("add_comment", args))).message).toMatch(/HTTP 403.*issue is locked/);
});

test("a comment waits for the issue that the same run opened", async () => {
  const { connector } = await bench();
  const { requires } = connector.manifests.find(({ tool }) => tool === "github.add_comment") ?? {};
  const match = { owner: "args.owner", repo: "args.repo", issue_number: "result.issue_number" };
  expect(requires).toEqual([{ tool: "github.create_issue", match }]);
});
