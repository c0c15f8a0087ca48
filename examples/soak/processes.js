// The programs under test, each in processes of its own.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";

const require = createRequire(import.meta.url);
const programOf = (packageName, name) => {
  const path = require.resolve(`${packageName}/package.json`);
  return join(path, "..", require(path).bin[name]);
};
const connectors = programOf("reversi-connectors", "reversi-connectors");
const gateway = programOf("@reversi-connector/gateway", "reversi-gateway");
const reversi = programOf("@reversi-connector/gateway", "reversi");
const node = process.execPath;

/** Seconds; a late delivery must stay within their sum, counted from the call. */
export const callTimeout = 2;
export const grace = 1;
const environment = {
  ...process.env,
  // One attempt's time is shorter than the gateway's, so that the connector itself says what is unknown.
  REVERSI_TIMEOUT_MS: "1000",
};

export const manifests = () =>
  ["fs", "github"].map((name) => [
    name,
    execFileSync(node, [connectors, "manifests", name, "--format", "json"]),
  ]);

/** The processes that `pid` started. Linux only. */
function childrenOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
      .trim()
      .split(" ")
      .filter(Boolean)
      .map(Number);
  } catch {
    return [];
  }
}
/** Ends a process at once; false when it had gone already. */
function end(pid) {
  try {
    return process.kill(pid, "SIGKILL");
  } catch {
    return false;
  }
}

/** Resolves when a process that somebody else started has ended. */
async function gone(pid) {
  while (existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(statusOf(pid))) await pause(10);
}
const statusOf = (pid) => {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return "State: Z";
  }
};

const lost = { outcome: "lost" };
const kindOf = ({ result, error }) => {
  if (error) return { outcome: "error", text: error.message };
  if (!result.isError) return { outcome: "ok", result: result.structuredContent };
  return { outcome: result._meta?.["reversi/outcome"] ?? "error", text: result.content?.[0]?.text };
};

/** An agent's session on a gateway of its own, in front of `reversi-connectors serve fs github`. */
export async function session({ lab, root, data, address }) {
  const upstream = [connectors, "serve", "fs", "github", "--root", root, `--sandbox=github=${address}`];
  const args = [gateway, "--manifests", join(lab, "manifests"), "--data", data];
  args.push("--call-timeout", String(callTimeout), "--upstream-cmd", node);
  const child = spawn(node, [...args, ...upstream.flatMap((word) => ["--upstream-arg", word])], {
    stdio: ["pipe", "pipe", "pipe"],
    env: environment,
  });
  let said = "";
  child.stderr.on("data", (text) => {
    said = (said + text).slice(-4000);
  });
  child.stdin.on("error", () => {});
  const waiting = new Map();
  createInterface(child.stdout).on("line", (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  });
  const ended = new Promise((resolve) => {
    child.once("close", (code, signal) => {
      for (const answer of waiting.values()) answer(undefined);
      waiting.clear();
      resolve({ code, signal });
    });
  });
  let over = false;
  void ended.then(() => {
    over = true;
  });
  let last = 0;
  const ask = (method, params) =>
    new Promise((resolve) => {
      if (over) return resolve(undefined);
      waiting.set(++last, resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: last, method, params })}\n`);
    });
  const opened = await ask("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "soak", version: "1" },
  });
  const run = /run ([^.\s]+)\./.exec(opened?.result?.instructions ?? "")?.[1];
  if (!run) throw new Error(`the gateway did not begin: ${said}`);
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  const pids = { gateway: child.pid, upstream: childrenOf(child.pid)[0] };
  return {
    run,
    over: () => over,
    said: () => said,
    /** `ok`, what the connector says of a failure, or `lost` when no answer came. */
    async call(name, given, reason) {
      const params = { name, arguments: given, _meta: { "reversi/reason": reason } };
      const answer = await ask("tools/call", params);
      return answer ? kindOf(answer) : lost;
    },
    kill: (victim) => end(pids[victim]),
    /** Resolves when gateway and upstream have ended, however that came: nothing writes any more. */
    async gone() {
      await ended;
      await gone(pids.upstream);
    },
    async close() {
      child.stdin.end();
      await ended;
    },
    /** Whatever is left of it at the end of a history. */
    destroy() {
      if (!over) end(child.pid);
    },
  };
}

/** One `reversi rollback` with `reversi-connectors compensate` behind it. */
export function rollback({ root, data, address, run }) {
  const compensator = `"${node}" "${connectors}" compensate --root "${root}" --sandbox github=${address}`;
  const args = [
    reversi,
    "rollback",
    run,
    "--data",
    data,
    "--compensator-cmd",
    compensator,
    "--format",
    "json",
  ];
  const child = spawn(node, [...args, "--grace", String(grace), "--wait", "20", "--undo-timeout", "20"], {
    stdio: ["ignore", "pipe", "pipe"],
    env: environment,
  });
  let out = "";
  let said = "";
  child.stdout.on("data", (text) => {
    out += text;
  });
  child.stderr.on("data", (text) => {
    said += text;
  });
  // A compensator may outlive a killed rollback: what it does then belongs to this rollback.
  const compensators = new Set();
  const look = () => {
    for (const pid of childrenOf(child.pid)) compensators.add(pid);
  };
  const watch = setInterval(look, 20);
  const ended = new Promise((resolve) => {
    child.once("close", async (code, signal) => {
      clearInterval(watch);
      for (const pid of compensators) await gone(pid);
      const whole = signal === null && (code === 0 || code === 2);
      resolve({ code, signal, said, report: whole ? JSON.parse(out) : undefined });
    });
  });
  return {
    ended,
    kill(victim) {
      look();
      return victim === "reversi" ? end(child.pid) : childrenOf(child.pid).some(end);
    },
  };
}
