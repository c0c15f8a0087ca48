// The gateway, the journal and the rollback: each figure is a ratio within this very run. Rows of run.js.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { fileJournal, Registry, Run } from "@reversi-connector/engine";
import { fs } from "@reversi-connector/fs";
import { openIssue, sandbox } from "@reversi-connector/github/sandbox";
import { connect, inTurns, median, runToEnd } from "./measure.js";

const require = createRequire(import.meta.url);
const programOf = (packageName, name) => {
  const path = require.resolve(`${packageName}/package.json`);
  return join(path, "..", require(path).bin[name]);
};
const connectors = programOf("reversi-connectors", "reversi-connectors");
const gateway = programOf("@reversi-connector/gateway", "reversi-gateway");
const reversi = programOf("@reversi-connector/gateway", "reversi");
const self = fileURLToPath(import.meta.url);

/** An MCP server on the SDK that does nothing. */
async function serveNothing() {
  const server = new Server({ name: "noop", version: "1.0.0" }, { capabilities: { tools: {} } });
  const inputSchema = { type: "object" };
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: ["read", "write"].map((name) => ({ name, inputSchema })),
  }));
  server.setRequestHandler(CallToolRequestSchema, () => ({ content: [{ type: "text", text: "{}" }] }));
  await server.connect(new StdioServerTransport());
}
const nothing = [self];
const nothingManifests = [
  { tool: "noop.read", effect: "read_only", permission: "noop:read" },
  {
    tool: "noop.write",
    effect: "reversible",
    permission: "noop:write",
    compensation: { tool: "noop.unwrite", argument_map: { id: "args.id" } },
  },
  {
    tool: "noop.unwrite",
    effect: "idempotent",
    permission: "noop:write",
    input_schema: { type: "object", required: ["id"], properties: { id: { type: "string" } } },
  },
];

/** Appends a line as the journal does, and waits for the disk. */
async function appender(folder) {
  const file = await open(join(folder, "sync"), "a");
  const line = `${"x".repeat(400)}\n`;
  const append = async () => {
    await file.write(line);
    await file.datasync();
  };
  return { append, close: () => file.close() };
}

const callerOf = (client, name, argumentsOf) => async (round) => {
  const answer = await client.callTool({ name, arguments: argumentsOf(round) });
  if (answer.isError) throw new Error(answer.content[0].text);
};

async function throughGateway(row, folder) {
  const root = join(folder, "gateway-root");
  await mkdir(root);
  await writeFile(join(root, "small.txt"), "x".repeat(1023));
  const fsManifests = fs({ root }).manifests;
  await writeFile(join(folder, "noop.json"), JSON.stringify(nothingManifests));
  await writeFile(join(folder, "fs.json"), JSON.stringify(fsManifests));
  const behind = (manifests, upstream) =>
    connect([
      ...[gateway, "--manifests", join(folder, manifests), "--data", join(folder, "data")],
      ...["--upstream-cmd", process.execPath],
      ...upstream.flatMap((word) => ["--upstream-arg", word]),
    ]);
  const serveFs = [connectors, "serve", "fs", "--root", root];
  const servers = {
    direct: await connect(nothing),
    gateway: await behind("noop.json", nothing),
    fsDirect: await connect(serveFs),
    fsGateway: await behind("fs.json", serveFs),
  };
  const id = (round) => ({ id: String(round) });
  const small = () => ({ path: "small.txt" });
  const over = (who) => (round) => ({ path: `${who}.txt`, content: `${round}${"y".repeat(1000)}` });
  const { direct, gateway: ours, fsDirect, fsGateway } = servers;
  const { append, close: closeFile } = await appender(folder);
  const directWrite = callerOf(fsDirect.client, "fs.write_file", over("direct"));
  const calls = {
    direct: callerOf(direct.client, "read", id),
    read: callerOf(ours.client, "read", id),
    write: callerOf(ours.client, "write", id),
    // Where a gateway syncs: before and after the call, each time woken by a message.
    async synced(round) {
      await append();
      await calls.direct(round);
      await append();
    },
    fsDirect: callerOf(fsDirect.client, "fs.read_file", small),
    fsRead: callerOf(fsGateway.client, "fs.read_file", small),
    async fsSyncedWrite(round) {
      await directWrite(round);
      for (let sync = 0; sync < 3; sync++) await append();
    },
    fsWrite: callerOf(fsGateway.client, "fs.write_file", over("gateway")),
  };
  await inTurns(calls, 100, 50);
  const took = await inTurns(calls, 400, 50);
  const sync = (took.synced - took.direct) / 2;
  const ms = (value) => `${value.toFixed(2)} ms`;
  row(
    "gateway, read, beside a direct no-op",
    took.read / took.direct,
    2.2,
    `${ms(took.read)} to ${ms(took.direct)}`,
  );
  row(
    "gateway, write above read, in fdatasyncs",
    (took.write - took.read) / sync,
    2,
    `${ms(took.write)}; one fdatasync ${ms(sync)}`,
  );
  row(
    "gateway, fs read of 1 KB, beside serve fs",
    took.fsRead / took.fsDirect,
    2.2,
    `${ms(took.fsRead)} to ${ms(took.fsDirect)}`,
  );
  row(
    "gateway, fs overwrite, beside serve fs, the gateway's read cost and three fdatasyncs",
    took.fsWrite / (took.fsSyncedWrite + took.fsRead - took.fsDirect),
    1.25,
    `${ms(took.fsWrite)}; serve fs and three fdatasyncs ${ms(took.fsSyncedWrite)}`,
  );
  const perWrite = { alone: [], shared: [] };
  for (let round = 0; round < 7; round++) {
    let began = performance.now();
    for (let at = 0; at < 64; at++) await calls.write(at);
    perWrite.alone.push((performance.now() - began) / 64);
    began = performance.now();
    await Promise.all(Array.from({ length: 64 }, (_, at) => calls.write(at)));
    perWrite.shared.push((performance.now() - began) / 64);
  }
  const [alone, shared] = [median(perWrite.alone), median(perWrite.shared)];
  row(
    "gateway, a write among 64 in flight, beside one at a time",
    shared / alone,
    0.2,
    `${ms(shared)} to ${ms(alone)}`,
  );
  for (const { close } of Object.values(servers)) await close();
  await closeFile();
}

