import {
  appendFileSync,
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Checkpoint } from "@reversi-connector/core";
import {
  exists,
  hashOf,
  kept,
  refusalOf,
  type Step,
  snapshot,
  undoOf,
  unknownKey,
  type Workspace,
  workspace,
} from "./support.ts";

let it: Workspace;
beforeEach(() => {
  it = workspace();
});
afterEach(() => it.close());
const only = (): Step => it.steps[0] ?? expect.anything();

describe("somebody else's change survives an undo", () => {
  const edits: Record<string, () => void> = {
    "an edit in place": () => appendFileSync(it.at("f"), " and theirs"),
    "a file saved anew": () => {
      writeFileSync(it.at("f.new"), "theirs");
      renameSync(it.at("f.new"), it.at("f"));
    },
    "another mode": () => chmodSync(it.at("f"), 0o600),
    "a deletion": () => unlinkSync(it.at("f")),
    "a directory in its place": () => {
      unlinkSync(it.at("f"));
      mkdirSync(it.at("f"));
    },
    "a link in its place": () => {
      unlinkSync(it.at("f"));
      symlinkSync("g", it.at("f"));
    },
  };
  for (const [name, edit] of Object.entries(edits)) {
    test(`after an overwrite: ${name}`, async () => {
      writeFileSync(it.at("f"), "old", { mode: 0o644 });
      writeFileSync(it.at("g"), "new");
      await it.step("write_file", { path: "f", content: "new" });
      edit();
      const theirs = snapshot(it.root, { times: true });
      expect(await refusalOf(it.undo(only()))).toMatchObject({ code: "CONFLICT" });
      expect(snapshot(it.root, { times: true })).toEqual(theirs);
      expect(await it.holds(only())).toBe(false);
    });
  }

  test("after a new file: an edit of it is not removed", async () => {
    await it.step("write_file", { path: "f", content: "new" });
    writeFileSync(it.at("f"), "theirs");
    expect(await refusalOf(it.undo(only()))).toMatchObject({
      code: "CONFLICT",
      message: expect.stringContaining(hashOf("theirs")),
    });
    expect(it.text("f")).toBe("theirs");
  });

  test("after a deletion: a file that came since is not replaced", async () => {
    writeFileSync(it.at("f"), "old");
    await it.step("delete_file", { path: "f" });
    writeFileSync(it.at("f"), "theirs");
    expect(await refusalOf(it.undo(only()))).toMatchObject({ code: "CONFLICT" });
    expect(it.text("f")).toBe("theirs");
  });

  test("in the last moment: what is changed after the undo looked is not overwritten", async () => {
    writeFileSync(it.at("f"), "old");
    await it.step("write_file", { path: "f", content: "new" });
    await it.step("write_file", { path: "n", content: "new" });
    for (const [index, path] of ["f", "n"].entries()) {
      const undoing = it.undo(it.steps[index] ?? only());
      appendFileSync(it.at(path), " and theirs");
      expect(await refusalOf(undoing)).toMatchObject({ code: "CONFLICT" });
      expect(it.text(path)).toBe("new and theirs");
    }
  });

  test("only the operator can overwrite it", async () => {
    writeFileSync(it.at("f"), "old");
    await it.step("write_file", { path: "f", content: "new" });
    writeFileSync(it.at("f"), "theirs");
    await it.undo(only(), { onConflict: "overwrite" });
    expect(it.text("f")).toBe("old");
    await it.step("write_file", { path: "n", content: "new" });
    writeFileSync(it.at("n"), "theirs");
    await it.undo(it.steps[1] ?? only(), { onConflict: "overwrite" });
    expect(exists(it.at("n"))).toBe(false);
  });

  test("a file whose bytes and mode are the old ones already counts as restored", async () => {
    writeFileSync(it.at("f"), "old", { mode: 0o644 });
    await it.step("write_file", { path: "f", content: "new" });
    writeFileSync(it.at("f"), "old");
    expect(await it.holds(only())).toBe(true);
    expect(await it.undo(only())).toEqual({ path: "f", already: true, sha256: hashOf("old") });
  });
});

