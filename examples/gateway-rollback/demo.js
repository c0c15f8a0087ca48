// The whole journey, in processes of their own: manifests into a folder, the gateway in front of the connectors, an
// agent-like client at work, the gateway killed in the middle of a call, and the runs rolled back by the operator's
// command. Nothing is taken on trust: folder, backend and reports are read at the end.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { attach } from "@reversi-connector/github/sandbox";

const require = createRequire(import.meta.url);
const programOf = (packageName, name) => {
  const path = require.resolve(`${packageName}/package.json`);
  return join(path, "..", require(path).bin[name]);
};
const connectors = programOf("reversi-connectors", "reversi-connectors");
const gateway = programOf("@reversi-connector/gateway", "reversi-gateway");
const reversi = programOf("@reversi-connector/gateway", "reversi");
const node = process.execPath;
const say = (text = "") => console.log(text);

const lab = await mkdtemp(join(tmpdir(), "gateway-rollback-"));
const work = join(lab, "work");
const data = join(lab, "reversi-data");
await mkdir(work);
await mkdir(join(lab, "manifests"));
await writeFile(join(work, "notes.txt"), "Written by a person.\n");
await writeFile(join(work, "plan.txt"), "Step one.\n");

say("$ reversi-connectors manifests github --format yaml > manifests/github.yaml   (and fs)");
for (const name of ["fs", "github"]) {
  const printed = execFileSync(node, [connectors, "manifests", name, "--format", "yaml"]);
  await writeFile(join(lab, "manifests", `${name}.yaml`), printed);
}

// A stand-in of GitHub in a process of its own: it outlives the gateway and what the gateway starts.
const backend = spawn(node, [connectors, "sandbox", "github"], { stdio: ["pipe", "pipe", "inherit"] });
const announced = await new Promise((resolve) => createInterface(backend.stdout).once("line", resolve));
const { address } = JSON.parse(announced);

/** An agent's client on a gateway of its own, in front of `reversi-connectors serve <name> …`. */
async function agentOn(name, ...options) {
  const upstream = [connectors, "serve", name, ...options].flatMap((argument) => [
    "--upstream-arg",
    argument,
  ]);
  const transport = new StdioClientTransport({
    command: node,
    args: [
      gateway,
      "--manifests",
      join(lab, "manifests"),
      "--data",
      data,
      "--upstream-cmd",
      node,
      ...upstream,
    ],
    stderr: "pipe",
  });
  const run = new Promise((resolve) => {
    createInterface(transport.stderr).on("line", (line) => {
      const found = /\brun\b[^A-Za-z0-9]*([A-Za-z0-9_-]{6,})/.exec(line);
      if (found) resolve(found[1]);
    });
  });
  const client = new Client({ name: "demo-agent", version: "1.0.0" });
  await client.connect(transport);
  const call = async (tool, args) => {
    const { structuredContent, isError, content } = await client.callTool({ name: tool, arguments: args });
    assert.ok(!isError, content?.[0]?.text);
    say(`  ${tool}  ${JSON.stringify(structuredContent).slice(0, 90)}`);
    return structuredContent;
  };
  return { client, call, pid: transport.pid, run: await run };
}

const compensator = `"${node}" "${connectors}" compensate --root "${work}" --sandbox github=${address}`;
/** The operator's command; its output and its exit code. */
function operator(...args) {
  const ended = spawnSync(node, [reversi, ...args, "--data", data], { encoding: "utf8" });
  return { code: ended.status, text: ended.stdout, errors: ended.stderr };
}
const rollback = (run, ...options) => {
  const answer = operator("rollback", run, "--compensator-cmd", compensator, "--format", "json", ...options);
  assert.ok(answer.text, answer.errors);
  return { code: answer.code, report: JSON.parse(answer.text) };
};

/** Waits until the backend itself shows the branch: the effect is there, its answer is still on the way. */
async function standing(branch) {
  const { token, baseUrl } = attach(address);
  const headers = { authorization: `Bearer ${token}`, "user-agent": "demo" };
  const url = `${baseUrl}/repos/acme/site/git/ref/heads/${branch}`;
  while ((await fetch(url, { headers })).status !== 200);
}

try {
  say("\nAn agent works through the gateway on files:");
  const files = await agentOn("fs", "--root", work);
  await files.call("fs.write_file", { path: "notes.txt", content: "Overwritten by an agent.\n" });
  await files.call("fs.make_dir", { path: "drafts/today" });
  await files.call("fs.move_file", { from: "plan.txt", to: "drafts/today/plan.txt" });
  await files.call("fs.delete_file", { path: "notes.txt" });

  say("\nIt works on GitHub, and the gateway is killed in the middle of a call:");
  const hub = await agentOn("github", `--sandbox=${address}`);
  const where = { owner: "acme", repo: "site" };
  const { issue_number } = await hub.call("github.create_issue", { ...where, title: "Opened by an agent" });
  await hub.call("github.add_labels", { ...where, issue_number, labels: ["bug"] });
  const lost = hub.client.callTool({
    name: "github.create_branch",
    arguments: { ...where, branch: "agent/work" },
  });
  await standing("agent/work");
  process.kill(hub.pid, "SIGKILL");
  await lost.then(
    () => say("  github.create_branch  answered just before the kill"),
    () => say("  github.create_branch  no answer: nobody knows whether it happened"),
  );
  await files.client.close();

  say("\n$ reversi runs");
  say(operator("runs").text);

  say(`$ reversi rollback ${hub.run} --compensator-cmd "reversi-connectors compensate --root ."`);
  const dry = rollback(hub.run, "--dry-run");
  assert.equal(dry.code, 0, JSON.stringify(dry.report));
  for (const run of [hub.run, files.run]) {
    const undone = operator("rollback", run, "--compensator-cmd", compensator);
    assert.equal(undone.code, 0, undone.text + undone.errors);
    say(undone.text);
    const { code, report } = rollback(run);
    assert.equal(code, 0, JSON.stringify(report, null, 2));
    assert.equal(report.status, "complete", JSON.stringify(report, null, 2));
  }

  say("Read back:");
  assert.equal(await readFile(join(work, "notes.txt"), "utf8"), "Written by a person.\n");
  assert.equal(await readFile(join(work, "plan.txt"), "utf8"), "Step one.\n");
  say("  notes.txt and plan.txt are as the person left them");
  const looking = await agentOn("github", `--sandbox=${address}`);
  const issue = await looking.call("github.get_issue", { ...where, issue_number });
  assert.equal(issue.state, "closed");
  assert.deepEqual(issue.labels, []);
  // Creating it succeeds only where no such branch is left.
  await looking.call("github.create_branch", { ...where, branch: "agent/work" });
  await looking.client.close();
  say("  the issue is closed and has no labels, and no branch was left behind");

  const again = rollback(hub.run);
  assert.equal(again.code, 0);
  assert.equal(again.report.status, "complete");
  say("  rolling back once more changes nothing and says so");
} finally {
  backend.stdin.end();
  await rm(lab, { recursive: true, force: true });
}
