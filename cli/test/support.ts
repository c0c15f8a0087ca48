import { type ChildProcess, spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const here = dirname(fileURLToPath(import.meta.url));
const cli = join(here, "..");
const fixture = join(here, "fixtures/connector");
export const token = "acme-token-1234";

const undo: (() => unknown)[] = [];
/** Ends every process, server and folder of a test file. */
export const cleanUp = async (): Promise<void> => {
  for (const step of undo.splice(0).reverse()) await step();
};

export const folder = (name = "reversi-cli-"): string => {
  const made = realpathSync(mkdtempSync(join(tmpdir(), name)));
  undo.push(() => rmSync(made, { recursive: true, force: true }));
  return made;
};

/** Puts the fixture connector into a project under a package name, with its package.json changed. */
export function addConnector(project: string, packageName: string, change: object = {}): string {
  const target = join(project, "node_modules", packageName);
  mkdirSync(dirname(target), { recursive: true });
  cpSync(fixture, target, { recursive: true });
  const facts = JSON.parse(readFileSync(join(fixture, "package.json"), "utf8"));
  writeFileSync(join(target, "package.json"), JSON.stringify({ ...facts, name: packageName, ...change }));
  return target;
}

/** The field of a connector that is switched on by a flag. */
export const shelf = {
  reversi: {
    connector: "shelf",
    settings: {},
    flags: { root: { option: "folder", description: "The only folder it touches" } },
  },
};

/** A folder as npm would leave it, with the built package in it and no connector but those that a test adds. */
export function project(): string {
  const root = folder();
  const own = join(root, "node_modules/reversi-connectors");
  mkdirSync(join(root, "node_modules/@reversi-connector"), { recursive: true });
  symlinkSync(join(cli, "../core"), join(root, "node_modules/@reversi-connector/core"));
  mkdirSync(own);
  cpSync(join(cli, "package.json"), join(own, "package.json"));
  cpSync(join(cli, "dist"), join(own, "dist"), { recursive: true });
  return root;
}
export const binOf = (root: string): string =>
  join(root, "node_modules/reversi-connectors/dist/bin/reversi-connectors.js");

/** A project with the connector acme, and a folder for its notes. */
export function acmeProject() {
  const root = project();
  addConnector(root, "@reversi-connector/acme");
  const notes = folder("notes-");
  const note = (id: string) => {
    const file = join(notes, `${id}.txt`);
    return existsSync(file) ? readFileSync(file, "utf8") : null;
  };
  return { root, notes, note, env: { ACME_TOKEN: token, ACME_FOLDER: notes } };
}

type Message = Record<string, unknown> & { readonly id?: unknown; readonly method?: string };
// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
export type Answer = any;

/** Lines that arrive, and whoever waits for one of them. */
function arrivals(stream: NodeJS.ReadableStream) {
  const lines: string[] = [];
  let parts: string[] = [];
  let ended = false;
  let waiting: (() => boolean)[] = [];
  const wake = () => {
    waiting = waiting.filter((tryAgain) => !tryAgain());
  };
  const rest = () => parts.join("");
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    parts.push(chunk);
    if (!chunk.includes("\n")) return;
    const whole = rest().split("\n");
    parts = [whole.pop() ?? ""];
    lines.push(...whole);
    wake();
  });
  stream.on("close", () => {
    ended = true;
    wake();
  });
  const text = () => lines.map((line) => `${line}\n`).join("") + rest();
  return {
    text,
    /** Each line is offered once. */
    until<T>(found: (line: string, index: number) => T | undefined): Promise<T> {
      let next = 0;
      return new Promise((resolve, reject) => {
        const attempt = () => {
          for (; next < lines.length; next++) {
            const value = found(lines[next] ?? "", next);
            if (value === undefined) continue;
            resolve(value);
            return true;
          }
          if (ended) reject(new Error(`the stream ended with: ${text().slice(-2000)}`));
          return ended;
        };
        if (!attempt()) waiting.push(attempt);
      });
    },
  };
}

export interface Run {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves with the exit code, or the signal's name, when all output has arrived. */
  readonly exit: Promise<number | string>;
  write(text: string | Buffer): void;
  send(...messages: object[]): void;
  /** The first line of stdout that fits. */
  line(fits: (message: Message) => boolean): Promise<Answer>;
  /** The first line of stderr that has it. */
  said(what: RegExp): Promise<string>;
}

