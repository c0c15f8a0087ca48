import { renameSync, unlinkSync } from "node:fs";
import {
  ConflictError,
  ConnectorError,
  contentLimit,
  type Holds,
  type OnConflict,
  threeWayRestore,
} from "@reversi-connector/core";
import {
  type Backup,
  bringBack,
  changedMeanwhile,
  contentHash,
  intact,
  isRecorded,
  linked,
  modeOfOthers,
  recordFor,
} from "./backups.ts";
import { codeOf, orNothing, refusal, stillWanted } from "./errors.ts";
import { type Entry, entryAt, removeIfThere, sameFile, syncFolder, untouched } from "./folder.ts";
import { inherit, isBack, isOurs, markBack, undoOf } from "./marks.ts";
import { segmentsBelow, spelling } from "./paths.ts";
import type { Place } from "./tree.ts";
import { lockOf, type Volume } from "./volume.ts";
import { temporaryName } from "./write.ts";

export interface RestoreArguments {
  readonly path: string;
  readonly backup_key: string | null;
  readonly expected_sha256?: string | null;
}
/** Hash of what the undone step left; null for nothing, undefined for no guard. */
type Expected = string | null | undefined;
export interface Restored {
  readonly path: string;
  readonly already: boolean;
  readonly sha256: string | null;
}
/** What an undo is told beside its arguments. */
export interface Undoing {
  readonly signal: AbortSignal;
  readonly onConflict?: OnConflict | undefined;
}

/** What is at a place now. The hash is that of a file one call could have written; nothing larger is read for it. */
interface Now {
  readonly entry: Entry | undefined;
  readonly sha256: string | null;
}
async function look({ tree }: Pick<Volume, "tree">, place: Place): Promise<Now> {
  const entry = tree.entry(place);
  const small = entry?.kind === "file" && entry.size <= contentLimit;
  return { entry, sha256: small ? await contentHash(place.path, place.at, entry) : null };
}

/** Whether the place holds what the backup holds, with its mode. Larger files are read only when nothing cheaper decides. */
async function equals({ store }: Pick<Volume, "store">, place: Place, now: Now, backup: Backup) {
  const { record, entry: kept, key } = backup;
  const { entry } = now;
  if (entry?.kind !== record.kind || entry.size !== record.size || entry.mode !== record.mode) return false;
  const wanted = record.sha256 ?? (await contentHash(place.path, store.at(key), kept));
  return (now.sha256 ?? (await contentHash(place.path, place.at, entry))) === wanted;
}

type State = "before" | "after" | "other";

/** Which of the three states of a guarded undo is there now, when there was an old file. */
async function stateOfReplaced(
  volume: Volume,
  place: Place,
  now: Now,
  backup: Backup,
  expected: Expected,
): Promise<State> {
  if (!now.entry) return expected ? "other" : "after";
  if (await equals(volume, place, now, backup)) return "before";
  // A write keeps the mode: another mode is somebody's change too.
  const { mode } = backup.record;
  const isLeft = now.sha256 !== null && now.sha256 === expected;
  return isLeft && [mode, modeOfOthers(mode)].includes(now.entry.mode) ? "after" : "other";
}

/** The same when there was nothing. What the undo of a later step put back belongs to an earlier one, and stays. */
function stateOfNew(volume: Volume, path: string, { entry, sha256 }: Now, expected: Expected): State {
  if (!entry) return "before";
  const isLeft = sha256 !== null && sha256 === expected;
  if (isLeft && isOurs(volume, path, entry)) return "after";
  if (expected !== undefined && isBack(volume, path, entry)) return "before";
  return isLeft && !volume.store.marked(undoOf(volume, "write", path, sha256)) ? "after" : "other";
}

const inWords = ({ entry, sha256 }: Now) =>
  entry === undefined
    ? "nothing"
    : `a ${entry.kind === "other" ? "special file" : entry.kind} of ${entry.size} bytes, mode ${entry.mode.toString(8)}${sha256 ? `, sha256 ${sha256}` : ""}`;

/** @throws ConflictError when the backup changed because file and backup are one; ConnectorError when it did else */
async function backupOf(volume: Pick<Volume, "store">, path: string, key: string, now: Entry | undefined) {
  const kept = entryAt(volume.store.at(key));
  try {
    return await intact(volume, path, key);
  } catch (error) {
    // Restored before, and edited in place since: file and backup are one.
    if (now && kept && sameFile(now, kept))
      throw new ConflictError(
        `${path}: edited in place since, and backup ${key} with it (both are one file); nothing was changed`,
      );
    throw error;
  }
}

