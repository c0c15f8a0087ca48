// Measuring tools. Ratios within one run count; times on a shared machine are context.
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

export const median = (values) => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
};

/** CPU time of every thread of a process, in milliseconds. */
export function cpuOf(pid) {
  const threads = readdirSync(`/proc/${pid}/task`);
  const nanoseconds = threads.map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]),
  );
  return nanoseconds.reduce((sum, value) => sum + value, 0) / 1e6;
}

/** Resident memory of a process, in MB. */
export const residentOf = (pid) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;

/** Starts a server and lists its tools: CPU milliseconds, wall milliseconds, MB, bytes of the list. */
export async function startAndList(args) {
  const began = performance.now();
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "ignore"], env: cleanEnvironment });
  let text = "";
  const answered = new Promise((resolve, reject) => {
    child.stdout.on("data", (chunk) => {
      text += chunk;
      if (text.includes('"id":2')) resolve(text.split("\n").find((line) => line.includes('"id":2')));
    });
    child.once("exit", (code) => reject(new Error(`${args.join(" ")} ended with ${code}`)));
  });
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const params = {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "bench", version: "1" },
  };
  send({ id: 1, method: "initialize", params });
  send({ method: "notifications/initialized" });
  send({ id: 2, method: "tools/list" });
  const line = await answered;
  const measured = {
    wall: performance.now() - began,
    cpu: cpuOf(child.pid),
    memory: residentOf(child.pid),
    bytes: line.length,
  };
  const ending = performance.now();
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.stdin.end();
  await ended;
  return { ...measured, exit: performance.now() - ending };
}

/** Runs a Node program to its end: CPU is not readable after the end, so wall time it is. */
export async function runToEnd(args, input = "") {
  const began = performance.now();
  const child = spawn(process.execPath, args, { stdio: ["pipe", "ignore", "ignore"], env: cleanEnvironment });
  child.stdin.end(input);
  await new Promise((resolve) => child.once("exit", resolve));
  return performance.now() - began;
}

export const cleanEnvironment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => name !== "NODE_OPTIONS" && !name.startsWith("npm_")),
);

/** An MCP client on a server of its own, with the server's process id. */
export async function connect(args) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args,
    stderr: "ignore",
    env: cleanEnvironment,
  });
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(transport);
  return { client, pid: transport.pid, close: () => client.close() };
}

/**
 * Median milliseconds of each contender's call. They take turns, `block` calls at a time, so that load hits all of them
 * alike and none is measured while it wakes up.
 */
export async function inTurns(contenders, rounds, block = 1) {
  const times = new Map(Object.keys(contenders).map((name) => [name, []]));
  for (let first = 0; first < rounds; first += block) {
    for (const [name, call] of Object.entries(contenders)) {
      for (let round = first; round < first + block; round++) {
        const began = performance.now();
        await call(round);
        times.get(name).push(performance.now() - began);
      }
    }
  }
  return Object.fromEntries([...times].map(([name, values]) => [name, median(values)]));
}
