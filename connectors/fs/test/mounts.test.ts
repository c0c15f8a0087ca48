import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { exists, refusalOf, snapshot, type Workspace, workspace } from "./support.ts";

let it: Workspace;
let mounted: string[];
beforeEach(() => {
  it = workspace();
  mounted = [];
});
afterEach(async () => {
  await it.connector.close();
  for (const path of mounted.reverse()) execFileSync("umount", ["-l", path]);
  await it.close();
});

const run = (command: string, ...args: string[]) => execFileSync(command, args, { stdio: "ignore" });
function mount(path: string, ...args: string[]) {
  mkdirSync(path, { recursive: true });
  run("mount", ...args, path);
  mounted.push(path);
}

/** Why this machine refuses a kind of mount, or undefined. */
function refused(...args: string[]): string | undefined {
  const probe = workspace();
  try {
    run("mount", ...args, probe.root);
    run("umount", "-l", probe.root);
    return undefined;
  } catch (error) {
    return (error as Error).message.split("\n")[0];
  } finally {
    void probe.close();
  }
}
const noTmpfs = refused("-t", "tmpfs", "none");
const withTmpfs = noTmpfs === undefined ? test : test.skip;
const because = (why: string | undefined) => (why === undefined ? "" : ` (skipped: ${why})`);

withTmpfs(`a full disk: the old content stays, nothing is left over${because(noTmpfs)}`, async () => {
  mount(it.root, "-t", "tmpfs", "-o", "size=256k,mode=755", "none");
  const full = workspace({ root: it.root });
  writeFileSync(it.at("f"), "old");
  await full.call("write_file", { path: "warm-up", content: "" });
  writeFileSync(it.at("fill"), Buffer.alloc(100 * 1024));
  const before = snapshot(it.root, { times: true });
  const kept = full.backups();
  for (const path of ["f", "new"]) {
    const error = await refusalOf(full.call("write_file", { path, content: "x".repeat(400_000) }));
    expect(error).toMatchObject({ code: "FAILED", reason: "ENOSPC" });
    expect(error.message).toBe(`cannot write ${path}: no space left on device (ENOSPC)`);
    expect(snapshot(it.root, { times: true })).toEqual(before);
  }
  expect(full.backups().filter((name) => !name.endsWith(".mark"))).toEqual(
    kept.filter((name) => !name.endsWith(".mark")),
  );
  await full.close();
});

withTmpfs(
  `backups on another disk are copies, proven before anything changes${because(noTmpfs)}`,
  async () => {
    const backupDir = join(it.outer, "elsewhere");
    mount(backupDir, "-t", "tmpfs", "-o", "size=64m,mode=700", "none");
    const away = workspace({ root: it.root, backupDir });
    writeFileSync(it.at("f"), "old");
    chownSync(it.at("f"), 1234, 1234);
    chmodSync(it.at("f"), 0o640);
    utimesSync(it.at("f"), 1_600_000_000, 1_600_000_000);
    writeFileSync(it.at("g"), Buffer.alloc(7 * 1024 * 1024, "g"));
    symlinkSync("nowhere", it.at("l"));
    const before = snapshot(it.root, { times: true });
    await away.step("write_file", { path: "f", content: "new" });
    await away.step("write_file", { path: "g", content: "new" });
    await away.step("delete_file", { path: "f" });
    await away.step("delete_file", { path: "l" });
    for (const step of away.steps.slice(2)) {
      const known = { since: new Date(), checkpoint: { result: step.result } };
      expect(await away.connector.landed[step.tool]?.(step.args, known)).toMatchObject({ landed: true });
    }
    expect(readdirSync(it.root)).toEqual(["g"]);
    await away.rollback();
    const after = snapshot(it.root, { times: true });
    const times = /\d{19}/;
    const { "./g": g = "", ...others } = after;
    const { "./g": oldG = "", ...oldOthers } = before;
    expect(others).toEqual(oldOthers);
    expect(g.replace(times, "")).toBe(oldG.replace(times, ""));
    expect(lstatSync(it.at("f"))).toMatchObject({ uid: 1234, gid: 1234 });
    for (const step of away.steps) expect(await away.undo(step)).toMatchObject({ already: true });
    for (const step of away.steps.slice(0, 2)) expect(await away.holds(step)).toBe(true);
    await away.step("write_file", { path: "f", content: "again" });
    const { backup_key } = away.steps.at(-1)?.result ?? {};
    writeFileSync(join(backupDir, String(backup_key)), "OLD");
    const spoilt = await refusalOf(away.undo(away.steps.at(-1) ?? expect.anything()));
    expect(spoilt).toMatchObject({ reason: "BACKUP_CHANGED" });
    expect(it.text("f")).toBe("again");
    const { length } = away.backups();
    const checkpoint = () => Promise.reject(new Error("no"));
    await refusalOf(away.call("write_file", { path: "f", content: "x" }, { checkpoint }));
    await refusalOf(away.call("delete_file", { path: "f" }, { checkpoint }));
    expect(away.backups()).toHaveLength(length);
    await away.close();
  },
);

