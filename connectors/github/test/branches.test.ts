import { type Checkpoint, ConflictError, InvalidArgumentsError } from "@reversi-connector/core";
import { commit } from "@reversi-connector/github/sandbox";
import { bench, failure } from "./bench.ts";

const created = async (branch = "feature/x") => {
  const on = await bench();
  const before = await on.state();
  const result = await on.call<{ branch: string; sha: string }>("create_branch", { branch });
  return { ...on, before, result, args: { branch }, refs: on.backend.site.refs };
};

test("a branch starts from the default branch when nothing else is said", async () => {
  const { result, refs, sent } = await created();
  expect(result).toEqual({ branch: "feature/x", sha: refs.get("heads/main") });
  expect(refs.get("heads/feature/x")).toBe(result.sha);
  expect(sent().at(-1)).toBe("POST /repos/acme/site/git/refs");
});

test("a branch starts from a branch, a tag, an annotated tag or a commit", async () => {
  const { call, backend } = await bench();
  const { refs, objects } = backend.site;
  const [light, annotated] = [commit(backend.world, backend.site), commit(backend.world, backend.site)];
  refs.set("tags/v1", light).set("tags/v2", "a".repeat(40));
  objects.set("a".repeat(40), { type: "tag", sha: annotated });
  const from = async (branch: string, base: string) =>
    (await call("create_branch", { branch, from: base }))["sha"];
  expect(await from("a", "docs")).toBe(refs.get("heads/docs"));
  expect(await from("b", "v1")).toBe(light);
  expect(await from("c", "v2")).toBe(annotated);
  expect(await from("d", light.toUpperCase())).toBe(light);
});

test("a base that does not exist is an error that names it, and nothing is made", async () => {
  const { call, state, writes } = await bench();
  const before = await state();
  const unknown = await failure(call("create_branch", { branch: "x", from: "nowhere" }));
  expect(unknown.message).toMatch(/acme\/site has no branch and no tag nowhere/);
  expect(writes()).toEqual([]);
  const noCommit = await failure(call("create_branch", { branch: "x", from: "b".repeat(40) }));
  expect(noCommit).toMatchObject({ status: 422, reason: "Object does not exist" });
  expect(await state()).toEqual(before);
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
  const main = backend.site.refs.get("heads/main") ?? "";
  const checkpoint = async () => void backend.site.refs.set("heads/x", main);
  const error = await failure(call("create_branch", { branch: "x" }, { checkpoint }));
  expect(error).toMatchObject({ code: "FAILED", reason: "Reference already exists", mayHaveApplied: false });
});

test("the undo of create_branch brings the repository back to what it was", async () => {
  const { undo, undoOf, holds, state, before, result, args } = await created();
  const { args: undoArgs } = undoOf("create_branch", args, result);
  expect(await holds("delete_branch", undoArgs)).toBe(false);
  expect(await undo("create_branch", args, result)).toEqual({ ...result, already: false });
  expect(await state()).toEqual(before);
  expect(await holds("delete_branch", undoArgs)).toBe(true);
});

