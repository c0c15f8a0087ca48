import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { jest } from "@jest/globals";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

// Each test starts a handful of processes; a busy machine takes its time over that.
jest.setTimeout(30_000);

const here = dirname(fileURLToPath(import.meta.url));
export const fixture = (name: string): string => join(here, "fixtures", name);
const bin = (name: string) => join(here, "../dist/bin", `${name}.js`);
export const secret = "notes-token-0123456789";

const undo: (() => unknown)[] = [];
/** Ends every process and removes every folder of a test file. */
export const cleanUp = async (): Promise<void> => {
  for (const step of undo.splice(0).reverse()) await step();
};

/** A folder of its own, with a folder `notes` for the fixture server and a place for runs. */
export interface Place {
  readonly root: string;
  readonly notes: string;
  readonly data: string;
  note(name: string): string | null;
}
export function place(): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "reversi-gateway-")));
  undo.push(() => rmSync(root, { recursive: true, force: true }));
  const notes = join(root, "notes");
  mkdirSync(notes);
  const note = (name: string) =>
    existsSync(join(notes, name)) ? readFileSync(join(notes, name), "utf8") : null;
  return { root, notes, data: join(root, "data"), note };
}

type Environment = Readonly<Record<string, string>>;
const environmentWith = (more: Environment = {}): Record<string, string> => {
  const { NODE_OPTIONS: _, ...rest } = process.env;
  return { ...(rest as Record<string, string>), NOTES_TOKEN: secret, NO_COLOR: "", ...more };
};

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process with its output collected, and things to wait for. */
export function start(command: string, args: readonly string[], environment?: Environment) {
  const child = spawn(command, args, { stdio: "pipe", env: environmentWith(environment) });
  undo.push(() => child.kill("SIGKILL"));
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  child.stdin.on("error", () => {});
  const ended = once(child, "close").then(([code]): Ended => ({ code, stdout, stderr }));
  /** Resolves with what matched once stderr shows it. */
  const told = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(stderr);
        if (found) resolve(found);
      };
      child.stderr.on("data", look);
      void ended.then(() => reject(new Error(`it ended without saying ${pattern}: ${stderr}`)));
      look();
    });
  return { child, ended, told };
}

/** Runs `reversi` to its end. */
export function reversi(args: readonly string[], environment?: Environment, stdin = ""): Promise<Ended> {
  const { child, ended } = start(process.execPath, [bin("reversi"), ...args], environment);
  child.stdin.end(stdin);
  return ended;
}
export const reversiStarted = (args: readonly string[], environment?: Environment) =>
  start(process.execPath, [bin("reversi"), ...args], environment);

export interface GatewayOptions {
  readonly flags?: readonly string[];
  readonly manifests?: string;
  readonly upstream?: readonly [string, ...string[]];
  readonly environment?: Environment;
}

export const gatewayArgs = (
  { notes, data }: Place,
  { flags = [], manifests = fixture("notes.yaml"), upstream }: GatewayOptions = {},
): string[] => {
  const [command, ...args] = upstream ?? [process.execPath, fixture("upstream.js"), notes];
  const passed = args.flatMap((arg) => ["--upstream-arg", arg]);
  return [
    bin("reversi-gateway"),
    ...["--manifests", manifests, "--data", data, "--upstream-cmd", command],
    ...passed,
    ...flags,
  ];
};

/** The gateway as a bare process, for what the SDK's client would not send. */
export const gatewayStarted = (at: Place, options: GatewayOptions = {}) =>
  start(process.execPath, gatewayArgs(at, options), options.environment);

export interface Answer {
  readonly isError?: boolean;
  readonly structuredContent?: Record<string, unknown>;
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly _meta?: Record<string, unknown>;
}

/** An agent behind a gateway. `prepare` may add what its client can do. */
export async function agent(
  at: Place,
  options: GatewayOptions & {
    readonly capabilities?: object;
    readonly prepare?: (client: Client) => void;
  } = {},
) {
  const client = new Client(
    { name: "test-agent", version: "1.0.0" },
    { capabilities: options.capabilities ?? {} },
  );
  options.prepare?.(client);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: gatewayArgs(at, options),
    env: environmentWith(options.environment),
    stderr: "pipe",
  });
  let stderr = "";
  transport.stderr?.on("data", (chunk) => {
    stderr += chunk;
  });
  undo.push(() => client.close());
  const closed = new Promise<void>((resolve) => {
    client.onclose = resolve;
  });
  await client.connect(transport);
  const [, run = ""] = /run (\S+), journaled/.exec(stderr) ?? [];
  return {
    client,
    run,
    closed,
    pid: transport.pid ?? 0,
    stderr: () => stderr,
    call: async (
      name: string,
      args: object = {},
      more?: Parameters<Client["callTool"]>[2],
    ): Promise<Answer> =>
      (await client.callTool(
        { name, arguments: args as Record<string, unknown> },
        undefined,
        more,
      )) as unknown as Answer,
  };
}

export const textOf = ({ content }: Answer): string => content.map(({ text }) => text).join("\n");

/** The compensator of the fixture, as a command line. */
export const compensator = ({ notes }: Place, form = ""): string =>
  `"${process.execPath}" '${fixture("compensator.js")}' ${notes} ${form}`;

export interface JournalLine {
  readonly type: string;
  readonly step?: number;
  readonly [key: string]: unknown;
}
/** The records of a run, from its file. */
export const recordsOf = ({ data }: Place, run: string): JournalLine[] =>
  readFileSync(join(data, "runs", `${run}.jsonl`), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
/** The kinds of records a step has. */
export const typesOf = (at: Place, run: string, step: number): string[] =>
  recordsOf(at, run)
    .filter((record) => record.step === step)
    .map(({ type }) => type);
