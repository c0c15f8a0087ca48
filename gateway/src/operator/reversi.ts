import yargs from "yargs";
import { dataFolder } from "../proxy/options.ts";
import { redactorFor, stderrLog } from "../shared/log.ts";
import { exitCode, UsageError, version } from "../shared/usage.ts";
import { decide, resolve } from "./decide.ts";
import type { Format } from "./output.ts";
import { rollback } from "./rollback.ts";
import { showRun, showRuns, showTimeline, verifyJournal } from "./show.ts";

const run = { type: "string", demandOption: true, description: "a run, as reversi runs lists it" } as const;
const longestSeconds = 86_400;

function wholeSeconds(flag: string, value: number): number {
  if (Number.isInteger(value) && value >= 0 && value <= longestSeconds) return value * 1000;
  throw new UsageError(`--${flag} must be a whole number from 0 to ${longestSeconds}`);
}
function stepNumbers(values: readonly number[] | undefined): readonly number[] | undefined {
  if (values?.some((value) => !Number.isInteger(value) || value < 1))
    throw new UsageError("--step must be the number of a step");
  return values;
}

/** The operator's command. Resolves with the exit code. */
export async function reversi(argv: readonly string[]): Promise<number> {
  const log = stderrLog("reversi", redactorFor(process.env), process.env);
  let code: number = exitCode.ok;
  const parser = yargs([...argv])
    .scriptName("reversi")
    .detectLocale(false)
    .usage("$0 <command>\n\nWhat agents did through reversi-gateway, and the way back")
    .option("data", {
      type: "string",
      description: "Where runs are journaled (REVERSI_DATA, else ./reversi-data)",
    })
    .option("format", {
      choices: ["text", "json"] as const,
      default: "text" as Format,
      description: "How it is printed",
    })
    .middleware((given) => {
      given.data = dataFolder(given.data, process.env);
    })
    .command("runs", "List all runs, newest first", {}, ({ data, format }) =>
      showRuns(String(data), format as Format),
    )
    .command(
      "show <run>",
      "Show the steps of a run that write",
      (command) => command.positional("run", run),
      ({ data, run: name, format }) => showRun(String(data), name, format as Format),
    )
    .command(
      "timeline <run>",
      "Show every record of a run",
      (command) => command.positional("run", run),
      ({ data, run: name, format }) => showTimeline(String(data), name, format as Format),
    )
    .command(
      "rollback <run>",
      "Undo a run, newest step first",
      (command) =>
        command
          .positional("run", run)
          .option("compensator-cmd", {
            type: "string",
            demandOption: true,
            requiresArg: true,
            description: "The program that undoes: one call as JSON on its stdin, exit 0 when it is undone",
          })
          .option("dry-run", {
            type: "boolean",
            default: false,
            description: "Say what would be done; reads only",
          })
          .option("step", { type: "number", array: true, description: "Only these steps" })
          .option("force-conflicts", {
            type: "boolean",
            default: false,
            description: "Overwrite what others changed since, where the tool can",
          })
          .option("accept-unverified", {
            type: "boolean",
            default: false,
            description: "Count undone steps as done that cannot be read back",
          })
          .option("wait", {
            type: "number",
            default: 60,
            description: "Seconds a gateway may take to let the run go",
          })
          .option("undo-timeout", { type: "number", default: 120, description: "Seconds one undo may take" })
          .option("hello-timeout", {
            type: "number",
            default: 5,
            description: "Seconds the compensator may take to say that it serves many calls",
          })
          .option("grace", {
            type: "number",
            default: 30,
            description: "Seconds after a call's time in which a request without an answer may still arrive",
          })
          .example(
            '$0 rollback RUN --compensator-cmd "reversi-connectors compensate --root ."',
            "undo all of it",
          ),
      async (given) => {
        code = await rollback(
          {
            data: String(given.data),
            run: given.run,
            compensatorCmd: given.compensatorCmd,
            dryRun: given.dryRun,
            steps: stepNumbers(given.step),
            forceConflicts: given.forceConflicts,
            acceptUnverified: given.acceptUnverified,
            waitMs: wholeSeconds("wait", given.wait),
            callMs: wholeSeconds("undo-timeout", given.undoTimeout),
            helloMs: wholeSeconds("hello-timeout", given.helloTimeout),
            graceMs: wholeSeconds("grace", given.grace),
            format: given.format as Format,
          },
          log,
        );
      },
    )
    .command(
      "resolve <run> <step>",
      "Settle a step whose outcome nobody knows, on your word",
      (command) =>
        command
          .positional("run", run)
          .positional("step", { type: "number", demandOption: true })
          .option("applied", {
            type: "string",
            requiresArg: true,
            description: "It took effect, with the result in this JSON file (- for stdin)",
          })
          .option("not-applied", { type: "boolean", description: "Nothing of it stands" })
          .option("evidence", { type: "string", requiresArg: true, description: "What your word rests on" })
          .conflicts("applied", "not-applied")
          .check(({ applied, notApplied }) => {
            if (applied === undefined && !notApplied)
              throw new UsageError("say --applied RESULT.json or --not-applied");
            return true;
          }),
      ({ data, run: name, step, applied, evidence }) =>
        resolve(String(data), name, step, { applied, evidence }),
    )
    .command(
      "approve <id>",
      "Let one waiting call through, exactly as it stands",
      (command) =>
        command
          .positional("id", { type: "string", demandOption: true })
          .option("by", { type: "string", description: "Who approves" }),
      ({ data, id, by }) => decide(String(data), id, true, by),
    )
    .command(
      "deny <id>",
      "Refuse a waiting call",
      (command) =>
        command
          .positional("id", { type: "string", demandOption: true })
          .option("by", { type: "string", description: "Who denies" })
          .option("why", { type: "string", description: "Told to the agent" }),
      ({ data, id, by, why }) => decide(String(data), id, false, by, why),
    )
    .command(
      "verify-journal <run>",
      "Check that a journal is as it was written",
      (command) => command.positional("run", run),
      ({ data, run: name, format }) => verifyJournal(String(data), name, format as Format),
    )
    .demandCommand(1, "say what to do; see reversi --help")
    .strict()
    .recommendCommands()
    .version(version)
    .wrap(null)
    .exitProcess(false)
    .epilogue("Exit codes: 0 done (rollback: complete), 1 failed, 2 rollback incomplete, 64 bad input")
    .fail((message, error) => {
      throw error ?? new UsageError(message);
    });
  await parser.parseAsync();
  return code;
}
