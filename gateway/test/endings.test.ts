import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import {
  agent,
  cleanUp,
  fixture,
  gatewayArgs,
  gatewayStarted,
  place,
  recordsOf,
  reversi,
  start,
  textOf,
  typesOf,
} from "./support.ts";

afterAll(cleanUp);
const sequence = (...steps: readonly object[]) =>
  steps.map((step) => `${JSON.stringify({ jsonrpc: "2.0", ...step })}\n`).join("");
const clientInfo = { name: "raw", version: "1" };
const hello = sequence(
  { id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } },
  { method: "notifications/initialized" },
);
const call = (id: number, name: string, args: object, _meta?: object) => ({
  id,
  method: "tools/call",
  params: { name, arguments: args, ...(_meta && { _meta }) },
});

describe("a call ends in a true state", () => {
  test("when the server dies in the middle of it", async () => {
    const at = place();
    const { call, run, closed } = await agent(at);
    const answer = await call("notes.die", { name: "a", text: "x" });
    expect(textOf(answer)).toMatch(
      /^EffectUncertainError: notes\.die: the upstream server ended \(SIGKILL\).*Do not repeat it/,
    );
    expect(answer._meta?.["reversi/outcome"]).toBe("uncertain");
    await closed;
    expect(recordsOf(at, run).at(-1)).toMatchObject({ type: "uncertain", step: 1 });
    expect(at.note("a")).toBe("x");
  });

  test("when the server dies after a checkpoint: the old value is not lost with it", async () => {
    const at = place();
    writeFileSync(join(at.notes, "a"), "old");
    const { call, run, closed } = await agent(at);
    await call("notes.checkpointed", { name: "a", text: "die" });
    await closed;
    expect(typesOf(at, run, 1)).toEqual(["intent", "checkpoint", "uncertain"]);
    expect(recordsOf(at, run).find(({ type }) => type === "checkpoint")).toMatchObject({
      result: { previous: "old" },
    });
  });

  test("when the agent cancels a write that the server has", async () => {
    const at = place();
    const { call, client, run } = await agent(at);
    const cancel = new AbortController();
    const cancelled = call(
      "notes.write_late",
      { name: "a", text: "x" },
      { signal: cancel.signal, onprogress: () => cancel.abort() },
    );
    await expect(cancelled).rejects.toThrow();
    await client.close();
    expect(recordsOf(at, run).at(-1)).toMatchObject({
      type: "uncertain",
      error: { message: expect.stringContaining("cancelled") },
    });
  });

  test("when the server takes longer than it may", async () => {
    const at = place();
    const { call, run } = await agent(at, { flags: ["--call-timeout", "1"] });
    const answer = await call("notes.hang", { name: "a", text: "x" });
    expect(textOf(answer)).toMatch(/no answer within 1000 ms/);
    expect(recordsOf(at, run).at(-1)).toMatchObject({ type: "uncertain" });
  });

  test("when the gateway itself is killed: the run tells it, and no call is made again", async () => {
    const at = place();
    const { call, run, pid, closed } = await agent(at);
    let sent = () => {};
    const waiting = new Promise<void>((resolve) => {
      sent = resolve;
    });
    const lost = call("notes.write_late", { name: "a", text: "x" }, { onprogress: () => sent() });
    lost.catch(() => {});
    await waiting;
    process.kill(pid, "SIGKILL");
    await closed;
    const { stdout } = await reversi(["show", run, "--data", at.data, "--format", "json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      status: "open",
      steps: [{ step: 1, tool: "notes.write_late", state: "executing" }],
    });
    expect(typesOf(at, run, 1)).toEqual(["intent"]);
  });
});

