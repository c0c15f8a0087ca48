import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  acmeProject,
  answerTo,
  call,
  cleanUp,
  finish,
  gateAt,
  initialize,
  request,
  sdkClient,
  serving,
  start,
  token,
} from "./support.ts";

let acme: ReturnType<typeof acmeProject>;
beforeAll(() => {
  acme = acmeProject();
});
afterAll(cleanUp);

const mebibyte = 1024 * 1024;

describe("the line protocol", () => {
  test("MC-01: every line on stdout is a message, whatever a connector prints, warns or throws", async () => {
    const run = await serving(acme.root, ["acme"], {
      env: { ...acme.env, NODE_DEBUG: "net" },
      node: ["--trace-warnings"],
    });
    run.send(call(1, "acme.chatter"));
    expect((await answerTo(run, 1)).result.structuredContent).toEqual({ done: true });
    await run.said(/an exception nobody catches/);
    run.send(call(2, "acme.read_note", { id: "none" }));
    expect((await answerTo(run, 2)).result.structuredContent).toEqual({ text: null });
    run.child.stdin?.end();
    expect(await run.exit).toBe(0);
    for (const line of run.stdout().trim().split("\n")) expect(JSON.parse(line).jsonrpc).toBe("2.0");
    for (const text of [
      "talks while it is loaded",
      "console.log [redacted]",
      "console.info",
      "stdout.write",
      "a warning",
      "an old way",
      "a rejection nobody handles [redacted]",
    ]) {
      expect(run.stderr()).toContain(text);
    }
    expect(run.stderr()).not.toContain(token);
  });

  test("MC-02: strict clients get names they accept, and both spellings are always callable", async () => {
    for (const [style, wanted] of [
      ["dotted", "acme.read_note"],
      ["underscore", "acme_read_note"],
    ] as const) {
      const client = await sdkClient(acme.root, ["acme"], {
        env: { ...acme.env, REVERSI_TOOL_NAMES: style },
      });
      const { tools } = await client.listTools();
      const names = tools.map(({ name }) => name);
      expect(names).toContain(wanted);
      expect(names).toEqual([...new Set(names)].sort());
      if (style === "underscore") for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      for (const name of ["acme.read_note", "acme_read_note"]) {
        const answer = await client.callTool({ name, arguments: { id: "none" } });
        expect(answer.structuredContent).toEqual({ text: null });
      }
      await client.close();
    }
  });

  test("MC-03: input schemas are plain objects at their root, and every tool says what it does", async () => {
    const client = await sdkClient(acme.root, ["acme"], { env: acme.env });
    const { tools } = await client.listTools();
    expect(await client.listTools()).toEqual({ tools });
    for (const { inputSchema, outputSchema, annotations, title, description, _meta } of tools) {
      expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false });
      for (const word of ["anyOf", "oneOf", "allOf", "$ref"]) expect(inputSchema).not.toHaveProperty(word);
      for (const name of inputSchema.required ?? []) expect(inputSchema.properties).toHaveProperty(name);
      expect(outputSchema).toMatchObject({ type: "object" });
      expect(annotations).toEqual({
        title,
        readOnlyHint: expect.any(Boolean),
        destructiveHint: expect.any(Boolean),
        idempotentHint: expect.any(Boolean),
        openWorldHint: false,
      });
      expect(description).toBeTruthy();
      expect(_meta).toMatchObject({
        "reversi/effect": expect.any(String),
        "reversi/permission": expect.any(String),
      });
    }
    const meta = Object.fromEntries(tools.map(({ name, _meta }) => [name, _meta]));
    expect(meta["acme.write_note"]).toMatchObject({ "reversi/compensation": "acme.restore_note" });
    expect(meta["acme.send_note"]).toMatchObject({ "reversi/approval": "always" });
    expect(client.getInstructions()?.split("\n")).toEqual([
      "Can be undone by a rollback: acme.slow_write, acme.write_note.",
      "Cannot be undone: acme.restore_note, acme.send_note.",
      "Stays after an undo: The note's time of change moves.",
    ]);
    await client.close();
  });

  test("MC-13: a broken line costs that line only, and nothing is executed for it", async () => {
    const run = await serving(acme.root, ["acme"], { env: acme.env });
    const write = (id: unknown, note: string) =>
      JSON.stringify(call(id, "acme.write_note", { id: note, text: "x" }));
    run.write(`${write(1, "half").slice(0, -5)}\n`);
    run.write("garbage\n\n   \n");
    run.write(`[${write(2, "batch")}]\n`);
    run.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/unheard_of" })}\n`);
    run.write(`${write(null, "nobody")}\n`);
    run.write(
      Buffer.concat([
        Buffer.from(write(3, "bytes").slice(0, -4)),
        Buffer.from([0xff]),
        Buffer.from('"}}}\n'),
      ]),
    );
    run.write(`\uFEFF${JSON.stringify(call(4, "acme.read_note", { id: "bom" }))}\r\n`);
    run.send(request(5, "no/such/method"), call(6, "acme.no_such_tool"), request(7, "server/discover"));
    run.send(
      { ...request(8, "tools/call"), params: null },
      { ...call(9, "acme.read_note", { id: "extra" }), more: 1 },
    );
    expect((await answerTo(run, 4)).result.structuredContent).toEqual({ text: null });
    expect((await answerTo(run, 5)).error.code).toBe(-32601);
    expect((await answerTo(run, 6)).error).toMatchObject({
      code: -32602,
      message: "there is no tool acme.no_such_tool",
    });
    expect((await answerTo(run, 7)).error.code).toBe(-32601);
    expect((await answerTo(run, 8)).error.code).toBe(-32602);
    expect((await answerTo(run, 9)).result.structuredContent).toEqual({ text: null });
    for (const id of ["half", "batch", "nobody", "bytes"]) expect(acme.note(id)).toBeNull();
    run.child.stdin?.end();
    expect(await run.exit).toBe(0);
  });

  test("MC-14: five mebibytes of any character arrive whole, and none of it comes back twice", async () => {
    const run = await serving(acme.root, ["acme"], {
      env: { ...acme.env, REVERSI_MAX_RESULT_BYTES: `${64 * mebibyte}` },
    });
    for (const character of ["\n", "\u0001", '"', "ü"]) {
      const text = character.repeat(5 * mebibyte);
      run.send(call(character, "acme.write_note", { id: "large", text }));
      expect((await answerTo(run, character)).result.isError).toBeUndefined();
      const hash = (value: string | null) =>
        createHash("sha256")
          .update(value ?? "")
          .digest("hex");
      expect(hash(acme.note("large"))).toBe(hash(text));
      run.send(call(`back ${character}`, "acme.read_note", { id: "large" }));
      const { structuredContent, content } = (await answerTo(run, `back ${character}`)).result;
      expect(hash(structuredContent.text)).toBe(hash(text));
      const shown = JSON.parse(content[0].text).text;
      expect(shown.startsWith(character.repeat(1000))).toBe(true);
      expect(shown).toMatch(
        /\[cut here; the whole text has 5242880 characters and is in structuredContent\]$/,
      );
      expect(shown.length).toBeLessThan(70_000);
    }
    run.child.stdin?.end();
    expect(await run.exit).toBe(0);
  }, 60_000);

  test("MC-14: a line above the limit is answered with the limit, and the next call works", async () => {
    const run = await serving(acme.root, ["acme"], { env: acme.env });
    const filler = Buffer.alloc(mebibyte, "a");
    const long = (head: string, tail: string) => {
      run.write(head);
      for (let count = 0; count < 65; count++) run.write(filler);
      run.write(`${tail}\n`);
    };
    const params = '"params":{"name":"acme.write_note","arguments":{"id":"long","text":"';
    long(`{"jsonrpc":"2.0","id":41,"method":"tools/call",${params}`, '"}}}');
    long(`{"method":"tools/call",${params}`, '"}},"jsonrpc":"2.0","id":"forty-two"}');
    for (const id of [41, "forty-two"]) {
      const { error } = await answerTo(run, id);
      expect(error.code).toBe(-32600);
      expect(error.message).toMatch(/^request larger than 67108864 bytes/);
    }
    run.send(call(43, "acme.read_note", { id: "long" }));
    expect((await answerTo(run, 43)).result.structuredContent).toEqual({ text: null });
    run.child.kill();
    expect(await run.exit).toBe(0);
  }, 30_000);

  test("a result above the cap names the cap: a read failed, a write is uncertain", async () => {
    const run = await serving(acme.root, ["acme", "--max-result-bytes", "100000"], { env: acme.env });
    run.send(call(1, "acme.write_note", { id: "big", text: "x".repeat(200_000) }));
    expect((await answerTo(run, 1)).result.isError).toBeUndefined();
    run.send(
      call(2, "acme.read_note", { id: "big" }),
      call(3, "acme.write_note", { id: "big", text: "small" }),
    );
    const [read, written] = [(await answerTo(run, 2)).result, (await answerTo(run, 3)).result];
    expect(read.content[0].text).toMatch(/^ConnectorError: .* more than the 100000 that are sent at most/);
    expect(written._meta["reversi/outcome"]).toBe("uncertain");
    expect(written.content[0].text).toMatch(/^EffectUncertainError: acme.write_note: done, but/);
    run.child.kill();
    await run.exit;
  });
});

