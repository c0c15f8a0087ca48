import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  acmeProject,
  addConnector,
  answerTo,
  call,
  cleanUp,
  finish,
  gateAt,
  request,
  serving,
  shelf,
  token,
} from "./support.ts";

let acme: ReturnType<typeof acmeProject>;
beforeAll(() => {
  acme = acmeProject();
  addConnector(acme.root, "@reversi-connector/shelf", shelf);
});
afterAll(cleanUp);

async function offered(args: readonly string[], env: Record<string, string> = {}): Promise<string[]> {
  const run = await serving(acme.root, args, { env: { ...acme.env, ...env } });
  run.send(request(1, "tools/list"));
  const { tools } = (await answerTo(run, 1)).result;
  run.child.stdin?.end();
  expect(await run.exit).toBe(0);
  return tools.map(({ name }: { name: string }) => name);
}
const refused = (args: readonly string[], env: Record<string, string | undefined> = {}) =>
  finish(acme.root, ["serve", ...args], "", { env: { ...acme.env, ...env } });

describe("filters", () => {
  const reads = ["acme.chatter", "acme.read_note", "acme.slow_read"];

  test.each([
    [["--read-only"], {}, reads],
    [[], { REVERSI_READ_ONLY: "1" }, reads],
    [["--permissions", "acme:notes:*", "--read-only"], {}, ["acme.read_note", "acme.slow_read"]],
    [[], { REVERSI_PERMISSIONS: "acme:chatter:read,acme:notes:send" }, ["acme.chatter", "acme.send_note"]],
    [["--tools", "acme_read_note,acme.chatter"], {}, ["acme.chatter", "acme.read_note"]],
    [["--exclude-tools=acme.chatter", "--read-only"], {}, ["acme.read_note", "acme.slow_read"]],
    [["--tools", "acme.chatter"], { REVERSI_EXCLUDE_TOOLS: "acme.chatter" }, []],
  ])("%j and %j", async (flags, env, names) => {
    expect(await offered(["acme", ...flags], env)).toEqual(names);
  });

  test("what is filtered out cannot be called, by either spelling", async () => {
    const run = await serving(acme.root, ["acme", "--read-only"], { env: acme.env });
    run.send(
      call(1, "acme.write_note", { id: "a", text: "x" }),
      call(2, "acme_write_note", { id: "a", text: "x" }),
    );
    for (const id of [1, 2]) expect((await answerTo(run, id)).error.code).toBe(-32602);
    expect(acme.note("a")).toBeNull();
    run.child.kill();
    await run.exit;
  });

  test("a filter that names nothing is refused: it would offer more than was meant", async () => {
    for (const [flag, text] of [
      ["--tools=acme.read_notes", "there is no tool acme.read_notes. Did you mean acme.read_note"],
      ["--exclude-tools=acme.sendnote", "there is no tool acme.sendnote"],
      ["--permissions=acme:issues:*", "no tool has a permission acme:issues:*"],
    ] as const) {
      const { code, stderr } = await refused(["acme", flag]);
      expect([code, stderr]).toEqual([64, expect.stringContaining(text)]);
    }
  });

  test("several connectors are served together", async () => {
    const names = await offered(["acme", "shelf", "--root", acme.notes, "--read-only"]);
    expect(names).toEqual([...reads, "shelf.chatter", "shelf.read_note", "shelf.slow_read"]);
  });
});

