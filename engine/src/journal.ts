import { encode, type Head, start, verify } from "./chain.ts";
import { type Clock, systemClock } from "./clock.ts";
import type { Event, JournalRecord } from "./records.ts";
import { fileStorage, type Lock, type Log, type Storage } from "./storage.ts";

/** What a run writes its history to. */
export interface Journal {
  /** Begins a run. Refuses one that exists. */
  create(run: string): Promise<RunLog>;
  /**
   * Goes on with a run, as its only writer, after every record was verified and visited.
   * @throws JournalDamagedError, RunBusyError
   */
  open(run: string, visit: (record: JournalRecord) => void): Promise<RunLog>;
  /** Reads and verifies a run without taking it. Tells how many records it has, and how many bytes of a torn one. */
  read(
    run: string,
    visit: (record: JournalRecord) => void,
  ): Promise<{ readonly records: number; readonly torn: number }>;
  runs(): Promise<readonly string[]>;
}
/** The end of one run's journal. */
export interface RunLog {
  /** `durable` resolves when the record, and every one before it, survives a power cut; without `sync`, at once. */
  append(event: Event, options?: { readonly sync?: boolean }): Written;
  /** Makes everything durable and lets the run go. */
  close(): Promise<void>;
}
export interface Written {
  readonly record: JournalRecord;
  readonly durable: Promise<void>;
}

interface Waiting {
  readonly line: Uint8Array;
  readonly sync: boolean;
  resolve(): void;
  reject(error: unknown): void;
}

/** Lines that arrive while a sync runs share the next one. After a failed write nothing is accepted any more. */
function groupCommit(run: string, log: Log) {
  let waiting: Waiting[] = [];
  let running: Promise<void> | undefined;
  let broken: { readonly error: unknown } | undefined;
  const flush = async () => {
    await Promise.resolve();
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        if (broken) throw broken.error;
        await log.append(
          batch.length === 1 ? (batch[0] as Waiting).line : Buffer.concat(batch.map((w) => w.line)),
        );
        if (batch.some(({ sync }) => sync)) await log.sync();
        for (const { resolve } of batch) resolve();
      } catch (error) {
        const why = (error as { message?: unknown } | null)?.message ?? error;
        broken ??= {
          error: new Error(`run ${run}: its journal cannot be written (${why}); the run goes no further`),
        };
        for (const { reject } of batch) reject(broken.error);
      }
    }
    running = undefined;
  };
  const append = (line: Uint8Array, sync: boolean): Promise<void> => {
    const done = new Promise<void>((resolve, reject) => waiting.push({ line, sync, resolve, reject }));
    running ??= flush();
    done.catch(() => {});
    return sync ? done : Promise.resolve();
  };
  return { append, idle: async () => running, failed: () => broken !== undefined };
}

function writer(run: string, log: Log, lock: Lock, from: Head, clock: Clock): RunLog {
  let head = from;
  const lines = groupCommit(run, log);
  return {
    append(event, { sync = true } = {}) {
      const next = encode(event, head, new Date(clock.now()).toISOString());
      head = next.head;
      const durable = lines.append(next.line, sync);
      return { record: next.record, durable };
    },
    async close() {
      await lines.idle();
      try {
        if (!lines.failed()) await log.sync();
      } finally {
        await log.close();
        await lock.release(lines.failed() ? undefined : head);
      }
    },
  };
}

const named = (run: string): string => {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(run)) return run;
  throw new Error(
    `${JSON.stringify(run)} is no name for a run: letters, digits, ".", "_" and "-", at most 128`,
  );
};

const missing = (run: string, error: unknown): unknown =>
  (error as { code?: string } | null)?.code === "ENOENT" ? new Error(`there is no run ${run}`) : error;

/** A journal of JSON lines on any storage. */
export const journalOn = (storage: Storage, clock: Clock = systemClock): Journal => ({
  async create(run) {
    const lock = await storage.lock(named(run));
    try {
      return writer(run, await storage.create(run), lock, start, clock);
    } catch (error) {
      await lock.release(lock.known);
      if ((error as { code?: string }).code !== "EEXIST") throw error;
      throw new Error(`there is a run ${run} already; go on with it by Run.resume`);
    }
  },
  async open(run, visit) {
    const lock = await storage.lock(named(run));
    try {
      const { head, length, torn } = await verify(run, storage.read(run), lock.known, visit);
      const log = await storage.open(run);
      if (torn > 0) await log.truncate(length);
      return writer(run, log, lock, head, clock);
    } catch (error) {
      await lock.release(lock.known);
      throw missing(run, error);
    }
  },
  async read(run, visit) {
    const known = await storage.known(named(run));
    try {
      const { head, torn } = await verify(run, storage.read(run), known, visit);
      return { records: head.seq, torn };
    } catch (error) {
      throw missing(run, error);
    }
  },
  runs: () => storage.list(),
});

/** Runs as JSON lines in files under `<data>/runs/`: as confidential as the data they hold. */
export const fileJournal = (data: string, clock?: Clock): Journal => journalOn(fileStorage(data), clock);
