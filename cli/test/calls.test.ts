import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import {
  type Answer,
  acmeProject,
  answerTo,
  call,
  cleanUp,
  gateAt,
  type Run,
  sdkClient,
  serving,
  token,
} from "./support.ts";

let acme: ReturnType<typeof acmeProject>;
beforeAll(() => {
  acme = acmeProject();
});
afterAll(cleanUp);

const ended = async (run: Run) => {
  run.child.stdin?.end();
  return run.exit;
};

describe("errors", () => {
  test("invalid arguments are a tool error that says how to correct them", async () => {
    const client = await sdkClient(acme.root, ["acme"], { env: acme.env });
    await client.listTools();
    const answer: Answer = await client.callTool({
      name: "acme.write_note",
      arguments: { id: "A", note: 1 },
    });
    expect(answer.isError).toBe(true);
    expect(answer.structuredContent).toBeUndefined();
    expect(answer.content[0].text).toMatch(
      /^InvalidArgumentsError: acme.write_note: text is required; .*Nothing was sent; correct the arguments/,
    );
    expect(answer._meta["reversi/outcome"]).toBe("refused");
    await client.close();
  });

  test("what a connector refuses by itself says once that nothing was sent", async () => {
    const run = await serving(acme.root, ["acme"], { env: acme.env });
    run.send(call(1, "acme.restore_note", { id: "reserved", before: null, after: null }));
    const { content } = (await answerTo(run, 1)).result;
    expect(content[0].text).toBe(
      "InvalidArgumentsError: id must not be reserved. Nothing was sent; correct the arguments and call again.",
    );
    await ended(run);
  });

  test("an unknown outcome says not to repeat, names the reading tools, and carries what a program needs", async () => {
    const run = await serving(acme.root, ["acme", "--tool-names", "underscore"], { env: acme.env });
    run.send(
      call(
        1,
        "acme.restore_note",
        { id: "lost", before: null, after: null },
        { "reversi/idempotency_key": "k" },
      ),
    );
    const { isError, content, _meta } = (await answerTo(run, 1)).result;
    expect(isError).toBe(true);
    expect(content[0].text).toBe(
      "EffectUncertainError: the answer was lost. The write may have been applied. Do not repeat it before checking: " +
        "look with acme_chatter or acme_read_note or acme_slow_read (idempotency key of the call: k).",
    );
    expect(_meta).toEqual({
      "reversi/outcome": "uncertain",
      "reversi/error": { code: "EFFECT_UNCERTAIN", message: "the answer was lost", idempotency_key: "k" },
    });
    expect(await ended(run)).toBe(0);
  });

  test("where the vendor keeps keys, repeating under the same key is named as the other way", async () => {
    const run = await serving(acme.root, ["acme", "--approval", "allow", "--tools", "acme.send_note"], {
      env: acme.env,
    });
    run.send(call(1, "acme.send_note", { text: "lost" }, { "reversi/idempotency_key": "k" }));
    expect((await answerTo(run, 1)).result.content[0].text).toMatch(
      /look in the backend itself or repeat it under the same _meta\["reversi\/idempotency_key"\], k, within 24 hours\.$/,
    );
    await ended(run);
  });

  test("an answered 5xx on a write says that it may have been applied, a conflict what was found", async () => {
    const run = await serving(acme.root, ["acme"], { env: acme.env });
    const restore = (id: number, note: string) =>
      run.send(call(id, "acme.restore_note", { id: note, before: "old", after: "new" }));
    restore(1, "broken");
    restore(2, "foreign");
    expect((await answerTo(run, 1)).result).toMatchObject({
      content: [{ text: expect.stringMatching(/^ConnectorError: HTTP 503: .* may have been applied/) }],
      _meta: {
        "reversi/outcome": "failed",
        "reversi/error": { code: "FAILED", status: 503, may_have_applied: true },
      },
    });
    expect((await answerTo(run, 2)).result).toMatchObject({
      content: [{ text: expect.stringMatching(/^ConflictError: .*Nothing was overwritten\.$/) }],
      _meta: { "reversi/outcome": "conflict", "reversi/error": { code: "CONFLICT" } },
    });
    await ended(run);
  });
});

describe("cancellation and progress", () => {
  test("a cancelled write in flight is not answered, and is logged as what it is: uncertain", async () => {
    const own = acmeProject();
    const gate = await gateAt(own.notes);
    const run = await serving(own.root, ["acme"], { env: own.env });
    run.send(call(1, "acme.slow_write", { id: "slow", text: "x" }));
    await gate.reached();
    const left = gate.left();
    run.send({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: 1, reason: "changed my mind" },
    });
    await left;
    expect(await run.said(/acme\.slow_write: cancelled/)).toMatch(
      /EffectUncertainError: cut off after sending/,
    );
    run.send(call(2, "acme.read_note", { id: "slow" }));
    await answerTo(run, 2);
    expect(await ended(run)).toBe(0);
    expect(run.stdout()).not.toMatch(/"id":1[,}]/);
  });

  test("progress goes out only when a token came", async () => {
    const run = await serving(acme.root, ["acme"], { env: acme.env });
    run.send(call(1, "acme.write_note", { id: "quiet", text: "x" }));
    await answerTo(run, 1);
    expect(run.stdout()).not.toContain("notifications/progress");
    run.send(call(2, "acme.write_note", { id: "loud", text: "x" }, { progressToken: "p" }));
    await answerTo(run, 2);
    await ended(run);
    const lines = run
      .stdout()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const sent = lines
      .filter(({ method }) => method === "notifications/progress")
      .map(({ params }) => params);
    expect(sent).toEqual([
      { progressToken: "p", progress: 1, total: 2, message: "writing" },
      { progressToken: "p", progress: 2, total: 2, message: "written" },
    ]);
    expect(lines.at(-1).id).toBe(2);
  });
});