describe("the gateway ends", () => {
  test("at the end of its input, after every call was answered", async () => {
    const at = place();
    const { child, ended } = gatewayStarted(at);
    child.stdin.end(
      hello +
        sequence(call(2, "notes.write", { name: "a", text: "x" }), call(3, "notes.read", { name: "a" })),
    );
    const { code, stdout, stderr } = await ended;
    expect(code).toBe(0);
    const answers = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).id);
    expect(answers.sort()).toEqual([1, 2, 3]);
    expect(
      stderr
        .trim()
        .split("\n")
        .filter((line) => !/refused/.test(line)),
    ).toHaveLength(1);
  });

  test("on a signal, after the write in flight was journaled", async () => {
    const at = place();
    const { child, ended, told } = gatewayStarted(at);
    const [, run = ""] = await told(/run (\S+), journaled/);
    child.stdin.write(
      hello + sequence(call(2, "notes.write_late", { name: "a", text: "x" }, { progressToken: 1 })),
    );
    const lines = (text: string) =>
      text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
    let stdout = "";
    await new Promise<void>((resolve) => {
      child.stdout.on("data", (chunk) => {
        stdout += chunk;
        if (stdout.includes("at the gate")) resolve();
      });
    });
    // Both arrive before the first is looked at: what was sent before the signal still goes through.
    child.stdin.write(sequence(call(3, "notes.open_gate", {})));
    await once(child.stdout, "data");
    child.kill("SIGTERM");
    expect((await ended).code).toBe(0);
    expect(lines(stdout).find(({ id }) => id === 2)).toMatchObject({
      result: { structuredContent: { after: "x" } },
    });
    expect(typesOf(at, run, 1)).toEqual(["intent", "applied"]);
  });

  test("quietly when nobody reads its answers any more, with the write journaled as done or as never sent", async () => {
    const at = place();
    const { child, ended, told } = gatewayStarted(at);
    const [, run = ""] = await told(/run (\S+), journaled/);
    child.stdout.destroy();
    child.stdin.write(hello + sequence(call(2, "notes.write", { name: "a", text: "x" })));
    const { code, stderr } = await ended;
    expect(code).toBe(0);
    expect(stderr).not.toMatch(/EPIPE|Error/);
    const records = recordsOf(at, run);
    const intents = records.filter(({ type }) => type === "intent");
    // Whether the call came through before its answers had no reader is chance; that its end is known is not.
    const ends = records.filter(
      ({ type, may }) => type === "applied" || (type === "failed" && may === false),
    );
    expect(ends).toHaveLength(intents.length);
  });
});