describe("restore_file without a guard", () => {
  test("fills an empty place, accepts an equal file, and refuses anything else", async () => {
    writeFileSync(it.at("f"), "old");
    const { backup_key } = await it.step("delete_file", { path: "f" });
    const args = { path: "f", backup_key };
    expect(await it.call("restore_file", args)).toMatchObject({ already: false });
    expect(await it.call("restore_file", args)).toMatchObject({ already: true, sha256: hashOf("old") });
    unlinkSync(it.at("f"));
    expect(await it.call("restore_file", args)).toMatchObject({ already: false });
    unlinkSync(it.at("f"));
    writeFileSync(it.at("f"), "theirs");
    expect(await refusalOf(it.call("restore_file", args))).toMatchObject({ code: "CONFLICT" });
    const nothing = { path: "f", backup_key: null };
    expect(await refusalOf(it.call("restore_file", nothing))).toMatchObject({ code: "CONFLICT" });
    expect(await it.call("restore_file", { path: "g", backup_key: null })).toMatchObject({ already: true });
  });
});

describe("a backup that cannot be trusted is refused, and the file stays", () => {
  const spoil: Record<string, [reason: string, how: (key: string) => void]> = {
    "its key is unknown": ["ENOENT", (key) => rmSync(join(it.at(kept), `${key}.json`))],
    "its content is missing": ["BACKUP_CHANGED", (key) => rmSync(join(it.at(kept), key))],
    "its content was edited": ["BACKUP_CHANGED", (key) => writeFileSync(join(it.at(kept), key), "OLD")],
    "its content grew": ["BACKUP_CHANGED", (key) => appendFileSync(join(it.at(kept), key), "!")],
    "its mode was changed": ["BACKUP_CHANGED", (key) => chmodSync(join(it.at(kept), key), 0o777)],
    "its time was changed": ["BACKUP_CHANGED", (key) => utimesSync(join(it.at(kept), key), 1, 1)],
    "another file took its place": [
      "BACKUP_CHANGED",
      (key) => {
        rmSync(join(it.at(kept), key));
        writeFileSync(join(it.at(kept), key), "old");
      },
    ],
    "a link took its place": [
      "BACKUP_CHANGED",
      (key) => {
        rmSync(join(it.at(kept), key));
        symlinkSync("/etc/hostname", join(it.at(kept), key));
      },
    ],
    "its record is no record": [
      "BACKUP_CHANGED",
      (key) => writeFileSync(join(it.at(kept), `${key}.json`), "{"),
    ],
  };
  for (const [name, [reason, how]] of Object.entries(spoil)) {
    test(name, async () => {
      writeFileSync(it.at("f"), "old");
      const { backup_key } = await it.step("write_file", { path: "f", content: "new" });
      how(String(backup_key));
      for (const onConflict of ["refuse", "overwrite"] as const) {
        const error = await refusalOf(it.undo(only(), { onConflict }));
        expect(error).toMatchObject({ code: "FAILED", reason });
        expect(error.message).toContain(String(backup_key));
      }
      expect(it.text("f")).toBe("new");
      expect(await it.holds(only()).catch(() => "unknown")).not.toBe(true);
    });
  }

  test("it is of another path, or of a move", async () => {
    writeFileSync(it.at("a"), "a");
    writeFileSync(it.at("b"), "b");
    const { backup_key } = await it.step("write_file", { path: "a", content: "x" });
    const { move_id } = await it.step("move_file", { from: "b", to: "c" });
    const guard = { expected_sha256: hashOf("x") };
    const error = await refusalOf(it.call("restore_file", { path: "c", backup_key, ...guard }));
    expect(error).toMatchObject({ reason: "EINVAL", message: expect.stringContaining("is of a;") });
    for (const key of [move_id, unknownKey])
      expect(
        await refusalOf(it.call("restore_file", { path: "a", backup_key: key, ...guard })),
      ).toMatchObject({ code: "FAILED", reason: "ENOENT" });
    expect(await it.call("restore_file", { path: "./a", backup_key, ...guard })).toMatchObject({ path: "a" });
    expect(it.text("a")).toBe("a");
  });

  test("a restored file is one with its backup: an edit in place is told from the backup", async () => {
    writeFileSync(it.at("f"), "old");
    const { backup_key } = await it.step("delete_file", { path: "f" });
    await it.call("restore_file", { path: "f", backup_key });
    appendFileSync(it.at("f"), " edited");
    const error = await refusalOf(it.call("restore_file", { path: "f", backup_key }));
    expect(error).toMatchObject({ code: "CONFLICT", message: expect.stringContaining("one file") });
    expect(it.text("f")).toBe("old edited");
  });
});

