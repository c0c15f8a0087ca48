import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "@jest/globals";
import {
  type Answer,
  acmeProject,
  addConnector,
  cleanUp,
  finish,
  folder,
  gateAt,
  project,
  shelf,
  start,
  token,
} from "./support.ts";

let acme: ReturnType<typeof acmeProject>;
beforeEach(() => {
  acme = acmeProject();
});
afterAll(cleanUp);

const restore = (id: string, before: string | null, after: string | null, more: object = {}) => ({
  tool: "acme.restore_note",
  args: { id, before, after },
  ...more,
});
async function compensate(
  stdin: string | object,
  args: readonly string[] = [],
  env: Record<string, string | undefined> = {},
) {
  const text = typeof stdin === "string" ? stdin : JSON.stringify(stdin);
  const { code, stdout, stderr } = await finish(acme.root, ["compensate", ...args], text, {
    env: { ...acme.env, ...env },
  });
  const lines = stderr.split("\n").filter((line) => line.startsWith("reversi-connectors: "));
  const answer: Answer = JSON.parse(stdout);
  return { code, answer, lines };
}

describe("a lone call", () => {
  test("an undo that succeeds exits 0 and prints its result; again, it changes nothing", async () => {
    writeFileSync(join(acme.notes, "a.txt"), "new");
    expect(await compensate(restore("a", "old", "new"))).toEqual({
      code: 0,
      answer: { ok: true, result: { already: false } },
      lines: [],
    });
    expect(acme.note("a")).toBe("old");
    expect((await compensate(restore("a", "old", "new"))).answer).toEqual({
      ok: true,
      result: { already: true },
    });
  });

  test.each([
    ["broken", 1, { code: "FAILED", status: 503, may_have_applied: true }],
    ["lost", 3, { code: "EFFECT_UNCERTAIN", idempotency_key: "key-1" }],
    ["foreign", 4, { code: "CONFLICT" }],
  ])("the undo of %s exits %i with the structured error", async (id, code, error) => {
    writeFileSync(join(acme.notes, "foreign.txt"), "somebody else's");
    const ended = await compensate(
      restore(id, "old", "new", { idempotency_key: "key-1", run: "r", step: 3 }),
    );
    expect(ended).toMatchObject({ code, answer: { ok: false, error } });
    expect(ended.lines).toHaveLength(1);
    expect(acme.note("foreign")).toBe("somebody else's");
  });

  test("only the operator's word beside the arguments overwrites a conflict", async () => {
    writeFileSync(join(acme.notes, "foreign.txt"), "somebody else's");
    const inside = {
      tool: "acme.restore_note",
      args: { id: "foreign", before: null, after: "x", on_conflict: "overwrite" },
    };
    expect((await compensate(inside)).code).toBe(64);
    expect((await compensate(restore("foreign", "old", "new", { on_conflict: "overwrite" }))).code).toBe(0);
    expect(acme.note("foreign")).toBe("old");
  });

  test("holds and landed are answered as questions", async () => {
    writeFileSync(join(acme.notes, "a.txt"), "new");
    expect((await compensate(restore("a", "old", "new", { op: "holds" }))).answer).toEqual({
      ok: true,
      result: false,
    });
    const landed = {
      op: "landed",
      tool: "acme.write_note",
      args: { id: "a", text: "new" },
      since: new Date().toISOString(),
    };
    expect((await compensate(landed)).answer).toEqual({ ok: true, result: "unknown" });
    const checkpoint = { result: { before: null }, evidence: { version: 7 } };
    expect((await compensate({ ...landed, idempotency_key: "k", checkpoint })).answer).toEqual({
      ok: true,
      result: { landed: true, result: { before: null } },
    });
    expect(acme.note("a")).toBe("new");
  });

  test.each([
    ["empty", "", /stdin is empty/],
    ["blank", " \n ", /stdin is empty/],
    ["no JSON", `{"tool": "acme.restore_note", "args": {"secret-value`, /must be one JSON object/],
    [
      "two objects",
      `${JSON.stringify(restore("a", null, "x"))}\n${JSON.stringify(restore("a", null, "x"))}`,
      /something behind it/,
    ],
    ["an array", "[]", /must be a JSON object/],
    ["no tool", `{"args": {}}`, /lacks "tool"/],
    ["no arguments", `{"tool": "acme.restore_note"}`, /"args" must be an object/],
    [
      "an unknown connector",
      `{"tool": "other.undo", "args": {}}`,
      /no installed connector has a tool other.undo \(installed: acme\)/,
    ],
    ["an unknown tool", `{"tool": "acme.undo", "args": {}}`, /no connector here has a tool acme.undo/],
    [
      "a forward tool",
      `{"tool": "acme.write_note", "args": {"id": "a", "text": "x"}}`,
      /acme.write_note undoes nothing/,
    ],
    [
      "a missing argument",
      `{"tool": "acme.restore_note", "args": {"id": "a", "before": null}}`,
      /after is required/,
    ],
    ["an unknown op", `{"op": "undo", "tool": "acme.restore_note", "args": {}}`, /"op" must be one of/],
    [
      "a bad since",
      `{"op": "landed", "tool": "acme.write_note", "args": {}, "since": "now"}`,
      /needs "since"/,
    ],
    [
      "a bad on_conflict",
      `{"tool": "acme.restore_note", "args": {}, "on_conflict": true}`,
      /"on_conflict" must be/,
    ],
  ])("CK-07: %s exits 64 with one clear line, and nothing is changed", async (_, stdin, problem) => {
    writeFileSync(join(acme.notes, "a.txt"), "x");
    const { code, answer, lines } = await compensate(stdin);
    expect(code).toBe(64);
    expect(lines).toEqual([expect.stringMatching(problem)]);
    expect(lines[0]).not.toContain("secret-value");
    expect(answer).toMatchObject({ ok: false, error: { code: "INVALID_ARGUMENTS" } });
    expect(acme.note("a")).toBe("x");
  });

  test("CK-07: a missing credential exits 64, naming the variable", async () => {
    const { code, lines } = await compensate(restore("a", null, "x"), [], { ACME_TOKEN: undefined });
    expect([code, lines]).toEqual([
      64,
      ["reversi-connectors: acme.restore_note cannot run: ACME_TOKEN is not set"],
    ]);
  });

  test("CK-07: a call of one megabyte works", async () => {
    const large = "x".repeat(1_000_000);
    writeFileSync(join(acme.notes, "a.txt"), "new");
    expect((await compensate(restore("a", large, "new"))).code).toBe(0);
    expect(acme.note("a")).toBe(large);
  });

  test("CK-07: stdin that is never closed is waited for a bounded time, and nothing is done", async () => {
    writeFileSync(join(acme.notes, "a.txt"), "x");
    const run = start(acme.root, ["compensate"], { env: { ...acme.env, REVERSI_STDIN_TIMEOUT_MS: "100" } });
    run.send(restore("a", null, "x"));
    expect(await run.exit).toBe(64);
    expect(run.stderr()).toMatch(/stdin was not closed within 100 ms; nothing was done\n$/);
    expect(acme.note("a")).toBe("x");
  });

  test("an undo that was sent is seen through when a signal comes", async () => {
    const gate = await gateAt(acme.notes);
    const run = start(acme.root, ["compensate"], { env: acme.env });
    run.child.stdin?.end(JSON.stringify(restore("gated", null, "x")));
    await gate.reached();
    run.child.kill("SIGTERM");
    gate.open();
    expect(await run.exit).toBe(0);
    expect(JSON.parse(run.stdout())).toEqual({ ok: true, result: { already: true } });
  });
});

