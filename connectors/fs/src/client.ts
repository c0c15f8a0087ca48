import {
  type Connection,
  ConnectorError,
  type Encoding,
  type Holds,
  type Landed,
  toolsFor,
} from "@reversi-connector/core";
import {
  isRemoved,
  type Made,
  madeLanded,
  makeDir,
  type RemoveArguments,
  type Removed,
  removeDir,
} from "./disk/dirs.ts";
import { explained } from "./disk/errors.ts";
import { deleteLanded, writeLanded } from "./disk/landed.ts";
import { type Moved, moveFile } from "./disk/move.ts";
import { type FileContent, type Listing, listDir, readFile } from "./disk/read.ts";
import {
  isRestored,
  type RestoreArguments,
  type Restored,
  restoreFile,
  type Undoing,
} from "./disk/restore.ts";
import { isUnmoved, moveLanded, type UnmoveArguments, type Unmoved, unmoveFile } from "./disk/unmove.ts";
import { type Change, openVolume } from "./disk/volume.ts";
import { type Deleted, deleteFile, type WriteArguments, type Written, writeFile } from "./disk/write.ts";

export interface FsOptions {
  /** The only directory the connector can touch. */
  readonly root: string;
  /** Where old files are kept; `.reversi-backups` in the root when left out. */
  readonly backupDir?: string;
}

type Known<Result> = { readonly result: Partial<Result> } | undefined;

/** Looks, and never changes anything. */
export interface FsReader {
  readFile(path: string, encoding: Encoding): Promise<FileContent>;
  listDir(args: {
    readonly path: string;
    readonly limit: number;
    readonly cursor?: string;
  }): Promise<Listing>;
  isRestored(args: RestoreArguments): Promise<Holds>;
  isRemoved(args: RemoveArguments): Promise<Holds>;
  isUnmoved(args: UnmoveArguments): Promise<Holds>;
  /** Each from what its call made durable before it wrote; without that nothing can be told. */
  writeLanded(known: Known<Written>): Promise<Landed<Written>>;
  deleteLanded(known: Known<Deleted>): Promise<Landed<Deleted>>;
  makeLanded(known: Known<Made>): Promise<Landed<Made>>;
  moveLanded(known: Known<Moved>): Promise<Landed<Moved>>;
}

/** The same, and every change there is. Each is recorded, and its old content kept, before it is made. */
export interface FsClient extends FsReader {
  writeFile(args: WriteArguments, change: Change<Written>): Promise<Written>;
  deleteFile(args: { readonly path: string }, change: Change<Deleted>): Promise<Deleted>;
  makeDir(args: { readonly path: string }, change: Change<Made>): Promise<Made>;
  moveFile(args: { readonly from: string; readonly to: string }, change: Change<Moved>): Promise<Moved>;
  restoreFile(args: RestoreArguments, undoing: Undoing): Promise<Restored>;
  removeDir(args: RemoveArguments, undoing: Undoing): Promise<Removed>;
  unmoveFile(args: UnmoveArguments, undoing: Undoing): Promise<Unmoved>;
}

export const tool = toolsFor<FsClient, FsReader>("fs");

type Saying = <T>(tried: string, path: string, work: () => T | Promise<T>) => Promise<T>;

/** An answer to "did it land?" from what was durable before the write. */
async function landed<Result extends object>(
  saying: Saying,
  known: Known<Result>,
  ask: (result: Result) => boolean | "unknown" | Promise<boolean | "unknown">,
): Promise<Landed<Result>> {
  if (!known) return "unknown";
  const result = known.result as Result;
  const answer = await saying("look for what is left of", "a call whose answer was lost", () => ask(result));
  return answer === "unknown" ? "unknown" : answer ? { landed: true, result } : { landed: false };
}

export function connect(options: FsOptions): Connection<FsClient, FsReader> {
  const volume = openVolume(options);
  let calls = 0;
  let closed = false;
  // Handles are closed after the last call: a number that is free again may soon stand for another directory.
  const closeWhenIdle = () => {
    if (closed && calls === 0) volume.close();
  };
  /** Says what was tried, on which path, and what the operating system answered. */
  const saying: Saying = async (tried, path, work) => {
    if (closed) throw new ConnectorError(`cannot ${tried} ${path}: the connector is closed`);
    calls++;
    try {
      return await work();
    } catch (error) {
      throw explained(tried, path, error);
    } finally {
      calls--;
      closeWhenIdle();
    }
  };
  const reader: FsReader = {
    readFile: (path, encoding) => saying("read", path, () => readFile(volume, path, encoding)),
    listDir: (args) => saying("list", args.path, () => listDir(volume, args)),
    isRestored: (args) => saying("look at", args.path, () => isRestored(volume, args)),
    isRemoved: (args) => saying("look at", args.path, () => isRemoved(volume, args)),
    isUnmoved: (args) => saying("look at", args.to, () => isUnmoved(volume, args)),
    writeLanded: (known) => landed(saying, known, (result) => writeLanded(volume, result)),
    deleteLanded: (known) => landed(saying, known, (result) => deleteLanded(volume, result)),
    makeLanded: (known) => landed(saying, known, ({ created }) => madeLanded(volume, created)),
    moveLanded: (known) => landed(saying, known, (result) => moveLanded(volume, result)),
  };
  const client: FsClient = {
    ...reader,
    writeFile: (args, change) => saying("write", args.path, () => writeFile(volume, args, change)),
    deleteFile: (args, change) => saying("delete", args.path, () => deleteFile(volume, args, change)),
    makeDir: (args, change) => saying("make", args.path, () => makeDir(volume, args, change)),
    moveFile: (args, change) =>
      saying("move", `${args.from} to ${args.to}`, () => moveFile(volume, args, change)),
    restoreFile: (args, undoing) => saying("restore", args.path, () => restoreFile(volume, args, undoing)),
    removeDir: (args, undoing) => saying("remove", args.path, () => removeDir(volume, args, undoing)),
    unmoveFile: (args, undoing) => saying("move back", args.from, () => unmoveFile(volume, args, undoing)),
  };
  const close = async () => {
    if (closed) return;
    closed = true;
    closeWhenIdle();
  };
  return { reader: () => reader, client: () => client, close };
}
