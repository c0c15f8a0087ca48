import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { fileJournal, Run } from "@reversi-connector/engine";
import { progressTo } from "../src/operator/rollback.ts";
import { loadManifests } from "../src/shared/manifests.ts";
import {
  agent,
  cleanUp,
  compensator,
  type Ended,
  fixture,
  type Place,
  place,
  recordsOf,
  reversi,
  reversiStarted,
  textOf,
} from "./support.ts";

afterAll(cleanUp);

const rollback = ({ data }: Place, run: string, command: string, ...flags: string[]): Promise<Ended> =>
  reversi(["rollback", run, "--data", data, "--compensator-cmd", command, ...flags]);
const calls = ({ root }: Place): { op?: string }[] =>
  existsSync(join(root, "calls.log"))
    ? readFileSync(join(root, "calls.log"), "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
    : [];

/** A run that wrote two notes and read one, as a gateway leaves it. */
async function finished(at: Place): Promise<string> {
  writeFileSync(join(at.notes, "a"), "old");
  const { registry } = await loadManifests(fixture("notes.yaml"));
  const run = await Run.open({ registry, journal: fileJournal(at.data) });
  const write = (name: string, text: string) =>
    run.call({
      tool: "notes.write",
      args: { name, text },
      execute: async () => {
        const previous = at.note(name);
        writeFileSync(join(at.notes, name), text);
        return { name, previous, after: text };
      },
    });
  await write("a", "new");
  await run.call({ tool: "notes.read", args: { name: "a" }, execute: async () => ({}) });
  await write("b", "more");
  await run.close();
  return run.id;
}

describe("a rollback", () => {
  test("undoes, reads back, and says so; a second one changes nothing", async () => {
    const at = place();
    const run = await finished(at);
    const first = await rollback(at, run, compensator(at));
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(first.stdout).toBe(
      `Run ${run}: complete\n  compensated (2): undone, and read back\n` +
        "    3  notes.write  by notes.restore\n    1  notes.write  by notes.restore\n",
    );
    expect([at.note("a"), at.note("b")]).toEqual(["old", null]);
    const before = recordsOf(at, run).filter(({ type }) => type === "undo_intent").length;
    expect((await rollback(at, run, compensator(at))).code).toBe(0);
    expect(recordsOf(at, run).filter(({ type }) => type === "undo_intent")).toHaveLength(before);
  });

  test("prints one JSON document, newest step first in its journal", async () => {
    const at = place();
    const run = await finished(at);
    const { stdout, code } = await rollback(at, run, compensator(at), "--format", "json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ run, status: "complete", counts: { compensated: 2 } });
    const undone = recordsOf(at, run).filter(({ type }) => type === "compensated");
    expect(undone.map(({ step }) => step)).toEqual([3, 1]);
  });

  test("--dry-run shows the literal undo and what a read finds, and sends reads only", async () => {
    const at = place();
    const run = await finished(at);
    writeFileSync(join(at.notes, "b"), "by a person");
    const journal = readFileSync(join(at.data, "runs", `${run}.jsonl`));
    const { stdout, code } = await rollback(at, run, compensator(at), "--dry-run");
    expect(code).toBe(0);
    expect(stdout).toContain('undo: notes.restore {"name":"a","previous":"old","after":"new"}');
    expect(stdout).toMatch(/nothing was changed.*2 steps/);
    expect(new Set(calls(at).map(({ op }) => op))).toEqual(new Set(["holds"]));
    expect([at.note("a"), at.note("b")]).toEqual(["new", "by a person"]);
    expect(readFileSync(join(at.data, "runs", `${run}.jsonl`)).equals(journal)).toBe(true);
  });

  test("leaves alone what somebody else changed, until it is forced", async () => {
    const at = place();
    const run = await finished(at);
    writeFileSync(join(at.notes, "a"), "by a person");
    const first = await rollback(at, run, compensator(at));
    expect(first.code).toBe(2);
    expect(first.stdout).toMatch(
      /conflict \(1\).*--force-conflicts[^\n]*\n +1 +notes\.write.*a was changed by somebody else/,
    );
    expect([at.note("a"), at.note("b")]).toEqual(["by a person", null]);
    expect((await rollback(at, run, compensator(at), "--force-conflicts")).code).toBe(0);
    expect(at.note("a")).toBe("old");
  });

  test("takes only the steps it is told", async () => {
    const at = place();
    const run = await finished(at);
    const { code, stdout } = await rollback(at, run, compensator(at), "--step", "3");
    expect(code).toBe(2);
    expect(stdout).toMatch(/standing \(1\): not undone\n +1 +notes\.write/);
    expect([at.note("a"), at.note("b")]).toEqual(["new", null]);
    expect(await rollback(at, run, compensator(at), "--step", "2")).toMatchObject({
      code: 64,
      stderr: expect.stringContaining("no step 2 that writes"),
    });
  });

  test("asks a living gateway to let the run go; its agent gets no further call", async () => {
    const at = place();
    const { call, run, stderr } = await agent(at);
    await call("notes.write", { name: "a", text: "x" });
    const { code, stderr: said } = await rollback(at, run, compensator(at));
    expect({ code, note: at.note("a") }).toEqual({ code: 0, note: null });
    expect(said).toContain("still written; waiting for its calls in flight");
    const refused = await call("notes.write", { name: "a", text: "y" });
    expect(textOf(refused)).toMatch(
      /is being rolled back: it takes no new calls\. Begin another session\. Nothing was sent/,
    );
    expect(refused._meta?.["reversi/error"]).toMatchObject({ reason: "fenced" });
    expect(at.note("a")).toBeNull();
    expect(stderr()).toContain("it takes no further calls");
  });

  test("waits for the write in flight, and undoes it too", async () => {
    const at = place();
    const { call, run, stderr } = await agent(at);
    let atGate = () => {};
    const waiting = new Promise<void>((resolve) => {
      atGate = resolve;
    });
    const late = call("notes.write_late", { name: "a", text: "x" }, { onprogress: () => atGate() });
    await waiting;
    const command = reversiStarted([
      ...["rollback", run, "--data", at.data, "--compensator-cmd", compensator(at)],
    ]);
    await command.told(/waiting for its calls in flight/);
    // The upstream's gate is opened from outside: the gateway takes no call any more.
    writeFileSync(join(at.notes, "gate"), "open");
    expect((await late).structuredContent).toMatchObject({ after: "x" });
    expect((await command.ended).code).toBe(0);
    expect(at.note("a")).toBeNull();
    expect(stderr()).toContain("the run was given to the rollback");
  });

  test("tells what it does not know, and a person settles it", async () => {
    const at = place();
    const { call, client, run } = await agent(at);
    await call("notes.fail", { name: "a", text: "x" });
    await call("notes.unsure", { name: "b", text: "y" });
    await client.close();
    const first = await rollback(at, run, compensator(at));
    expect(first.code).toBe(2);
    expect(first.stdout).toMatch(/uncertain \(2\): nobody knows.*reversi resolve/);

    const resolve = (...args: string[]) => reversi(["resolve", run, ...args, "--data", at.data]);
    expect(await resolve("1", "--not-applied", "--evidence", "ticket 12")).toMatchObject({ code: 0 });
    writeFileSync(join(at.root, "result.json"), '{"name":"b"}');
    const poor = await resolve("2", "--applied", join(at.root, "result.json"));
    expect(poor).toMatchObject({ code: 1, stderr: expect.stringContaining("result.previous is missing") });
    writeFileSync(join(at.root, "result.json"), '{"name":"b","previous":null,"after":"y"}');
    expect(await resolve("2", "--applied", join(at.root, "result.json"))).toMatchObject({ code: 0 });
    expect((await rollback(at, run, compensator(at))).code).toBe(0);
    expect(at.note("b")).toBeNull();
    expect(await resolve("1", "--not-applied")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("nothing to resolve"),
    });
    const words = recordsOf(at, run).filter(({ type }) => type === "resolved");
    expect(words).toMatchObject([
      { step: 1, outcome: "not_applied", evidence: "ticket 12" },
      { step: 2, outcome: "applied" },
    ]);
  });

  test("undoes from the checkpoint when the answer was lost", async () => {
    const at = place();
    writeFileSync(join(at.notes, "a"), "old");
    const { call, run, closed } = await agent(at, { flags: ["--call-timeout", "1"] });
    await call("notes.checkpointed", { name: "a", text: "die" });
    await closed;
    expect(at.note("a")).toBe("die");
    await rollback(at, run, compensator(at));
    expect(at.note("a")).toBe("old");
  });
});

describe("a rollback under way", () => {
  test("stops between two undos when it is interrupted, and goes on later", async () => {
    const at = place();
    const run = await finished(at);
    const command = reversiStarted([
      ...["rollback", run, "--data", at.data, "--compensator-cmd", compensator(at, "stream-waits")],
    ]);
    await command.told(/at the gate/);
    command.child.kill("SIGINT");
    await command.told(/stopping after the step that is under way/);
    writeFileSync(join(at.notes, "gate"), "open");
    const { code, stdout } = await command.ended;
    expect(code).toBe(2);
    expect(stdout).toMatch(/compensated \(1\)[^\n]*\n +3 [\s\S]*standing \(1\)[^\n]*\n +1 /);
    expect((await rollback(at, run, compensator(at))).code).toBe(0);
  });

  test("tells how far it is: on one line of a terminal, elsewhere not at every step", () => {
    const said: string[] = [];
    const log = { say: (text: string) => said.push(text), info: () => {} };
    const written: string[] = [];
    const write = (text: unknown) => written.push(String(text)) > 0;
    const step = { step: 7, tool: "notes.write", state: "compensated", total: 2 } as const;
    const terminal = progressTo(log as never, { isTTY: true, write } as never);
    terminal.onProgress({ ...step, done: 1 });
    terminal.onProgress({ ...step, done: 2 });
    terminal.end();
    expect(written.map((text) => text.trim())).toEqual([
      "1/2  notes.write  compensated",
      "2/2  notes.write  compensated",
      "",
    ]);
    const pipe = progressTo(log as never, { isTTY: false, write } as never);
    pipe.onProgress({ ...step, done: 1 });
    pipe.end();
    expect([written.length, said]).toEqual([3, []]);
  });

  test("is refused while somebody else has the run and keeps it", async () => {
    const at = place();
    const run = await finished(at);
    const held = await Run.resume({ journal: fileJournal(at.data), run });
    const refused = {
      code: 1,
      stdout: "",
      stderr: expect.stringContaining(`in use by process ${process.pid}`),
    };
    expect(await rollback(at, run, compensator(at), "--wait", "0")).toMatchObject(refused);
    expect(await reversi(["resolve", run, "1", "--not-applied", "--data", at.data])).toMatchObject(refused);
    await held.close();
    expect((await rollback(at, run, compensator(at))).code).toBe(0);
  });
});

describe("a foreign compensator", () => {
  /** It will not say that it serves many calls. */
  const atOnce = ["--hello-timeout", "0"];

  test("that takes one call and exits 0 undoes, unverified; --accept-unverified counts it", async () => {
    const at = place();
    const run = await finished(at);
    const first = await rollback(at, run, compensator(at, "plain"), ...atOnce);
    expect(first.code).toBe(2);
    expect(first.stdout).toContain("compensated_unverified (2)");
    expect([at.note("a"), at.note("b")]).toEqual(["old", null]);
    expect(calls(at).every((call) => call.op === undefined)).toBe(true);
    expect((await rollback(at, run, compensator(at, "plain"), ...atOnce, "--accept-unverified")).code).toBe(
      0,
    );
    expect(calls(at)).toHaveLength(2);
  });

  test("that takes one call cannot be asked: a dry run cannot tell, and sends it nothing", async () => {
    const at = place();
    const run = await finished(at);
    const { code, stdout } = await rollback(at, run, compensator(at, "plain"), ...atOnce, "--dry-run");
    expect(code).toBe(0);
    expect(stdout.match(/cannot tell/g)).toHaveLength(2);
    expect(calls(at)).toEqual([]);
  });

  test("that fails is quoted, without secrets, and every other step is still tried", async () => {
    const at = place();
    const run = await finished(at);
    writeFileSync(join(at.notes, "b"), "by a person");
    const { code, stdout, stderr } = await rollback(at, run, compensator(at, "plain"), ...atOnce);
    expect(code).toBe(2);
    expect(stdout).toMatch(
      /compensation_failed \(1\)[^\n]*\n +3 +notes\.write.*exited with 1; it said: b was changed.*token \[redacted\]/,
    );
    expect(stdout + stderr).not.toContain("notes-token");
    expect(at.note("a")).toBe("old");
  });

  test.each([
    ["stream-dies", /compensation_uncertain \(2\)[\s\S]*exited with 9/],
    ["stream-garbage", /compensation_uncertain \(2\)[\s\S]*answered <html>not found<\/html>/],
  ])("that %s in the middle leaves its outcome unknown", async (form, text) => {
    const at = place();
    const run = await finished(at);
    const { code, stdout } = await rollback(at, run, compensator(at, form));
    expect(code).toBe(2);
    expect(stdout).toMatch(text);
    // The undo is looked for first, and not sent again where it is found.
    expect((await rollback(at, run, compensator(at))).code).toBe(0);
    expect([at.note("a"), at.note("b")]).toEqual(["old", null]);
  });

  test("that hangs is ended when its time is over, its outcome unknown", async () => {
    const at = place();
    const run = await finished(at);
    const { code, stdout } = await rollback(
      at,
      run,
      compensator(at, "stream-hangs"),
      "--undo-timeout",
      "1",
      "--step",
      "3",
    );
    expect(code).toBe(2);
    expect(stdout).toMatch(/compensation_uncertain \(1\)[\s\S]*gave no answer within 1 s/);
  });

  test("that says it can only compensate is not asked anything else", async () => {
    const at = place();
    const run = await finished(at);
    const { code } = await rollback(at, run, compensator(at, "stream-only-compensates"));
    expect(code).toBe(2);
    expect(calls(at).map(({ op }) => op)).toEqual([undefined, undefined]);
  });

  test("that prints garbage at once, ignores its input and exits 0 is taken at its word, unverified", async () => {
    const at = place();
    const run = await finished(at);
    const { code, stdout, stderr } = await rollback(at, run, `sh -c 'echo "welcome to undo"'`);
    expect(code).toBe(2);
    expect(stderr).toContain("it began with welcome to undo");
    expect(stdout).toContain("compensated_unverified (2)");
  });

  test("that there is not is bad input, and nothing was begun", async () => {
    const at = place();
    const run = await finished(at);
    expect(await rollback(at, run, "no-such-undo --root .")).toMatchObject({
      code: 64,
      stderr: expect.stringContaining(
        "the compensator no-such-undo cannot be started: there is no such command",
      ),
    });
    expect(await rollback(at, run, "sh -c 'open")).toMatchObject({
      code: 64,
      stderr: expect.stringContaining("a quote is open"),
    });
    expect(recordsOf(at, run).map(({ type }) => type)).not.toContain("fenced");
  });
});

describe("bad input", () => {
  test("an unknown run is answered with the nearest names", async () => {
    const at = place();
    const run = await finished(at);
    for (const command of ["show", "timeline", "verify-journal"]) {
      const answer = await reversi([command, `${run.slice(0, -1)}x`, "--data", at.data]);
      expect(answer).toMatchObject({
        code: 64,
        stdout: "",
        stderr: expect.stringContaining(`Did you mean ${run}?`),
      });
    }
    expect((await rollback(at, "nonsense", compensator(at))).code).toBe(64);
  });

  test("a broken journal names the line, and nothing is undone", async () => {
    const at = place();
    const run = await finished(at);
    const file = join(at.data, "runs", `${run}.jsonl`);
    writeFileSync(file, readFileSync(file, "utf8").replace('"text":"new"', '"text":"NEW"'));
    const number =
      readFileSync(file, "utf8")
        .split("\n")
        .findIndex((line) => line.includes("NEW")) + 2;
    const answer = await rollback(at, run, compensator(at));
    expect(answer).toMatchObject({ code: 1, stdout: "" });
    expect(answer.stderr).toMatch(new RegExp(`damaged at line ${number}: .*Nothing was undone`));
    expect(calls(at)).toEqual([]);
    expect(at.note("a")).toBe("new");
    expect(await reversi(["verify-journal", run, "--data", at.data])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`line ${number}`),
    });
    const { stdout, code } = await reversi(["runs", "--data", at.data, "--format", "json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([{ run, status: "damaged" }]);
  });

  test("a torn last line is dropped, and said", async () => {
    const at = place();
    const { call, run, pid, closed } = await agent(at);
    await call("notes.write", { name: "a", text: "x" });
    process.kill(pid, "SIGKILL");
    await closed;
    appendFileSync(join(at.data, "runs", `${run}.jsonl`), '{"seq":99,"ty');
    const { stdout, code } = await reversi(["verify-journal", run, "--data", at.data]);
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/is intact, \d+ records; its last line was cut off after 13 bytes/),
    });
    expect((await rollback(at, run, compensator(at))).code).toBe(0);
    expect(at.note("a")).toBeNull();
  });

  test("what is no command, lacks something or contradicts itself is said", async () => {
    const at = place();
    const run = await finished(at);
    const data = ["--data", at.data];
    for (const [args, text] of [
      [["rolback", run, ...data], /rollback/],
      [["rollback", run, ...data], /compensator-cmd/],
      [["resolve", run, "1", ...data], /--applied RESULT\.json or --not-applied/],
      [["resolve", run, "1", "--applied", "x.json", "--not-applied", ...data], /mutually exclusive/],
      [
        ["resolve", run, "1", "--applied", join(at.root, "none.json"), ...data],
        /must hold the call's result as JSON/,
      ],
      [["resolve", run, "2", "--not-applied", ...data], /no step 2 that writes/],
      [["runs", "--data", join(at.root, "nowhere")], /there is no data folder/],
      [["runs", "--format", "xml", ...data], /text.*json/],
      [[], /say what to do/],
    ] as const) {
      const answer = await reversi(args);
      expect({ args, code: answer.code, stdout: answer.stdout }).toEqual({ args, code: 64, stdout: "" });
      expect(answer.stderr).toMatch(text);
      expect(answer.stderr.trim().split("\n")).toHaveLength(1);
    }
  });
});

