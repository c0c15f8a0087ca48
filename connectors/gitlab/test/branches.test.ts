import { type Checkpoint, ConflictError, InvalidArgumentsError } from "@reversi-connector/core";
import { commit } from "@reversi-connector/gitlab/sandbox";
import { bench, failure } from "./bench.ts";

const created = async (branch = "feature/x") => {
  const on = await bench();
  const before = await on.state();
  const result = await on.call<{ branch: string; sha: string }>("create_branch", { branch });
  return { ...on, before, result, args: { branch }, branches: on.backend.site.branches };
};

test("a branch starts from the default branch when nothing else is said, at the commit that was read", async () => {
  const { result, backend, branches, sent, writes } = await created();
  const { id } = backend.site;
  const sha = branches.get("main");
  const url = "https://gitlab.com/acme/tools/site/-/tree/feature/x";
  expect(result).toEqual({ project_id: id, branch: "feature/x", sha, url });
  expect(branches.get("feature/x")).toBe(sha);
  expect(sent()).toEqual([
    "GET /api/v4/projects/acme%2Ftools%2Fsite",
    `GET /api/v4/projects/${id}/repository/branches/main`,
    `GET /api/v4/projects/${id}/repository/branches/feature%2Fx`,
    `POST /api/v4/projects/${id}/repository/branches`,
  ]);
  expect(writes().map((request) => request.json())).toEqual([{ branch: "feature/x", ref: sha }]);
});

test("a branch starts from a branch, a tag or a commit; a branch wins over a tag of its name", async () => {
  const { call, backend } = await bench();
  const { branches, tags } = backend.site;
  const [tagged, shadowed] = [commit(backend.world, backend.site), commit(backend.world, backend.site)];
  tags.set("v1", tagged).set("docs", shadowed);
  const from = async (branch: string, base: string) =>
    (await call("create_branch", { branch, from: base }))["sha"];
  expect(await from("a", "docs")).toBe(branches.get("docs"));
  expect(await from("b", "v1")).toBe(tagged);
  expect(await from("c", tagged.toUpperCase())).toBe(tagged);
});

test("a base that does not exist is an error that names it, and nothing is made", async () => {
  const { call, state, writes } = await bench();
  const before = await state();
  const unknown = await failure(call("create_branch", { branch: "x", from: "nowhere" }));
  expect(unknown.message).toMatch(/project \d+ has no branch and no tag nowhere/);
  expect(writes()).toEqual([]);
  const noCommit = await failure(call("create_branch", { branch: "x", from: "b".repeat(40) }));
  expect(noCommit).toMatchObject({
    status: 400,
    reason: expect.stringMatching(/^Failed to create branch 'x': invalid reference name/),
  });
  expect(await state()).toEqual(before);
});

test("an empty repository has nothing to start from, and is left empty", async () => {
  const { call, backend, writes } = await bench();
  backend.site.branches.clear();
  const error = await failure(call("create_branch", { branch: "x" }));
  expect(error.message).toMatch(/no commit to start from; nothing was sent/);
  expect(writes()).toEqual([]);
});

test("a branch that exists is an error, and nothing is sent", async () => {
  const { call, writes } = await bench();
  const error = await failure(call("create_branch", { branch: "docs" }));
  expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
  expect(error.message).toMatch(/branch docs exists already, at [0-9a-f]{40}; nothing was sent/);
  expect(writes()).toEqual([]);
});

test("a branch that somebody makes in between is a definite failure", async () => {
  const { call, backend } = await bench();
  const main = backend.site.branches.get("main") ?? "";
  const checkpoint = async () => void backend.site.branches.set("x", main);
  const error = await failure(call("create_branch", { branch: "x" }, { checkpoint }));
  expect(error).toMatchObject({ code: "FAILED", reason: "Branch already exists", mayHaveApplied: false });
});

test("a branch that comes back at another commit is not taken for the one that was made", async () => {
  const { call, backend } = await bench();
  const body = { commit: { id: "a".repeat(40) }, web_url: "https://gitlab.com/x" };
  backend.inject({ kind: "status", status: 201, effect: true, body }, { method: "POST" });
  expect(await failure(call("create_branch", { branch: "x" }))).toMatchObject({ code: "EFFECT_UNCERTAIN" });
});

