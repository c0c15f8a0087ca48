import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import {
  fileJournal,
  type JournalDamagedError,
  type JournalRecord,
  journalOn,
  Registry,
  Run,
  RunBusyError,
  type Storage,
} from "@reversi-connector/engine";
import { desk, placed } from "./support/desk.ts";
import { Disk } from "./support/disk.ts";

const registry = Registry.from(desk.manifests);
const execute = async () => placed;
const place = { tool: "desk.place", args: { name: "a" }, execute };

let data = "";
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "reversi-"));
});
afterEach(() => rm(data, { recursive: true }));

const file = () => join(data, "runs", "run.jsonl");
const linesOf = async () => (await readFile(file(), "utf8")).split("\n").slice(0, -1);
const open = () => Run.open({ registry, journal: fileJournal(data), run: "run" });
const resume = () => Run.resume({ registry, journal: fileJournal(data), run: "run" });

/** A run of three applied steps, whose process has gone without a word. */
async function written({ closed = true } = {}): Promise<string[]> {
  const run = await open();
  for (const name of ["a", "b", "c"]) await run.call({ ...place, args: { name } });
  await run.close();
  if (!closed) await rm(join(data, "locks"), { recursive: true });
  return linesOf();
}
const rewrite = (lines: readonly string[]) => writeFile(file(), lines.map((line) => `${line}\n`).join(""));

describe("a journal in files", () => {
  test("is for its owner only: folder 0700, file 0600", async () => {
    await written();
    expect((await stat(join(data, "runs"))).mode & 0o777).toBe(0o700);
    expect((await stat(file())).mode & 0o777).toBe(0o600);
  });
  test("is one line of JSON per record, each with the hash of the line before", async () => {
    const records = (await written()).map((line): JournalRecord => JSON.parse(line));
    expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1));
    expect(records[0]).toMatchObject({ type: "run_opened", run: "run", prev: "0".repeat(64) });
    expect(new Set(records.map(({ prev }) => prev)).size).toBe(records.length);
    expect(Date.parse(records[0]?.at ?? "")).not.toBeNaN();
  });
  test("goes on after its run was closed", async () => {
    const before = await written();
    const run = await resume();
    const { step } = await run.call(place);
    await run.close();
    expect(step).toBe(4);
    expect((await linesOf()).slice(0, before.length)).toEqual(before);
    expect((await Run.load({ journal: fileJournal(data), run: "run" })).steps.size).toBe(4);
  });
  test("names its runs, refuses a second run of one name, and says when there is none", async () => {
    await written();
    expect(await fileJournal(data).runs()).toEqual(["run"]);
    await expect(open()).rejects.toThrow("there is a run run already");
    await expect(Run.resume({ journal: fileJournal(data), run: "other" })).rejects.toThrow(
      "there is no run other",
    );
    await expect(Run.load({ journal: fileJournal(data), run: "other" })).rejects.toThrow(
      "there is no run other",
    );
    await expect(Run.load({ journal: fileJournal(data), run: "../run" })).rejects.toThrow(
      "no name for a run",
    );
  });
  test("holds arguments longer than one read of the file", async () => {
    const run = await open();
    const label = "ü\u2028".repeat(600_000);
    await run.call({ ...place, args: { name: "a", label } });
    await run.close();
    const { steps } = await Run.load({ journal: fileJournal(data), run: "run" });
    expect(steps.get(1)).toMatchObject({ status: "applied" });
  });
});

