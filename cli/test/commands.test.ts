import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import {
  acmeProject,
  addConnector,
  answerTo,
  call,
  cleanUp,
  finish,
  serving,
  shelf,
  start,
} from "./support.ts";

let acme: ReturnType<typeof acmeProject>;
beforeAll(() => {
  acme = acmeProject();
});
afterAll(cleanUp);

describe("manifests", () => {
  test("one array, sorted; JSON and YAML say the same", async () => {
    const json = await finish(acme.root, ["manifests", "acme"]);
    const yaml = await finish(acme.root, ["manifests", "all", "--format", "yaml"]);
    const manifests = JSON.parse(json.stdout);
    expect(parse(yaml.stdout)).toEqual(manifests);
    const tools = manifests.map(({ tool }: { tool: string }) => tool);
    expect(tools).toEqual([...tools].sort());
    expect(tools).toHaveLength(7);
  });

  test("a large output reaches a slow reader whole", async () => {
    const run = start(acme.root, ["manifests", "acme"]);
    expect(await run.exit).toBe(0);
    expect(JSON.parse(run.stdout())).toHaveLength(7);
  });
});

describe("drift", () => {
  test("CK-05: input schemas, descriptions, effects and permissions are noticed; the order of keys is not", async () => {
    const own = acmeProject();
    addConnector(own.root, "@reversi-connector/shelf", shelf);
    const file = join(own.root, "baseline.json");
    const check = () => finish(own.root, ["drift", "--check", file]);
    expect(await finish(own.root, ["drift", "--write", file])).toMatchObject({ code: 0, stdout: "" });
    expect(await check()).toMatchObject({ code: 0, stdout: "" });

    const source = join(own.root, "node_modules/@reversi-connector/acme/lib/index.js");
    const before = readFileSync(source, "utf8");
    const change = (from: string, to: string) => {
      expect(before).toContain(from);
      writeFileSync(source, before.replace(from, to));
    };
    const inner = `input: s.object({ id, text: s.string("The new text") })`;
    change(
      `const id = s.string("Name of the note", { pattern: "^[a-z]+$" });`,
      `const id = { pattern: "^[a-z]+$", description: "Name of the note", type: "string" };`,
    );
    expect((await check()).stdout).toBe("");
    change(inner, `input: s.object({ id, text: s.string("A new text") })`);
    const changed = await check();
    expect([changed.code, changed.stdout]).toEqual([
      1,
      "changed acme.slow_write: input schema\nchanged acme.write_note: input schema\n",
    ]);
    const other = "description, effect or permission";
    change("Put a note back as it was.", "Put a note back.");
    expect((await check()).stdout).toBe(`changed acme.restore_note: ${other}\n`);
    change(":notes:send`", ":notes:write`");
    expect((await check()).stdout).toBe(`changed acme.send_note: ${other}\n`);
    change('"read_note"', '"get_note"');
    expect((await check()).stdout).toBe("added acme.get_note\nremoved acme.read_note\n");
    expect(await finish(own.root, ["drift", "--check", file, "--connectors", "shelf"])).toMatchObject({
      code: 0,
      stdout: "",
    });
  });

  test.each([
    [[], /needs either --write FILE or --check FILE/],
    [["--write", "a", "--check", "b"], /needs either/],
    [["--check", "nowhere.json"], /cannot read the baseline nowhere.json/],
    [["--check", "package.json"], /is no baseline/],
  ])("bad use: %j", async (args, problem) => {
    const cwd = join(acme.root, "node_modules/reversi-connectors");
    const { code, stderr } = await finish(acme.root, ["drift", ...args], "", { cwd });
    expect([code, stderr]).toEqual([64, expect.stringMatching(problem)]);
  });
});

