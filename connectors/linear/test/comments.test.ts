import { createHash } from "node:crypto";
import { ConflictError, EffectUncertainError } from "@reversi-connector/core";
import {
  addComment,
  archiveIssue,
  editComment,
  eraseIssue,
  removeComment,
} from "@reversi-connector/linear/sandbox";
import { type Bench, bench, failure, refusal } from "./bench.ts";

const args = { issue_id: "ENG-1", body: "Looking into it" };
type Made = { readonly comment_id: string; readonly issue_id: string; readonly sha256: string };
const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");

const commented = async () => {
  const on: Bench = await bench();
  const before = await on.state();
  const result = await on.call<Made>("add_comment", args);
  const [comment] = on.world.comments;
  if (!comment) throw new Error("no comment was made");
  return { ...on, before, result, comment };
};

test("LN-05: a comment on ENG-1 is made under a chosen UUID, on the issue's UUID", async () => {
  const { result, world, issue, backend } = await commented();
  expect(result).toEqual({
    comment_id: expect.stringMatching(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    ),
    issue_id: issue.id,
    organization_id: world.organization.id,
    sha256: hashOf(args.body),
    url: `https://linear.app/acme/issue/ENG-1/broken-link#comment-${result.comment_id.slice(0, 8)}`,
  });
  expect(backend.requests.at(-1)?.json()).toMatchObject({
    variables: { input: { id: result.comment_id, issueId: issue.id, body: args.body } },
  });
});

test("nothing is added to the text, and its hash is that of the text as Linear keeps it", async () => {
  const { call, undo, world } = await bench();
  const sent = { issue_id: "ENG-1", body: "a\r\n\r\n@ada  b 😀\n\n" };
  const result = await call<Made>("add_comment", sent);
  expect(world.comments.map(({ body }) => body)).toEqual(["a\n\n@ada  b 😀"]);
  expect(result.sha256).toBe(hashOf("a\n\n@ada  b 😀"));
  expect(await undo("add_comment", sent, result)).toMatchObject({ already: false });
});

test("the undo of add_comment brings the issue back to what it was", async () => {
  const { undo, undoOf, holds, state, before, result } = await commented();
  const { args: undoArgs } = undoOf("add_comment", args, result);
  expect(await holds("delete_comment", undoArgs)).toBe(false);
  expect(await undo("add_comment", args, result)).toEqual({ comment_id: result.comment_id, already: false });
  expect(await state()).toEqual(before);
  expect(await holds("delete_comment", undoArgs)).toBe(true);
});

test("one key makes one comment, whatever the status of Linear's refusal", async () => {
  for (const status of [200, 400] as const) {
    const { call, world } = await bench();
    world.statuses.commentTaken = status;
    const first = await call("add_comment", args, { idempotencyKey: "step 1" });
    expect(await call("add_comment", args, { idempotencyKey: "step 1" })).toEqual(first);
    await call("add_comment", args, { idempotencyKey: "step 2" });
    expect(world.comments).toHaveLength(2);
  }
});

test("a reply is undone by itself, and the comment before it after that", async () => {
  const { call, undo, state, before, result } = await commented();
  const reply = { ...args, parent_id: result.comment_id };
  const answered = await call<Made>("add_comment", reply);
  await undo("add_comment", reply, answered);
  await undo("add_comment", args, result);
  expect(await state()).toEqual(before);
});

test.each([200, 400] as const)(
  "LN-05: a comment that somebody deleted is success, once its issue was read (answered %i)",
  async (status) => {
    const { undo, world, comment, result, sent, writes } = await commented();
    world.statuses.notFound = status;
    removeComment(world, comment);
    expect(await undo("add_comment", args, result)).toEqual({ comment_id: result.comment_id, already: true });
    expect(sent().slice(-2)).toEqual(["query Comment", "query Issue"]);
    expect(writes()).toHaveLength(1);
  },
);