describe("looking", () => {
  test("runs are listed newest first, as text and as one array", async () => {
    const at = place();
    const first = await finished(at);
    await rollback(at, first, compensator(at));
    const second = await finished(at);
    const { stdout } = await reversi(["runs", "--format", "json"], { REVERSI_DATA: at.data });
    expect(JSON.parse(stdout)).toMatchObject([
      { run: second, status: "open", writes: 2, reads: 1 },
      { run: first, status: "complete", writes: 2, reads: 1 },
    ]);
    const text = await reversi(["runs", "--data", at.data]);
    expect(text.stdout).toMatch(
      new RegExp(`^${second} .* open +2 writes, 1 read\n${first} .* complete +2 writes, 1 read\n$`),
    );
  });

  test("a run's steps and its records are shown, colour only where it is wanted", async () => {
    const at = place();
    const run = await finished(at);
    const shown = await reversi(["show", run, "--data", at.data]);
    expect(shown.stdout).toMatch(
      /1 {2}notes\.write {2}standing\n {6}undo: notes\.restore \{"name":"a","previous":"old","after":"new"\}/,
    );
    const timeline = await reversi(["timeline", run, "--data", at.data]);
    expect(
      timeline.stdout
        .trim()
        .split("\n")
        .map((line) => line.split(/ {2,}/).at(-2)),
    ).toEqual(["run_opened", "intent", "applied", "read", "intent", "applied"]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
    const coloured = /\u001b\[/;
    expect(shown.stdout + timeline.stdout).not.toMatch(coloured);
    const painted = (environment: Record<string, string>) =>
      reversi(["show", run, "--data", at.data], environment);
    expect((await painted({ FORCE_COLOR: "1" })).stdout).toMatch(coloured);
    expect((await painted({ FORCE_COLOR: "1", NO_COLOR: "1" })).stdout).not.toMatch(coloured);
    const json = await reversi(["timeline", run, "--data", at.data, "--format", "json"]);
    expect(JSON.parse(json.stdout)[0]).toMatchObject({ type: "run_opened", run });
  });

  test("what moves a terminal's cursor does not come out of a journal", async () => {
    const at = place();
    const { call, client, run } = await agent(at);
    await call("notes.write", { name: "a\u001b[2J", text: "\u009b31m" });
    await client.close();
    const { stdout } = await reversi(["timeline", run, "--data", at.data]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
    expect(stdout).not.toMatch(/[\u001b\u009b]/);
  });
});