test("the undo of create_branch brings the project back to what it was, and repeating it changes nothing", async () => {
  const { undo, undoOf, holds, state, before, result, args, writes } = await created();
  const { args: undoArgs } = undoOf("create_branch", args, result);
  expect(await holds("delete_branch", undoArgs)).toBe(false);
  expect(await undo("create_branch", args, result)).toEqual({
    branch: "feature/x",
    sha: result.sha,
    already: false,
  });
  expect(await state()).toEqual(before);
  expect(await holds("delete_branch", undoArgs)).toBe(true);
  expect(await undo("create_branch", args, result)).toEqual({
    branch: "feature/x",
    sha: null,
    already: true,
  });
  expect(await state()).toEqual(before);
  expect(writes()).toHaveLength(2);
});

test("a name with signs in it is one segment, and one and the same branch, made and deleted", async () => {
  const branch = "fix/#12-a%b+é(!)";
  const { undo, result, backend, state, before, branches, writes } = await created(branch);
  expect(branches.has(branch)).toBe(true);
  await undo("create_branch", { branch }, result);
  expect(writes().at(-1)?.path).toBe(
    `/api/v4/projects/${backend.site.id}/repository/branches/fix%2F%2312-a%25b%2B%C3%A9%28%21%29`,
  );
  expect(await state()).toEqual(before);
});

const forbidden = [
  ..."feature/../main|../main|a..b|a b|x.lock|x.lock/y|refs/heads/x|refs/tags/x|/x|x/|a//b|.x|a/.b|x.|a@{1}|@".split(
    "|",
  ),
  ..."HEAD|-x|a~b|a^b|a:b|a?b|a*b|a[b|a\\b|a\tb|a\u0000b|a\u007fb".split("|"),
  ...["a\u0085b", "e".repeat(40), "E".repeat(40), "..", "."],
];
test.each(forbidden)(
  "the name %j, which git or GitLab forbids, is refused before any request",
  async (name) => {
    const { call, holds, backend } = await bench();
    for (const tool of ["create_branch", "delete_branch"]) {
      const error = await failure(call(tool, { branch: name }));
      expect(InvalidArgumentsError.is(error)).toBe(true);
      expect(error).toMatchObject({ problems: [{ at: "branch" }] });
    }
    await expect(holds("delete_branch", { branch: name })).rejects.toThrow(/branch/);
    expect(backend.requests).toEqual([]);
    if (/^e+$/i.test(name)) return;
    expect(InvalidArgumentsError.is(await failure(call("create_branch", { branch: "x", from: name })))).toBe(
      true,
    );
    expect(backend.requests.filter(({ path }) => /branches/.test(path))).toEqual([]);
    expect(backend.site.branches.has("main")).toBe(true);
  },
);

test("a branch that is gone is success, whether it is missing or somebody deletes it in between", async () => {
  const { undo, backend, result, args, branches, sent, writes } = await created();
  const gone = { branch: "feature/x", sha: null, already: true };
  branches.delete("feature/x");
  expect(await undo("create_branch", args, result)).toEqual(gone);
  expect(sent().at(-1)).toBe(`GET /api/v4/projects/${backend.site.id}`);
  expect(writes()).toHaveLength(1);
  for (const message of ["404 Branch Not Found", "No such branch"]) {
    branches.set("feature/x", result.sha);
    backend.inject({ kind: "status", status: 404, effect: true, body: { message } }, { method: "DELETE" });
    expect(await undo("create_branch", args, result)).toEqual(gone);
  }
});

test.each([
  [{ message: "404 Not found" }],
  [{ message: "404 Repository Not Found" }],
  [{ error: "404 Not Found" }],
  ["<html>not found</html>"],
])("a 404 that says %j is not a branch that is gone", async (body) => {
  const { call, holds, backend, state } = await bench();
  const before = await state();
  backend.inject({ kind: "status", status: 404, body }, { path: /branches/, times: 2 });
  expect(await failure(call("delete_branch", { branch: "docs" }))).toMatchObject({
    code: "FAILED",
    status: 404,
  });
  await expect(holds("delete_branch", { branch: "docs" })).rejects.toThrow(/HTTP 404/);
  expect(await state()).toEqual(before);
});

test("a refusal for a protected branch, the default branch or a missing role is a failure", async () => {
  const { call, undo, result, args, branches, backend } = await created();
  backend.site.protectedBranches.add("feature/x");
  expect(await failure(undo("create_branch", args, result))).toMatchObject({
    code: "FAILED",
    status: 405,
    reason: "Protected branch cant be removed",
  });
  expect(await failure(call("delete_branch", { branch: "main" }))).toMatchObject({
    status: 405,
    reason: "Cannot remove HEAD branch",
  });
  backend.site.role = "reporter";
  expect(await failure(call("delete_branch", { branch: "docs" }))).toMatchObject({ status: 403 });
  expect(await failure(call("create_branch", { branch: "y" }))).toMatchObject({ status: 403 });
  expect([...branches.keys()]).toEqual(["main", "docs", "feature/x"]);
});

