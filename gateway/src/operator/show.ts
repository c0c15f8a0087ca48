import type { Group, JournalRecord, Step } from "@reversi-connector/engine";
import { approvalQueue, isOver } from "../shared/queue.ts";
import { checkRun, historyOf, journalIn, lookAt, type RunSummary, statusOf, summaries } from "./history.ts";
import { callText, compact, counted, type Format, paint, print, printJson, short, table } from "./output.ts";

const time = (at: string | undefined) => (at ?? "").replace("T", " ").replace(/\.\d+Z$/, "Z");
const statusColours = {
  open: "bold",
  fenced: "yellow",
  complete: "green",
  incomplete: "red",
  damaged: "red",
} as const;

const waitingIn = async (data: string) =>
  (await approvalQueue(data).list()).filter((one) => !one.answer && !isOver(one));

function runRow({ run, opened, status, writes = 0, reads = 0, message }: RunSummary): string[] {
  const what =
    message === undefined ? `${counted(writes, "write")}, ${counted(reads, "read")}` : short(message, 300);
  return [run, time(opened), status, what];
}

/** `reversi runs` */
export async function showRuns(data: string, format: Format): Promise<void> {
  const all = await summaries(journalIn(data));
  if (format === "json") return printJson(all);
  if (all.length === 0) return print(`No run was journaled in ${data}.\n`);
  await print(table(all.map(runRow)));
  const waiting = await waitingIn(data);
  if (waiting.length === 0) return;
  const rows = waiting.map(({ id, run, tool, args }) => [id, run, callText({ tool, args })]);
  await print(`\nWaiting for \`reversi approve ID\` or \`reversi deny ID\`:\n${table(rows, "  ")}`);
}

/** One step as `reversi show` tells it. */
interface Shown {
  readonly step: number;
  readonly tool: string;
  /** How a report would count it; `executing` and `awaiting_approval` while they last. */
  readonly state: Group | Step["status"];
  readonly undo?: Step["undo"];
  readonly message?: string;
  readonly requires?: readonly number[];
}

/** `reversi show RUN` */
export async function showRun(data: string, run: string, format: Format): Promise<void> {
  const journal = journalIn(data);
  await checkRun(journal, run);
  const { state, opened, last } = await historyOf(journal, run);
  const { groups } = (await lookAt(journal, run)).report();
  const steps: Shown[] = [];
  for (const [group, members = []] of Object.entries(groups)) {
    for (const { step, tool, undo, message } of members) {
      const found = state.steps.get(step);
      const passing = found?.status === "executing" || found?.status === "awaiting_approval";
      steps.push({
        step,
        tool,
        state: passing && found ? found.status : (group as Group),
        ...(undo && { undo }),
        ...(message !== undefined && !passing && { message }),
        ...(found && found.requires.length > 0 && { requires: found.requires }),
      });
    }
  }
  steps.sort((a, b) => a.step - b.step);
  const waiting = (await waitingIn(data)).filter((question) => question.run === run);
  const { scope, reads } = state;
  const status = statusOf(state);
  if (format === "json") return printJson({ run, status, opened, last, scope, reads, steps, waiting });
  await print(
    `Run ${run}: ${paint(statusColours[status], status)}\n` +
      `  opened ${time(opened)}, last record ${time(last)}, ${counted(reads, "read")}\n` +
      `  scope: ${scope === null ? "everything" : scope.join(", ") || "nothing"}\n`,
  );
  for (const { step, tool, state: how, undo, message, requires } of steps) {
    await print(`  ${step}  ${short(tool)}  ${how}\n`);
    if (undo) await print(`      undo: ${callText(undo)}\n`);
    if (requires) await print(`      needs step ${requires.join(", ")}\n`);
    if (message !== undefined) await print(`      ${short(message, 300)}\n`);
  }
  for (const { id, tool, args } of waiting)
    await print(`  waiting: ${callText({ tool, args })}  reversi approve ${id}\n`);
}

/** What a record says besides its kind and step, in one line. */
function detailsOf(record: JournalRecord): string {
  switch (record.type) {
    case "run_opened":
      return `scope ${record.scope === null ? "everything" : record.scope.join(", ")}`;
    case "read":
    case "intent":
    case "undo_intent":
    case "awaiting_approval":
      return callText(record);
    case "applied":
      return record.undo ? `undo: ${callText(record.undo)}` : (record.unresolvable ?? "");
    case "checkpoint":
      return compact(record.result);
    case "failed":
    case "uncertain":
    case "undo_failed":
    case "undo_uncertain":
    case "conflict":
      return record.error.message;
    case "refused":
    case "undo_early":
      return record.why;
    case "denied":
      return `by ${record.by}: ${record.why}`;
    case "approved":
      return `by ${record.by}, until ${time(record.expires)}`;
    case "compensated":
      return record.verified === true ? "read back" : "not read back";
    case "resolved":
      return `${record.outcome} by ${record.by}: ${record.evidence}`;
    case "lease":
      return `by ${record.by}`;
    case "report":
      return record.status;
    default:
      return "";
  }
}

/** `reversi timeline RUN` */
export async function showTimeline(data: string, run: string, format: Format): Promise<void> {
  const journal = journalIn(data);
  await checkRun(journal, run);
  const records: JournalRecord[] = [];
  await historyOf(journal, run, (record) => {
    if (record.type !== "manifest") records.push(record);
  });
  if (format === "json") return printJson(records);
  const rows = records.map((record) => [
    record.at,
    "step" in record ? String(record.step) : "",
    record.type,
    short(detailsOf(record), 300),
  ]);
  await print(table(rows));
}

/** `reversi verify-journal RUN` */
export async function verifyJournal(data: string, run: string, format: Format): Promise<void> {
  const journal = journalIn(data);
  await checkRun(journal, run);
  const { records, torn } = await journal.read(run, () => {});
  if (format === "json") return printJson({ run, intact: true, records, torn_bytes: torn });
  const cut =
    torn > 0 ? `; its last line was cut off after ${counted(torn, "byte")}, and does not count` : "";
  await print(`Run ${run}: the journal is intact, ${counted(records, "record")}${cut}.\n`);
}