describe("the gateway does not start", () => {
  const broken = (name: string, content: string) => {
    const at = place();
    const manifests = join(at.root, name);
    writeFileSync(manifests, content);
    return gatewayStarted(at, { manifests }).ended;
  };

  test.each([
    ["m.yaml", "- tool: a.b\n  effect: [\n", /m\.yaml:\d: /],
    [
      "m.yaml",
      "- tool: a.b\n  effect: read_only\n  permission: p\n- tool: a.c\n  effect: undoable\n  permission: p\n",
      /m\.yaml:5: effect must be one of/,
    ],
    ["m.json", '[\n {"tool": "a.b",\n  "effect": "read_only"}\n]', /m\.json:2: permission is required/],
    ["m.json", '[{"tool": "a.b"', /m\.json:1: /],
    [
      "m.yaml",
      "tool: a.b\neffect: read_only\npermission: p\napprovel: always\n",
      /m\.yaml:4: approvel is not a known name/,
    ],
    [
      "m.yaml",
      "- {tool: a.b, effect: read_only, permission: p}\n- {tool: a.b, effect: read_only, permission: p}\n",
      /a\.b has two manifests: \S*m\.yaml:1 and \S*m\.yaml:2/,
    ],
    [
      "m.yaml",
      "- {tool: a.b, effect: reversible, permission: p, compensation: {tool: a.c, argument_map: {}}}\n",
      /m\.yaml: a\.b names the compensation a\.c, which has no manifest/,
    ],
    [
      "m.yaml",
      "- {tool: a.b, effect: irreversible, permission: p}\n",
      /a\.b is irreversible and needs approval: always/,
    ],
  ])("with a manifest in %s that says %j", async (name, content, message) => {
    const { code, stderr, stdout } = await broken(name, content);
    expect(stderr).toMatch(message);
    expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
  });

  test("without manifests, with an unknown flag, with a scope that fits nothing", async () => {
    const at = place();
    const none = await gatewayStarted(at, { manifests: join(at.root, "none") }).ended;
    expect(none).toMatchObject({ code: 64, stderr: expect.stringContaining("there is no") });
    const empty = await gatewayStarted(at, { manifests: at.notes }).ended;
    expect(empty).toMatchObject({
      code: 64,
      stderr: expect.stringContaining("no .yaml, .yml or .json file"),
    });
    const flag = await gatewayStarted(at, { flags: ["--manifest", "x"] }).ended;
    expect(flag).toMatchObject({ code: 64, stderr: expect.stringContaining("Did you mean manifests?") });
    const scope = await gatewayStarted(at, { flags: ["--scope", "notes:writ"] }).ended;
    expect(scope).toMatchObject({ code: 64, stderr: expect.stringContaining("Did you mean notes:write?") });
  });

  test("with a server that there is not, or that ends at once: its stderr is shown, without secrets", async () => {
    const at = place();
    const absent = await gatewayStarted(at, { upstream: ["no-such-server"] }).ended;
    expect(absent).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("no-such-server cannot be started: there is no such command"),
    });
    const script = 'console.error("bad token " + process.env.NOTES_TOKEN); process.exit(3)';
    const { child, ended } = gatewayStarted(at, { upstream: [process.execPath, "-e", script] });
    child.stdin.write(hello);
    const { code, stderr, stdout } = await ended;
    expect(code).toBe(1);
    expect(stderr).toContain("the upstream server ended (exit code 3); it said: bad token [redacted]");
    expect(stderr + stdout).not.toContain("notes-token");
  });

  test("with a data folder in which nothing can be written", async () => {
    const at = place();
    writeFileSync(join(at.root, "data"), "a file");
    const { code, stderr } = await gatewayStarted(at).ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(/--data \S*data: no run can be journaled there: E/);
  });
});

test("a full disk refuses the call before it is sent", async () => {
  const at = place();
  const args = gatewayArgs(at)
    .map((arg) => `'${arg}'`)
    .join(" ");
  // A limit on the size of files, inherited by the gateway, answers as a full disk does.
  const script = `trap '' XFSZ; ulimit -f 40; exec '${process.execPath}' ${args}`;
  const { child, ended } = start("/bin/sh", ["-c", script]);
  const text = "z".repeat(3000);
  let stdout = "";
  let next = 2;
  child.stdin.write(hello + sequence(call(next, "notes.write", { name: "n2", text })));
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
    const answered = stdout
      .split("\n")
      .some((line) => line !== "" && line.endsWith("}") && JSON.parse(line).id === next);
    if (!answered) return;
    if (stdout.includes('"reason":"journal"')) child.stdin.end();
    else child.stdin.write(sequence(call(++next, "notes.write", { name: `n${next}`, text })));
  });
  await ended;
  const answers = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const last = answers.at(-1);
  expect(last.result.content[0].text).toMatch(/was refused before it was sent: .*journal cannot be written/);
  expect(at.note(`n${last.id}`)).toBeNull();
  expect(at.note("n2")).toHaveLength(text.length);
});

test("both programs tell their version and their flags", async () => {
  const at = place();
  const { version } = JSON.parse(readFileSync(join(fixture("."), "../../package.json"), "utf8"));
  const [program = ""] = gatewayArgs(at);
  const told = await start(process.execPath, [program, "--version"]).ended;
  expect(told).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  const help = await start(process.execPath, [program, "--help"]).ended;
  for (const [flag] of help.stdout.matchAll(/--[a-z-]+/g)) expect(flag).toMatch(/^--[a-z]/);
  expect(help).toMatchObject({ code: 0, stderr: "" });
  expect(await reversi(["--version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  expect(await reversi(["rollback", "--help"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("--compensator-cmd"),
  });
});
