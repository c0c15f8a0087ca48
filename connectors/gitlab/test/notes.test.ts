import { createHash } from "node:crypto";
import { ConflictError } from "@reversi-connector/core";
import { addNote, editNote } from "@reversi-connector/gitlab/sandbox";
import { type Bench, bench, failure } from "./bench.ts";

const args = { issue_iid: 1, body: "Looking into it" };
const noted = async (given: object = {}) => {
  const on: Bench = await bench();
  const before = await on.state();
  const [issue] = on.backend.site.issues;
  const result = await on.call<{ note_id: number; sha256: string }>("add_note", { ...args, ...given });
  const note = issue?.notes[0];
  if (!issue || !note) throw new Error("no note was made");
  return { ...on, before, result, issue, note };
};
const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");

test("a note is made with its id, which exceeds 32 bits, the project's id and the hash of its text", async () => {
  const { result, backend, writes } = await noted();
  expect(result).toEqual({
    project_id: backend.site.id,
    issue_iid: 1,
    note_id: expect.any(Number),
    sha256: hashOf(args.body),
  });
  expect(result.note_id).toBeGreaterThan(2 ** 31);
  expect(writes().map((request) => request.json())).toEqual([{ body: args.body, internal: false }]);
});

test("nothing is added to the text; the hash is of what GitLab keeps, without carriage returns", async () => {
  const { note, result } = await noted({ body: "a\r\n\r\n@ada  b 😀\n", internal: true });
  expect(note).toMatchObject({ body: "a\n\n@ada  b 😀", internal: true });
  expect(result.sha256).toBe(hashOf("a\n\n@ada  b 😀"));
});

test("the undo of add_note brings the issue back to what it was", async () => {
  const { undo, undoOf, holds, state, before, result } = await noted();
  const { args: undoArgs } = undoOf("add_note", args, result);
  expect(await holds("delete_note", undoArgs)).toBe(false);
  expect(await undo("add_note", args, result)).toEqual({ note_id: result.note_id, already: false });
  expect(await state()).toEqual(before);
  expect(await holds("delete_note", undoArgs)).toBe(true);
});

test("repeating the undo of a note changes nothing", async () => {
  const { undo, backend, issue, result, state, writes } = await noted();
  addNote(backend.world, issue, { body: args.body });
  await undo("add_note", args, result);
  const after = await state();
  expect(await undo("add_note", args, result)).toMatchObject({ already: true });
  expect(await state()).toEqual(after);
  expect(writes()).toHaveLength(2);
});

describe("a note that is not found", () => {
  test.each([
    ["404 Not found", "issues/1"],
    ["404 Note Not Found", undefined],
  ] as const)("is success when GitLab says %j, and shows what the note was in", async (words, asked) => {
    const { undo, holds, undoOf, backend, issue, result, sent, writes } = await noted();
    const { id } = backend.site;
    backend.world.missingNote = words;
    issue.notes.length = 0;
    expect(await undo("add_note", args, result)).toMatchObject({ already: true });
    const around = `GET /api/v4/projects/${id}${asked === undefined ? "" : `/${asked}`}`;
    expect(sent().slice(-2)).toEqual([`GET /api/v4/projects/${id}/issues/1/notes/${result.note_id}`, around]);
    expect(writes()).toHaveLength(1);
    expect(await holds("delete_note", undoOf("add_note", args, result).args)).toBe(true);
  });

  test("is a failed step when access is lost", async () => {
    const { undo, undoOf, holds, backend, issue, result } = await noted();
    backend.site.role = "none";
    const error = await failure(undo("add_note", args, result));
    expect(error).toMatchObject({ code: "FAILED", status: 404, mayHaveApplied: false });
    expect(error.message).toMatch(/issue 1 of project \d+ cannot be read, so nobody can tell/);
    await expect(holds("delete_note", undoOf("add_note", args, result).args)).rejects.toThrow(/HTTP 404/);
    expect(issue.notes).toHaveLength(1);
  });

  test("is a failed step when its issue cannot be seen any more", async () => {
    const { undo, backend, issue, result } = await noted();
    issue.confidential = true;
    backend.site.role = "guest";
    expect((await failure(undo("add_note", args, result))).message).toMatch(/nobody can tell/);
    expect(issue.notes).toHaveLength(1);
  });

  test.each(["guest", "none"] as const)(
    "is a failed step when it is internal, and the token's owner became %s",
    async (role) => {
      const { undo, undoOf, holds, backend, issue, result } = await noted({ internal: true });
      backend.site.role = role;
      const error = await failure(undo("add_note", args, result));
      expect(error).toMatchObject({ code: "FAILED", status: 404, mayHaveApplied: false });
      expect(error.message).toMatch(/nobody can tell what is gone and what is hidden/);
      await expect(holds("delete_note", undoOf("add_note", args, result).args)).rejects.toThrow(/hidden/);
      expect(issue.notes).toHaveLength(1);
    },
  );

  test("is success when somebody deletes it between the read and the deletion", async () => {
    const { undo, backend, result } = await noted();
    const body = { message: "404 Not found" };
    backend.inject({ kind: "status", status: 404, effect: true, body }, { method: "DELETE" });
    expect(await undo("add_note", args, result)).toMatchObject({ already: true });
  });

  test("is a failed step when only the deletion is not found", async () => {
    const { undo, backend, issue, result } = await noted();
    const body = { message: "404 Not found" };
    backend.inject({ kind: "status", status: 404, body }, { method: "DELETE" });
    expect(await failure(undo("add_note", args, result))).toMatchObject({ code: "FAILED", status: 404 });
    expect(issue.notes).toHaveLength(1);
  });
});

