import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fs } from "@reversi-connector/fs";
import { segmentsOf } from "../src/disk/paths.ts";
import { exists, kept, refusalOf, snapshot, type Workspace, workspace } from "./support.ts";

let it: Workspace;
beforeEach(() => {
  it = workspace();
});
afterEach(() => it.close());

/** Every tool that takes a path, with that path at each of its ends. */
const everyCall = (path: string): [tool: string, args: Record<string, unknown>][] => [
  ["read_file", { path }],
  ["list_dir", { path }],
  ["write_file", { path, content: "x" }],
  ["delete_file", { path }],
  ["make_dir", { path }],
  ["move_file", { from: path, to: "free" }],
  ["move_file", { from: "mine", to: path }],
  ["remove_dir", { path }],
  ["restore_file", { path, backup_key: null, expected_sha256: "0".repeat(64) }],
  ["unmove_file", { from: path, to: "mine", expected_sha256: "0".repeat(64) }],
  ["unmove_file", { from: "free", to: path, expected_sha256: "0".repeat(64) }],
];

describe("outside the root", () => {
  test("FS-01: a sibling whose name begins like the root's is outside, by every tool and at both ends", async () => {
    mkdirSync(join(it.outer, "root-evil"));
    writeFileSync(join(it.outer, "root-evil", "s"), "secret");
    writeFileSync(it.at("mine"), "m");
    const before = snapshot(it.outer);
    for (const path of [
      "../root-evil/s",
      join(it.outer, "root-evil/s"),
      "../root-evil",
      "a/../../root-evil/s",
    ]) {
      for (const [tool, args] of everyCall(path)) {
        const error = await refusalOf(it.call(tool, args));
        expect([tool, path, error.code]).toEqual([tool, path, "INVALID_ARGUMENTS"]);
        expect(error.message).not.toContain("secret");
      }
    }
    const error = await refusalOf(it.call("read_file", { path: "../root-evil/s" }));
    expect(error.message).toContain("outside the root");
    expect(snapshot(it.outer)).toEqual(before);
  });

  test("FS-02: no link inside leads out, neither at the end of a path nor on its way", async () => {
    mkdirSync(join(it.outer, "etc"));
    writeFileSync(join(it.outer, "etc", "hostname"), "secret");
    symlinkSync(join(it.outer, "etc", "hostname"), it.at("link"));
    symlinkSync(join(it.outer, "etc"), it.at("dir"));
    symlinkSync("../etc", it.at("rel"));
    symlinkSync("dir", it.at("twice"));
    symlinkSync(join(it.root, "..", "etc"), it.at("dotted"));
    writeFileSync(it.at("mine"), "m");
    const before = snapshot(it.outer);
    for (const path of ["dir/hostname", "rel/hostname", "twice/hostname", "dotted/hostname"]) {
      for (const [tool, args] of everyCall(path)) {
        const error = await refusalOf(it.call(tool, args));
        expect([tool, path, error.reason]).toEqual([tool, path, "OUTSIDE_ROOT"]);
        expect(error.message).not.toMatch(/secret|reversi-fs-test/);
      }
    }
    for (const path of ["dir", "rel", "twice"]) {
      expect(await refusalOf(it.call("list_dir", { path }))).toMatchObject({ reason: "OUTSIDE_ROOT" });
    }
    expect(await refusalOf(it.call("read_file", { path: "link" }))).toMatchObject({ reason: "OUTSIDE_ROOT" });
    expect(await refusalOf(it.call("write_file", { path: "link", content: "x" }))).toMatchObject({
      reason: "ELOOP",
    });
    expect(snapshot(it.outer)).toEqual(before);
    expect(it.backups()).toEqual([".gitignore"]);
  });

  test("FS-03: nothing is written through a link that leads nowhere yet", async () => {
    symlinkSync(join(it.outer, "outside.txt"), it.at("dang"));
    const error = await refusalOf(it.call("write_file", { path: "dang", content: "x" }));
    expect(error).toMatchObject({ code: "FAILED", reason: "ELOOP" });
    expect(exists(join(it.outer, "outside.txt"))).toBe(false);
    expect(await refusalOf(it.call("make_dir", { path: "dang/x" }))).toMatchObject({
      reason: "OUTSIDE_ROOT",
    });
    symlinkSync("nowhere", it.at("inside"));
    expect(await refusalOf(it.call("make_dir", { path: "inside/x" }))).toMatchObject({ reason: "EEXIST" });
    expect(await refusalOf(it.call("write_file", { path: "inside/x", content: "" }))).toMatchObject({
      reason: "ENOENT",
    });
  });

  test("links that lead round in circles end with ELOOP", async () => {
    symlinkSync("b", it.at("a"));
    symlinkSync("a", it.at("b"));
    expect(await refusalOf(it.call("read_file", { path: "a" }))).toMatchObject({ reason: "ELOOP" });
    expect(await refusalOf(it.call("list_dir", { path: "a/x" }))).toMatchObject({ reason: "ELOOP" });
    symlinkSync("self/../self", it.at("self"));
    expect(await refusalOf(it.call("list_dir", { path: "self/x" }))).toMatchObject({ reason: "ELOOP" });
  });

  test("directories are reached through links that stay inside, with `..` in them", async () => {
    mkdirSync(it.at("a/b"), { recursive: true });
    mkdirSync(it.at("c"));
    symlinkSync("../../c", it.at("a/b/up"));
    symlinkSync(it.root, it.at("c/home"));
    symlinkSync("a/b/../../c", it.at("long"));
    await it.step("write_file", { path: "a/b/up/f", content: "1" });
    await it.step("write_file", { path: "c/home/a/b/up/home/long/g", content: "2" });
    expect([it.text("c/f"), it.text("c/g")]).toEqual(["1", "2"]);
    expect((await it.call("list_dir", { path: "long" }))["entries"]).toMatchObject([
      { name: "f" },
      { name: "g" },
      { name: "home", type: "symlink" },
    ]);
    await it.rollback();
    expect(readdirSync(it.at("c"))).toEqual(["home"]);
  });

  test("a directory that is swapped for a link to the outside, again and again, never lets anything out", async () => {
    mkdirSync(join(it.outer, "victim"));
    writeFileSync(join(it.outer, "victim", "f"), "secret");
    mkdirSync(it.at("d"));
    writeFileSync(it.at("d/f"), "inside");
    const swapper = await swap(it.root, join(it.outer, "victim"));
    const outcomes = new Set<string>();
    try {
      const end = Date.now() + 2000;
      for (let round = 0; Date.now() < end; round++) {
        const results = await Promise.allSettled([
          it.call("read_file", { path: "d/f" }),
          it.call("write_file", { path: `d/n${round}`, content: "w" }),
          it.call("write_file", { path: "d/f", content: "inside" }),
          it.call("make_dir", { path: `d/m${round}` }),
          it.call("list_dir", { path: "d" }),
          it.call("move_file", { from: `d/n${round}`, to: `moved${round}` }),
          it.call("delete_file", { path: `d/n${round}` }),
        ]);
        const [read, , , , list] = results;
        if (read?.status === "fulfilled") expect(read.value["content"]).toBe("inside");
        if (list?.status === "fulfilled") expect(JSON.stringify(list.value)).not.toContain("only-outside");
        for (const each of results) outcomes.add(each.status);
      }
    } finally {
      await swapper.stop();
    }
    expect(outcomes).toEqual(new Set(["fulfilled", "rejected"]));
    expect(readdirSync(join(it.outer, "victim")).sort()).toEqual(["f", "only-outside"]);
    expect(readFileSync(join(it.outer, "victim", "f"), "utf8")).toBe("secret");
  });

  test("a root that was replaced by another directory is refused", async () => {
    writeFileSync(it.at("a"), "1");
    await it.call("write_file", { path: "a", content: "2" });
    renameSync(it.root, join(it.outer, "gone"));
    mkdirSync(it.root);
    writeFileSync(it.at("a"), "another");
    for (const [tool, args] of [
      ["read_file", { path: "a" }],
      ["write_file", { path: "a", content: "3" }],
      ["list_dir", {}],
    ] as const) {
      expect(await refusalOf(it.call(tool, args))).toMatchObject({ reason: "ROOT_REPLACED" });
    }
    expect([it.text("a"), readFileSync(join(it.outer, "gone", "a"), "utf8")]).toEqual(["another", "2"]);
  });
});