withTmpfs(
  `a disk mounted inside the root: files stay on theirs, moves across are refused${because(noTmpfs)}`,
  async () => {
    mount(it.at("inner"), "-t", "tmpfs", "-o", "size=8m,mode=755", "none");
    writeFileSync(it.at("inner/f"), "old");
    writeFileSync(it.at("g"), "g");
    const before = snapshot(it.root);
    await it.step("write_file", { path: "inner/f", content: "new" });
    await it.step("delete_file", { path: "inner/f" });
    await it.step("write_file", { path: "inner/n", content: "n" });
    await it.step("move_file", { from: "inner/n", to: "inner/m" });
    for (const [from, to] of [
      ["g", "inner/g"],
      ["inner/m", "m"],
    ]) {
      const error = await refusalOf(it.call("move_file", { from, to }));
      expect(error).toMatchObject({ code: "FAILED", reason: "EXDEV" });
    }
    await it.rollback();
    expect(snapshot(it.root)).toEqual(before);
  },
);

withTmpfs(
  `a layered mount, as in containers: what comes from the lower layer is undone too${because(noTmpfs)}`,
  async () => {
    mount(join(it.outer, "layers"), "-t", "tmpfs", "-o", "size=8m", "none");
    const layer = (name: string) => join(it.outer, "layers", name);
    for (const name of ["lower", "lower/d", "upper", "work"]) mkdirSync(layer(name));
    for (const name of ["a", "b", "c", "d/e"]) writeFileSync(layer(`lower/${name}`), name, { mode: 0o640 });
    const layers = `lowerdir=${layer("lower")},upperdir=${layer("upper")},workdir=${layer("work")}`;
    mount(it.root, "-t", "overlay", "-o", layers, "overlay");
    const merged = workspace({ root: it.root });
    const before = snapshot(it.root, { times: true });
    await merged.step("write_file", { path: "a", content: "new" });
    await merged.step("delete_file", { path: "b" });
    await merged.step("move_file", { from: "c", to: "moved" });
    await merged.step("delete_file", { path: "d/e" });
    expect(exists(it.at("b"))).toBe(false);
    await merged.rollback();
    expect(snapshot(it.root, { times: true })).toEqual(before);
    await merged.close();
  },
);

withTmpfs(
  `a read-only mount: reads work, every write is refused and told why${because(noTmpfs)}`,
  async () => {
    mount(it.root, "-t", "tmpfs", "-o", "size=1m,mode=755", "none");
    const own = workspace({ root: it.root });
    writeFileSync(it.at("f"), "old");
    await own.call("write_file", { path: "warm-up", content: "" });
    run("mount", "-o", "remount,ro", it.root);
    const before = snapshot(it.root, { times: true });
    expect(await own.call("read_file", { path: "f" })).toMatchObject({ content: "old" });
    for (const [tool, args] of [
      ["write_file", { path: "f", content: "new" }],
      ["write_file", { path: "n", content: "new" }],
      ["delete_file", { path: "f" }],
      ["move_file", { from: "f", to: "g" }],
      ["make_dir", { path: "d" }],
    ] as const) {
      expect(await refusalOf(own.call(tool, args))).toMatchObject({ code: "FAILED", reason: "EROFS" });
    }
    expect(snapshot(it.root, { times: true })).toEqual(before);
    await own.close();
  },
);