describe("sandboxes", () => {
  const addressIn = (line: string) => /is at (\S+)/.exec(line)?.[1] ?? "";

  test("one process has it; `serve` and `compensate` reach the same one, without a credential", async () => {
    const sandbox = start(acme.root, ["sandbox", "acme"]);
    const { connector, address } = await sandbox.line(() => true);
    expect(connector).toBe("acme");
    const server = await serving(acme.root, ["acme", `--sandbox=${address}`]);
    server.send(call(1, "acme.write_note", { id: "a", text: "new" }));
    expect((await answerTo(server, 1)).result.structuredContent).toEqual({ before: null });
    expect(readFileSync(join(address, "a.txt"), "utf8")).toBe("new");
    const undo = JSON.stringify({ tool: "acme.restore_note", args: { id: "a", before: null, after: "new" } });
    const undone = await finish(acme.root, ["compensate", "--sandbox", `acme=${address}`], undo);
    expect(JSON.parse(undone.stdout)).toEqual({ ok: true, result: { already: false } });
    server.send(call(2, "acme.read_note", { id: "a" }));
    expect((await answerTo(server, 2)).result.structuredContent).toEqual({ text: null });
    server.child.stdin?.end();
    sandbox.child.stdin?.end();
    expect([await server.exit, await sandbox.exit]).toEqual([0, 0]);
    expect(() => readFileSync(address)).toThrow(/ENOENT/);
  });

  test("`serve --sandbox` starts one inside, says where, and ends it", async () => {
    const server = await serving(acme.root, ["acme", "--sandbox"]);
    const address = addressIn(await server.said(/the sandbox of acme is at/));
    server.send(call(1, "acme.write_note", { id: "a", text: "new" }));
    await answerTo(server, 1);
    expect(readFileSync(join(address, "a.txt"), "utf8")).toBe("new");
    server.child.kill("SIGTERM");
    expect(await server.exit).toBe(0);
    expect(() => readFileSync(address)).toThrow(/ENOENT/);
  });

  test("a sandbox ends on SIGTERM, and one address for two connectors is refused", async () => {
    addConnector(acme.root, "@reversi-connector/shelf", shelf);
    const sandbox = start(acme.root, ["sandbox", "acme"]);
    await sandbox.line(() => true);
    sandbox.child.kill("SIGTERM");
    expect(await sandbox.exit).toBe(0);
    const { code, stderr } = await finish(acme.root, ["serve", "acme", "shelf", "--sandbox=/tmp"]);
    expect([code, stderr]).toEqual([
      64,
      expect.stringMatching(/say whose address it is, as in --sandbox=acme=\/tmp/),
    ]);
  });
});

describe("help and version", () => {
  test("every command has help with its variables and an example, on stdout", async () => {
    for (const command of ["serve", "compensate", "manifests", "drift", "sandbox"]) {
      const { code, stdout, stderr } = await finish(acme.root, [command, "--help"], "", {
        env: { LANG: "de_DE.UTF-8" },
      });
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout).toContain(`reversi-connectors ${command}`);
      expect(stdout).toContain("Examples:");
      expect(stdout).toContain("Variables:");
    }
    const { stdout } = await finish(acme.root, ["serve", "--help"]);
    expect(stdout).toContain("ACME_TOKEN (acme)");
    expect(stdout).toContain("REVERSI_READ_ONLY");
  });

  test("the version is one line, on every command", async () => {
    const { version } = JSON.parse(
      readFileSync(join(acme.root, "node_modules/reversi-connectors/package.json"), "utf8"),
    );
    for (const args of [["--version"], ["serve", "--version"], ["manifests", "acme", "--version"]]) {
      expect(await finish(acme.root, args)).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
    }
  });

  test("unknown commands and flags are refused with 64", async () => {
    for (const args of [[], ["undo"], ["manifests"], ["manifests", "acme", "--formt", "yaml"]]) {
      const { code, stdout, stderr } = await finish(acme.root, args);
      expect([code, stdout]).toEqual([64, ""]);
      expect(stderr.trim().split("\n")).toHaveLength(1);
    }
  });
});

test("the bundle carries its notices, and neither server nor compensator loads what only people need", () => {
  const bin = join(acme.root, "node_modules/reversi-connectors/dist/bin");
  const notices = readFileSync(join(bin, "THIRD-PARTY-NOTICES.txt"), "utf8");
  for (const name of ["@modelcontextprotocol/sdk", "zod", "yargs", "yaml"])
    expect(notices).toContain(`\n${name} `);
  expect(readFileSync(join(bin, "compensate.js"), "utf8")).not.toMatch(/yargs|elicitation|jsonrpc/);
  expect(readFileSync(join(bin, "serve.js"), "utf8")).not.toMatch(/yargs|ajv/);
});