/** A run of `steps` new files, written through the engine. */
async function runOf(steps, folder) {
  const root = join(folder, `root-${steps}`);
  await mkdir(root);
  const connector = fs({ root });
  const data = join(folder, `data-${steps}`);
  const run = await Run.open({ registry: Registry.from(connector.manifests), journal: fileJournal(data) });
  const write = (number) => {
    const tool = "fs.write_file";
    const execute = (args, context) => connector.tools[tool](args, context);
    return run.call({ tool, args: { path: `${number}.txt`, content: `file ${number}` }, execute });
  };
  for (let first = 0; first < steps; first += 200)
    await Promise.all(Array.from({ length: 200 }, (_, at) => write(first + at)));
  await run.close();
  await connector.close();
  const compensator = `"${process.execPath}" "${connectors}" compensate --root "${root}"`;
  return [reversi, "rollback", run.id, "--data", data, "--compensator-cmd", compensator, "--format", "json"];
}

async function rollbacks(row, folder) {
  const took = { 1000: [], 10000: [] };
  for (const steps of [1000, 1000, 10_000, 1000]) {
    const args = await runOf(steps, await mkdtemp(join(folder, "rollback-")));
    took[steps].push((await runToEnd(args)) / steps);
  }
  const perStep = { 1000: median(took[1000]), 10000: median(took[10_000]) };
  const call = JSON.stringify({
    tool: "fs.restore_file",
    args: { path: "none.txt", backup_key: null, expected_sha256: null },
  });
  const { lone } = await inTurns(
    { lone: () => runToEnd([connectors, "compensate", "--root", folder], call) },
    9,
  );
  row(
    "rollback of 1,000 steps by stream, a step, beside one process each",
    perStep[1000] / lone,
    0.1,
    `${perStep[1000].toFixed(2)} ms to ${lone.toFixed(0)} ms`,
  );
  row(
    "rollback of 10,000 steps, a step, beside 1,000",
    perStep[10_000] / perStep[1000],
    1.25,
    `${perStep[10_000].toFixed(2)} ms`,
  );
}

const records = 1_000_000;
async function bigJournal(row, folder) {
  const journal = fileJournal(join(folder, "big"));
  const log = await journal.create("big");
  log.append({ type: "run_opened", version: 1, run: "big", scope: null }, { sync: false });
  for (let seq = 2; seq <= records; seq++) {
    const args = { path: `notes/${seq}.txt` };
    const { durable } = log.append(
      { type: "read", step: seq, tool: "fs.read_file", args },
      { sync: seq % 2000 === 0 },
    );
    if (seq % 2000 === 0) await durable;
  }
  await log.close();
  let seen = 0;
  const openJournal = async () => {
    seen = 0;
    const began = performance.now();
    const again = await journal.open("big", () => seen++);
    const took = performance.now() - began;
    await again.close();
    return took;
  };
  const byHand = async () => {
    const began = performance.now();
    const lines = createInterface({ input: createReadStream(join(folder, "big", "runs", "big.jsonl")) });
    let bytes = 0;
    for await (const line of lines) {
      JSON.parse(line);
      bytes += createHash("sha256").update(line).digest("hex").length;
    }
    return { took: performance.now() - began, bytes };
  };
  const opened = await openJournal();
  if (seen !== records) throw new Error(`${seen} records of ${records}`);
  const { took } = await byHand();
  const each = `${(opened / 1000).toFixed(1)} s to ${(took / 1000).toFixed(1)} s`;
  row(
    "journal of 1,000,000 records opened and verified, beside readline, parse and hash by hand",
    opened / took,
    1,
    each,
  );
}

async function loneUndo(row) {
  const backend = await sandbox();
  const undo = () => {
    const { number: issue_number } = openIssue(backend.world, backend.site, { title: "To be closed" });
    const call = { tool: "github.close_issue", args: { owner: "acme", repo: "site", issue_number } };
    return runToEnd(
      [connectors, "compensate", "--sandbox", `github=${backend.address}`],
      JSON.stringify(call),
    );
  };
  const took = await inTurns({ node: () => runToEnd(["-e", "0"]), undo }, 15);
  await backend.close();
  row(
    "compensate, one HTTP undo, wall, beside node -e 0",
    took.undo / took.node,
    2.4,
    `${took.undo.toFixed(0)} ms`,
  );
}

/** Measures; `row(work, value, target, detail)` takes each figure, which is well when it is at most the target. */
export async function gatewayRows(row) {
  const folder = await mkdtemp(join(tmpdir(), "bench-gateway-"));
  try {
    await throughGateway(row, folder);
    await loneUndo(row);
    await rollbacks(row, folder);
    await bigJournal(row, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === self) await serveNothing();
