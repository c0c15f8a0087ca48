import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { agent, cleanUp, type Place, place, recordsOf, reversi, textOf } from "./support.ts";

afterAll(cleanUp);

const purge = { name: "a", text: "gone" };
const capabilities = { elicitation: {} };
/** A client whose user always answers so. */
const answering = (action: "accept" | "decline" | "cancel", seen: string[] = []) => ({
  capabilities,
  prepare: (client: Client) =>
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      seen.push(params.message);
      return { action };
    }),
});

describe("asking through the client", () => {
  test("an accepted call is made once, and asked for again the next time", async () => {
    const at = place();
    const seen: string[] = [];
    const { call, run } = await agent(at, answering("accept", seen));
    expect((await call("notes.purge", purge)).structuredContent).toMatchObject({ after: "gone" });
    await call("notes.purge", purge);
    expect(seen).toHaveLength(2);
    expect(seen[0]).toMatch(
      /^notes\.purge cannot be undone\. Overwrite a note for good\.\nArguments: \{"name":"a","text":"gone"\}/,
    );
    const approved = recordsOf(at, run).find(({ type }) => type === "approved");
    expect(approved).toMatchObject({
      by: "client test-agent",
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  test.each([
    ["decline", "a person declined it"],
    ["cancel", "closed without an answer; it may be asked again"],
  ] as const)("%s is a refusal of its own", async (action, text) => {
    const at = place();
    const { call, run } = await agent(at, answering(action));
    const answer = await call("notes.purge", purge);
    expect(textOf(answer)).toContain(text);
    expect(textOf(answer)).toContain("Nothing was sent");
    expect(at.note("a")).toBeNull();
    expect(recordsOf(at, run).at(-1)).toMatchObject({ type: "denied" });
  });

  test("a client that cannot ask gets told what can be done", async () => {
    const at = place();
    const { call } = await agent(at);
    expect(textOf(await call("notes.purge", purge))).toMatch(
      /this client cannot ask a person; start the gateway with --approval queue/,
    );
    expect(at.note("a")).toBeNull();
  });
});

test("with --approval refuse nobody is asked", async () => {
  const at = place();
  const { call } = await agent(at, { ...answering("accept"), flags: ["--approval", "refuse"] });
  expect(textOf(await call("notes.purge", purge))).toContain("started with --approval refuse");
  expect(at.note("a")).toBeNull();
});

describe("the queue", () => {
  const flags = ["--approval", "queue", "--approval-wait", "0"];
  const idIn = (text: string) => /reversi approve ([0-9a-f]+)/.exec(text)?.[1] ?? "";
  const decide = ({ data }: Place, ...args: string[]) => reversi([...args, "--data", data]);

  test("a call that waits goes on when an operator approves it", async () => {
    const at = place();
    const { call, stderr } = await agent(at, { flags: ["--approval", "queue", "--approval-wait", "60"] });
    const waiting = call("notes.purge", purge);
    // The question is a file before it is told, so the first runs that shows it has it whole.
    let id = "";
    while (id === "") {
      const { stdout } = await reversi(["runs", "--data", at.data]);
      id = /^ {2}([0-9a-f]{8}) .*notes\.purge \{"name":"a","text":"gone"\}$/m.exec(stdout)?.[1] ?? "";
    }
    expect(await decide(at, "approve", id)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Approved for one call until"),
    });
    expect((await waiting).structuredContent).toMatchObject({ after: "gone" });
    expect(stderr()).toContain(`reversi approve ${id}`);
  });

  test("a call that did not wait is made after its approval, once, and with exactly these arguments", async () => {
    const at = place();
    const { call } = await agent(at, { flags });
    const first = textOf(await call("notes.purge", purge));
    expect(first).toMatch(/nobody answered yet.*then make exactly the same call again/);
    const id = idIn(first);
    expect(textOf(await call("notes.purge", purge))).toContain(id);
    expect((await decide(at, "approve", id, "--by", "ann")).code).toBe(0);

    const other = await call("notes.purge", { name: "a", text: "something else" });
    expect(idIn(textOf(other))).not.toBe(id);
    expect(at.note("a")).toBeNull();
    expect((await call("notes.purge", { text: "gone", name: "a" })).structuredContent).toMatchObject({
      after: "gone",
    });
    expect(textOf(await call("notes.purge", purge))).toContain("nobody answered yet");
  });

  test("one approval lets one of two equal calls through", async () => {
    const at = place();
    const { call } = await agent(at, { flags });
    await decide(at, "approve", idIn(textOf(await call("notes.purge", purge))));
    const both = await Promise.all([call("notes.purge", purge), call("notes.purge", purge)]);
    expect(both.map(({ isError = false }) => isError).sort()).toEqual([false, true]);
  });

  test("a denied call is refused with the operator's reason", async () => {
    const at = place();
    const { call, run } = await agent(at, { flags });
    const id = idIn(textOf(await call("notes.purge", purge)));
    expect((await decide(at, "deny", id, "--why", "not on a Friday", "--by", "ann")).code).toBe(0);
    expect(textOf(await call("notes.purge", purge))).toContain("not on a Friday");
    expect(recordsOf(at, run).at(-1)).toMatchObject({ type: "denied", by: "ann", why: "not on a Friday" });
  });

  test("an approval that is too old counts for nothing", async () => {
    const at = place();
    const { call } = await agent(at, { flags });
    const id = idIn(textOf(await call("notes.purge", purge)));
    await decide(at, "approve", id);
    const [name = ""] = readdirSync(join(at.data, "approvals"));
    const file = join(at.data, "approvals", name);
    const question = JSON.parse(readFileSync(file, "utf8"));
    question.answer.expires = new Date(Date.now() - 1000).toISOString();
    writeFileSync(file, JSON.stringify(question));
    const again = textOf(await call("notes.purge", purge));
    expect(again).toContain("nobody answered yet");
    expect(idIn(again)).not.toBe(id);
    expect(at.note("a")).toBeNull();
  });

  test("what nobody asked, what was answered, and what is near is said", async () => {
    const at = place();
    const { call } = await agent(at, { flags });
    const id = idIn(textOf(await call("notes.purge", purge)));
    const near = `${id.slice(0, -1)}${id.endsWith("0") ? "1" : "0"}`;
    expect(await decide(at, "approve", near)).toMatchObject({
      code: 64,
      stderr: expect.stringContaining(`Did you mean ${id}?`),
    });
    await decide(at, "approve", id);
    expect(await decide(at, "deny", id)).toMatchObject({
      code: 64,
      stderr: expect.stringContaining("was approved by"),
    });
  });
});
