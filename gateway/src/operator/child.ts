import { spawn } from "node:child_process";
import { lineSplitter, maxLineBytes } from "@reversi-connector/core/program";
import { ownGroup, signalGroup } from "../shared/group.ts";
import { hasCode, messageOf, UsageError } from "../shared/usage.ts";

/** A compensator's process. */
export interface Child {
  /** Lines it prints on stdout, as they come. One above 64 MiB comes as an empty text. */
  onLine(handle: (line: string) => void): void;
  write(line: string): void;
  /** Ends its stdin. */
  finish(): void;
  /** Ends it at once, without its noticing that its stdin ended. */
  kill(): void;
  /** How it ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

/** @throws UsageError when the command cannot be started */
export async function startChild(
  [command, ...args]: readonly [string, ...string[]],
  environment: NodeJS.ProcessEnv,
  onStderr: (line: string) => void,
): Promise<Child> {
  const child = spawn(command, args, {
    stdio: ["pipe", "pipe", "pipe"],
    env: environment,
    ...ownGroup,
  });
  let handle: (line: string) => void = () => {};
  const out = lineSplitter(
    maxLineBytes,
    (bytes) => handle(bytes.toString("utf8").trim()),
    () => handle(""),
  );
  const errors = lineSplitter(
    64 * 1024,
    (bytes) => onStderr(bytes.toString("utf8").trimEnd()),
    () => {},
  );
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk)).on("end", () => out.end());
  child.stderr.on("data", (chunk: Buffer) => errors.push(chunk)).on("end", () => errors.end());
  child.stdin.on("error", () => {});
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    // What it started may hold its pipes open for ever: they count for a moment only after it has gone.
    let timer: NodeJS.Timeout | undefined;
    child.once("exit", (code, signal) => {
      timer = setTimeout(() => resolve({ code, signal }), 500);
    });
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal });
    });
  });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve).once("error", (error) => {
      const why = hasCode(error, "ENOENT") ? "there is no such command" : messageOf(error);
      reject(new UsageError(`the compensator ${command} cannot be started: ${why}`));
    });
  });
  return {
    onLine: (next) => {
      handle = next;
    },
    write: (line) => void child.stdin.write(line),
    finish: () => void child.stdin.end(),
    kill() {
      signalGroup(child, "SIGKILL");
      child.stdout.destroy();
      child.stderr.destroy();
      child.stdin.destroy();
    },
    ended,
  };
}
