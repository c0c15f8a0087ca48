import {
  chmodSync,
  chownSync,
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import {
  exists,
  hashOf,
  kept,
  refusalOf,
  snapshot,
  unknownKey,
  type Workspace,
  workspace,
} from "./support.ts";

let it: Workspace;
beforeEach(() => {
  it = workspace();
});
afterEach(() => it.close());

describe("write_file", () => {
  test("makes a new file, says so, and its undo removes it", async () => {
    const result = await it.step("write_file", { path: "a.txt", content: "hello" });
    expect(result).toEqual({
      path: "a.txt",
      existed: false,
      backup_key: null,
      sha256: hashOf("hello"),
      size: 5,
    });
    expect(it.text("a.txt")).toBe("hello");
    expect(await it.rollback()).toEqual([{ path: "a.txt", already: false, sha256: null }]);
    expect(exists(it.at("a.txt"))).toBe(false);
  });

  test("replaces a file, and its undo brings back bytes, mode and time", async () => {
    writeFileSync(it.at("a.txt"), "old");
    chmodSync(it.at("a.txt"), 0o640);
    utimesSync(it.at("a.txt"), 1_600_000_000, 1_600_000_000.123);
    const before = snapshot(it.root, { times: true });
    const result = await it.step("write_file", { path: "a.txt", content: "new" });
    expect(result).toMatchObject({ existed: true, sha256: hashOf("new"), size: 3 });
    expect(it.text("a.txt")).toBe("new");
    expect(await it.rollback()).toEqual([{ path: "a.txt", already: false, sha256: hashOf("old") }]);
    expect(snapshot(it.root, { times: true })).toEqual(before);
  });

  test("writes any bytes given as base64, and refuses what is none", async () => {
    const bytes = Buffer.from([0, 255, 254, 128, 10]);
    await it.call("write_file", { path: "p", content: bytes.toString("base64"), encoding: "base64" });
    expect(readFileSync(it.at("p")).equals(bytes)).toBe(true);
    for (const content of ["%%%", "AAA", "AA=A", "AAAA\n", "AAB="]) {
      const error = await refusalOf(it.call("write_file", { path: "q", content, encoding: "base64" }));
      expect(error).toMatchObject({ code: "INVALID_ARGUMENTS", message: expect.stringContaining("base64") });
    }
    expect(exists(it.at("q"))).toBe(false);
  });

  test("refuses a missing parent, a directory and a link, and changes nothing", async () => {
    mkdirSync(it.at("d"));
    writeFileSync(it.at("t"), "t");
    symlinkSync("t", it.at("l"));
    const before = snapshot(it.root);
    const reasons: Record<string, string> = { "no/a": "ENOENT", d: "EISDIR", l: "ELOOP", "t/x": "ENOTDIR" };
    for (const [path, reason] of Object.entries(reasons)) {
      const error = await refusalOf(it.call("write_file", { path, content: "x" }));
      expect([path, error.code, error.reason]).toEqual([path, "FAILED", reason]);
      expect(error.message).not.toContain(it.root);
    }
    expect(snapshot(it.root)).toEqual(before);
    expect(it.backups()).toEqual([".gitignore"]);
  });

  test("leaves hard-linked siblings with the old content, and its undo joins them again", async () => {
    writeFileSync(it.at("a"), "one");
    linkSync(it.at("a"), it.at("b"));
    await it.step("write_file", { path: "a", content: "two" });
    expect([it.text("a"), it.text("b")]).toEqual(["two", "one"]);
    await it.rollback();
    expect(lstatSync(it.at("a")).ino).toBe(lstatSync(it.at("b")).ino);
  });

  test("keeps owner, group and special bits of the old file", async () => {
    writeFileSync(it.at("s"), "one");
    chownSync(it.at("s"), 1234, 2345);
    chmodSync(it.at("s"), 0o6755);
    await it.step("write_file", { path: "s", content: "two" });
    expect(statSync(it.at("s"))).toMatchObject({ uid: 1234, gid: 2345, mode: 0o106755 });
    await it.rollback();
    expect(statSync(it.at("s"))).toMatchObject({ uid: 1234, gid: 2345, mode: 0o106755 });
  });

  test("a new file's mode is the process's own, cut by its umask", async () => {
    await it.call("write_file", { path: "n", content: "x" });
    expect(statSync(it.at("n")).mode & 0o777).toBe(0o666 & ~process.umask());
  });

  test("MC-14: takes 5 MiB of any character, and refuses more with the limit", async () => {
    for (const character of ["a", '"', "\n", "\u0001"]) {
      const content = character.repeat(5 * 1024 * 1024);
      expect(await it.call("write_file", { path: "big", content })).toMatchObject({ size: 5_242_880 });
    }
    const read = await it.call("read_file", { path: "big" });
    expect(read["sha256"]).toBe(hashOf("\u0001".repeat(5_242_880)));
    const over = await refusalOf(it.call("write_file", { path: "big", content: "é".repeat(2_621_441) }));
    expect(over).toMatchObject({
      code: "INVALID_ARGUMENTS",
      message: expect.stringContaining("at most 5242880 bytes (5 MiB)"),
    });
    const huge = await refusalOf(it.call("write_file", { path: "big", content: "x".repeat(12_000_000) }));
    expect(huge.code).toBe("INVALID_ARGUMENTS");
  });
});

describe("the backup directory", () => {
  test("appears with the first write only, is closed to others, and git does not see it", async () => {
    writeFileSync(it.at("a"), "x");
    await it.call("read_file", { path: "a" });
    await it.call("list_dir", {});
    await it.connector.holds["fs.restore_file"]?.({ path: "a", backup_key: unknownKey });
    expect(exists(it.at(kept))).toBe(false);
    await it.call("write_file", { path: "a", content: "y" });
    expect(statSync(it.at(kept)).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(it.at(kept), ".gitignore"), "utf8")).toBe("*\n");
  });

  test("is made anew when somebody cleared it away", async () => {
    await it.call("write_file", { path: "a", content: "1" });
    rmSync(it.at(kept), { recursive: true });
    await it.step("write_file", { path: "a", content: "2" });
    await it.rollback();
    expect(it.text("a")).toBe("1");
  });

  test("is closed to others even when somebody made it wide open", async () => {
    mkdirSync(it.at(kept), { mode: 0o777 });
    await it.call("write_file", { path: "a", content: "1" });
    expect(statSync(it.at(kept)).mode & 0o777).toBe(0o700);
  });

  test("is refused as a link or a file: backups never go elsewhere", async () => {
    mkdirSync(join(it.outer, "elsewhere"));
    symlinkSync(join(it.outer, "elsewhere"), it.at(kept));
    writeFileSync(it.at("a"), "1");
    const error = await refusalOf(it.call("write_file", { path: "a", content: "2" }));
    expect(error.code).toBe("FAILED");
    expect(it.text("a")).toBe("1");
    expect(readdirSync(join(it.outer, "elsewhere"))).toEqual([]);
  });

  test("sweeps away what a crash left of our own writes a day ago, and nothing else", async () => {
    const left = ".reversi-0b0e7a52-6a43-4f4e-8f0c-0123456789ab.tmp";
    const foreign = ".reversi-notes.tmp";
    for (const name of [left, foreign]) {
      writeFileSync(it.at(name), "x");
      utimesSync(it.at(name), 1, 1);
    }
    await it.call("write_file", { path: "a", content: "x" });
    expect([left, foreign].map((name) => exists(it.at(name)))).toEqual([true, true]);
    const now = Date.now;
    Date.now = () => now() + 2 * 86_400_000;
    const later = workspace({ root: it.root });
    await later.call("write_file", { path: "a", content: "x" });
    Date.now = now;
    expect([left, foreign].map((name) => exists(it.at(name)))).toEqual([false, true]);
    await later.close();
  });
});

