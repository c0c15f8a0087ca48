import { userInfo } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { type Journal, type RollbackProgress, Run, RunBusyError } from "@reversi-connector/engine";
import { fenceOf } from "../shared/fence.ts";
import { type Log, redactorFor } from "../shared/log.ts";
import { exitCode, UsageError } from "../shared/usage.ts";
import { commandCompensator } from "./compensator.ts";
import { checkRun, journalIn, lookAt } from "./history.ts";
import { type Format, print, printJson } from "./output.ts";
import { dryRunText, reportText } from "./report.ts";

export interface RollbackArguments {
  readonly data: string;
  readonly run: string;
  readonly compensatorCmd: string;
  readonly dryRun: boolean;
  readonly steps: readonly number[] | undefined;
  readonly forceConflicts: boolean;
  readonly acceptUnverified: boolean;
  /** How long a gateway that still writes the run may take to let it go, in milliseconds. */
  readonly waitMs: number;
  /** How long one undo may take, in milliseconds. */
  readonly callMs: number;
  /** How long the compensator may take to say that it serves many calls, in milliseconds. */
  readonly helloMs: number;
  /** How long after a call's own time a request without an answer may still arrive at the backend, in milliseconds. */
  readonly graceMs: number;
  readonly format: Format;
}

/** Whoever runs this command. */
export function operator(): string {
  try {
    return userInfo().username;
  } catch {
    return "operator";
  }
}

const betweenTriesMs = 100;

/**
 * Takes a run. A gateway that still writes it is asked to let it go.
 * @throws RunBusyError when whoever has it keeps it, JournalDamagedError
 */
async function takeRun(
  journal: Journal,
  { data, run, waitMs, graceMs }: RollbackArguments,
  log: Log,
): Promise<Run> {
  const fence = fenceOf(data, run);
  let asked = false;
  const until = Date.now() + waitMs;
  try {
    for (;;) {
      try {
        return await Run.resume({ journal, run, graceMs });
      } catch (error) {
        if (!RunBusyError.is(error) || Date.now() >= until) throw error;
        if (!asked) {
          log.say(
            `run ${run} is still written; waiting for its calls in flight, at most ${Math.ceil(waitMs / 1000)} s`,
          );
          await fence.raise(operator());
        }
        asked = true;
        await pause(betweenTriesMs);
      }
    }
  } finally {
    if (asked) await fence.lower();
  }
}

const quietMs = 10_000;

/** Tells a person how far a long rollback is: on one line of a terminal, else a line every ten seconds. */
export function progressTo(log: Log, stderr: Pick<NodeJS.WriteStream, "isTTY" | "write"> = process.stderr) {
  let told = Date.now();
  let width = 0;
  const onProgress = ({ done, total, tool, state }: RollbackProgress) => {
    const text = `${done}/${total}  ${tool}  ${state}`;
    if (stderr.isTTY) {
      stderr.write(`\r${text.padEnd(width)}`);
      width = text.length;
    } else if (Date.now() - told >= quietMs) {
      told = Date.now();
      log.say(text);
    }
  };
  const end = () => {
    if (width > 0) stderr.write(`\r${" ".repeat(width)}\r`);
  };
  return { onProgress, end };
}

/** The first signal stops before the next step, the second one at once. */
function stopSignal(log: Log): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(exitCode.failed);
      log.say("stopping after the step that is under way");
      stop.abort();
    });
  }
  return stop.signal;
}

function checkSteps(run: Run, steps: readonly number[] | undefined): void {
  for (const step of steps ?? []) {
    if (!run.steps.has(step))
      throw new UsageError(`run ${run.id} has no step ${step} that writes. See: reversi show ${run.id}`);
  }
}

/** `reversi rollback`. Resolves with the exit code. */
export async function rollback(given: RollbackArguments, log: Log): Promise<number> {
  const {
    data,
    run,
    compensatorCmd,
    dryRun,
    steps,
    forceConflicts,
    acceptUnverified,
    callMs,
    helloMs,
    format,
  } = given;
  const journal = journalIn(data);
  await checkRun(journal, run);
  // What can be wrong with the request is found before a gateway is asked to let the run go.
  checkSteps(await lookAt(journal, run), steps);
  const compensate = commandCompensator({
    command: compensatorCmd,
    environment: process.env,
    redact: redactorFor(process.env).text,
    say: (text) => log.say(`compensator: ${text}`),
    callMs,
    helloMs,
  });
  await compensate.start();
  try {
    const signal = stopSignal(log);
    if (dryRun) {
      const report = await (await lookAt(journal, run)).rollback({ compensate, steps, signal, dryRun });
      await (format === "json" ? printJson(report) : print(dryRunText(report)));
      return exitCode.ok;
    }
    const taken = await takeRun(journal, given, log);
    try {
      const { onProgress, end } = progressTo(log);
      const by = operator();
      const report = await taken
        .rollback({ compensate, steps, forceConflicts, acceptUnverified, signal, onProgress, by })
        .finally(end);
      await (format === "json" ? printJson(report) : print(reportText(report)));
      return report.status === "complete" ? exitCode.ok : exitCode.incomplete;
    } finally {
      await taken.close();
    }
  } finally {
    await compensate.close();
  }
}