describe("the end", () => {
  test("MC-05: at the end of stdin an idle server ends at once, with 0", async () => {
    const run = await serving(acme.root, ["acme"], { env: acme.env });
    run.child.stdin?.end();
    expect(await run.exit).toBe(0);
  });

  test("MC-05: requests before the end are answered, even without a last line break", async () => {
    const lines = [initialize(), request(1, "tools/list"), call(2, "acme.read_note", { id: "none" })];
    const { code, stdout } = await finish(
      acme.root,
      ["serve", "acme"],
      lines.map((line) => JSON.stringify(line)).join("\n"),
      { env: acme.env },
    );
    expect(code).toBe(0);
    const ids = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).id);
    expect(ids.sort()).toEqual([1, 2, "init"]);
  });

  test.each(["end of stdin", "SIGTERM", "SIGINT"] as const)(
    "a write in flight is finished and answered on %s",
    async (how) => {
      const own = acmeProject();
      const gate = await gateAt(own.notes);
      const run = await serving(own.root, ["acme", "--log-level", "debug"], { env: own.env });
      run.send(call(1, "acme.slow_write", { id: "slow", text: "done" }));
      await gate.reached();
      if (how === "end of stdin") run.child.stdin?.end();
      else run.child.kill(how);
      await run.said(/ending: (end|signal)/);
      expect(own.note("slow")).toBeNull();
      gate.open();
      expect((await answerTo(run, 1)).result.structuredContent).toEqual({ before: null });
      expect(await run.exit).toBe(0);
      expect(own.note("slow")).toBe("done");
    },
  );

  test("a call that does not end is given up after five seconds, and the process ends", async () => {
    const own = acmeProject();
    const gate = await gateAt(own.notes);
    const run = await serving(own.root, ["acme"], { env: own.env });
    run.send(call(1, "acme.slow_write", { id: "slow", text: "never" }));
    await gate.reached();
    run.child.stdin?.end();
    expect(await run.exit).toBe(0);
    expect(run.stderr()).toMatch(/acme.slow_write: cancelled: EffectUncertainError: cut off after sending/);
    expect(own.note("slow")).toBeNull();
  }, 15_000);

  test("MC-06: without a reader the process ends quickly and quietly, after the write in flight", async () => {
    for (const alsoStderr of [false, true]) {
      const own = acmeProject();
      const gate = await gateAt(own.notes);
      const run = await serving(own.root, ["acme"], { env: own.env });
      run.send(
        call(1, "acme.slow_write", { id: "slow", text: "done" }),
        call(2, "acme.slow_read", { id: "slow" }),
      );
      await gate.reached(2);
      run.child.stdout?.destroy();
      if (alsoStderr) run.child.stderr?.destroy();
      run.send(request(3, "tools/list"));
      gate.open();
      const code = await new Promise((resolve) => run.child.once("exit", resolve));
      expect(code).toBe(0);
      expect(own.note("slow")).toBe("done");
      expect(run.stderr()).not.toMatch(/EPIPE/);
    }
  });

  test("MC-12: each message is executed once, two with the same id included", async () => {
    const own = acmeProject();
    const gate = await gateAt(own.notes);
    const run = await serving(own.root, ["acme", "--approval", "allow"], { env: own.env });
    const again = { id: "slow", text: "done" };
    run.send(
      call(1, "acme.slow_write", again),
      call(2, "acme.slow_write", again),
      call(2, "acme.slow_write", again),
    );
    await gate.reached(3);
    gate.open();
    run.send(call(3, "acme.send_note", { text: "hello" }, { "reversi/idempotency_key": "key-1" }));
    await answerTo(run, 3);
    run.child.stdin?.end();
    expect(await run.exit).toBe(0);
    const ids = run
      .stdout()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).id);
    expect(ids.sort()).toEqual([1, 2, 2, 3, "init"]);
    expect(readFileSync(join(own.notes, "sent.log"), "utf8")).toBe("hello key-1\n");
  });

  test("a server that cannot start says why on stderr and prints nothing", async () => {
    const run = start(acme.root, ["serve", "acme", "--approval", "maybe"], { env: acme.env });
    expect(await run.exit).toBe(64);
    expect(run.stdout()).toBe("");
    expect(run.stderr()).toBe("reversi-connectors: --approval must be one of elicit, refuse, allow\n");
  });
});