describe("delete_file", () => {
  test("takes the file away by moving it, and its undo brings the very file back", async () => {
    writeFileSync(it.at("a"), "one");
    const { ino } = lstatSync(it.at("a"));
    const before = snapshot(it.root, { times: true });
    const result = await it.step("delete_file", { path: "a" });
    expect(result).toMatchObject({ path: "a", existed: true, sha256: null });
    expect(exists(it.at("a"))).toBe(false);
    expect(lstatSync(join(it.at(kept), String(result["backup_key"]))).ino).toBe(ino);
    await it.rollback();
    expect(snapshot(it.root, { times: true })).toEqual(before);
    expect(lstatSync(it.at("a")).ino).toBe(ino);
  });

  test("takes a link itself, wherever it leads, and brings it back as a link", async () => {
    writeFileSync(join(it.outer, "secret"), "s");
    symlinkSync("../secret", it.at("out"));
    symlinkSync("nowhere", it.at("dangling"));
    const before = snapshot(it.root);
    await it.step("delete_file", { path: "out" });
    await it.step("delete_file", { path: "dangling" });
    expect(snapshot(it.root)).toEqual({ ".": before["."] });
    expect(readFileSync(join(it.outer, "secret"), "utf8")).toBe("s");
    await it.rollback();
    expect(snapshot(it.root)).toEqual(before);
    expect(await it.holds(it.steps[0] ?? expect.anything())).toBe(true);
  });

  test("refuses what is missing or a directory", async () => {
    mkdirSync(it.at("d"));
    expect(await refusalOf(it.call("delete_file", { path: "x" }))).toMatchObject({ reason: "ENOENT" });
    expect(await refusalOf(it.call("delete_file", { path: "d" }))).toMatchObject({ reason: "EISDIR" });
  });
});

