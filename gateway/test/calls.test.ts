import { afterAll, describe, expect, test } from "@jest/globals";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { lineSplitter, maxLineBytes } from "@reversi-connector/core/program";
import {
  agent,
  cleanUp,
  fixture,
  gatewayStarted,
  type Place,
  place,
  recordsOf,
  textOf,
  typesOf,
} from "./support.ts";

afterAll(cleanUp);

describe("what passes through", () => {
  test("tools, results and errors are the server's own", async () => {
    const at = place();
    const { client: through, call } = await agent(at);
    const direct = new Client({ name: "direct", version: "1.0.0" });
    const args = [fixture("upstream.js"), at.notes];
    await direct.connect(new StdioClientTransport({ command: process.execPath, args, stderr: "ignore" }));

    expect(await through.listTools()).toEqual(await direct.listTools());
    for (const name of ["notes.read", "notes.fail", "notes.fail_clean", "notes.large"]) {
      const params = { name, arguments: { name: "ä\u2028🙂", size: 100_000 } };
      expect(await through.callTool(params)).toEqual(await direct.callTool(params));
    }
    await expect(call("notes.rpc_error")).rejects.toMatchObject({
      code: -32050,
      message: expect.stringContaining("no such thing"),
    });
    expect(through.getServerVersion()).toEqual(direct.getServerVersion());
    await direct.close();
  });

  test("the run is named in the instructions and on stderr", async () => {
    const { client, run, stderr } = await agent(place());
    expect(run).toMatch(/^\d{4}-\d\d-\d\d-[0-9a-f]{10}$/);
    expect(client.getInstructions()).toBe(
      `A folder of notes.\n\nWhat is done here is recorded as run ${run}. An operator can undo it: reversi rollback ${run}`,
    );
    expect(stderr()).toContain(`reversi rollback ${run}`);
  });

  test("the server's own questions reach the client, and their answers the server", async () => {
    const roots = [{ uri: "file:///work", name: "work" }];
    const { call } = await agent(place(), {
      capabilities: { roots: {} },
      prepare: (client) => client.setRequestHandler(ListRootsRequestSchema, () => ({ roots })),
    });
    expect((await call("notes.roots")).structuredContent).toEqual({ roots });
  });

  test("progress reaches the agent, and a slow write holds nothing up", async () => {
    const at = place();
    const { call } = await agent(at);
    const seen: unknown[] = [];
    let atGate = () => {};
    const waiting = new Promise<void>((resolve) => {
      atGate = resolve;
    });
    const late = call(
      "notes.write_late",
      { name: "a", text: "late" },
      {
        onprogress: (progress) => {
          seen.push(progress);
          atGate();
        },
      },
    );
    await waiting;
    expect((await call("notes.read", { name: "a" })).structuredContent).toEqual({ name: "a", text: null });
    await call("notes.open_gate");
    expect((await late).structuredContent).toEqual({ name: "a", previous: null, after: "late" });
    expect(seen).toEqual([{ progress: 1, total: 2, message: "waiting at the gate" }]);
  });

  test("a tool is called by every spelling, and the journal keeps the manifest's name", async () => {
    const at = place();
    const { call, run } = await agent(at);
    await call("notes_write", { name: "a", text: "1" });
    await call("notes.write", { name: "a", text: "2" });
    const tools = recordsOf(at, run).filter(({ type }) => type === "intent");
    expect(tools.map(({ tool }) => tool)).toEqual(["notes.write", "notes.write"]);
  });

  test("64 calls at once come back to their callers", async () => {
    const at = place();
    const { call, run } = await agent(at);
    const names = Array.from({ length: 64 }, (_, index) => `n${index}`);
    const answers = await Promise.all(names.map((name) => call("notes.write", { name, text: name })));
    expect(answers.map(({ structuredContent }) => structuredContent?.["after"])).toEqual(names);
    const records = recordsOf(at, run);
    expect(records.filter(({ type }) => type === "applied")).toHaveLength(64);
    expect(new Set(answers.map(({ structuredContent }) => structuredContent?.["key"])).size).toBe(64);
  });

  test("lines of many megabytes pass in both directions", async () => {
    const at = place();
    const { child } = gatewayStarted(at);
    const send = (message: object) =>
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const answers = new Map<unknown, number>();
    const both = new Promise<void>((resolve) => {
      const lines = lineSplitter(
        maxLineBytes,
        (line) => {
          const { id } = JSON.parse(line.toString());
          answers.set(id, line.length);
          if (id === 1) {
            send({ method: "notifications/initialized" });
            send({
              id: 2,
              method: "tools/call",
              params: { name: "notes.large", arguments: { size: 6_000_000 } },
            });
            const text = "y".repeat(2_000_000);
            send({
              id: 3,
              method: "tools/call",
              params: { name: "notes.write", arguments: { name: "big", text } },
            });
          }
          if (answers.size === 3) resolve();
        },
        () => {},
      );
      child.stdout.on("data", (chunk) => lines.push(chunk));
    });
    const clientInfo = { name: "raw", version: "1" };
    send({
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo },
    });
    await both;
    expect(answers.get(2)).toBeGreaterThan(12_000_000);
    expect(at.note("big")).toHaveLength(2_000_000);
  });
});

