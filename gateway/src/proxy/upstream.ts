import { type ChildProcess, spawn } from "node:child_process";
import type { Redactor } from "@reversi-connector/core";
import { type LongLine, lineSplitter, maxLineBytes } from "@reversi-connector/core/program";
import { ownGroup, signalGroup } from "../shared/group.ts";
import { type Log, printable } from "../shared/log.ts";
import { hasCode, messageOf, UsageError } from "../shared/usage.ts";

/** The server behind the gateway. It is not read before the first `resume`. */
export interface Upstream {
  /** False when the caller should wait for `onDrain`. */
  send(line: Buffer | string): boolean;
  pause(): void;
  resume(): void;
  /** How it ended, in words, with its last lines on stderr; resolves when its stdout was read to the end. */
  readonly ended: Promise<string>;
  /** Ends its input, and the process itself when that does not help in time. */
  close(): Promise<void>;
}
export interface UpstreamOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly redact: Redactor;
  readonly log: Log;
  onLine(line: Buffer): void;
  onLong(line: LongLine): void;
  onDrain(): void;
}

const keptLines = 12;
const patienceMs = 2000;

/** Passes the server's stderr on, redacted, and keeps its end. */
function listen(child: ChildProcess, { redact, log }: UpstreamOptions): () => string {
  const last: string[] = [];
  const lines = lineSplitter(
    64 * 1024,
    (bytes) => {
      const line = printable(redact.text(bytes.toString("utf8"))).trimEnd();
      if (line === "") return;
      if (last.push(line) > keptLines) last.shift();
      process.stderr.write(`upstream: ${line}\n`);
    },
    ({ bytes }) => log.say(`upstream: a line of ${bytes} bytes on stderr, left out`),
  );
  child.stderr?.on("data", (chunk: Buffer) => lines.push(chunk)).on("end", () => lines.end());
  return () => (last.length === 0 ? "" : `; it said: ${last.join(" / ")}`);
}

/** @throws UsageError when the command cannot be started */
export async function startUpstream(options: UpstreamOptions): Promise<Upstream> {
  const { command, args, environment } = options;
  const child = spawn(command, args, {
    stdio: ["pipe", "pipe", "pipe"],
    env: environment,
    ...ownGroup,
  });
  const lastWords = listen(child, options);
  const lines = lineSplitter(maxLineBytes, options.onLine, options.onLong);
  child.stdout
    .on("data", (chunk: Buffer) => lines.push(chunk))
    .on("end", () => lines.end())
    .pause();
  child.stdin.on("drain", options.onDrain).on("error", () => {});
  const ended = new Promise<string>((resolve) => {
    child.once("close", (code, signal) =>
      resolve(`the upstream server ended (${signal ?? `exit code ${code}`})${lastWords()}`),
    );
  });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve).once("error", (error) => {
      const why = hasCode(error, "ENOENT") ? "there is no such command" : messageOf(error);
      reject(new UsageError(`--upstream-cmd ${command} cannot be started: ${why}`, 1));
    });
  });
  const within = (ms: number) =>
    new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), ms);
      void ended.then(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  return {
    send: (line) => child.stdin.writable && child.stdin.write(line),
    pause: () => void child.stdout.pause(),
    resume: () => void child.stdout.resume(),
    ended,
    async close() {
      child.stdin.end();
      child.stdout.resume();
      if (await within(patienceMs)) return;
      signalGroup(child, "SIGTERM");
      if (await within(patienceMs)) return;
      signalGroup(child, "SIGKILL");
      await within(patienceMs);
    },
  };
}