describe("a journal that was damaged stops everything, says where, and nothing is undone:", () => {
  const damage = async (lines: readonly string[]): Promise<JournalDamagedError> => {
    await rewrite(lines);
    const error = await resume().catch((caught) => caught);
    expect(error).toMatchObject({ name: "JournalDamagedError", run: "run" });
    await expect(Run.load({ journal: fileJournal(data), run: "run" })).rejects.toThrow(error.message);
    return error;
  };
  test("a flipped bit", async () => {
    for (const line of [1, 3, 4]) {
      await rm(join(data, "runs"), { recursive: true, force: true });
      const lines = await written({ closed: false });
      const changed = lines.map((text, at) => (at + 1 === line ? text.replace('"at":"2', '"at":"3') : text));
      const error = await damage(changed);
      expect(error.line).toBe(line + 1);
      expect(error.message).toContain(
        `damaged at line ${line + 1}: line ${line} is not the one it was written after`,
      );
    }
  });
  test("a flipped bit in the last line of a run that was closed", async () => {
    const lines = await written();
    const last = lines.at(-1) as string;
    const error = await damage([...lines.slice(0, -1), last.replace('"at":"2', '"at":"3')]);
    expect(error).toMatchObject({ line: lines.length });
  });
  test("a flipped bit in the last line of a run whose process has gone", async () => {
    const lines = await written({ closed: false });
    const last = lines.at(-1) as string;
    const error = await damage([...lines.slice(0, -1), last.replace('"undo":', '"tndo":')]);
    expect(error).toMatchObject({ line: lines.length });
    expect(error.message).toContain("it is not what its writer left there");
  });
  test("a line that is no JSON", async () => {
    const lines = await written();
    const error = await damage(lines.with(4, "{"));
    expect(error).toMatchObject({ line: 5 });
    expect(error.message).toContain("Nothing was undone");
  });
  test("two lines that changed places", async () => {
    const lines = await written();
    expect(await damage(lines.with(3, lines[4] as string).with(4, lines[3] as string))).toMatchObject({
      line: 4,
    });
  });
  test("a missing line", async () => {
    const lines = await written();
    expect(await damage(lines.toSpliced(4, 1))).toMatchObject({ line: 5 });
    expect(await damage(lines.slice(1))).toMatchObject({ line: 1 });
  });
  test("lines cut off the end of a run that was closed", async () => {
    const lines = await written();
    const error = await damage(lines.slice(0, -2));
    expect(error).toMatchObject({ line: lines.length - 1 });
    expect(error.message).toContain(`${lines.length} lines were written, ${lines.length - 2} are left`);
  });
  test("the journal of another run under this run's name", async () => {
    const lines = await written({ closed: false });
    expect(await damage(lines.map((line) => line.replace('"run":"run"', '"run":"other"')))).toMatchObject({
      line: 1,
    });
  });
  test("an empty file, which no run leaves", async () => {
    await written();
    expect(await damage([])).toMatchObject({ line: 1 });
  });
});

test("a torn last line is dropped: nothing was done on its word", async () => {
  const lines = await written({ closed: false });
  const text = await readFile(file(), "utf8");
  await writeFile(file(), text.slice(0, -20));
  const run = await resume();
  expect(run.steps.get(3)?.status).toBe("uncertain");
  await run.call(place);
  await run.close();
  const after = await linesOf();
  expect(after.slice(0, lines.length - 1)).toEqual(lines.slice(0, -1));
  expect(JSON.parse(after[lines.length - 1] as string)).toMatchObject({ seq: lines.length, type: "intent" });
});

test("a record of a kind that this version does not know is not skipped", async () => {
  const log = await fileJournal(data).create("run");
  log.append({ type: "run_opened", version: 1, run: "run", scope: null });
  log.append({ type: "surprise" } as never);
  await log.close();
  await expect(resume()).rejects.toThrow('line 2 is of the kind "surprise"');
});

