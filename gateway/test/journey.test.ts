import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "@jest/globals";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { agent, cleanUp, fixture, place, recordsOf, reversi, textOf } from "./support.ts";

afterAll(cleanUp);
const require = createRequire(import.meta.url);

/** The program that a package installs under a name. */
function programOf(packageName: string, name: string): string {
  const file = require.resolve(`${packageName}/package.json`);
  const { bin } = JSON.parse(readFileSync(file, "utf8"));
  return join(dirname(file), bin[name]);
}

describe("the official filesystem server behind the gateway", () => {
  const official = programOf("@modelcontextprotocol/server-filesystem", "mcp-server-filesystem");
  const started = async () => {
    const at = place();
    writeFileSync(join(at.notes, "a.txt"), "mine");
    const upstream = [process.execPath, official, at.notes] as const;
    const session = await agent(at, { manifests: fixture("filesystem.yaml"), upstream: [...upstream] });
    return { at, ...session };
  };
  const undo = `"${process.execPath}" '${fixture("filesystem-undo.js")}'`;

  test("its tools and results are its own, under its own names", async () => {
    const { at, client, call } = await started();
    const direct = new Client({ name: "direct", version: "1.0.0" });
    const args = [official, at.notes];
    await direct.connect(new StdioClientTransport({ command: process.execPath, args, stderr: "ignore" }));
    expect(await client.listTools()).toEqual(await direct.listTools());
    const params = { name: "read_text_file", arguments: { path: join(at.notes, "a.txt") } };
    expect(await client.callTool(params)).toEqual(await direct.callTool(params));
    await direct.close();
    expect(textOf(await call("edit_file", {}))).toContain("edit_file has no manifest");
    expect(textOf(await call("write_file", { path: join(at.notes, "a.txt"), content: "x" }))).toContain(
      "needs an approval",
    );
    expect(at.note("a.txt")).toBe("mine");
  });

  test("what it did is undone, in the right order, by a script of ten lines", async () => {
    const { at, client, call, run } = await started();
    const [from, folder, to] = ["a.txt", "sub", "sub/b.txt"].map((name) => join(at.notes, name));
    await call("create_directory", { path: folder });
    await call("move_file", { source: from, destination: to });
    await client.close();
    expect(recordsOf(at, run).filter(({ type }) => type === "intent")).toMatchObject([
      { tool: "files.create_directory" },
      { tool: "files.move_file", requires: [1] },
    ]);
    const command = ["rollback", run, "--data", at.data, "--compensator-cmd", undo, "--hello-timeout", "0"];
    const { code, stdout } = await reversi(command);
    expect(stdout).toContain("compensated_unverified (2)");
    expect(code).toBe(2);
    expect({ back: at.note("a.txt"), sub: existsSync(join(at.notes, "sub")) }).toEqual({
      back: "mine",
      sub: false,
    });
    expect((await reversi([...command, "--accept-unverified"])).code).toBe(0);
  });
});

test("a connector of ours: served, journaled, rolled back, with the commands as they are documented", async () => {
  const at = place();
  const bin = join(at.root, "bin");
  mkdirSync(bin);
  for (const [packageName, name] of [
    ["reversi-connectors", "reversi-connectors"],
    ["@reversi-connector/gateway", "reversi-gateway"],
    ["@reversi-connector/gateway", "reversi"],
  ] as const) {
    const program = programOf(packageName, name);
    chmodSync(program, 0o755);
    symlinkSync(program, join(bin, name));
  }
  const { NODE_OPTIONS: _, ...environment } = process.env;
  const env = { ...environment, PATH: `${bin}${delimiter}${process.env["PATH"]}` } as Record<string, string>;
  const sh = (line: string) => promisify(execFile)("/bin/sh", ["-c", line], { cwd: at.root, env });
  writeFileSync(join(at.root, "kept.txt"), "before");

  await sh("mkdir manifests && reversi-connectors manifests fs --format yaml > manifests/fs.yaml");
  const client = new Client({ name: "agent", version: "1.0.0" });
  const line =
    "exec reversi-gateway --manifests ./manifests --data ./reversi-data " +
    "--upstream-cmd reversi-connectors --upstream-arg serve --upstream-arg fs --upstream-arg --root --upstream-arg .";
  await client.connect(
    new StdioClientTransport({ command: "/bin/sh", args: ["-c", line], cwd: at.root, env, stderr: "ignore" }),
  );
  const call = (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args });
  await call("fs.write_file", { path: "kept.txt", content: "after" });
  await call("fs.make_dir", { path: "made" });
  await call("fs_write_file", { path: "made/new.txt", content: "new" });
  await call("fs.delete_file", { path: "kept.txt" });
  await client.close();
  expect(existsSync(join(at.root, "kept.txt"))).toBe(false);

  const { stdout } = await sh("reversi runs --format json");
  const [{ run }] = JSON.parse(stdout);
  const types = recordsOf({ ...at, data: join(at.root, "reversi-data") }, run).map(({ type }) => type);
  expect(types.filter((type) => type === "checkpoint").length).toBeGreaterThan(0);
  const report = await sh(
    `reversi rollback ${run} --compensator-cmd "reversi-connectors compensate --root ."`,
  );
  expect(report.stdout).toContain(`Run ${run}: complete\n  compensated (4): undone, and read back`);
  expect(readFileSync(join(at.root, "kept.txt"), "utf8")).toBe("before");
  expect(readdirSync(at.root)).not.toContain("made");
});

test("the README shows the manifests and the script that are tested here", () => {
  const readme = readFileSync(join(fixture("."), "../../README.md"), "utf8");
  for (const name of ["filesystem.yaml", "filesystem-undo.js"]) {
    expect(readme).toContain(readFileSync(fixture(name), "utf8").trim());
  }
});