describe("read_file", () => {
  test("returns text with size and hash, and follows links that stay inside", async () => {
    mkdirSync(it.at("d"));
    writeFileSync(it.at("d/a"), "\ufeffgrüße\r\n");
    symlinkSync("d/a", it.at("l"));
    symlinkSync(it.at("d"), it.at("abs"));
    symlinkSync("../d/../l", it.at("d/up"));
    for (const path of ["d/a", "l", "abs/a", "d/up", "./d//a"]) {
      const read = await it.call("read_file", { path });
      expect(read).toMatchObject({ content: "\ufeffgrüße\r\n", encoding: "text", size: 12 });
      expect(read["sha256"]).toBe(hashOf("\ufeffgrüße\r\n"));
    }
    expect(await it.call("read_file", { path: "./d//a" })).toMatchObject({ path: "d/a" });
  });

  test("FS-08: bytes that are no text are refused as text, returned as base64, and survive an undo", async () => {
    const bytes = Buffer.from([0x00, 0xff, 0xfe, 0x80, 0x0a]);
    writeFileSync(it.at("p.bin"), bytes);
    const error = await refusalOf(it.call("read_file", { path: "p.bin" }));
    expect(error).toMatchObject({ code: "FAILED", message: expect.stringContaining("base64") });
    const read = await it.call("read_file", { path: "p.bin", encoding: "base64" });
    expect(Buffer.from(String(read["content"]), "base64").equals(bytes)).toBe(true);
    await it.step("write_file", { path: "p.bin", content: "text" });
    await it.rollback();
    expect(readFileSync(it.at("p.bin")).equals(bytes)).toBe(true);
  });

  test("reads an empty file, and a file that says it has no size", async () => {
    writeFileSync(it.at("e"), "");
    expect(await it.call("read_file", { path: "e" })).toMatchObject({ content: "", size: 0 });
    const proc = workspace({ root: "/proc/self" });
    expect(await proc.call("read_file", { path: "status" })).toMatchObject({
      content: expect.stringContaining("Name:"),
    });
    await proc.close();
  });

  test("MC-09: a file of 20 MB is refused with its size and the limit", async () => {
    writeFileSync(it.at("large"), Buffer.alloc(20_000_000));
    const error = await refusalOf(it.call("read_file", { path: "large" }));
    expect(error).toMatchObject({ reason: "EFBIG" });
    expect(error.message).toContain("20000000 bytes; at most 5242880 (5 MiB)");
  });
});