describe("a run has one writer:", () => {
  const busy = async (work: Promise<unknown>) =>
    expect(RunBusyError.is(await work.catch((error) => error))).toBe(true);
  const lockFile = async (holder: object) => {
    const folder = join(data, "locks", "run");
    const [number = "1"] = await readdir(folder);
    await writeFile(join(folder, number), JSON.stringify(holder));
  };
  test("another one is refused while the first one has it, and reading is not", async () => {
    const run = await open();
    await busy(resume());
    expect((await Run.load({ journal: fileJournal(data), run: "run" })).run).toBe("run");
    await run.close();
    await (await resume()).close();
  });
  test("of ten that come at once, one wins", async () => {
    await written();
    const tries = await Promise.allSettled(Array.from({ length: 10 }, resume));
    const won = tries.filter(({ status }) => status === "fulfilled");
    expect(won).toHaveLength(1);
    for (const one of tries) {
      if (one.status === "fulfilled") await one.value.close();
      else expect(RunBusyError.is(one.reason)).toBe(true);
    }
  });
  test("a holder that is gone holds nothing, one on another machine still does", async () => {
    await written();
    const since = new Date().toISOString();
    await lockFile({ pid: 999_999_999, host: hostname(), born: null, since });
    await (await resume()).close();
    await lockFile({ pid: process.ppid, host: hostname(), born: "0", since });
    await (await resume()).close();
    await lockFile({ pid: process.pid, host: hostname(), born: null, since });
    await (await resume()).close();
    await lockFile({ pid: 999_999_999, host: "elsewhere", born: null, since });
    await expect(resume()).rejects.toThrow("in use by process 999999999 on elsewhere");
  });
  test("leaves one small file behind, whatever came before", async () => {
    await written();
    for (let times = 0; times < 3; times++) await (await resume()).close();
    expect(await readdir(join(data, "locks", "run"))).toEqual(["4"]);
  });
});

describe("on any storage", () => {
  /** A disk whose syncs take a moment, as all do. */
  const slowly = (storage: Storage): Storage => {
    const slow = (log: Awaited<ReturnType<Storage["create"]>>) => ({
      ...log,
      sync: () => new Promise<void>((resolve) => setImmediate(() => resolve(log.sync()))),
    });
    return { ...storage, create: async (run) => slow(await storage.create(run)) };
  };
  test("calls that run together share their syncs", async () => {
    const disk = new Disk();
    const run = await Run.open({ registry, journal: journalOn(slowly(disk.storage())), run: "run" });
    const before = disk.syncs.get("run") ?? 0;
    await Promise.all(
      Array.from({ length: 64 }, (_, name) => run.call({ ...place, args: { name: `${name}` } })),
    );
    const syncs = (disk.syncs.get("run") ?? 0) - before;
    expect(syncs).toBeLessThanOrEqual(128 / 5);
    expect(run.steps.size).toBe(64);
  });
  test("a call costs two syncs, and an undo one: its outcome is synced with what follows it", async () => {
    const disk = new Disk();
    const run = await Run.open({ registry, journal: journalOn(disk.storage()), run: "run" });
    const syncs = () => disk.syncs.get("run") ?? 0;
    const opened = syncs();
    for (let step = 0; step < 10; step++) await run.call({ ...place, args: { name: `${step}` } });
    expect(syncs() - opened).toBe(20);
    const called = syncs();
    await run.rollback({ compensate: async () => {}, verify: () => true });
    expect(syncs() - called).toBe(12);
  });
  test("a disk that is full ends the run before anything more is sent, and says so", async () => {
    const disk = new Disk();
    const storage = disk.storage();
    let full = false;
    const limited: Storage = {
      ...storage,
      create: async (run) => {
        const log = await storage.create(run);
        return {
          ...log,
          append: async (bytes) => {
            if (full) throw new Error("ENOSPC: no space left on device");
            return log.append(bytes);
          },
        };
      },
    };
    const run = await Run.open({ registry, journal: journalOn(limited), run: "run" });
    await run.call(place);
    full = true;
    let sent = 0;
    const call = run.call({ ...place, execute: async () => ++sent });
    await expect(call).rejects.toThrow("its journal cannot be written (ENOSPC");
    full = false;
    await expect(run.call(place)).rejects.toThrow("the run goes no further");
    expect(sent).toBe(0);
    await run.close();
    const again = await Run.resume({ registry, journal: journalOn(disk.storage()), run: "run" });
    expect(again.steps.size).toBe(1);
  });
});

test("a folder that cannot be read is an error, not a run without steps", async () => {
  await written();
  if (process.getuid?.() === 0) return expect(await fileJournal(data).runs()).toEqual(["run"]);
  await chmod(file(), 0);
  await expect(resume()).rejects.toThrow("EACCES");
});