test("a right that is missing for the deletion is a failed step", async () => {
  const { call, backend } = await bench();
  const [issue] = backend.site.issues;
  if (!issue) throw new Error("no issue");
  const { id } = addNote(backend.world, issue, { body: "x", author: "ada" });
  const error = await failure(call("delete_note", { issue_iid: 1, note_id: id }));
  expect(error).toMatchObject({ code: "FAILED", status: 403, reason: "403 Forbidden" });
  expect(issue.notes).toHaveLength(1);
});

describe("a note that somebody edited", () => {
  test("before the undo is a conflict, and the edit survives", async () => {
    const { undo, issue, result, note } = await noted();
    editNote(note, "Looking into it. Edit: found it.");
    const error = await failure(undo("add_note", args, result));
    expect(ConflictError.is(error)).toBe(true);
    expect(error).toMatchObject({ expected: result.sha256, found: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(error.message).not.toContain("found it");
    expect(issue.notes).toEqual([note]);
  });

  test("between the undo's read and its deletion is a conflict as well: GitLab itself refuses", async () => {
    const { undo, backend, issue, result, note } = await noted();
    const edit = () => {
      editNote(note, "Found it");
      return false;
    };
    backend.inject({ kind: "cutBefore" }, { method: "DELETE", path: edit });
    const error = await failure(undo("add_note", args, result));
    expect(ConflictError.is(error)).toBe(true);
    expect(error).toMatchObject({ expected: result.sha256, found: "changed after it was read" });
    expect(error.message).toMatch(/Nothing was deleted/);
    expect(issue.notes).toEqual([note]);
  });

  test("is deleted on the operator's word, and without any condition", async () => {
    const { undo, state, before, result, note, writes } = await noted();
    editNote(note, "Edited");
    const context = { onConflict: "overwrite" } as const;
    expect(await undo("add_note", args, result, context)).toMatchObject({ already: false });
    expect(await state()).toEqual(before);
    expect(writes().at(-1)?.headers).not.toHaveProperty("if-unmodified-since");
  });

  test.each([{}, { expected_sha256: null }])("is deleted as told without a hash (%j)", async (guard) => {
    const { call, state, before, result, note } = await noted();
    editNote(note, "Edited");
    await call("delete_note", { issue_iid: 1, note_id: result.note_id, ...guard });
    expect(await state()).toEqual(before);
  });

  test("and put back into its text is no conflict: the text counts", async () => {
    const { undo, state, before, result, note } = await noted();
    editNote(note, "Something else");
    editNote(note, args.body);
    expect(await undo("add_note", args, result)).toMatchObject({ already: false });
    expect(await state()).toEqual(before);
  });
});

test("the deletion carries the time just read, to the end of the millisecond that GitLab shows", async () => {
  const { undo, result, note, writes } = await noted();
  const time = new Date(Math.floor(note.updatedAt / 1000)).toISOString();
  await undo("add_note", args, result);
  expect(writes().at(-1)?.headers["if-unmodified-since"]).toBe(time.replace("Z", "999Z"));
});

test("a locked discussion refuses the note of whoever has no role for it", async () => {
  const { call, backend } = await bench();
  const [issue] = backend.site.issues;
  if (issue) issue.locked = true;
  backend.site.role = "guest";
  expect((await failure(call("add_note", args))).message).toMatch(/HTTP 403.*403 Forbidden/);
});

test("a note waits for the issue that the same run opened, however its project was named", async () => {
  const { connector } = await bench();
  const { requires } = connector.manifests.find(({ tool }) => tool === "gitlab.add_note") ?? {};
  expect(requires).toEqual(
    ["args.project", "result.project_id"].map((project) => ({
      tool: "gitlab.create_issue",
      match: { project, issue_iid: "result.issue_iid" },
    })),
  );
});