describe("what is journaled", () => {
  test("a write's intent, outcome and undo, with the key that the server was given", async () => {
    const at = place();
    const { call, run } = await agent(at);
    const { structuredContent } = await call("notes.write", { name: "a", text: "new" });
    const [intent, applied] = recordsOf(at, run).filter(({ step }) => step === 1);
    expect(intent).toMatchObject({ type: "intent", tool: "notes.write", args: { name: "a", text: "new" } });
    expect(intent?.["key"]).toBe(structuredContent?.["key"]);
    const args = { name: "a", previous: null, after: "new" };
    expect(applied).toMatchObject({ type: "applied", undo: { tool: "notes.restore", args } });
  });

  test.each([
    ["notes.fail", { type: "failed", may: true }],
    ["notes.fail_clean", { type: "failed", may: false, error: { status: 422 } }],
    ["notes.unsure", { type: "uncertain", error: { expected_result: { name: "a" } } }],
  ])("the outcome of %s, as the structured error tells it", async (tool, record) => {
    const at = place();
    const { call, run } = await agent(at);
    expect(await call(tool, { name: "a", text: "x" })).toMatchObject({ isError: true });
    expect(recordsOf(at, run).at(-1)).toMatchObject(record);
  });

  test("a JSON-RPC error of a write proves nothing", async () => {
    const at = place();
    const { call, run } = await agent(at);
    await expect(call("notes.rpc_error")).rejects.toThrow();
    expect(recordsOf(at, run).at(-1)).toMatchObject({ type: "failed", may: true });
  });

  test("a checkpoint, before it is acknowledged", async () => {
    const at = place();
    const { call, run } = await agent(at);
    expect((await call("notes.checkpointed", { name: "a", text: "x" })).structuredContent).toMatchObject({
      declared: true,
    });
    expect(typesOf(at, run, 1)).toEqual(["intent", "checkpoint", "applied"]);
    expect(recordsOf(at, run).find(({ type }) => type === "checkpoint")).toMatchObject({
      result: { name: "a", previous: null, after: "x" },
      evidence: { seen: true },
    });
  });

  test("nothing of a secret but what the data itself holds", async () => {
    const { call, closed, stderr } = await agent(place());
    await expect(call("notes.die", { name: "a", text: "x" })).resolves.toMatchObject({ isError: true });
    await closed;
    expect(stderr()).toContain("upstream: dying with [redacted]");
    expect(stderr()).not.toContain("notes-token");
  });
});