test("LN-05: lost access is a failed step, not a comment that is gone", async () => {
  const { undo, undoOf, holds, world, team, result } = await commented();
  team.visible = false;
  const error = await failure(undo("add_comment", args, result));
  expect(error).toMatchObject({ code: "FAILED", status: 200, mayHaveApplied: false });
  expect(error.message).toMatch(
    /its issue .* cannot be read, so nobody can tell what is gone and what is hidden/,
  );
  await expect(holds("delete_comment", undoOf("add_comment", args, result).args)).rejects.toThrow(
    /nobody can tell/,
  );
  expect(world.comments).toHaveLength(1);
});

test("LN-05: a key of another workspace is a failed step", async () => {
  const { call, undoOf, world, comment, result } = await commented();
  removeComment(world, comment);
  const { args: undoArgs } = undoOf("add_comment", args, result);
  const elsewhere = { ...undoArgs, expected_organization_id: "0000beef-0000-4000-8000-000000000000" };
  const error = await failure(call("delete_comment", elsewhere));
  expect(error.message).toMatch(/the key belongs to workspace 0000acce.*, not to 0000beef/);
});

test("an unknown comment of an unknown issue is a failed step", async () => {
  const { call, undo, world, issue, result } = await commented();
  eraseIssue(world, issue);
  expect((await failure(undo("add_comment", args, result))).message).toMatch(/nobody can tell/);
  const error = await failure(call("delete_comment", { comment_id: result.comment_id }));
  expect(error.message).toMatch(/its issue was not given/);
});

test("a comment that Linear will not delete from an archived issue is a failed step", async () => {
  const { undo, world, issue, result } = await commented();
  archiveIssue(issue);
  world.archivedIsClosed = true;
  const error = await failure(undo("add_comment", args, result));
  expect(error).toMatchObject({ code: "FAILED", reason: "INPUT_ERROR", mayHaveApplied: false });
  expect(error.message).toContain("Entity not found: Comment");
  expect(world.comments).toHaveLength(1);
});

test("a comment deleted between the read and the deletion is success", async () => {
  const { undo, world, comment, result, meanwhile } = await commented();
  meanwhile(2, () => removeComment(world, comment));
  expect(await undo("add_comment", args, result)).toMatchObject({ already: true });
});

