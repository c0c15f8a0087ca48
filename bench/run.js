// `npm run bench`: each figure is a ratio within this very run, beside its target. `--check` fails when one is missed.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { redactor } from "@reversi-connector/core";
import { httpConnection, path } from "@reversi-connector/http";
import { Pool } from "undici";
import { gatewayRows } from "./gateway.js";
import { connect, inTurns, median, runToEnd, startAndList } from "./measure.js";

const require = createRequire(import.meta.url);
const bin = (name, key = name) => {
  const facts = require(`${name}/package.json`);
  return join(
    require.resolve(`${name}/package.json`),
    "..",
    typeof facts.bin === "string" ? facts.bin : facts.bin[key],
  );
};
const ours = bin("reversi-connectors");
const official = bin("@modelcontextprotocol/server-filesystem", "mcp-server-filesystem");
const bare = new URL("bare-server.js", import.meta.url).pathname;

const rows = [];
const row = (work, value, target, detail = "") =>
  rows.push({ work, value, target, met: value <= target, detail });
const folder = await mkdtemp(join(tmpdir(), "bench-"));
const root = await mkdtemp(join(folder, "root-"));

// ── start ────────────────────────────────────────────────────────────────────────────────────────
const starts = { ours: [], official: [], bareNode: [] };
const idle = join(folder, "idle.cjs");
await writeFile(
  idle,
  `process.stdin.on("data",(d)=>{for(const l of String(d).split("\\n"))if(l.includes('"id":2'))process.stdout.write('{"id":2}\\n')})`,
);
for (let round = 0; round < 7; round++) {
  starts.ours.push(await startAndList([ours, "serve", "fs", "--root", root]));
  starts.official.push(await startAndList([official, root]));
  starts.bareNode.push(await startAndList([idle]));
}
const of = (name, field) => median(starts[name].map((start) => start[field]));
row(
  "start to tools/list, CPU, beside bare Node",
  of("ours", "cpu") / of("bareNode", "cpu"),
  2.3,
  `${of("ours", "cpu").toFixed(0)} ms`,
);
row(
  "start to tools/list, CPU, beside server-filesystem",
  of("ours", "cpu") / of("official", "cpu"),
  0.5,
  `${of("official", "cpu").toFixed(0)} ms`,
);
row("memory after tools/list, MB", of("ours", "memory"), 56);
row("tools/list, bytes a tool", of("ours", "bytes") / 8, 700, `${of("ours", "bytes")} bytes`);
row("exit on end of input, ms", of("ours", "exit"), 100);
const ends = await inTurns(
  { node: () => runToEnd(["-e", "0"]), version: () => runToEnd([ours, "--version"]) },
  9,
);
row("--version, wall, beside node -e 0", ends.version / ends.node, 1.3);

// ── files, call by call ──────────────────────────────────────────────────────────────────────────
const kilobyte = "x".repeat(1023);
const fiveMiB = "y".repeat(5 * 1024 * 1024 - 64);
for (const name of ["small.txt", "over.txt"]) await writeFile(join(root, name), kilobyte);
const servers = {
  ours: await connect([ours, "serve", "fs", "--root", root]),
  official: await connect([official, root]),
  bare: await connect([bare, root]),
};
const tools = {
  ours: { read: "fs.read_file", write: "fs.write_file", at: (name) => name },
  official: { read: "read_text_file", write: "write_file", at: (name) => join(root, name) },
  bare: { read: "read", write: "write", at: (name) => name },
};
const contenders = (kind, argumentsOf) =>
  Object.fromEntries(
    Object.entries(servers).map(([who, { client }]) => [
      who,
      async (round) => {
        const answer = await client.callTool({
          name: tools[who][kind],
          arguments: argumentsOf(tools[who], who, round),
        });
        if (answer.isError) throw new Error(`${who}: ${answer.content[0].text}`);
      },
    ]),
  );
const reading = contenders("read", ({ at }) => ({ path: at("small.txt") }));
const overwriting = contenders("write", ({ at }, who, round) => ({
  path: at(`over-${who}.txt`),
  content: `${round}${kilobyte}`,
}));
const large = contenders("write", ({ at }, who, round) => ({
  path: at(`large-${who}.txt`),
  content: `${round}${fiveMiB}`,
}));
// Until the servers' code is compiled: sessions last longer than a few calls.
for (const calls of [reading, overwriting]) await inTurns(calls, 400, 50);
await inTurns(large, 3);
const read = await inTurns(reading, 1000, 25);
const overwrite = await inTurns(overwriting, 1000, 25);
const big = await inTurns(large, 12);
row(
  "read 1 KB beside server-filesystem",
  read.ours / read.official,
  0.85,
  `${read.ours.toFixed(2)} ms; bare SDK ${read.bare.toFixed(2)}`,
);
row(
  "overwrite 1 KB, old content kept, beside server-filesystem",
  overwrite.ours / overwrite.official,
  0.75,
  `${overwrite.ours.toFixed(2)} ms; bare SDK ${overwrite.bare.toFixed(2)}`,
);
row(
  "write 5 MiB, old content kept, beside server-filesystem",
  big.ours / big.official,
  0.85,
  `${big.ours.toFixed(0)} ms; bare SDK ${big.bare.toFixed(0)}`,
);
for (const { close } of Object.values(servers)) await close();

// ── http ─────────────────────────────────────────────────────────────────────────────────────────
const answer = JSON.stringify({ text: "z".repeat(1000) });
const vendor = createServer((request, response) => {
  request.resume();
  request.on("end", () => response.writeHead(200, { "content-type": "application/json" }).end(answer));
});
await new Promise((done) => vendor.listen(0, "127.0.0.1", done));
const origin = `http://127.0.0.1:${vendor.address().port}`;
const pool = new Pool(origin);
const connection = httpConnection({
  baseUrl: origin,
  headers: { authorization: "Bearer bench-credential" },
  redact: redactor({ values: ["bench-credential"] }),
});
const scope = { signal: new AbortController().signal, deadline: Date.now() + 600_000, progress: () => {} };
const body = { title: "a".repeat(280) };
const http = {
  pool: async () => {
    const { body: stream } = await pool.request({
      method: "POST",
      path: "/x",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    JSON.parse(await stream.text());
  },
  ours: async () => {
    await connection.client(scope).write({ method: "POST", path: path`/x`, json: body });
  },
};
await inTurns(http, 500);
const exchange = await inTurns(http, 3000);
row(
  "http client, one call, beside undici's Pool",
  exchange.ours / exchange.pool,
  1.3,
  `${exchange.ours.toFixed(3)} ms`,
);
await Promise.all([pool.close(), connection.close()]);
vendor.close();
await rm(folder, { recursive: true, force: true });

// ── gateway ──────────────────────────────────────────────────────────────────────────────────────
await gatewayRows(row);

const width = Math.max(...rows.map(({ work }) => work.length));
for (const { work, value, target, met, detail } of rows) {
  console.log(
    `${work.padEnd(width)}  ${value.toFixed(2).padStart(8)}  target ≤ ${target}  ${met ? "met" : "MISSED"}  ${detail}`,
  );
}
if (process.argv.includes("--check") && rows.some(({ met }) => !met)) process.exitCode = 1;
