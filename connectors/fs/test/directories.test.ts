import { mkdirSync, readdirSync, rmdirSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { exists, kept, refusalOf, snapshot, type Workspace, workspace } from "./support.ts";

let it: Workspace;
beforeEach(() => {
  it = workspace();
});
afterEach(() => it.close());

describe("make_dir", () => {
  test("FS-17a: an existing directory is left as it is, and its undo leaves it too", async () => {
    mkdirSync(it.at("keep"));
    symlinkSync("keep", it.at("link"));
    for (const path of ["keep", "link"])
      expect(await it.step("make_dir", { path })).toEqual({ path, existed: true, created: [] });
    expect(await it.rollback()).toMatchObject([{ already: true }, { already: true }]);
    expect(exists(it.at("keep"))).toBe(true);
  });

  test("FS-17b: makes the parents that are missing, and its undo removes just those, deepest first", async () => {
    mkdirSync(it.at("w"));
    const created = ["w/x", "w/x/y", "w/x/y/z"];
    const made = await it.step("make_dir", { path: "w/x/y/z" });
    expect(made).toEqual({ path: "w/x/y/z", existed: false, created });
    expect(await it.rollback()).toEqual([
      { path: "w/x/y/z", already: false, removed: [...created].reverse() },
    ]);
    expect(readdirSync(it.at("w"))).toEqual([]);
  });

  test("FS-17c: a file that somebody put inside is never touched; the undo says conflict", async () => {
    await it.step("make_dir", { path: "x/y/z" });
    writeFileSync(it.at("x/y/mine"), "m");
    const [step] = it.steps;
    const error = await refusalOf(it.undo(step ?? expect.anything()));
    expect(error).toMatchObject({ code: "CONFLICT", message: expect.stringContaining("x/y: is not empty") });
    expect(it.text("x/y/mine")).toBe("m");
    unlinkSync(it.at("x/y/mine"));
    expect(await it.rollback()).toMatchObject([{ already: false, removed: ["x/y", "x"] }]);
    expect(exists(it.at("x"))).toBe(false);
  });

  test("refuses a path on which a file stands", async () => {
    writeFileSync(it.at("f"), "");
    for (const path of ["f", "f/x", "f/x/y"]) {
      const error = await refusalOf(it.call("make_dir", { path }));
      expect([path, error.reason]).toEqual([path, "ENOTDIR"]);
    }
  });

  test("makes at most 256 at once, which all go again", async () => {
    const deep = (count: number) => Array.from({ length: count }, () => "d").join("/");
    expect(await refusalOf(it.call("make_dir", { path: deep(257) }))).toMatchObject({ reason: "EINVAL" });
    expect((await it.step("make_dir", { path: deep(256) }))["created"]).toHaveLength(256);
    await it.step("make_dir", { path: deep(300) });
    await it.rollback();
    expect(exists(it.at("d"))).toBe(false);
  });

  test("two calls that need the same missing parent both succeed, and undo what each made", async () => {
    const made = await Promise.all([
      it.step("make_dir", { path: "p/a" }),
      it.step("make_dir", { path: "p/b" }),
      it.step("make_dir", { path: "p" }),
    ]);
    expect(made.map(({ created }) => created)).toEqual([["p", "p/a"], ["p/b"], []]);
    await it.rollback();
    expect(exists(it.at("p"))).toBe(false);
  });

  test("takes back what it made when somebody gets in its way", async () => {
    const checkpoint = async () => mkdirSync(it.at("a"));
    const error = await refusalOf(it.call("make_dir", { path: "a/b" }, { checkpoint }).then(() => undefined));
    expect(error.code).toBe("CONFLICT");
    expect(readdirSync(it.at("a"))).toEqual([]);
  });
});

describe("remove_dir", () => {
  test("removes an empty directory, and is done when it is gone", async () => {
    mkdirSync(it.at("d"));
    const args = { path: "d" };
    expect(await it.connector.holds["fs.remove_dir"]?.(args)).toBe(false);
    expect(await it.call("remove_dir", args)).toEqual({ path: "d", already: false, removed: ["d"] });
    expect(await it.call("remove_dir", args)).toEqual({ path: "d", already: true, removed: [] });
    expect(await it.connector.holds["fs.remove_dir"]?.(args)).toBe(true);
    expect(await it.connector.holds["fs.remove_dir"]?.({ path: "d", created: [] })).toBe(true);
  });

  test("refuses what holds anything, files, links, and directories elsewhere", async () => {
    mkdirSync(it.at("d/e"), { recursive: true });
    mkdirSync(it.at("other"));
    writeFileSync(it.at("f"), "");
    symlinkSync("d", it.at("l"));
    const before = snapshot(it.root);
    expect(await refusalOf(it.call("remove_dir", { path: "d" }))).toMatchObject({ reason: "ENOTEMPTY" });
    for (const path of ["f", "l"])
      expect(await refusalOf(it.call("remove_dir", { path }))).toMatchObject({ code: "CONFLICT" });
    const error = await refusalOf(it.call("remove_dir", { path: "d/e", created: ["other", "d/e"] }));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENTS", message: expect.stringContaining("other") });
    expect(snapshot(it.root)).toEqual(before);
  });

  test("an undo that was done stays done: a directory that somebody makes later is theirs", async () => {
    await it.step("make_dir", { path: "a/b" });
    await it.rollback();
    mkdirSync(it.at("a/b"), { recursive: true });
    expect(await it.rollback()).toMatchObject([{ already: true, removed: [] }]);
    expect(exists(it.at("a/b"))).toBe(true);
    rmdirSync(it.at("a/b"));
    rmdirSync(it.at("a"));
    await it.step("make_dir", { path: "a/b" });
    expect((await it.rollback())[0]).toMatchObject({ already: false, removed: ["a/b", "a"] });
  });
});

describe("list_dir", () => {
  test("sorts by name, gives types and sizes, and hides the backups", async () => {
    mkdirSync(it.at("b"));
    await it.call("write_file", { path: "c", content: "123" });
    await it.call("write_file", { path: "a", content: "" });
    symlinkSync("b", it.at("B"));
    expect(await it.call("list_dir", {})).toEqual({
      path: ".",
      entries: [
        { name: "B", type: "symlink", size: null },
        { name: "a", type: "file", size: 0 },
        { name: "b", type: "directory", size: null },
        { name: "c", type: "file", size: 3 },
      ],
      next_cursor: null,
    });
    expect(await it.call("list_dir", { path: "B" })).toMatchObject({ path: "B", entries: [] });
    expect(await refusalOf(it.call("list_dir", { path: "c" }))).toMatchObject({ reason: "ENOTDIR" });
    expect(await refusalOf(it.call("list_dir", { path: "no" }))).toMatchObject({ reason: "ENOENT" });
  });

  test("goes page by page, also while names come and go", async () => {
    await it.call("write_file", { path: "-first", content: "" });
    for (let i = 0; i < 25; i++) writeFileSync(it.at(`n${String(i).padStart(2, "0")}`), "");
    const names: string[] = [];
    let cursor: unknown;
    let pages = 0;
    do {
      const page = await it.call("list_dir", { limit: 10, ...(cursor ? { cursor } : {}) });
      names.push(...(page["entries"] as { name: string }[]).map(({ name }) => name));
      cursor = page["next_cursor"];
      if (pages++ === 0) unlinkSync(it.at("n00"));
    } while (cursor);
    expect(pages).toBe(3);
    expect(names).toEqual([
      "-first",
      ...Array.from({ length: 25 }, (_, i) => `n${String(i).padStart(2, "0")}`),
    ]);
    const error = await refusalOf(it.call("list_dir", { cursor: "not/a+cursor" }));
    expect(error.code).toBe("INVALID_ARGUMENTS");
  });

  test("shows the bytes of names that are no text, and pages over them", async () => {
    const raw = Buffer.concat([Buffer.from(it.at("caf")), Buffer.from([0xe9])]);
    writeFileSync(raw, "x");
    writeFileSync(it.at("cafz"), "y");
    const first = await it.call("list_dir", { limit: 1 });
    expect(first["entries"]).toEqual([{ name: "cafz", type: "file", size: 1 }]);
    const second = await it.call("list_dir", { limit: 1, cursor: first["next_cursor"] });
    expect(second).toMatchObject({
      entries: [{ name: "caf\\xe9", type: "file", size: 1 }],
      next_cursor: null,
    });
    expect(await refusalOf(it.call("read_file", { path: "caf\\xe9" }))).toMatchObject({
      code: "INVALID_ARGUMENTS",
    });
    unlinkSync(raw);
  });
});

test("the backup directory is no entry of a listing page: a page of one still shows one", async () => {
  await it.call("write_file", { path: "z", content: "" });
  expect(exists(it.at(kept))).toBe(true);
  expect(await it.call("list_dir", { limit: 1 })).toMatchObject({
    entries: [{ name: "z" }],
    next_cursor: null,
  });
});