/** Puts the backup at `place`, or removes what is there, if it is still what was seen. */
async function put(
  volume: Volume,
  place: Place,
  seen: Entry | undefined,
  backup: Backup | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { folder, at, path } = place;
  const check = () => {
    stillWanted(signal);
    folder.confirm();
    if (!untouched(volume.tree.entry(place), seen)) throw changedMeanwhile(path);
  };
  if (!backup) {
    check();
    unlinkSync(at);
    return;
  }
  const part = folder.at(temporaryName());
  await bringBack(volume, path, backup, part);
  try {
    inherit(volume, path, backup.entry, entryAt(part));
    check();
    // A link never replaces what came in the last moment.
    if (seen === undefined && linked(part, at)) unlinkSync(part);
    else renameSync(part, at);
  } catch (error) {
    removeIfThere(part);
    throw codeOf(error) === "EEXIST" ? changedMeanwhile(path) : error;
  }
}

export async function restoreFile(
  volume: Volume,
  { path: given, backup_key: key, expected_sha256: expected }: RestoreArguments,
  { signal, onConflict }: Undoing,
): Promise<Restored> {
  const { tree, store, exclusively } = volume;
  const path = spelling(segmentsBelow(given, "path"));
  const record = key === null ? undefined : recordFor(volume, path, key);
  store.make();
  // Without a guard this undoes no step: what is there alone decides, and nothing is marked.
  const isUndo = expected !== undefined;
  const isDone = () => isUndo && key !== null && store.marked(key);
  const place = orNothing(() => tree.place(path));
  if (!place) {
    if (key === null || isDone()) return { path, already: true, sha256: null };
    throw refusal(path, "ENOENT", "its directory is not there; nothing was restored");
  }
  const work = async (): Promise<Restored> => {
    stillWanted(signal);
    const now = await look(volume, place);
    if (isDone()) return { path, already: true, sha256: now.sha256 };
    // The old file itself never went away, or is back: its backup is not needed, and may never have been made.
    const isOld = record !== undefined && now.entry !== undefined && isRecorded(now.entry, record);
    const backup = key === null || isOld ? undefined : await backupOf(volume, path, key, now.entry);
    const state = isOld
      ? "before"
      : backup
        ? await stateOfReplaced(volume, place, now, backup, expected)
        : stateOfNew(volume, path, now, expected);
    const words = {
      before: key === null ? "nothing" : `backup ${key}`,
      after: expected ? `sha256 ${expected}` : "nothing",
      other: inWords(now),
    };
    const verdict = threeWayRestore<State>(
      { before: "before", after: "after", now: state },
      { what: path, same: (a, b) => a === b, describe: (each) => words[each], onConflict },
    );
    if (verdict === "restore") {
      await put(volume, place, now.entry, backup, signal);
      await syncFolder(place.folder);
    }
    if (isUndo && key !== null) {
      const isSame = verdict === "already" && now.sha256 !== null && now.sha256 === expected;
      if (backup && isSame) inherit(volume, path, backup.entry, now.entry);
      store.mark(key);
      markBack(volume, place);
    } else if (expected) store.mark(undoOf(volume, "write", path, expected));
    const { sha256 } = verdict === "restore" ? await look(volume, place) : now;
    return { path, already: verdict === "already", sha256 };
  };
  try {
    return await exclusively([lockOf(place)], work);
  } finally {
    place.close();
  }
}

/** Whether `path` is as the backup holds it, or empty where there was nothing. */
export async function isRestored(
  volume: Pick<Volume, "tree" | "store">,
  { path, backup_key: key }: RestoreArguments,
): Promise<Holds> {
  const { tree, store } = volume;
  const place = orNothing(() => tree.place(path));
  try {
    const now = place && (await look(volume, place));
    if (key === null) return !now?.entry;
    if (!store.read(key)) return "unknown";
    if (!place || !now?.entry) return false;
    if (isRecorded(now.entry, recordFor(volume, place.path, key))) return true;
    return await equals(volume, place, now, await backupOf(volume, place.path, key, now.entry));
  } catch (error) {
    if (ConflictError.is(error)) return false;
    if (ConnectorError.is(error) && error.reason === "BACKUP_CHANGED") return "unknown";
    throw error;
  } finally {
    place?.close();
  }
}