describe("several steps on one object", () => {
  const scenarios: Record<string, (it: Workspace) => Promise<unknown>> = {
    "write, write, delete, write of one file": async (it) => {
      writeFileSync(it.at("f"), "0");
      await it.step("write_file", { path: "f", content: "1" });
      await it.step("write_file", { path: "f", content: "2" });
      await it.step("delete_file", { path: "f" });
      await it.step("write_file", { path: "f", content: "1" });
    },
    "a new file that is deleted, made again with the same content, and moved": async (it) => {
      await it.step("write_file", { path: "f", content: "same" });
      await it.step("delete_file", { path: "f" });
      await it.step("write_file", { path: "f", content: "same" });
      await it.step("move_file", { from: "f", to: "g" });
      await it.step("write_file", { path: "f", content: "same" });
    },
    "an old file that is deleted and made again with the same content": async (it) => {
      writeFileSync(it.at("f"), "same");
      await it.step("delete_file", { path: "f" });
      await it.step("write_file", { path: "f", content: "same" });
    },
    "the same content written over itself, twice": async (it) => {
      writeFileSync(it.at("f"), "same");
      await it.step("write_file", { path: "f", content: "same" });
      await it.step("write_file", { path: "f", content: "same" });
    },
    "content that goes there and back": async (it) => {
      writeFileSync(it.at("f"), "a");
      await it.step("write_file", { path: "f", content: "b" });
      await it.step("write_file", { path: "f", content: "a" });
      await it.step("write_file", { path: "f", content: "b" });
    },
    "three files that change places": async (it) => {
      for (const name of ["a", "b", "c"]) writeFileSync(it.at(name), name);
      await it.step("move_file", { from: "a", to: "t" });
      await it.step("move_file", { from: "b", to: "a" });
      await it.step("move_file", { from: "c", to: "b" });
      await it.step("move_file", { from: "t", to: "c" });
      await it.step("write_file", { path: "c", content: "new" });
    },
    "a file deleted, another moved into its place and written over": async (it) => {
      writeFileSync(it.at("a"), "a");
      writeFileSync(it.at("b"), "b");
      await it.step("delete_file", { path: "b" });
      await it.step("move_file", { from: "a", to: "b" });
      await it.step("write_file", { path: "b", content: "c" });
      await it.step("write_file", { path: "a", content: "d" });
      await it.step("delete_file", { path: "a" });
    },
    "directories made, filled, moved and made again": async (it) => {
      await it.step("make_dir", { path: "d/e" });
      await it.step("write_file", { path: "d/e/f", content: "1" });
      await it.step("write_file", { path: "d/e/f", content: "2" });
      await it.step("move_file", { from: "d", to: "moved" });
      await it.step("make_dir", { path: "d/e" });
      await it.step("write_file", { path: "d/e/f", content: "3" });
      await it.step("delete_file", { path: "moved/e/f" });
      await it.step("make_dir", { path: "d/e" });
    },
    "a directory in the place of one that was moved away": async (it) => {
      mkdirSync(it.at("d"));
      writeFileSync(it.at("d/f"), "old");
      await it.step("move_file", { from: "d", to: "e" });
      await it.step("make_dir", { path: "d" });
      await it.step("move_file", { from: "e/f", to: "d/f" });
      await it.step("write_file", { path: "e/f", content: "new" });
    },
    "a link deleted and a file put there": async (it) => {
      symlinkSync("x", it.at("l"));
      await it.step("delete_file", { path: "l" });
      await it.step("write_file", { path: "l", content: "x" });
      await it.step("delete_file", { path: "l" });
    },
  };
  for (const [name, act] of Object.entries(scenarios)) {
    test(`${name}: the rollback restores all, and repeating any undo in any order changes nothing`, async () => {
      writeFileSync(it.at("bystander"), "b");
      const before = await firstState(act);
      await act(it);
      for (const answer of await it.rollback()) expect(answer).toHaveProperty("already");
      const after = snapshot(it.root);
      delete after["./bystander"];
      expect(after).toEqual(before);
      const undone = snapshot(it.root, { times: true });
      for (const order of orders(it.steps)) {
        for (const step of order) {
          expect(await it.undo(step)).toMatchObject({ already: true });
          expect(snapshot(it.root, { times: true })).toEqual(undone);
        }
      }
    });
  }

  const sameDisk = statSync(tmpdir()).dev === statSync("/dev/shm", { throwIfNoEntry: false })?.dev;
  test.each(sameDisk || !exists("/dev/shm") ? ["beside them"] : ["beside them", "on another disk"])(
    "writes to a new file leave nothing behind when all are undone, with backups %s",
    async (where) => {
      const backupDir = where === "beside them" ? undefined : mkdtempSync("/dev/shm/reversi-fs-");
      await it.close();
      it = workspace(backupDir === undefined ? {} : { backupDir });
      for (const contents of [
        ["", ""],
        ["a", "a", "a"],
        ["a", "a", "b"],
        ["b", "a", "a"],
        ["a", "b", "c"],
      ]) {
        const before = snapshot(it.root);
        it.steps.length = 0;
        for (const content of contents) await it.step("write_file", { path: "again", content });
        await it.step("delete_file", { path: "again" });
        await it.step("write_file", { path: "again", content: "last" });
        for (const step of [...it.steps].reverse()) {
          await it.undo(step);
          expect(await it.holds(step)).toBe(true);
        }
        expect(snapshot(it.root)).toEqual(before);
      }
      if (backupDir !== undefined) rmSync(backupDir, { recursive: true });
    },
  );
  test("each undo may be repeated right away, as after a lost answer", async () => {
    for (const act of Object.values(scenarios)) {
      const one = workspace();
      const before = await firstState(act);
      await act(one);
      for (const step of [...one.steps].reverse()) {
        await one.undo(step);
        expect(await one.undo(step)).toMatchObject({ already: true });
      }
      expect(snapshot(one.root)).toEqual(before);
      await one.close();
    }
  });
});