describe("modes", () => {
  test("FS-10: modes are kept by write and undo, and backups are never wider than their originals", async () => {
    writeFileSync(it.at("run.sh"), "#!/bin/sh\n");
    chmodSync(it.at("run.sh"), 0o755);
    writeFileSync(it.at("key"), "secret");
    chmodSync(it.at("key"), 0o600);
    const modes = () => ["run.sh", "key"].map((name) => statSync(it.at(name)).mode & 0o7777);
    for (const path of ["run.sh", "key"]) {
      const { backup_key } = await it.step("write_file", { path, content: "new" });
      expect(statSync(join(it.at(kept), String(backup_key))).mode).toBe(statSync(it.at(path)).mode);
    }
    for (const name of it.backups().filter((each) => each.endsWith(".json")))
      expect(statSync(join(it.at(kept), name)).mode & 0o777).toBe(0o600);
    expect(modes()).toEqual([0o755, 0o600]);
    await it.rollback();
    expect(modes()).toEqual([0o755, 0o600]);
    expect(it.text("key")).toBe("secret");
  });

  test("FS-21: as a normal user a read-only file is replaced, stays 0444, and comes back with its mode", async () => {
    chmodSync(it.outer, 0o755);
    chownSync(it.root, 65534, 65534);
    writeFileSync(it.at("ro"), "old");
    chownSync(it.at("ro"), 65534, 65534);
    chmodSync(it.at("ro"), 0o444);
    writeFileSync(it.at("locked"), "mine");
    chmodSync(it.at("locked"), 0o400);
    mkdirSync(it.at("closed"), { mode: 0o555 });
    const asRoot = process.geteuid?.();
    process.setegid?.(65534);
    process.seteuid?.(65534);
    try {
      await it.step("write_file", { path: "ro", content: "new" });
      expect([it.text("ro"), statSync(it.at("ro")).mode & 0o777]).toEqual(["new", 0o444]);
      await it.rollback();
      expect([it.text("ro"), statSync(it.at("ro")).mode & 0o777]).toEqual(["old", 0o444]);
      const unreadable = await refusalOf(it.call("read_file", { path: "locked" }));
      expect(unreadable).toMatchObject({ code: "FAILED", reason: "EACCES" });
      expect(unreadable.message).toBe("cannot read locked: permission denied (EACCES)");
      const unwritable = await refusalOf(it.call("write_file", { path: "closed/a", content: "x" }));
      expect(unwritable).toMatchObject({ code: "FAILED", reason: "EACCES" });
    } finally {
      process.seteuid?.(asRoot ?? 0);
      process.setegid?.(0);
    }
  });
});

test("a file that this user may not link is copied, and what it was comes back", async () => {
  chmodSync(it.outer, 0o755);
  chownSync(it.root, 65534, 65534);
  for (const name of ["f", "g", "h"]) {
    writeFileSync(it.at(name), `old ${name}`);
    chmodSync(it.at(name), 0o4555);
  }
  process.setegid?.(65534);
  process.seteuid?.(65534);
  try {
    await it.step("write_file", { path: "f", content: "new" });
    // Nobody else's setuid bit on content of ours.
    expect(statSync(it.at("f"))).toMatchObject({ uid: 65534, mode: 0o100555 });
    await it.step("move_file", { from: "g", to: "moved" });
    await it.step("delete_file", { path: "h" });
    await it.rollback();
  } finally {
    process.seteuid?.(0);
    process.setegid?.(0);
  }
  for (const name of ["f", "g", "h"]) expect(it.text(name)).toBe(`old ${name}`);
  expect(statSync(it.at("g"))).toMatchObject({ uid: 0, mode: 0o104555 });
  for (const name of ["f", "h"]) expect(statSync(it.at(name))).toMatchObject({ uid: 65534, mode: 0o100555 });
});

test("a late writer with the old file open spoils the backup, and the undo says so instead of lying", async () => {
  writeFileSync(it.at("log"), "old");
  const late = openSync(it.at("log"), "a");
  await it.step("write_file", { path: "log", content: "new" });
  writeSync(late, " late");
  closeSync(late);
  const [step] = it.steps;
  const error = await refusalOf(it.undo(step ?? expect.anything()));
  expect(error).toMatchObject({ code: "FAILED", reason: "BACKUP_CHANGED" });
  expect(it.text("log")).toBe("new");
});