describe("flags", () => {
  test("a connector without a variable needs its flag, and is said to be left out without it", async () => {
    addConnector(acme.root, "@reversi-connector/shelf", shelf);
    const other = folder();
    const undo = { tool: "shelf.restore_note", args: { id: "a", before: "x", after: null } };
    expect(await compensate(undo)).toMatchObject({
      code: 64,
      lines: ["reversi-connectors: shelf.restore_note cannot run: shelf needs --root"],
    });
    expect((await compensate(undo, ["--root", other])).code).toBe(0);
    expect((await compensate(restore("a", null, null))).lines).toEqual([
      "reversi-connectors: shelf is left out: --root is not given",
    ]);
  });

  test("the documented flags are known even when no installed connector takes them", async () => {
    const { code, lines } = await compensate(restore("a", null, null), ["--root", ".", "--backup-dir=b"]);
    expect(code).toBe(0);
    expect(lines).toEqual([
      "reversi-connectors: no installed connector takes --root; ignored",
      "reversi-connectors: no installed connector takes --backup-dir; ignored",
    ]);
    expect((await finish(acme.root, ["compensate", "--rot", "."], "", { env: acme.env })).code).toBe(64);
  });

  test("--sandbox name=ADDRESS undoes on that sandbox, without any credential", async () => {
    const address = folder();
    const { code } = await compensate(restore("a", "old", null), ["--sandbox", `acme=${address}`], {
      ACME_TOKEN: undefined,
      ACME_FOLDER: undefined,
    });
    expect(code).toBe(0);
    expect(acme.note("a")).toBeNull();
    expect(readFileSync(join(address, "a.txt"), "utf8")).toBe("old");
  });
});