/** What a scenario finds: its steps are stopped before the first one. */
async function firstState(act: (it: Workspace) => Promise<unknown>) {
  const one = workspace();
  const stopped = { ...one, step: () => Promise.reject(new Error("before the first step")) };
  await act(stopped).catch(() => {});
  const state = snapshot(one.root);
  await one.close();
  return state;
}
/** Oldest first, newest first, and each step moved to the front. */
function orders(steps: readonly Step[]): Step[][] {
  const rotated = steps.map((_, index) => [...steps.slice(index), ...steps.slice(0, index)]);
  return [...rotated, [...steps].reverse()];
}

describe("the checkpoint", () => {
  const calls: [tool: string, args: Record<string, unknown>][] = [
    ["write_file", { path: "old", content: "new" }],
    ["write_file", { path: "fresh", content: "new" }],
    ["delete_file", { path: "old" }],
    ["delete_file", { path: "link" }],
    ["make_dir", { path: "x/y" }],
    ["move_file", { from: "old", to: "moved" }],
    ["move_file", { from: "d", to: "moved" }],
  ];
  beforeEach(() => {
    writeFileSync(it.at("old"), "old");
    symlinkSync("old", it.at("link"));
    mkdirSync(it.at("d"));
  });

  test.each(calls)(
    "%s %j: when it is refused, nothing has changed and nothing is left over",
    async (tool, args) => {
      const before = snapshot(it.root, { times: true });
      const { ino } = lstatSync(it.at("old"));
      let kept: Checkpoint | undefined;
      const checkpoint = (given: Checkpoint) => {
        kept = given;
        return Promise.reject(new Error("journal full"));
      };
      const error = await refusalOf(it.call(tool, args, { checkpoint }));
      expect(error).toMatchObject({ code: "FAILED", message: expect.stringContaining("journal full") });
      expect(snapshot(it.root, { times: true })).toEqual(before);
      expect(lstatSync(it.at("old"))).toMatchObject({ ino, nlink: 1 });
      expect(it.backups().filter((name) => !name.endsWith(".mark"))).toEqual([".gitignore"]);
      // The journal may hold it all the same, where only its answer was lost.
      const lost = { since: new Date(), checkpoint: kept };
      expect(await it.connector.landed[`fs.${tool}`]?.(args, lost)).toEqual({ landed: false });
    },
  );

  test.each(calls)(
    "%s %j: holds all of the result before anything changed, and its undo works from it",
    async (tool, args) => {
      const before = snapshot(it.root, { times: true });
      let known: Checkpoint | undefined;
      const checkpoint = async (given: Checkpoint) => {
        expect(snapshot(it.root, { times: true })).toEqual(before);
        known = given;
      };
      const result = await it.call(tool, args, { checkpoint });
      expect(known).toEqual({ result });
      await it.undo({ tool: `fs.${tool}`, args, result: { ...known?.result } });
      expect(snapshot(it.root, { times: true })).toEqual(before);
    },
  );

  test.each(calls)("%s %j: a call that is cancelled meanwhile writes nothing", async (tool, args) => {
    const before = snapshot(it.root, { times: true });
    const stop = new AbortController();
    const checkpoint = async () => stop.abort();
    await refusalOf(it.call(tool, args, { checkpoint, signal: stop.signal }));
    expect(snapshot(it.root, { times: true })).toEqual(before);
    await refusalOf(it.call(tool, args, { signal: AbortSignal.abort() }));
    expect(snapshot(it.root, { times: true })).toEqual(before);
  });

  test.each(calls)("%s %j: landed tells the truth both ways, before and after", async (tool, args) => {
    const ask = (known: Checkpoint | undefined) =>
      it.connector.landed[`fs.${tool}`]?.(args, { since: new Date(), checkpoint: known });
    let known: Checkpoint | undefined;
    const answers: unknown[] = [];
    const checkpoint = async (given: Checkpoint) => {
      known = given;
      answers.push(await ask(known));
    };
    const result = await it.call(tool, args, { checkpoint });
    answers.push(await ask(known), await ask(undefined));
    expect(answers).toEqual([{ landed: false }, { landed: true, result }, "unknown"]);
  });

  test.each(calls)(
    "%s %j: a process that dies right before the write leaves nothing to undo",
    async (tool, args) => {
      const before = snapshot(it.root, { times: true });
      const died = new AbortController();
      let known: Checkpoint | undefined;
      const reached = new Promise<void>((resolve) => {
        const checkpoint = (given: Checkpoint) => {
          known = given;
          resolve();
          return new Promise<never>(() => {});
        };
        void it.call(tool, args, { checkpoint, signal: died.signal }).catch(() => {});
      });
      await reached;
      const next = workspace({ root: it.root });
      const lost = { since: new Date(), checkpoint: known };
      expect(await next.connector.landed[`fs.${tool}`]?.(args, lost)).toEqual({ landed: false });
      const step = { tool: `fs.${tool}`, args, result: { ...known?.result } };
      expect(await next.undo(step)).toMatchObject({ already: true });
      expect(snapshot(it.root, { times: true })).toEqual(before);
      died.abort();
      await next.close();
    },
  );

  test.each(calls)("%s %j: another process undoes it, once", async (tool, args) => {
    const before = snapshot(it.root, { times: true });
    await it.step(tool, args);
    const next = workspace({ root: it.root });
    expect(await next.undo(only())).toMatchObject({ already: false });
    expect(snapshot(it.root, { times: true })).toEqual(before);
    expect(await it.undo(only())).toMatchObject({ already: true });
    expect(await it.holds(only())).toBe(true);
    await next.close();
  });

  test("landed says unknown when somebody else's content is there", async () => {
    const since = new Date();
    const written = await it.call("write_file", { path: "old", content: "new" });
    writeFileSync(it.at("old"), "theirs");
    const args = { path: "old", content: "new" };
    const ask = (tool: string, given: object, result: object) =>
      it.connector.landed[`fs.${tool}`]?.(given, { since, checkpoint: { result } });
    expect(await ask("write_file", args, written)).toBe("unknown");
    const deleted = await it.call("delete_file", { path: "link" });
    writeFileSync(it.at("link"), "theirs");
    expect(await ask("delete_file", { path: "link" }, deleted)).toBe("unknown");
    const made = await it.call("make_dir", { path: "p/q" });
    rmSync(it.at("p/q"), { recursive: true });
    expect(await ask("make_dir", { path: "p/q" }, made)).toBe("unknown");
    const moved = await it.call("move_file", { from: "d", to: "e" });
    rmSync(it.at("e"), { recursive: true });
    expect(await ask("move_file", { from: "d", to: "e" }, moved)).toBe("unknown");
  });

  test("what somebody changes while it is written is not overwritten", async () => {
    const edits: Record<string, () => void> = {
      "in place": () => writeFileSync(it.at("old"), "theirs"),
      anew: () => {
        writeFileSync(it.at("tmp"), "theirs");
        renameSync(it.at("tmp"), it.at("old"));
      },
    };
    for (const edit of Object.values(edits)) {
      for (const [tool, args] of [
        ["write_file", { path: "old", content: "new" }],
        ["delete_file", { path: "old" }],
        ["move_file", { from: "old", to: "moved" }],
      ] as const) {
        const error = await refusalOf(it.call(tool, args, { checkpoint: async () => edit() }));
        expect([tool, error.code]).toEqual([tool, "CONFLICT"]);
        expect([it.text("old"), exists(it.at("moved"))]).toEqual(["theirs", false]);
      }
    }
    const come = async () => writeFileSync(it.at("fresh"), "theirs");
    const error = await refusalOf(
      it.call("write_file", { path: "fresh", content: "new" }, { checkpoint: come }),
    );
    expect([error.code, it.text("fresh")]).toEqual(["CONFLICT", "theirs"]);
  });
});