/** Why extended attributes cannot be set here, or undefined. */
function noAttributes(): string | undefined {
  const probe = workspace();
  try {
    writeFileSync(probe.at("f"), "");
    setAttribute(probe.at("f"), "x");
    return undefined;
  } catch (error) {
    return (error as Error).message.split("\n")[0];
  } finally {
    void probe.close();
  }
}
const python = (code: string, ...args: string[]) =>
  execFileSync("python3", ["-c", `import os, sys; ${code}`, ...args], { encoding: "utf8", stdio: "pipe" });
function setAttribute(path: string, value: string): void {
  python("os.setxattr(sys.argv[1], 'user.note', sys.argv[2].encode())", path, value);
}
const attributeOf = (path: string) =>
  python("print(os.getxattr(sys.argv[1], 'user.note').decode(), end='')", path);
const noXattrs = noAttributes();

(noXattrs === undefined ? test : test.skip)(
  `extended attributes come back with what an undo puts back${because(noXattrs)}`,
  async () => {
    for (const path of ["f", "g", "h"]) {
      writeFileSync(it.at(path), "old");
      setAttribute(it.at(path), `of ${path}`);
    }
    await it.step("write_file", { path: "f", content: "new" });
    await it.step("delete_file", { path: "g" });
    await it.step("move_file", { from: "h", to: "moved" });
    expect(attributeOf(it.at("moved"))).toBe("of h");
    await it.rollback();
    expect(["f", "g", "h"].map((path) => attributeOf(it.at(path)))).toEqual(["of f", "of g", "of h"]);
  },
);

/** An NTFS volume that takes no notice of case, in a file of its own. */
function mountWithoutCase(path: string, image: string): void {
  mkdirSync(path, { recursive: true });
  writeFileSync(image, "");
  truncateSync(image, 16 * 1024 * 1024);
  run("mkntfs", "-q", "-F", "-Q", image);
  run("lowntfs-3g", "-o", "ignore_case", image, path);
  mounted.push(path);
}
function noCaseless(): string | undefined {
  const probe = workspace();
  mounted = [];
  try {
    mountWithoutCase(probe.root, join(probe.outer, "image"));
    run("umount", "-l", probe.root);
    return undefined;
  } catch (error) {
    return `${(error as Error).message.split("\n")[0]}; apt-get install ntfs-3g`;
  } finally {
    void probe.close();
  }
}
const noNtfs = noCaseless();

(noNtfs === undefined ? test : test.skip)(
  `names that differ in case alone are one thing on a volume that takes no notice of case${because(noNtfs)}`,
  async () => {
    mountWithoutCase(it.root, join(it.outer, "image"));
    const own = workspace({ root: it.root });
    writeFileSync(it.at("readme.txt"), "old");
    const before = snapshot(it.root);
    expect(await own.call("read_file", { path: "README.txt" })).toMatchObject({ content: "old" });
    await own.step("write_file", { path: "README.txt", content: "new" });
    await own.step("make_dir", { path: "Sub" });
    await own.step("write_file", { path: "SUB/A.txt", content: "1" });
    await own.step("write_file", { path: "sub/a.TXT", content: "2" });
    expect(own.steps.map(({ result }) => result["existed"])).toEqual([true, false, false, true]);
    await own.step("delete_file", { path: "ReadMe.TXT" });
    const reserved = await refusalOf(own.call("list_dir", { path: ".Reversi-BACKUPS" }));
    expect(reserved.message).toMatch(/the backup directory is reserved/);
    await own.rollback();
    expect(snapshot(it.root)).toEqual(before);
    await own.close();
  },
);
