import {
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import {
  exists,
  hashOf,
  kept,
  refusalOf,
  type Step,
  snapshot,
  type Workspace,
  workspace,
} from "./support.ts";

let it: Workspace;
beforeEach(() => {
  it = workspace();
});
afterEach(() => it.close());
const only = (): Step => it.steps[0] ?? expect.anything();

test("moves a file, a link and a directory, and back, with everything they are", async () => {
  mkdirSync(it.at("d/sub"), { recursive: true });
  mkdirSync(it.at("target"));
  writeFileSync(it.at("d/sub/f"), "1");
  writeFileSync(it.at("f"), "2");
  symlinkSync("nowhere", it.at("l"));
  const before = snapshot(it.root, { times: true });
  const file = await it.step("move_file", { from: "f", to: "target/g" });
  expect(file).toMatchObject({ from: "f", to: "target/g", type: "file", sha256: hashOf("2") });
  expect(await it.step("move_file", { from: "l", to: "m" })).toMatchObject({ type: "symlink", sha256: null });
  expect(await it.step("move_file", { from: "d", to: "target/e" })).toMatchObject({ type: "directory" });
  expect(it.text("target/e/sub/f")).toBe("1");
  for (const step of it.steps) expect(await it.holds(step)).toBe(false);
  await it.rollback();
  expect(snapshot(it.root, { times: true })).toEqual(before);
  for (const step of it.steps) expect(await it.holds(step)).toBe(true);
});

test("FS-12: never replaces anything, never moves a directory into itself", async () => {
  writeFileSync(it.at("a.txt"), "A");
  writeFileSync(it.at("b.txt"), "B");
  mkdirSync(it.at("d1"));
  writeFileSync(it.at("d1/f"), "f");
  mkdirSync(it.at("d2"));
  symlinkSync("nowhere", it.at("dangling"));
  linkSync(it.at("a.txt"), it.at("A.TXT"));
  const before = snapshot(it.root);
  const refused: [from: string, to: string, reason: string][] = [
    ["a.txt", "b.txt", "EEXIST"],
    ["a.txt", "a.txt", "EEXIST"],
    ["a.txt", "A.TXT", "EEXIST"],
    ["a.txt", "d2", "EEXIST"],
    ["a.txt", "dangling", "EEXIST"],
    ["d1", "d2", "EEXIST"],
    ["d1", "a.txt", "EEXIST"],
    ["d1", "d1/sub", "EINVAL"],
    ["d1", "d1/sub/deeper", "ENOENT"],
    ["no", "x", "ENOENT"],
    ["a.txt", "no/x", "ENOENT"],
  ];
  for (const [from, to, reason] of refused) {
    const error = await refusalOf(it.call("move_file", { from, to }));
    expect([from, to, error.reason]).toEqual([from, to, reason]);
  }
  expect(snapshot(it.root)).toEqual(before);
  symlinkSync("d1", it.at("around"));
  expect(await refusalOf(it.call("move_file", { from: "d1", to: "around/x" }))).toMatchObject({
    reason: "EINVAL",
  });
});

test("does not replace what comes while the checkpoint is written", async () => {
  writeFileSync(it.at("a"), "A");
  const checkpoint = async () => writeFileSync(it.at("b"), "B");
  const error = await refusalOf(it.call("move_file", { from: "a", to: "b" }, { checkpoint }));
  expect(error.reason).toBe("EEXIST");
  expect([it.text("a"), it.text("b")]).toEqual(["A", "B"]);
});

test("only the case of a name can be changed, and back", async () => {
  writeFileSync(it.at("readme"), "1");
  await it.step("move_file", { from: "readme", to: "README" });
  expect([exists(it.at("readme")), it.text("README")]).toEqual([false, "1"]);
  await it.rollback();
  expect([it.text("readme"), exists(it.at("README"))]).toEqual(["1", false]);
});

describe("unmove_file", () => {
  test("brings back what was edited in place: it is still the same file", async () => {
    writeFileSync(it.at("a"), "1");
    await it.step("move_file", { from: "a", to: "b" });
    writeFileSync(it.at("b"), "edited");
    await it.rollback();
    expect([it.text("a"), exists(it.at("b"))]).toEqual(["edited", false]);
  });

  test("a file saved anew in its place is a conflict; forced, it is moved back all the same", async () => {
    writeFileSync(it.at("a"), "1");
    await it.step("move_file", { from: "a", to: "b" });
    // Most file systems hand a freed inode number out again at once.
    unlinkSync(it.at("b"));
    writeFileSync(it.at("b"), "another");
    expect(await refusalOf(it.undo(only()))).toMatchObject({ code: "CONFLICT" });
    expect([it.text("b"), exists(it.at("a"))]).toEqual(["another", false]);
    await it.undo(only(), { onConflict: "overwrite" });
    expect([it.text("a"), exists(it.at("b"))]).toEqual(["another", false]);
  });

  test("an occupied old place is refused, even by force", async () => {
    writeFileSync(it.at("a"), "1");
    await it.step("move_file", { from: "a", to: "b" });
    writeFileSync(it.at("a"), "theirs");
    for (const onConflict of ["refuse", "overwrite"] as const) {
      expect(await refusalOf(it.undo(only(), { onConflict }))).toMatchObject({ code: "CONFLICT" });
      expect([it.text("a"), it.text("b")]).toEqual(["theirs", "1"]);
    }
  });

  test("what is gone from its new place is a conflict, its directory too", async () => {
    mkdirSync(it.at("d"));
    writeFileSync(it.at("a"), "1");
    await it.step("move_file", { from: "a", to: "d/b" });
    unlinkSync(it.at("d/b"));
    expect(await refusalOf(it.undo(only()))).toMatchObject({ code: "CONFLICT" });
    rmSync(it.at("d"), { recursive: true });
    expect(await refusalOf(it.undo(only()))).toMatchObject({ code: "CONFLICT" });
  });

  test("a move that was cut short between its two halves is finished", async () => {
    writeFileSync(it.at("a"), "1");
    const { ino } = lstatSync(it.at("a"));
    await it.step("move_file", { from: "a", to: "b" });
    linkSync(it.at("b"), it.at("a"));
    const landed = await it.connector.landed["fs.move_file"]?.(only().args, {
      since: new Date(),
      checkpoint: { result: only().result },
    });
    expect(landed).toEqual({ landed: true, result: only().result });
    expect(await it.undo(only())).toMatchObject({ already: false });
    expect([lstatSync(it.at("a")).ino, exists(it.at("b"))]).toEqual([ino, false]);
  });

  test("a move that never happened needs no undoing", async () => {
    writeFileSync(it.at("a"), "1");
    let known: Record<string, unknown> = {};
    const checkpoint = async ({ result }: { result: object }) => {
      known = { ...result };
    };
    await it.call("move_file", { from: "a", to: "b" }, { checkpoint });
    renameSync(it.at("b"), it.at("a"));
    const step = { tool: "fs.move_file", args: { from: "a", to: "b" }, result: known };
    expect(await it.undo(step)).toMatchObject({ already: true });
    expect(it.text("a")).toBe("1");
  });

  test("without a record it goes by the hash, and by nothing else", async () => {
    writeFileSync(it.at("b"), "1");
    const args = { from: "a", to: "b" };
    expect(await it.connector.holds["fs.unmove_file"]?.(args)).toBe("unknown");
    expect(await refusalOf(it.call("unmove_file", args))).toMatchObject({ code: "CONFLICT" });
    const other = { ...args, expected_sha256: hashOf("2") };
    expect(await refusalOf(it.call("unmove_file", other))).toMatchObject({ code: "CONFLICT" });
    const right = { ...args, expected_sha256: hashOf("1") };
    expect(await it.connector.holds["fs.unmove_file"]?.(right)).toBe(false);
    expect(await it.call("unmove_file", right)).toMatchObject({ already: false });
    expect(await it.connector.holds["fs.unmove_file"]?.(right)).toBe(true);
    expect(await it.call("unmove_file", right)).toMatchObject({ already: true });
  });

  test("a record of another move, or none, is refused", async () => {
    writeFileSync(it.at("a"), "1");
    writeFileSync(it.at("x"), "2");
    const { move_id } = await it.step("move_file", { from: "a", to: "b" });
    const wrong = { from: "x", to: "b", move_id };
    expect(await refusalOf(it.call("unmove_file", wrong))).toMatchObject({
      code: "FAILED",
      reason: "EINVAL",
    });
    rmSync(join(it.at(kept), `${move_id}.json`));
    const gone = { from: "a", to: "b", move_id, expected_sha256: null };
    expect(await refusalOf(it.call("unmove_file", gone))).toMatchObject({ code: "FAILED", reason: "ENOENT" });
    expect(readFileSync(it.at("b"), "utf8")).toBe("1");
  });
});