test("GH-05: a name with signs in it is one and the same branch, made and deleted", async () => {
  const branch = "fix/#12-a%b+é";
  const { undo, result, state, before, refs, writes } = await created(branch);
  expect(refs.has(`heads/${branch}`)).toBe(true);
  await undo("create_branch", { branch }, result);
  expect(writes().at(-1)?.path).toBe("/repos/acme/site/git/refs/heads/fix/%2312-a%25b%2B%C3%A9");
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
  "GH-05: the name %j, which git or GitHub forbids, is refused before any request",
  async (name) => {
    const { call, holds, backend } = await bench();
    for (const tool of ["create_branch", "delete_branch"]) {
      const error = await failure(call(tool, { branch: name }));
      expect(InvalidArgumentsError.is(error)).toBe(true);
      expect(error).toMatchObject({ problems: [{ at: "branch" }] });
    }
    await expect(holds("delete_branch", { branch: name })).rejects.toThrow(/branch/);
    if (!/^e+$/i.test(name)) {
      expect(
        InvalidArgumentsError.is(await failure(call("create_branch", { branch: "x", from: name }))),
      ).toBe(true);
    }
    expect(backend.requests).toEqual([]);
    expect(backend.site.refs.has("heads/main")).toBe(true);
  },
);

test("GH-06: a branch that is gone is success, whether it is missing or somebody deletes it in between", async () => {
  const { undo, result, args, refs, backend, writes } = await created();
  refs.delete("heads/feature/x");
  expect(await undo("create_branch", args, result)).toEqual({
    branch: "feature/x",
    sha: null,
    already: true,
  });
  expect(writes()).toHaveLength(1);
  for (const missing of [422, 404] as const) {
    refs.set("heads/feature/x", result.sha);
    backend.world.missingReference = missing;
    const body = { message: "Reference does not exist", status: String(missing) };
    backend.inject({ kind: "status", status: missing, effect: true, body }, { method: "DELETE" });
    expect(await undo("create_branch", args, result)).toEqual({
      branch: "feature/x",
      sha: null,
      already: true,
    });
  }
});

test("GH-06: a refusal for a protected or the default branch is a failure", async () => {
  const { call, undo, result, args, refs, backend } = await created();
  backend.site.protectedBranches.add("feature/x");
  const error = await failure(undo("create_branch", args, result));
  expect(error).toMatchObject({ code: "FAILED", status: 422, reason: "Cannot delete a protected branch" });
  expect(await failure(call("delete_branch", { branch: "main" }))).toMatchObject({
    code: "FAILED",
    status: 422,
  });
  expect([...refs.keys()]).toEqual(["heads/main", "heads/docs", "heads/feature/x"]);
});

test("a plain Not Found for the deletion counts only when the branch is really gone", async () => {
  const { undo, result, args, refs, backend } = await created();
  const refusal = { kind: "status", status: 404, body: { message: "Not Found", status: "404" } } as const;
  backend.inject(refusal, { method: "DELETE" });
  expect(await failure(undo("create_branch", args, result))).toMatchObject({ code: "FAILED", status: 404 });
  expect(refs.has("heads/feature/x")).toBe(true);
  backend.inject({ ...refusal, effect: true }, { method: "DELETE" });
  expect(await undo("create_branch", args, result)).toMatchObject({ already: true });
});

test("lost access is a failed step, not a branch that is gone", async () => {
  const { undo, undoOf, holds, result, args, backend } = await created();
  backend.site.visible = false;
  expect(await failure(undo("create_branch", args, result))).toMatchObject({ code: "FAILED", status: 404 });
  await expect(holds("delete_branch", undoOf("create_branch", args, result).args)).rejects.toThrow(
    /nobody can tell/,
  );
});

test("a branch that somebody pushed to is a conflict, and the commits survive", async () => {
  const { undo, result, args, refs, backend } = await created();
  const pushed = commit(backend.world, backend.site);
  refs.set("heads/feature/x", pushed);
  const error = await failure(undo("create_branch", args, result));
  expect(ConflictError.is(error)).toBe(true);
  expect(error).toMatchObject({ expected: result.sha, found: pushed });
  expect(refs.get("heads/feature/x")).toBe(pushed);
});

test("the operator may delete a branch that was pushed to", async () => {
  const { undo, result, args, refs, backend, state, before } = await created();
  const pushed = commit(backend.world, backend.site);
  refs.set("heads/feature/x", pushed);
  const context = { onConflict: "overwrite" } as const;
  expect(await undo("create_branch", args, result, context)).toEqual({
    branch: "feature/x",
    sha: pushed,
    already: false,
  });
  expect(await state()).toEqual(before);
});

test("without a commit to compare it deletes as told", async () => {
  const { call, args, result, refs } = await created();
  expect(await call("delete_branch", args)).toEqual({ ...result, already: false });
  expect(refs.has("heads/feature/x")).toBe(false);
});

test("repeating the undo of a branch changes nothing", async () => {
  const { undo, result, args, state, before, writes } = await created();
  await undo("create_branch", args, result);
  expect(await undo("create_branch", args, result)).toMatchObject({ sha: null, already: true });
  expect(await state()).toEqual(before);
  expect(writes()).toHaveLength(2);
});

test("the checkpoint holds the branch and its commit, and without it nothing is written", async () => {
  const { call, backend, writes } = await bench();
  const kept: Checkpoint[] = [];
  const result = await call("create_branch", { branch: "x" }, { checkpoint: async (c) => void kept.push(c) });
  expect(kept).toEqual([{ result }]);
  const refuse = async () => {
    throw new Error("disk full");
  };
  const error = await failure(call("create_branch", { branch: "y" }, { checkpoint: refuse }));
  expect(error.message).toMatch(/checkpoint was refused \(disk full\); nothing was written/);
  expect(writes()).toHaveLength(1);
  expect(backend.site.refs.has("heads/y")).toBe(false);
});

test("whether a lost branch landed is told by the commit it points at", async () => {
  const { landed, backend } = await bench();
  const { refs } = backend.site;
  const result = { branch: "x", sha: refs.get("heads/main") ?? "" };
  expect(await landed("create_branch", { branch: "x" }, { result })).toEqual({ landed: false });
  refs.set("heads/x", result.sha);
  expect(await landed("create_branch", { branch: "x" }, { result })).toEqual({ landed: true, result });
  refs.set("heads/x", commit(backend.world, backend.site));
  expect(await landed("create_branch", { branch: "x" }, { result })).toBe("unknown");
  expect(await landed("create_branch", { branch: "x" })).toBe("unknown");
});
