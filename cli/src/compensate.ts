import { setFlagsFromString } from "node:v8";
import { compensatorFor, type ErrorCode, errorBody } from "@reversi-connector/core";
import { maxLineBytes, UsageError } from "@reversi-connector/core/program";
import { operations, type ProtocolCall, protocolCall } from "./call.ts";
import { refuseCredentialFlags } from "./credentials.ts";
import { defaultBases, type Found, installedConnectors } from "./discover.ts";
import { redactorFor } from "./enable.ts";
import { compensateFlags, connectorFlags, type Parsed, parseFlags, wholeNumber } from "./flags.ts";
import { lineSplitter } from "./lines.ts";
import { ignoreClosedStderr, type Level, type Log, type StdoutWrite, stderrLog, takeStdout } from "./log.ts";
import { connectorPool, type Pool } from "./pool.ts";
import { bounded, exitCode } from "./usage.ts";

const documented = ["root", "backup-dir"];
const exitOf: Readonly<Record<ErrorCode, number>> = {
  INVALID_ARGUMENTS: exitCode.usage,
  FAILED: exitCode.failed,
  CONFLICT: exitCode.conflict,
  EFFECT_UNCERTAIN: exitCode.uncertain,
};

interface Answer {
  readonly line: object;
  readonly code: number;
}

/** Bad input, whoever noticed it, has one form. */
const failure = (error: unknown): Answer => {
  const body = errorBody(error);
  const code = (error as { name?: unknown } | null)?.name === "UsageError" ? "INVALID_ARGUMENTS" : body.code;
  return {
    line: { ok: false, error: { ...body, code, message: bounded(body.message) } },
    code: exitOf[code],
  };
};

async function answer(asked: ProtocolCall, pool: Pool, ready: () => void): Promise<Answer> {
  try {
    const connector = await pool.get(asked.call.tool);
    ready();
    const compensator = compensatorFor([connector]);
    const result =
      asked.op === "landed"
        ? await compensator.landed(asked.call, asked.context)
        : asked.op === "holds"
          ? await compensator.holds(asked.call)
          : await compensator(asked.call);
    return { line: { ok: true, result: result ?? null }, code: exitCode.ok };
  } catch (error) {
    return failure(error);
  }
}

/** All of stdin. @throws UsageError when it is too large, or is not closed in time */
function wholeStdin(idleMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const stop = (end: () => void) => {
      clearTimeout(timer);
      process.stdin.removeAllListeners().pause();
      end();
    };
    const late = () =>
      stop(() => reject(new UsageError(`stdin was not closed within ${idleMs} ms; nothing was done`)));
    const timer = setTimeout(late, idleMs);
    process.stdin
      .on("data", (chunk: Buffer) => {
        timer.refresh();
        bytes += chunk.length;
        chunks.push(chunk);
        if (bytes > maxLineBytes) {
          stop(() =>
            reject(new UsageError(`the call is larger than ${maxLineBytes} bytes; nothing was done`)),
          );
        }
      })
      .once("end", () =>
        stop(() =>
          resolve(
            Buffer.concat(chunks)
              .toString("utf8")
              .replace(/^\uFEFF/, ""),
          ),
        ),
      )
      .once("error", late);
  });
}

const put = (write: StdoutWrite, line: object) =>
  new Promise<boolean>((resolve) => {
    write(`${JSON.stringify(line)}\n`, (error) => resolve(!error));
  });

/** Connectors without a variable that switches them on need their flags; who lacks them is left out, and that is said. */
function* leftOut(found: readonly Found[], parsed: Parsed): Generator<string> {
  for (const { reversi } of found) {
    if (reversi.main !== undefined) continue;
    const missing = Object.entries(reversi.flags ?? {})
      .filter(([flag, { optional }]) => !optional && parsed.text(flag) === undefined)
      .map(([flag]) => `--${flag}`);
    if (missing.length > 0) yield `${reversi.connector} is left out: ${missing.join(" and ")} is not given`;
  }
}