/** Another process that swaps `root/d` for a link to `outside` and back until it is stopped. */
async function swap(root: string, outside: string) {
  writeFileSync(join(outside, "only-outside"), "");
  const script = `
    const fs = require("node:fs");
    process.chdir(${JSON.stringify(root)});
    fs.symlinkSync(${JSON.stringify(outside)}, "../link");
    process.stdout.write("ready");
    let junk = 0;
    // make_dir may have put a directory there in the moment between.
    const put = (from) => {
      try { fs.renameSync(from, "d"); }
      catch { fs.renameSync("d", "../junk" + junk++); put(from); }
    };
    const round = () => {
      for (let i = 0; i < 50; i++) {
        fs.renameSync("d", "../real"); put("../link");
        fs.renameSync("d", "../link"); put("../real");
      }
      setImmediate(round);
    };
    process.on("SIGTERM", () => process.exit());
    round();`;
  const child: ChildProcess = spawn(process.execPath, ["-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise((resolve) => child.stdout?.once("data", resolve));
  const ended = new Promise((resolve) => child.once("exit", resolve));
  return {
    stop: () => {
      child.kill("SIGTERM");
      return ended;
    },
  };
}

describe("names", () => {
  test("FS-06: a root that is itself a link works like any other", async () => {
    symlinkSync(it.root, join(it.outer, "rlink"));
    const linked = workspace({ root: join(it.outer, "rlink") });
    symlinkSync(join(it.outer, "rlink", "a"), it.at("absolute"));
    await linked.step("write_file", { path: "a", content: "1" });
    expect(await linked.call("read_file", { path: "absolute" })).toMatchObject({ content: "1" });
    await linked.step("make_dir", { path: "d" });
    await linked.step("move_file", { from: "a", to: "d/b" });
    await linked.step("delete_file", { path: "d/b" });
    expect((await linked.call("list_dir", {}))["entries"]).toMatchObject([
      { name: "absolute" },
      { name: "d" },
    ]);
    await linked.rollback();
    expect(readdirSync(it.root).sort()).toEqual([kept, "absolute"]);
    await linked.close();
  });

  test("FS-07: composed and decomposed names are two files, and a root may have either in its path", async () => {
    const names = ["caf\u00e9.txt", "cafe\u0301.txt"];
    for (const root of names.map((name) => join(it.outer, name))) {
      const accented = workspace({ root });
      for (const path of names) await accented.call("write_file", { path, content: path });
      for (const path of names)
        expect(await accented.call("read_file", { path })).toMatchObject({ path, content: path });
      const listed = (await accented.call("list_dir", {}))["entries"] as { name: string }[];
      expect(listed.map(({ name }) => name).sort()).toEqual([...names].sort());
      await accented.step("delete_file", { path: names[0] });
      expect(accented.text(names[1] ?? "")).toBe(names[1]);
      await accented.rollback();
      expect(accented.text(names[0] ?? "")).toBe(names[0]);
      await accented.close();
    }
  });

  test("odd names that a disk allows are kept as they are", async () => {
    for (const path of [
      " ",
      "a b ",
      "-rf",
      "%2e%2e",
      "C:x",
      "~",
      "$HOME",
      "line\nbreak",
      "…",
      "🙂",
      "a.",
      "NUL",
    ]) {
      await it.call("write_file", { path, content: path });
      expect(it.text(path)).toBe(path);
    }
  });

  test("a name over 255 bytes is refused in words, one of 255 bytes is not", async () => {
    const error = await refusalOf(it.call("write_file", { path: "é".repeat(128), content: "" }));
    expect(error).toMatchObject({
      code: "INVALID_ARGUMENTS",
      message: expect.stringContaining("longer than 255 bytes"),
    });
    await it.step("write_file", { path: `${"é".repeat(127)}x`, content: "" });
    await it.rollback();
  });

  test("backslash, NUL, lone surrogates, `..` and an empty path are refused before anything is touched", async () => {
    for (const path of ["a\\b", "a\0b", "\ud800", "a/../b", "..", "", "/"]) {
      const error = await refusalOf(it.call("write_file", { path, content: "x" }));
      expect([path, error.code]).toEqual([path, "INVALID_ARGUMENTS"]);
    }
    expect(readdirSync(it.root)).toEqual([]);
  });

  test("the root itself is never written, moved, removed or made", async () => {
    writeFileSync(it.at("mine"), "m");
    for (const path of [".", "./", ".//."]) {
      for (const [tool, args] of everyCall(path)) {
        if (tool === "list_dir") continue;
        const error = await refusalOf(it.call(tool, args));
        expect([tool, error.code]).toEqual([tool, tool === "read_file" ? "FAILED" : "INVALID_ARGUMENTS"]);
      }
    }
  });

  test("names that Windows keeps for itself are refused there only", () => {
    for (const name of ["con", "NUL.txt", "com1", "a:b", "what?", "x.", "x ", "a<b", 'q"']) {
      expect(segmentsOf(name, "path", "linux")).toEqual([name]);
      expect(() => segmentsOf(`d/${name}`, "path", "win32")).toThrow("Windows");
    }
    expect(segmentsOf("console/nullable.txt/.hidden", "path", "win32")).toHaveLength(3);
  });

  test("a root that is no directory is refused when the connector is made, without its path", () => {
    writeFileSync(it.at("f"), "");
    for (const root of [it.at("f"), it.at("missing")]) {
      expect(() => fs({ root })).toThrow("root (--root) is not a directory");
    }
    expect(() => fs({ root: it.root, backupDir: it.root })).toThrow("must not be the root");
    expect(() => fs({ root: it.root, backupDir: it.outer })).toThrow("must not be the root");
    expect(() => fs({ root: it.root, backupDir: realpathSync("/") })).toThrow("must not be the root");
  });
});

describe("the backup directory", () => {
  test("FS-14: is out of reach by every spelling and link, at both ends of every tool", async () => {
    writeFileSync(it.at("mine"), "m");
    mkdirSync(it.at("sub"));
    await it.call("write_file", { path: "seed", content: "1" });
    await it.call("write_file", { path: "seed", content: "2" });
    const [, key = ""] = it.backups();
    symlinkSync(kept, it.at("l"));
    symlinkSync(join(it.root, kept), it.at("sub/abs"));
    const before = snapshot(it.at(kept));
    const paths = [
      `${kept}/x`,
      `./${kept}/x`,
      `sub/../${kept}/x`,
      kept,
      `${kept}/`,
      `${kept}//.//${key}`,
      "l/x",
      `sub/abs/${key}`,
    ];
    for (const path of paths) {
      for (const [tool, args] of everyCall(path)) {
        const error = await refusalOf(it.call(tool, args));
        expect([path, tool, error.reason ?? error.code]).toEqual([
          path,
          tool,
          path.includes("..") ? "INVALID_ARGUMENTS" : "RESERVED",
        ]);
      }
    }
    expect(await refusalOf(it.call("list_dir", { path: "l" }))).toMatchObject({ reason: "RESERVED" });
    // Another name on this volume, which tells case apart; where it does not, the inode is the same and it is refused.
    expect(await refusalOf(it.call("write_file", { path: ".REVERSI-BACKUPS/x", content: "" }))).toMatchObject(
      {
        reason: "ENOENT",
      },
    );
    expect((await it.call("list_dir", {}))["entries"]).toMatchObject([
      { name: "l", type: "symlink" },
      { name: "mine" },
      { name: "seed" },
      { name: "sub" },
    ]);
    expect(snapshot(it.at(kept))).toEqual(before);
  });

  test("cannot be taken by the very first write", async () => {
    writeFileSync(it.at("mine"), "m");
    for (const [tool, args] of everyCall(kept).filter(([name]) => !/read|list|remove/.test(name))) {
      const fresh = workspace();
      writeFileSync(fresh.at("mine"), "m");
      expect([tool, (await refusalOf(fresh.call(tool, args))).reason]).toEqual([tool, "RESERVED"]);
      await fresh.close();
    }
  });

  test("is not moved along with a directory above it, wherever it was put in the root", async () => {
    mkdirSync(it.at("a/b"), { recursive: true });
    const inner = workspace({ root: it.root, backupDir: it.at("a/b/keep") });
    writeFileSync(it.at("f"), "1");
    await inner.step("write_file", { path: "f", content: "2" });
    for (const from of ["a", "a/b"])
      expect(await refusalOf(inner.call("move_file", { from, to: "c" }))).toMatchObject({
        reason: "RESERVED",
      });
    expect(await refusalOf(inner.call("remove_dir", { path: "a/b/keep" }))).toMatchObject({
      reason: "RESERVED",
    });
    expect((await inner.call("list_dir", { path: "a/b" }))["entries"]).toEqual([]);
    await inner.call("move_file", { from: "f", to: "g" });
    await inner.call("move_file", { from: "g", to: "f" });
    await inner.rollback();
    expect(it.text("f")).toBe("1");
    await inner.close();
  });
});

describe("pipes, sockets and devices", () => {
  test("FS-15: are refused at once by every tool that takes files", async () => {
    execFileSync("mkfifo", [it.at("fifo")]);
    execFileSync("mknod", [it.at("zero"), "c", "1", "5"]);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(it.at("socket"), resolve));
    try {
      for (const path of ["fifo", "zero", "socket"]) {
        for (const [tool, args] of [
          ["read_file", { path }],
          ["write_file", { path, content: "x" }],
          ["delete_file", { path }],
          ["move_file", { from: path, to: "n" }],
        ] as const) {
          expect([path, tool, (await refusalOf(it.call(tool, args))).reason]).toEqual([path, tool, "EINVAL"]);
        }
      }
      const { entries } = await it.call("list_dir", {});
      expect(entries).toEqual(
        ["fifo", "socket", "zero"].map((name) => ({ name, type: "other", size: null })),
      );
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  test("a link to one is refused too, and so is one that comes in place of a file", async () => {
    execFileSync("mkfifo", [it.at("fifo")]);
    symlinkSync("fifo", it.at("l"));
    expect(await refusalOf(it.call("read_file", { path: "l" }))).toMatchObject({ reason: "EINVAL" });
    writeFileSync(it.at("f"), "1");
    const error = await refusalOf(
      it.connector.tools["fs.write_file"]?.(
        { path: "f", content: "2" },
        {
          checkpoint: async () => {
            unlinkSync(it.at("f"));
            linkSync(it.at("fifo"), it.at("f"));
          },
        },
      ) ?? Promise.resolve(),
    );
    expect(error.code).toBe("CONFLICT");
  });
});