describe("what is refused", () => {
  let session: Promise<Awaited<ReturnType<typeof agent>> & { readonly at: Place }> | undefined;
  /** One agent that may do less than the server can, for all that it is refused. */
  const limited = () => {
    const at = place();
    session ??= agent(at, { flags: ["--scope", "notes:read", "notes:wri*"] }).then((made) => ({
      ...made,
      at,
    }));
    return session;
  };

  test.each([
    ["notes.bare", /no manifest in this run.*Nothing was sent.*--manifests/],
    ["notes.nonsense", /the server lists no such tool\. Nothing was sent/],
    ["notes.restore", /the server lists no such tool\. Nothing was sent/],
    ["notes.drifted", /no longer what its manifest describes: its input schema changed.*Nothing was sent/],
    ["notes.purge", /needs notes:purge, which is outside the scope.*Nothing was sent.*--scope/],
  ])("%s, with why and what to do", async (tool, text) => {
    const { at, call } = await limited();
    const answer = await call(tool, { name: "a", text: "x" });
    expect(answer).toMatchObject({ isError: true, _meta: { "reversi/outcome": "refused" } });
    expect(textOf(answer)).toMatch(text);
    expect(at.note("a")).toBeNull();
  });

  test("a tool until the server lists it", async () => {
    const at = place();
    const { call } = await agent(at);
    expect(textOf(await call("notes.grown"))).toContain("lists no such tool");
    await call("notes.grow");
    expect((await call("notes.grown")).structuredContent).toEqual({ grown: true });
  });

  test("a write as a task, whose outcome could not be journaled", async () => {
    const at = place();
    const { client, call } = await agent(at);
    const params = { name: "notes.write", arguments: { name: "a", text: "x" }, task: { ttl: 1000 } };
    expect(textOf((await client.callTool(params)) as never)).toMatch(/without a task/);
    expect((await call("notes.read", { name: "a" })).structuredContent).toEqual({ name: "a", text: null });
  });

  test("bad lines, one by one, while good ones go on being answered", async () => {
    const at = place();
    const { child, ended } = gatewayStarted(at);
    const clientInfo = { name: "raw", version: "1" };
    const initialize = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
    const call = (id: unknown, params: object) =>
      JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });
    const lines = [
      JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: initialize }),
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      "{half",
      "",
      `[${call(7, { name: "notes.write", arguments: { name: "a", text: "batch" } })}]`,
      '{"jsonrpc":"2.0","id":8,"method":"tools/call","params":[1]}',
      call(9, { name: "notes.write", arguments: [] }),
      call({}, { name: "notes.write", arguments: { name: "a", text: "id" } }),
      `\uFEFF${call("x", { name: "notes.read", arguments: { name: "a" } })}\r`,
      '{"jsonrpc":"2.0","id":10,"method":"server/discover"}',
    ];
    child.stdin.write(`${lines.join("\n")}\n`);
    child.stdin.write(
      Buffer.concat([
        Buffer.from('{"jsonrpc":"2.0","id":11,"method":"'),
        Buffer.from([0xff, 0x22, 0x7d, 0x0a]),
      ]),
    );
    child.stdin.end(call(12, { name: "notes.read", arguments: { name: "a" } }));
    const { code, stdout } = await ended;
    const answers = new Map(
      stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
        .map((one) => [one.id, one]),
    );
    expect(code).toBe(0);
    expect(answers.get(8)).toMatchObject({ error: { code: -32600 } });
    expect(answers.get(9)).toMatchObject({ error: { code: -32602 } });
    expect(answers.get(10)).toMatchObject({ error: { code: -32601 } });
    expect(answers.get("x")).toMatchObject({ result: { structuredContent: { text: null } } });
    expect(answers.get(12)).toMatchObject({ result: { structuredContent: { text: null } } });
    expect(at.note("a")).toBeNull();
  });

  test("a line above the limit, with its id; the next one is answered", async () => {
    const { child, ended } = gatewayStarted(place());
    child.stdin.write('{"jsonrpc":"2.0","id":"huge","method":"tools/call","params":{"x":"');
    const piece = Buffer.alloc(8 * 1024 * 1024, 120);
    for (let count = 0; count < 9; count++) child.stdin.write(piece);
    child.stdin.end('"}}\n{"jsonrpc":"2.0","id":2,"method":"ping"}\n');
    const { stdout } = await ended;
    const answers = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(answers).toEqual([
      {
        jsonrpc: "2.0",
        id: "huge",
        error: { code: -32600, message: expect.stringMatching(/^request larger than 67108864 bytes/) },
      },
      { jsonrpc: "2.0", id: 2, result: {} },
    ]);
  });
});