describe("checkpoints", () => {
  const capabilities = { experimental: { "reversi/checkpoint": {} } };
  const asked = (run: Run) => run.line(({ method }) => method === "reversi/checkpoint");

  test("a client that declares them is asked before the write, which waits for the answer", async () => {
    const own = acmeProject();
    const run = await serving(own.root, ["acme"], { env: own.env, capabilities });
    run.send(
      call("step-1", "acme.write_note", { id: "a", text: "new" }, { "reversi/idempotency_key": "key-9" }),
    );
    const checkpoint = await asked(run);
    expect(checkpoint.params).toEqual({
      tool: "acme.write_note",
      result: { before: null },
      evidence: { version: 7 },
      requestId: "step-1",
      _meta: { "reversi/idempotency_key": "key-9" },
    });
    expect(own.note("a")).toBeNull();
    run.send({ jsonrpc: "2.0", id: checkpoint.id, result: {} });
    expect((await answerTo(run, "step-1")).result.structuredContent).toEqual({ before: null });
    expect(own.note("a")).toBe("new");
    await ended(run);
  });

  test("a refused or unanswered checkpoint ends the call before the write", async () => {
    const own = acmeProject();
    const run = await serving(own.root, ["acme"], {
      env: { ...own.env, REVERSI_TIMEOUT_MS: "400" },
      capabilities,
    });
    run.send(call(1, "acme.write_note", { id: "a", text: "new" }));
    const { id } = await asked(run);
    run.send({ jsonrpc: "2.0", id, error: { code: -32000, message: "disk full" } });
    const refused = (await answerTo(run, 1)).result;
    expect(refused.content[0].text).toMatch(/checkpoint was refused \(.*disk full\); nothing was written/);
    expect(refused._meta["reversi/error"]).toEqual({ code: "FAILED", message: expect.any(String) });
    run.send(call(2, "acme.write_note", { id: "a", text: "new" }));
    expect((await answerTo(run, 2)).result.content[0].text).toMatch(/timed out\); nothing was written/);
    expect(own.note("a")).toBeNull();
    await ended(run);
  });

  test("a client that does not declare them is not asked", async () => {
    const own = acmeProject();
    const run = await serving(own.root, ["acme"], { env: own.env });
    run.send(call(1, "acme.write_note", { id: "a", text: "new" }));
    await answerTo(run, 1);
    await ended(run);
    expect(run.stdout()).not.toContain("reversi/checkpoint");
  });
});

describe("approval of what cannot be undone", () => {
  const send = (text: string) => ({ name: "acme.send_note", arguments: { text } });

  test.each([
    ["accept", undefined],
    [
      "decline",
      /^ConnectorError: acme.send_note needs a person's approval: a person declined this call\. Nothing/,
    ],
    ["cancel", /closed without an answer; it may be asked again/],
  ] as const)("a client that can ask is asked: %s", async (action, refusal) => {
    const own = acmeProject();
    const client = await sdkClient(own.root, ["acme"], { env: own.env, capabilities: { elicitation: {} } });
    const questions: string[] = [];
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      questions.push(params.message);
      return { action, ...(action === "accept" && { content: {} }) };
    });
    const answer: Answer = await client.callTool(send("hello"));
    expect(questions).toEqual([
      'acme.send_note cannot be undone. Send a text to everybody.\nArguments: {"text":"hello"}\nRun it?',
    ]);
    if (refusal === undefined) expect(answer.structuredContent).toEqual({ sent: true });
    else {
      expect(answer.content[0].text).toMatch(refusal);
      expect(answer._meta["reversi/outcome"]).toBe("refused");
    }
    await client.close();
  });

  test.each([
    ["elicit", /this client cannot ask a person/],
    ["refuse", /started with --approval refuse/],
    ["allow", undefined],
  ] as const)("without a client that can ask, --approval %s decides", async (mode, refusal) => {
    const client = await sdkClient(acme.root, ["acme", "--approval", mode], { env: acme.env });
    const answer: Answer = await client.callTool(send(mode));
    if (refusal === undefined) expect(answer.structuredContent).toEqual({ sent: true });
    else expect(answer.content[0].text).toMatch(refusal);
    await client.close();
  });
});

test("no credential leaves in errors, logs or results", async () => {
  const run = await serving(acme.root, ["acme", "--log-level", "debug"], { env: acme.env });
  run.send(call(1, "acme.write_note", { id: "a", text: `my ${token}` }), call(2, `acme.${token}`));
  expect((await answerTo(run, 1)).result.content[0].text).toMatch(/text holds the configured credential/);
  await answerTo(run, 2);
  await ended(run);
  expect(run.stderr()).not.toContain(token);
});