describe("calls at once", () => {
  test("sixteen in flight on one file are done one after the other, and all undone again", async () => {
    writeFileSync(it.at("f"), "start");
    const slow = { checkpoint: () => new Promise<void>((resolve) => setImmediate(resolve)) };
    const contents = Array.from({ length: 16 }, (_, i) => `v${i}`);
    const results = await Promise.all(
      contents.map((content) => it.call("write_file", { path: "f", content }, slow)),
    );
    expect(it.text("f")).toBe("v15");
    for (const [index, result] of [...results.entries()].reverse()) {
      await it.undo({ tool: "fs.write_file", args: { path: "f", content: contents[index] }, result });
    }
    expect(it.text("f")).toBe("start");
  });

  test("calls on other files do not wait for one that does", async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const waiting = it.call("write_file", { path: "a", content: "1" }, { checkpoint: () => held });
    const second = it.call("write_file", { path: "./a", content: "2" });
    await it.call("write_file", { path: "b", content: "1" });
    expect([exists(it.at("a")), it.text("b")]).toEqual([false, "1"]);
    release();
    expect([(await waiting)["existed"], (await second)["existed"]]).toEqual([false, true]);
    expect(it.text("a")).toBe("2");
  });

  test("sixteen of every kind in flight end without an error, and roll back to where they began", async () => {
    for (let i = 0; i < 16; i++) {
      mkdirSync(it.at(`d${i}`));
      writeFileSync(it.at(`d${i}/old`), `old ${i}`);
    }
    const before = snapshot(it.root, { times: true });
    const chains = Array.from({ length: 16 }, async (_, i) => {
      const path = `d${i}/old`;
      await it.step("write_file", { path, content: `new ${i}` });
      await it.step("move_file", { from: path, to: `d${i}/moved` });
      await it.step("make_dir", { path: `deep/${i}/x` });
      await it.step("write_file", { path: `deep/${i}/x/f`, content: "x" });
      await it.call("read_file", { path: `d${i}/moved` });
      await it.step("delete_file", { path: `d${i}/moved` });
      await it.call("list_dir", { path: "deep" });
    });
    await Promise.all(chains);
    await it.rollback();
    expect(snapshot(it.root, { times: true })).toEqual(before);
  });
});

test("after close, a call is refused and one that runs still ends", async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const running = it.call("write_file", { path: "a", content: "1" }, { checkpoint: () => held });
  await it.connector.close();
  expect(await refusalOf(it.call("read_file", { path: "a" }))).toMatchObject({
    message: expect.stringContaining("closed"),
  });
  release();
  expect(await running).toMatchObject({ existed: false });
  expect(it.text("a")).toBe("1");
  await it.connector.close();
});

test("holds never changes anything, and is asked without a backup directory too", async () => {
  writeFileSync(it.at("f"), "old");
  linkSync(it.at("f"), it.at("g"));
  await it.step("write_file", { path: "f", content: "new" });
  const [tool, args] = undoOf(only());
  const all = () => [snapshot(it.root, { times: true }), it.backups(), readFileSync(it.at("f"), "utf8")];
  const before = all();
  expect(await it.connector.holds[tool]?.(args)).toBe(false);
  expect(await it.connector.holds[tool]?.({ ...args, backup_key: unknownKey })).toBe("unknown");
  expect(await it.connector.holds[tool]?.({ path: "no/such/f", backup_key: null })).toBe(true);
  expect(all()).toEqual(before);
});