test("lost access is a failed step, not a branch that is gone", async () => {
  const { undo, undoOf, holds, result, args, branches, backend } = await created();
  backend.site.role = "none";
  expect(await failure(undo("create_branch", args, result))).toMatchObject({
    code: "FAILED",
    status: 404,
    reason: "404 Project Not Found",
  });
  await expect(holds("delete_branch", undoOf("create_branch", args, result).args)).rejects.toThrow(/404/);
  expect(branches.has("feature/x")).toBe(true);
});

test("access that is lost while a missing branch is looked up proves nothing", async () => {
  const { call, backend } = await bench();
  const body = { message: "404 Project Not Found" };
  backend.inject({ kind: "status", status: 404, body }, { path: /projects\/[^/]+$/ });
  const error = await failure(call("delete_branch", { branch: "missing" }));
  expect(error.message).toMatch(/404 Branch Not Found.*nobody can tell what is gone and what is hidden/);
});

test("a branch that somebody pushed to is a conflict, and the push survives", async () => {
  const { undo, result, args, branches, backend } = await created();
  const pushed = commit(backend.world, backend.site);
  branches.set("feature/x", pushed);
  const error = await failure(undo("create_branch", args, result));
  expect(ConflictError.is(error)).toBe(true);
  expect(error).toMatchObject({ expected: result.sha, found: pushed });
  expect(branches.get("feature/x")).toBe(pushed);
});

test("a commit authored later that is pushed between the read and the deletion is kept by GitLab itself", async () => {
  const { undo, result, args, branches, backend } = await created();
  const push = () => {
    const sha = commit(backend.world, backend.site);
    backend.site.commits.set(sha, { title: "Later", authoredAt: (Date.now() + 60_000) * 1000 });
    branches.set("feature/x", sha);
    return false;
  };
  backend.inject({ kind: "cutBefore" }, { method: "DELETE", path: push });
  expect(ConflictError.is(await failure(undo("create_branch", args, result)))).toBe(true);
  expect(branches.has("feature/x")).toBe(true);
});

test("the operator may delete a branch that was pushed to", async () => {
  const { undo, result, args, state, before, branches, backend, writes } = await created();
  branches.set("feature/x", commit(backend.world, backend.site));
  const context = { onConflict: "overwrite" } as const;
  expect(await undo("create_branch", args, result, context)).toMatchObject({ already: false });
  expect(await state()).toEqual(before);
  expect(writes().at(-1)?.headers).not.toHaveProperty("if-unmodified-since");
});

test("without a commit to compare it deletes as told", async () => {
  const { call, args, branches, result } = await created();
  expect(await call("delete_branch", args)).toEqual({ branch: "feature/x", sha: result.sha, already: false });
  expect(branches.has("feature/x")).toBe(false);
});

test("the checkpoint holds the project's id, the branch and its commit, and without it nothing is written", async () => {
  const { call, backend, writes } = await bench();
  const kept: Checkpoint[] = [];
  const keep = { checkpoint: async (c: Checkpoint) => void kept.push(c) };
  const { url, ...known } = await call("create_branch", { branch: "x" }, keep);
  expect(kept).toEqual([{ result: known }]);
  const refuse = async () => {
    throw new Error("disk full");
  };
  const error = await failure(call("create_branch", { branch: "y" }, { checkpoint: refuse }));
  expect(error.message).toMatch(/checkpoint was refused \(disk full\); nothing was written/);
  expect(writes()).toHaveLength(1);
  expect(backend.site.branches.has("y")).toBe(false);
});

test("whether a lost branch landed is told by the commit it points at", async () => {
  const { landed, backend } = await bench();
  const { id, branches } = backend.site;
  const result = { project_id: id, branch: "x", sha: branches.get("main") ?? "" };
  expect(await landed("create_branch", { branch: "x" }, { result })).toEqual({ landed: false });
  branches.set("x", result.sha);
  const url = "https://gitlab.com/acme/tools/site/-/tree/x";
  expect(await landed("create_branch", { branch: "x" }, { result })).toEqual({
    landed: true,
    result: { ...result, url },
  });
  branches.set("x", commit(backend.world, backend.site));
  expect(await landed("create_branch", { branch: "x" }, { result })).toBe("unknown");
  expect(await landed("create_branch", { branch: "x" })).toBe("unknown");
  backend.site.role = "none";
  await expect(landed("create_branch", { branch: "x" }, { result })).rejects.toThrow(/404/);
});
