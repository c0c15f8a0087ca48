import { randomUUID } from "node:crypto";
import { closeSync, constants, openSync, readdirSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { decodeContent, type Encoding, sha256Hex } from "@reversi-connector/core";
import { announce, changedMeanwhile, dress, failed, keep, linked, takeAway } from "./backups.ts";
import { codeOf, refusal, stillWanted } from "./errors.ts";
import { type Entry, entryAt, type Folder, untouched } from "./folder.ts";
import { markMade, undoOf } from "./marks.ts";
import type { Place } from "./tree.ts";
import { type Change, lockOf, placeToChange, type Volume } from "./volume.ts";

export interface WriteArguments {
  readonly path: string;
  readonly content: string;
  readonly encoding: Encoding;
}
export interface Written {
  readonly path: string;
  readonly existed: boolean;
  readonly backup_key: string | null;
  readonly sha256: string;
  readonly size: number;
}
export interface Deleted {
  readonly path: string;
  readonly existed: boolean;
  readonly backup_key: string | null;
  readonly sha256: string | null;
}

const temporary = /^\.reversi-[0-9a-f-]{36}\.tmp$/;
export const temporaryName = (): string => `.reversi-${randomUUID()}.tmp`;
const dayMs = 86_400_000;

/** Once per directory: removes what a crash left of our own writes more than a day ago. */
function sweep({ swept }: Volume, folder: Folder): void {
  const key = `${folder.dev}:${folder.ino}`;
  if (swept.has(key)) return;
  swept.add(key);
  try {
    for (const name of readdirSync(folder.at("."))) {
      if (!temporary.test(name)) continue;
      const entry = entryAt(folder.at(name));
      if (entry?.kind === "file" && Date.now() - Number(entry.ctimeNs / 1_000_000n) > dayMs)
        unlinkSync(folder.at(name));
    }
  } catch (error) {
    // A directory that may be written but not listed, or somebody swept first: nothing depends on it.
    if (codeOf(error) === undefined) throw error;
  }
}

const { O_CREAT, O_EXCL, O_WRONLY } = constants;
/** A whole new file; nothing is left of it when that fails. A new file's mode is the process's to choose. */
function writeNew(at: string, bytes: Buffer, like: Entry | undefined): void {
  const fd = openSync(at, O_WRONLY | O_CREAT | O_EXCL, like ? 0o600 : 0o666);
  try {
    writeFileSync(fd, bytes);
    if (like) dress(fd, like);
  } catch (error) {
    unlinkSync(at);
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** The new content appears at once and whole; the old file keeps its own inode (and the backup's). */
function replace({ folder, at }: Place, bytes: Buffer, old: Entry): void {
  const part = folder.at(temporaryName());
  writeNew(part, bytes, old);
  try {
    renameSync(part, at);
  } catch (error) {
    unlinkSync(part);
    throw error;
  }
}

/** Fails when something stands there, however late it came. */
function create(volume: Volume, { folder, at, path }: Place, bytes: Buffer): void {
  const part = folder.at(temporaryName());
  writeNew(part, bytes, undefined);
  try {
    const entry = entryAt(part);
    if (entry) markMade(volume, path, entry);
    if (!linked(part, at)) writeNew(at, bytes, undefined);
  } finally {
    unlinkSync(part);
  }
}

const whatItIs: Readonly<Record<Entry["kind"], readonly [reason: string, sentence: string]>> = {
  file: ["EINVAL", "is a file"],
  directory: ["EISDIR", "is a directory"],
  symlink: ["ELOOP", "is a symbolic link; write to the file it leads to by its own path"],
  other: ["EINVAL", "is no regular file (a pipe, socket or device)"],
};
/** @throws ConnectorError for any other kind of entry */
export function refuseAllBut(path: string, { kind }: Entry, kinds: readonly Entry["kind"][]): void {
  if (!kinds.includes(kind)) throw refusal(path, ...whatItIs[kind]);
}

export async function writeFile(
  volume: Volume,
  { path, content, encoding }: WriteArguments,
  { signal, checkpoint }: Change<Written>,
): Promise<Written> {
  const { tree, store, exclusively } = volume;
  const bytes = decodeContent({ content, encoding });
  const place = placeToChange(volume, path);
  const work = async (): Promise<Written> => {
    stillWanted(signal);
    sweep(volume, place.folder);
    const old = tree.entry(place);
    if (old) refuseAllBut(place.path, old, ["file"]);
    const backup = old && (await keep(volume, place, old));
    const sha256 = sha256Hex(bytes);
    const result = {
      path: place.path,
      existed: backup !== undefined,
      backup_key: backup?.key ?? null,
      sha256,
      size: bytes.length,
    };
    try {
      await checkpoint({ result });
      stillWanted(signal);
      place.folder.confirm();
      if (!untouched(tree.entry(place), backup?.seen)) throw changedMeanwhile(place.path);
      if (backup) replace(place, bytes, backup.seen);
      else {
        store.unmark(undoOf(volume, "write", place.path, sha256));
        create(volume, place, bytes);
      }
    } catch (error) {
      throw failed(volume, place, backup, error);
    }
    return result;
  };
  try {
    return await exclusively([lockOf(place)], work);
  } finally {
    place.close();
  }
}

export async function deleteFile(
  volume: Volume,
  { path }: { readonly path: string },
  { signal, checkpoint }: Change<Deleted>,
): Promise<Deleted> {
  const { tree, exclusively } = volume;
  const place = placeToChange(volume, path);
  const work = async (): Promise<Deleted> => {
    stillWanted(signal);
    const old = tree.entry(place);
    if (!old) throw refusal(place.path, "ENOENT", "there is nothing to delete");
    refuseAllBut(place.path, old, ["file", "symlink"]);
    const key = announce(volume, place, old);
    const result = { path: place.path, existed: true, backup_key: key, sha256: null };
    try {
      await checkpoint({ result });
      stillWanted(signal);
      place.folder.confirm();
      if (!untouched(tree.entry(place), old)) throw changedMeanwhile(place.path);
      await takeAway(volume, place, old, key, signal);
    } catch (error) {
      throw failed(volume, place, { key, seen: old }, error);
    }
    return result;
  };
  try {
    return await exclusively([lockOf(place)], work);
  } finally {
    place.close();
  }
}