describe("the stream", () => {
  const streaming = (
    env: Record<string, string> = { REVERSI_COMPENSATOR: "stream/1" },
    args: readonly string[] = [],
  ) => start(acme.root, ["compensate", ...args], { env: { ...acme.env, ...env } });
  const linesOf = (text: string) =>
    text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));

  test("it says hello first, then answers each line in order; a bad line is answered like any other", async () => {
    writeFileSync(join(acme.notes, "a.txt"), "new");
    const run = streaming();
    await run.line(({ protocol }) => protocol === "reversi/1");
    run.write(`${JSON.stringify(restore("a", "old", "new", { op: "holds" }))}\n`);
    run.write(
      `${JSON.stringify(restore("a", "old", "new"))}\n{broken\n\n${JSON.stringify(restore("lost", null, null))}\n`,
    );
    run.write(`${JSON.stringify({ tool: "acme.write_note", args: { id: "a", text: "x" } })}\n`);
    run.child.stdin?.end(JSON.stringify(restore("a", "old", "new", { op: "holds" })));
    expect(await run.exit).toBe(0);
    expect(linesOf(run.stdout())).toEqual([
      { protocol: "reversi/1", ops: ["compensate", "holds", "landed"] },
      { ok: true, result: false },
      { ok: true, result: { already: false } },
      {
        ok: false,
        error: { code: "INVALID_ARGUMENTS", message: expect.stringContaining("must be one JSON object") },
      },
      {
        ok: false,
        error: { code: "EFFECT_UNCERTAIN", message: expect.any(String), idempotency_key: expect.any(String) },
      },
      { ok: false, error: { code: "INVALID_ARGUMENTS", message: expect.stringContaining("undoes nothing") } },
      { ok: true, result: true },
    ]);
  });

  test("--stream is the same, and an answer comes before stdin ends", async () => {
    const run = streaming({}, ["--stream"]);
    run.send(restore("a", null, null));
    expect(await run.line(({ ok }) => ok === true)).toEqual({ ok: true, result: { already: true } });
    run.child.stdin?.end();
    expect(await run.exit).toBe(0);
  });

  test("hello comes though no connector is usable, and each call says what is missing", async () => {
    const run = streaming({ REVERSI_COMPENSATOR: "stream/1", ACME_TOKEN: "" });
    run.child.stdin?.end(`${JSON.stringify(restore("a", null, null))}\n`);
    expect(await run.exit).toBe(0);
    expect(linesOf(run.stdout())[1].error.message).toBe(
      "acme.restore_note cannot run: ACME_TOKEN is not set",
    );
    expect(run.stderr()).not.toContain(token);
  });

  test("after a signal the call that runs is finished, and none is begun", async () => {
    const gate = await gateAt(acme.notes);
    const run = streaming();
    run.send(restore("gated", null, null), restore("a", "never", null));
    await gate.reached();
    run.child.kill("SIGTERM");
    await run.said(/ending/);
    gate.open();
    expect(await run.exit).toBe(0);
    expect(linesOf(run.stdout())).toHaveLength(2);
    expect(acme.note("a")).toBeNull();
  });
});

test("without any connector a call says so", async () => {
  const { code, stderr } = await finish(project(), ["compensate"], JSON.stringify(restore("a", null, null)));
  expect([code, stderr]).toEqual([
    64,
    "reversi-connectors: no installed connector has a tool acme.restore_note (installed: none)\n",
  ]);
});
