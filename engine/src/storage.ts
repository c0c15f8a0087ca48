import { writeSync } from "node:fs";
import { constants, type FileHandle, mkdir, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Head } from "./chain.ts";
import { lockIn } from "./lock.ts";

/** Where a journal's bytes live: one append-only log per run. */
export interface Storage {
  list(): Promise<readonly string[]>;
  /** A new, empty log that is still there after a power cut. Refuses one that exists. */
  create(run: string): Promise<Log>;
  open(run: string): Promise<Log>;
  read(run: string): AsyncIterable<Uint8Array>;
  /** @throws RunBusyError while another living process holds it */
  lock(run: string): Promise<Lock>;
  /** Where the log ended when its last writer closed it, if it did. */
  known(run: string): Promise<Head | undefined>;
}
/** The end of one log, for its only writer. */
export interface Log {
  append(bytes: Uint8Array): Promise<void>;
  /** Everything appended before is durable when it resolves. */
  sync(): Promise<void>;
  truncate(length: number): Promise<void>;
  close(): Promise<void>;
}
export interface Lock {
  readonly known: Head | undefined;
  release(head: Head | undefined): Promise<void>;
}

const chunkSize = 1 << 20;

async function* chunksOf(path: string): AsyncGenerator<Uint8Array> {
  const file = await open(path, "r");
  try {
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(chunkSize), 0, chunkSize);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** A write of up to this many bytes is in the system's cache before a thread could be woken for it. */
const smallWrite = 1 << 16;

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  const small = bytes.length <= smallWrite;
  for (let at = 0; at < bytes.length; )
    at += small ? writeSync(file.fd, bytes, at) : (await file.write(bytes, at)).bytesWritten;
}

const logOf = (file: FileHandle): Log => ({
  append: (bytes) => writeAll(file, bytes),
  sync: () => file.datasync(),
  truncate: async (length) => {
    await file.truncate(length);
    await file.sync();
  },
  close: () => file.close(),
});

/** A new name in a folder survives a power cut only when the folder itself was synced. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

const { O_APPEND, O_CREAT, O_EXCL, O_WRONLY } = constants;

/** Runs as files `<data>/runs/<run>.jsonl` (0600) in a folder of mode 0700; locks beside them. */
export function fileStorage(data: string): Storage {
  const runs = join(data, "runs");
  const pathOf = (run: string) => join(runs, `${run}.jsonl`);
  const locks = (run: string) => join(data, "locks", run);
  const prepared = async () => {
    if ((await mkdir(runs, { recursive: true, mode: 0o700 })) !== undefined) await syncFolder(data);
  };
  return {
    list: async () => {
      await prepared();
      const names = await readdir(runs);
      return names.filter((name) => name.endsWith(".jsonl")).map((name) => name.slice(0, -".jsonl".length));
    },
    create: async (run) => {
      await prepared();
      const file = await open(pathOf(run), O_APPEND | O_CREAT | O_EXCL | O_WRONLY, 0o600);
      await syncFolder(runs);
      return logOf(file);
    },
    open: async (run) => logOf(await open(pathOf(run), O_APPEND | O_WRONLY)),
    read: (run) => chunksOf(pathOf(run)),
    lock: (run) => lockIn(locks(run), run).acquire(),
    known: (run) => lockIn(locks(run), run).known(),
  };
}
