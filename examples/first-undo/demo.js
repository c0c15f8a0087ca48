// An agent-like client works through two connectors, each a process of its own, and then every step is undone,
// newest first, through `reversi-connectors compensate`. Nothing here is taken on trust: each undo is read back.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const require = createRequire(import.meta.url);
const facts = require("reversi-connectors/package.json");
const program = join(
  require.resolve("reversi-connectors/package.json"),
  "..",
  facts.bin["reversi-connectors"],
);
const say = (text = "") => console.log(text);

/** Starts `reversi-connectors serve …` and connects to it as an MCP client. */
async function serve(name, ...options) {
  const client = new Client({ name: "demo-agent", version: "1.0.0" });
  const args = [program, "serve", name, ...options];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: "ignore" }));
  return client;
}

const manifests = new Map(
  JSON.parse(execFileSync(process.execPath, [program, "manifests", "all"])).map((manifest) => [
    manifest.tool,
    manifest,
  ]),
);

/** What undoes a step, as its manifest declares it: which compensation, with which arguments. */
function undoOf({ name, args, result }) {
  const { tool, argument_map } = manifests.get(name).compensation;
  const from = { args, result };
  const valueAt = (path) => path.split(".").reduce((value, key) => value?.[key], from);
  const mapped = Object.entries(argument_map).map(([name, source]) => [
    name,
    typeof source === "string" ? valueAt(source) : source.const,
  ]);
  return { tool, args: Object.fromEntries(mapped.filter(([, value]) => value !== undefined)) };
}

/** Sends one compensation to a process of its own, as an operator's rollback does. */
async function compensate(call, ...options) {
  const child = spawn(process.execPath, [program, "compensate", ...options], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(JSON.stringify(call));
  let printed = "";
  for await (const chunk of child.stdout) printed += chunk;
  const code = child.exitCode ?? (await new Promise((resolve) => child.once("exit", resolve)));
  return { code, ...JSON.parse(printed) };
}

const folder = await mkdtemp(join(tmpdir(), "first-undo-"));
const backend = spawn(process.execPath, [program, "sandbox", "github"], {
  stdio: ["pipe", "pipe", "inherit"],
});
const [line] = await new Promise((resolve) =>
  createInterface(backend.stdout).once("line", (text) => resolve([text])),
);
const { address } = JSON.parse(line);

const file = join(folder, "notes.txt");
const before = "Written by a person.\n";
await writeFile(file, before);

const files = await serve("fs", "--root", folder);
const hub = await serve("github", `--sandbox=${address}`);
const steps = [];
async function act(client, name, args) {
  const { structuredContent: result, isError, content } = await client.callTool({ name, arguments: args });
  assert.ok(!isError, content?.[0]?.text);
  steps.push({ name, args, result });
  say(`  did     ${name}  ${JSON.stringify(result).slice(0, 100)}`);
  return result;
}

try {
  say("An agent works:");
  await act(files, "fs.write_file", { path: "notes.txt", content: "Overwritten by an agent.\n" });
  const where = { owner: "acme", repo: "site" };
  const { issue_number } = await act(hub, "github.create_issue", { ...where, title: "Opened by an agent" });
  assert.equal(await readFile(file, "utf8"), "Overwritten by an agent.\n");

  say("\nEvery step is undone, newest first:");
  for (const step of steps.toReversed()) {
    const undo = undoOf(step);
    const answer = await compensate(undo, "--root", folder, "--sandbox", `github=${address}`);
    assert.equal(answer.code, 0, JSON.stringify(answer));
    say(`  undid   ${step.name}  by ${undo.tool}  ${JSON.stringify(answer.result)}`);
    // Once more changes nothing and says so.
    const again = await compensate(undo, "--root", folder, "--sandbox", `github=${address}`);
    assert.equal(again.result.already, true, JSON.stringify(again));
  }

  say("\nRead back:");
  assert.equal(await readFile(file, "utf8"), before);
  say(`  notes.txt is again ${JSON.stringify(before)}`);
  const seen = await hub.callTool({ name: "github.get_issue", arguments: { ...where, issue_number } });
  assert.equal(seen.structuredContent.state, "closed");
  say(`  issue #${issue_number} is ${seen.structuredContent.state}`);

  say("\nWhat stays, as the tools declare it:");
  for (const { name } of steps) {
    for (const { text } of manifests.get(name).guarantees.residue) say(`  ${name}: ${text}`);
  }
} finally {
  await Promise.all([files.close(), hub.close()]);
  backend.stdin.end();
  await rm(folder, { recursive: true, force: true });
}