async function once(pool: Pool, write: StdoutWrite, log: Log, notes: readonly string[]): Promise<number> {
  const idleMs = wholeNumber(
    "REVERSI_STDIN_TIMEOUT_MS",
    process.env["REVERSI_STDIN_TIMEOUT_MS"],
    10_000,
    600_000,
  );
  const run = async () => {
    const asked = protocolCall(await wholeStdin(idleMs));
    return answer(asked, pool, () => {
      for (const note of notes) log.say(note);
      // An undo that was sent is seen through; asked twice, the process ends at once.
      for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => {});
      // V8 would optimise an HTTP parser in WebAssembly in the background, and the process could not end before.
      setFlagsFromString("--liftoff-only");
    });
  };
  const { line, code } = await run().catch(failure);
  if (code !== exitCode.ok) {
    const { error } = line as { error: { message: string } };
    log.say(error.message);
  }
  await put(write, line);
  return code;
}

/** One call a line, one after the other, answers in order; a bad line is answered like any other. */
async function stream(pool: Pool, write: StdoutWrite, log: Log, notes: readonly string[]): Promise<number> {
  const hello = put(write, { protocol: "reversi/1", ops: operations });
  for (const note of notes) log.say(note);
  let last: Promise<boolean> = hello;
  const broken = new Promise<void>((resolve) => {
    process.stdout.on("error", () => resolve());
  });
  let stopping = false;
  const next = (work: () => Promise<Answer>) => {
    // What was not begun when the reader left or a signal came is not begun any more.
    last = last.then(async (open) => open && !stopping && put(write, (await work().catch(failure)).line));
  };
  const lines = lineSplitter(
    maxLineBytes,
    (text) => next(async () => answer(protocolCall(text), pool, () => {})),
    ({ bytes, reason }) =>
      next(async () => {
        throw new UsageError(
          `a line of ${bytes} bytes is ${reason}; at most ${maxLineBytes} bytes of UTF-8 a line`,
        );
      }),
  );
  const ended = new Promise<void>((resolve) => {
    process.stdin
      .on("data", (chunk: Buffer) => lines.push(chunk))
      .once("end", resolve)
      .once("error", resolve);
  });
  const signal = new Promise<void>((resolve) => {
    for (const name of ["SIGTERM", "SIGINT"] as const) process.once(name, () => resolve());
  });
  const stop = () => {
    stopping = true;
  };
  await Promise.race([ended.then(() => lines.end()), broken.then(stop), signal.then(stop)]);
  if (stopping) log.say("ending; the call that runs is finished, none is begun");
  process.stdin.pause();
  await last;
  return exitCode.ok;
}

/** `compensate`: one call on stdin, or one a line; the very handlers that serve agents. */
export async function compensate(argv: readonly string[]): Promise<void> {
  const bases = defaultBases();
  const found = installedConnectors(bases);
  const taken = connectorFlags(found.map(({ reversi }) => reversi));
  const rules = { ...connectorFlags([], documented), ...taken, ...compensateFlags };
  refuseCredentialFlags(argv, rules, () => found);
  const parsed = parseFlags(argv, rules, process.env, false);
  if (parsed.names.length > 0)
    throw new UsageError(`compensate takes no names; the call on stdin names its tool`);
  const redact = redactorFor(found, process.env);
  const log = stderrLog((parsed.text("log-level") ?? "warn") as Level, redact);
  ignoreClosedStderr();
  const write = takeStdout(redact);
  const flags = Object.fromEntries(Object.keys(taken).map((flag) => [flag, parsed.text(flag)]));
  const unused = documented
    .filter((flag) => parsed.text(flag) !== undefined && !Object.hasOwn(taken, flag))
    .map((flag) => `no installed connector takes --${flag}; ignored`);
  const sandboxed = parsed.list("sandbox").map((value) => value.split("=")[0]);
  const notes = [
    ...unused,
    ...leftOut(
      found.filter(({ reversi }) => !sandboxed.includes(reversi.connector)),
      parsed,
    ),
  ];
  const pool = connectorPool(parsed, flags, bases, log);
  const streaming = parsed.on("stream") || process.env["REVERSI_COMPENSATOR"] === "stream/1";
  const code = await (streaming ? stream : once)(pool, write, log, notes);
  await pool.close();
  process.exit(code);
}
