import { existsSync } from "node:fs";
import {
  fileJournal,
  type Journal,
  JournalDamagedError,
  type JournalRecord,
  Run,
  type RunState,
} from "@reversi-connector/engine";
import { didYouMean, messageOf, UsageError } from "../shared/usage.ts";

/** A run as its journal tells it, without taking it from whoever writes it. */
export interface History {
  readonly run: string;
  readonly opened: string;
  /** When the last record was written. */
  readonly last: string;
  readonly state: RunState;
}
export type RunStatus = "open" | "fenced" | "complete" | "incomplete";

/** @throws UsageError when there is no such folder */
export function journalIn(data: string): Journal {
  if (existsSync(data)) return fileJournal(data);
  throw new UsageError(`there is no data folder ${data}; name it with --data or REVERSI_DATA`);
}

/** @throws UsageError with the nearest names */
export async function checkRun(journal: Journal, run: string): Promise<void> {
  const known = await journal.runs();
  if (known.includes(run)) return;
  const none = known.length === 0 ? " No run was journaled there." : "";
  throw new UsageError(`there is no run ${run}.${didYouMean(run, known)}${none} See: reversi runs`);
}

/** Reads and verifies a run. @throws JournalDamagedError */
export async function historyOf(
  journal: Journal,
  run: string,
  visit?: (record: JournalRecord) => void,
): Promise<History> {
  let opened = "";
  let last = "";
  const watched: Journal = {
    ...journal,
    read: (name, reduce) =>
      journal.read(name, (record) => {
        if (record.type === "run_opened") opened = record.at;
        last = record.at;
        visit?.(record);
        reduce(record);
      }),
  };
  return { run, state: await Run.load({ journal: watched, run }), opened, last };
}

/** A run whose journal stays as it is, and with whoever writes it: for questions only. */
export async function lookAt(journal: Journal, run: string): Promise<Run> {
  const reader: Journal = {
    ...journal,
    async open(name, visit) {
      await journal.read(name, visit);
      const append = () => {
        throw new Error(`run ${name} was opened for reading`);
      };
      return { append, close: async () => {} };
    },
  };
  return Run.resume({ journal: reader, run });
}

export const statusOf = ({ reported, fenced }: RunState): RunStatus =>
  reported ?? (fenced ? "fenced" : "open");

/** One line of `reversi runs`. */
export interface RunSummary {
  readonly run: string;
  readonly opened?: string;
  readonly last?: string;
  readonly status: RunStatus | "damaged";
  /** Steps that write. */
  readonly writes?: number;
  readonly reads?: number;
  /** What is wrong with its journal. */
  readonly message?: string;
}

/** All runs, newest first; those that cannot be read at the end. */
export async function summaries(journal: Journal): Promise<RunSummary[]> {
  const found: RunSummary[] = [];
  for (const run of await journal.runs()) {
    try {
      const { opened, last, state } = await historyOf(journal, run);
      // A run that is being opened this very moment has no record yet.
      if (opened === "") continue;
      found.push({
        run,
        opened,
        last,
        status: statusOf(state),
        writes: state.steps.size,
        reads: state.reads,
      });
    } catch (error) {
      if (!JournalDamagedError.is(error)) throw error;
      found.push({ run, status: "damaged", message: messageOf(error) });
    }
  }
  const key = ({ opened = "", run }: RunSummary) => `${opened} ${run}`;
  return found.sort((a, b) => (key(a) < key(b) ? 1 : -1));
}