export interface StartOptions {
  readonly env?: Record<string, string | undefined>;
  readonly cwd?: string;
  readonly node?: readonly string[];
}

/** Starts the built command of a project. */
export function start(
  root: string,
  args: readonly string[],
  { env, cwd, node = [] }: StartOptions = {},
): Run {
  const child = spawn(process.execPath, [...node, binOf(root), ...args], {
    cwd: cwd ?? root,
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  undo.push(() => child.exitCode ?? child.signalCode ?? child.kill("SIGKILL"));
  child.stdin.on("error", () => {});
  const [stdout, stderr] = [arrivals(child.stdout), arrivals(child.stderr)];
  const exit = new Promise<number | string>((resolve) => {
    child.once("close", (code, signal) => resolve(code ?? signal ?? "unknown"));
  });
  const parsed: Message[] = [];
  const write = (text: string | Buffer) => void child.stdin.write(text);
  return {
    child,
    stdout: stdout.text,
    stderr: stderr.text,
    exit,
    write,
    send: (...messages) => write(messages.map((message) => `${JSON.stringify(message)}\n`).join("")),
    line: (fits) =>
      stdout.until((line, index) => {
        parsed[index] ??= JSON.parse(line) as Message;
        return fits(parsed[index]) ? parsed[index] : undefined;
      }),
    said: (what) => stderr.until((line) => (what.test(line) ? line : undefined)),
  };
}

/** Runs to the end with all of stdin given. */
export async function finish(root: string, args: readonly string[], stdin = "", options: StartOptions = {}) {
  const run = start(root, args, options);
  run.child.stdin?.end(stdin);
  const code = await run.exit;
  return { code, stdout: run.stdout(), stderr: run.stderr() };
}

export const request = (id: unknown, method: string, params?: object) => ({
  jsonrpc: "2.0",
  id,
  method,
  ...(params && { params }),
});
export const initialize = (capabilities: object = {}) =>
  request("init", "initialize", {
    protocolVersion: "2025-06-18",
    capabilities,
    clientInfo: { name: "test", version: "1" },
  });
export const call = (id: unknown, name: string, args: object = {}, _meta?: object) =>
  request(id, "tools/call", { name, arguments: args, ...(_meta && { _meta }) });
export const answerTo = (run: Run, id: unknown): Promise<Answer> =>
  run.line((message) => message.id === id && message.method === undefined);

/** A served project to which a raw client said hello. */
export async function serving(
  root: string,
  args: readonly string[],
  options: StartOptions & { readonly capabilities?: object } = {},
): Promise<Run> {
  const run = start(root, ["serve", ...args], options);
  run.send(initialize(options.capabilities), { jsonrpc: "2.0", method: "notifications/initialized" });
  await answerTo(run, "init");
  return run;
}

/** The SDK's own client on a served project. */
export async function sdkClient(
  root: string,
  args: readonly string[],
  {
    env = {},
    capabilities = {},
  }: { readonly env?: Record<string, string>; readonly capabilities?: object } = {},
): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, { capabilities });
  const command = { command: process.execPath, args: [binOf(root), "serve", ...args], cwd: root };
  await client.connect(new StdioClientTransport({ ...command, env: { ...env }, stderr: "ignore" }));
  undo.push(() => client.close());
  return client;
}

/** Where slow calls of the fixture wait until a test lets them go. */
export async function gateAt(notes: string) {
  const waiting: Socket[] = [];
  let arrived: (() => void) | undefined;
  const server: Server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      waiting.push(socket);
      arrived?.();
    });
  });
  await new Promise<void>((resolve) => server.listen(join(notes, "gate.sock"), resolve));
  undo.push(() => {
    for (const socket of waiting) socket.destroy();
    server.close();
  });
  return {
    /** Resolves when a slow call stands at the gate: its request has left, its answer has not come. */
    async reached(count = 1): Promise<void> {
      while (waiting.length < count) {
        await new Promise<void>((resolve) => {
          arrived = resolve;
        });
      }
    },
    /** Resolves when the call at the gate was given up by the server. */
    left: () => new Promise<void>((resolve) => void waiting[0]?.once("close", () => resolve())),
    open: () => {
      for (const socket of waiting.splice(0)) socket.write("go");
    },
  };
}