test("a comment that somebody edited is a conflict, and the edit survives", async () => {
  const { undo, world, result, comment } = await commented();
  editComment(comment, "Looking into it. Edit: found it.");
  const error = await failure(undo("add_comment", args, result));
  expect(ConflictError.is(error)).toBe(true);
  expect(error).toMatchObject({ expected: result.sha256, found: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(error.message).not.toContain("found it");
  expect(world.comments).toEqual([comment]);
});

test("an edit that was taken back is no conflict", async () => {
  const { undo, result, comment } = await commented();
  editComment(comment, args.body);
  expect(await undo("add_comment", args, result)).toMatchObject({ already: false });
});

test.each([{}, { expected_sha256: null }])(
  "without a hash to compare (%j) an edit is a conflict as well, and an untouched comment is deleted",
  async (guard) => {
    const { call, world, issue, result, comment } = await commented();
    editComment(comment, "Edited");
    const error = await failure(call("delete_comment", { comment_id: result.comment_id, ...guard }));
    expect(ConflictError.is(error)).toBe(true);
    const { id } = addComment(world, { issue: issue.id, body: "Untouched" });
    expect(await call("delete_comment", { comment_id: id, ...guard })).toMatchObject({ already: false });
    expect(world.comments).toEqual([comment]);
  },
);

test("a comment that somebody answered is a conflict: the answer would go with it", async () => {
  const { undo, world, issue, result } = await commented();
  const [, ada] = world.users;
  for (let count = 0; count < 300; count++) addComment(world, { issue: issue.id, body: `${count}` });
  const [first] = world.comments;
  const reply = addComment(world, {
    issue: issue.id,
    parent: result.comment_id,
    body: "Thanks!",
    author: ada?.id ?? "",
  });
  world.comments.splice(world.comments.indexOf(reply), 1);
  world.comments.splice(world.comments.indexOf(first ?? reply), 0, reply); // on the last page of two
  const error = await failure(undo("add_comment", args, result));
  expect(ConflictError.is(error)).toBe(true);
  expect(error).toMatchObject({ expected: "no replies", found: "replies" });
  expect(world.comments).toContain(reply);
});

test("the operator may delete a comment that was edited and answered", async () => {
  const { undo, world, issue, state, before, result, comment } = await commented();
  editComment(comment, "Edited");
  addComment(world, { issue: issue.id, parent: comment.id, body: "Thanks!" });
  const context = { onConflict: "overwrite" } as const;
  expect(await undo("add_comment", args, result, context)).toMatchObject({ already: false });
  expect(await state()).toEqual(before);
});

test("a comment on something else than an issue is refused before anything is deleted", async () => {
  const { call, world, writes } = await bench();
  const { id } = addComment(world, { issue: null, body: "On the project" });
  const error = await failure(call("delete_comment", { comment_id: id }));
  expect(error.message).toMatch(/is on something else than an issue; nothing was sent/);
  expect(writes()).toEqual([]);
});

test("repeating the undo of a comment changes nothing", async () => {
  const { undo, world, issue, result, state, writes } = await commented();
  addComment(world, { issue: issue.id, body: args.body });
  await undo("add_comment", args, result);
  const after = await state();
  expect(await undo("add_comment", args, result)).toMatchObject({ already: true });
  expect(await state()).toEqual(after);
  expect(writes()).toHaveLength(2);
});

test("a deletion that was answered with success and did nothing is seen by holds", async () => {
  const { undo, undoOf, holds, world, result } = await commented();
  world.mutations = "pretend";
  await undo("add_comment", args, result);
  expect(await holds("delete_comment", undoOf("add_comment", args, result).args)).toBe(false);
});

test("a comment that was edited before its lost answer was looked up is still a conflict", async () => {
  const { call, landed, undo, world, backend } = await bench();
  backend.inject({ kind: "cutAfter" }, { skip: 1 });
  const lost = await failure(call("add_comment", args, { idempotencyKey: "step 1" }));
  expect(EffectUncertainError.is(lost)).toBe(true);
  const [comment] = world.comments;
  if (comment) editComment(comment, "Edited");
  const answer = await landed("add_comment", args, "step 1");
  expect(answer).toMatchObject({ landed: true, result: { sha256: hashOf(args.body) } });
  const result = answer !== "unknown" && answer?.landed ? (answer.result as object) : {};
  expect(ConflictError.is(await failure(undo("add_comment", args, result)))).toBe(true);
  expect(world.comments).toHaveLength(1);
});

test("a comment that is made where the parent is none of this issue fails and says so", async () => {
  const { call, world, other } = await bench();
  const { id } = addComment(world, { issue: other.id, body: "On ENG-2" });
  const error = await failure(call("add_comment", { ...args, parent_id: id }));
  expect(error.message).toContain("Entity not found: Comment");
  expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
});

test("a right that is missing for the deletion alone is a failed step", async () => {
  const { undo, world, result } = await commented();
  world.scopes.delete("write");
  world.scopes.add("comments:create");
  expect(await failure(undo("add_comment", args, result))).toMatchObject({ code: "FAILED", status: 403 });
  expect(world.comments).toHaveLength(1);
});

test("an answer that names another comment proves nothing", async () => {
  const { call, backend } = await bench();
  const comment = {
    id: "3f0c6a0e-6f0e-4a3e-9b55-0a6d9a1c7f11",
    body: args.body,
    url: "https://linear.app/x",
  };
  const body = { data: { commentCreate: { success: true, comment } } };
  backend.inject({ kind: "status", status: 200, body }, { skip: 1 });
  expect(EffectUncertainError.is(await failure(call("add_comment", args)))).toBe(true);
});

test("a refused deletion is not taken for one that somebody else did", async () => {
  const { undo, backend, world, result } = await commented();
  backend.inject({ kind: "status", status: 500, body: refusal("Entity not found: Comment") }, { skip: 2 });
  expect(await failure(undo("add_comment", args, result))).toMatchObject({
    status: 500,
    mayHaveApplied: true,
  });
  expect(world.comments).toHaveLength(1);
});