describe("what is missing", () => {
  test("tools are listed without a credential, and every call names the variable", async () => {
    const run = await serving(acme.root, ["acme"], { env: { ACME_FOLDER: acme.notes } });
    run.send(request(1, "tools/list"), call(2, "acme.read_note", { id: "a" }));
    expect((await answerTo(run, 1)).result.tools).toHaveLength(7);
    const { isError, content, _meta } = (await answerTo(run, 2)).result;
    expect([isError, content[0].text]).toEqual([
      true,
      "ConnectorError: ACME_TOKEN is not set; nothing was sent. Set it in the environment of this server and start it again.",
    ]);
    expect(_meta["reversi/error"]).toMatchObject({ code: "FAILED", reason: "not_configured" });
    run.child.stdin?.end();
    expect(await run.exit).toBe(0);
  });

  test("--require-credentials ends at once, naming the variable", async () => {
    const { code, stdout, stderr } = await refused(["acme", "--require-credentials"], {
      ACME_TOKEN: undefined,
    });
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toMatch(/acme: ACME_TOKEN is not set\n$/);
  });

  test("a connector that needs a flag ends at once without it, naming the flag", async () => {
    const { code, stderr } = await refused(["shelf"]);
    expect([code, stderr]).toEqual([64, expect.stringMatching(/shelf needs --root\n$/)]);
  });

  test.each([
    ["a line break at the end", `${token}\n`, undefined],
    ["blanks around", `  ${token}  `, undefined],
    ["nothing", "", /ACME_TOKEN is not set/],
    ["blanks only", "   ", /ACME_TOKEN is not set/],
    ["a line break inside", "abcdefgh\nijklmnop", /ACME_TOKEN has a blank, line break/],
    ["a line separator inside", "abcdefgh\u2028ijklmnop", /ACME_TOKEN has a blank/],
    ["a placeholder", `\${ACME_TOKEN}`, /ACME_TOKEN holds a placeholder that nobody replaced/],
  ])("SE-04: a credential with %s", async (_, value, problem) => {
    const { code, stderr } = await refused(["acme", "--require-credentials"], { ACME_TOKEN: value });
    if (problem === undefined) expect(code).toBe(0);
    else {
      expect(code).not.toBe(0);
      expect(stderr).toMatch(problem);
    }
    expect(stderr).not.toMatch(/abcdefgh|ijklmnop/);
    expect(stderr).not.toContain(token);
  });

  test("numbers and choices from the environment are held to their rules", async () => {
    for (const [variable, value] of [
      ["REVERSI_TIMEOUT_MS", "soon"],
      ["REVERSI_TIMEOUT_MS", "0"],
      ["REVERSI_READ_ONLY", "maybe"],
      ["REVERSI_TOOL_NAMES", "kebab"],
      ["REVERSI_MAX_RESULT_BYTES", "99999999999"],
    ] as const) {
      const { code, stderr } = await refused(["acme"], { [variable]: value });
      expect([code, stderr]).toEqual([64, expect.stringMatching(/(REVERSI_\w+|--max-result-bytes) must be/)]);
    }
  });
});

describe("flags", () => {
  test.each([
    ["--token", "hunter2hunter2", "set ACME_TOKEN"],
    ["--token=hunter2hunter2", "", "set ACME_TOKEN"],
    ["--acme-token", "hunter2hunter2", "set ACME_TOKEN"],
    ["--ACME_TOKEN", "hunter2hunter2", "set ACME_TOKEN"],
    ["--api-key", "hunter2hunter2", "set ACME_TOKEN"],
    ["--apiKey=hunter2hunter2", "", "set ACME_TOKEN"],
    ["--password", "hunter2hunter2", "set ACME_TOKEN"],
  ])("%s is refused, naming the variable and not the value", async (flag, value, instead) => {
    for (const command of [["serve", "acme"], ["manifests", "acme"], ["compensate"]]) {
      const { code, stderr } = await finish(acme.root, [...command, flag, ...(value ? [value] : [])], "", {
        env: acme.env,
      });
      expect(code).toBe(64);
      expect(stderr).toContain(instead);
      expect(stderr).not.toContain("hunter2");
    }
  });

  test("an unknown flag is refused, and a flag of another connector is unknown", async () => {
    for (const [args, text] of [
      [["acme", "--readonly"], "there is no flag --readonly. Did you mean read-only"],
      [["acme", "--root", "."], "there is no flag --root"],
      [["acme", "--tools"], "argument missing"],
    ] as const) {
      const { code, stderr } = await refused(args);
      expect([code, stderr]).toEqual([64, expect.stringContaining(text)]);
    }
  });

  test("serve needs a name", async () => {
    const { code, stderr } = await refused([]);
    expect([code, stderr]).toEqual([
      64,
      "reversi-connectors: serve needs the name of a connector, as in `serve github`\n",
    ]);
  });
});

test("a call that takes too long ends by REVERSI_TIMEOUT_MS, uncertain where it writes", async () => {
  const own = acmeProject();
  await gateAt(own.notes);
  const run = await serving(own.root, ["acme"], { env: { ...own.env, REVERSI_TIMEOUT_MS: "50" } });
  run.send(call(1, "acme.slow_write", { id: "a", text: "x" }), call(2, "acme.slow_read", { id: "a" }));
  expect((await answerTo(run, 1)).result._meta["reversi/outcome"]).toBe("uncertain");
  expect((await answerTo(run, 2)).result._meta["reversi/outcome"]).toBe("failed");
  run.child.stdin?.end();
  expect(await run.exit).toBe(0);
});
