import { createHash, randomUUID } from "node:crypto";
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fdatasync,
  fstatSync,
  futimesSync,
  linkSync,
  openSync,
  read,
  readlinkSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  write,
} from "node:fs";
import { promisify } from "node:util";
import { ConflictError, EffectUncertainError, sha256Hex } from "@reversi-connector/core";
import { hashSeen, openSeen } from "./content.ts";
import { codeOf, refusal, stillWanted } from "./errors.ts";
import { type Entry, entryAt, sameFile, untouched } from "./folder.ts";
import { inherit } from "./marks.ts";
import type { FileRecord } from "./store.ts";
import type { Place } from "./tree.ts";
import type { Volume } from "./volume.ts";

const synced = promisify(fdatasync);
const readSome = promisify(read);
const writeSome = promisify(write);

/** The file system cannot link here: other device, no links at all, or not for this user. */
const noLink = (error: unknown): boolean =>
  ["EXDEV", "EPERM", "EMLINK", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(codeOf(error) ?? "");

/**
 * Gives a file a second name, or says that the file system cannot.
 * @throws EEXIST when something has that name
 */
export function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (noLink(error)) return false;
    throw error;
  }
}

/** What is kept of a mode where the owner cannot be: nobody else's setuid or setgid on content of ours. */
export const modeOfOthers = (mode: number): number => mode & 0o1777;

/** Gives an open file owner and mode of another. Owner first: changing it clears setuid. */
export function dress(fd: number, { uid, gid, mode }: Pick<Entry, "uid" | "gid" | "mode">): void {
  let kept = mode;
  const now = fstatSync(fd);
  if (now.uid !== uid || now.gid !== gid) {
    try {
      fchownSync(fd, uid, gid);
    } catch (error) {
      if (codeOf(error) === undefined) throw error;
      kept = modeOfOthers(mode);
    }
  }
  fchmodSync(fd, kept);
}

/**
 * Copies a file to a new name, with mode, owner (where permitted) and times, puts it on disk and reads it back.
 * @returns the hash of both
 */
export async function copyFile(path: string, from: string, seen: Entry, to: string): Promise<string> {
  const source = openSeen(path, from, seen);
  let target: number | undefined;
  try {
    target = openSync(to, "wx", 0o600);
    const hash = createHash("sha256");
    const buffer = Buffer.allocUnsafe(1 << 20);
    for (;;) {
      const { bytesRead } = await readSome(source, buffer, 0, buffer.length, null);
      if (bytesRead === 0) break;
      hash.update(buffer.subarray(0, bytesRead));
      for (let done = 0; done < bytesRead; ) {
        done += (await writeSome(target, buffer, done, bytesRead - done, null)).bytesWritten;
      }
    }
    dress(target, seen);
    futimesSync(target, Number(seen.mtimeNs) / 1e9, Number(seen.mtimeNs) / 1e9);
    await synced(target);
    const copied = entryAt(to);
    const sha256 = hash.digest("hex");
    if (!copied || (await hashSeen(path, to, copied)) !== sha256)
      throw refusal(path, "EIO", "the copy does not hold what was read; nothing was changed");
    return sha256;
  } catch (error) {
    if (target !== undefined) unlinkSync(to);
    throw error;
  } finally {
    closeSync(source);
    if (target !== undefined) closeSync(target);
  }
}

/** SHA-256 of what an entry holds: a file's bytes, a link's text. */
export const contentHash = async (path: string, at: string, seen: Entry): Promise<string> =>
  seen.kind === "symlink" ? sha256Hex(readlinkSync(at, { encoding: "buffer" })) : hashSeen(path, at, seen);

/**
 * A second name for a file or link; a copy where the file system has no second names.
 * @returns the hash of a copy, null for a second name
 */
async function secondName(path: string, from: string, seen: Entry, to: string): Promise<string | null> {
  // Elsewhere than on Linux, link() may follow a symbolic link.
  if ((seen.kind === "file" || process.platform === "linux") && linked(from, to)) return null;
  if (seen.kind === "file") return copyFile(path, from, seen, to);
  const text = readlinkSync(from, { encoding: "buffer" });
  symlinkSync(text, to);
  return sha256Hex(text);
}

const recordOf = (op: FileRecord["op"], path: string, entry: Entry, sha256: string | null): FileRecord => ({
  version: 1,
  op,
  path,
  kind: entry.kind === "symlink" ? "symlink" : "file",
  mode: entry.mode,
  uid: entry.uid,
  gid: entry.gid,
  size: entry.size,
  mtimeNs: String(entry.mtimeNs),
  ino: String(entry.ino),
  sha256,
  createdAt: new Date().toISOString(),
});

export const changedMeanwhile = (path: string): ConflictError =>
  new ConflictError(`${path}: somebody changed it during this call; nothing was overwritten`);

export interface Kept {
  readonly key: string;
  /** The file as it is now that it has a second name. */
  readonly seen: Entry;
}

/** Keeps the file at `place` under a new key, with its record. The file itself stays where it is. */
export async function keep(volume: Volume, place: Place, seen: Entry): Promise<Kept> {
  const { tree, store } = volume;
  const key = randomUUID();
  try {
    const sha256 = await secondName(place.path, place.at, seen, store.at(key));
    const now = sha256 === null ? entryAt(store.at(key)) : tree.entry(place);
    // A second name changes nothing but ctime; whatever else differs was somebody else.
    if (!now || !sameFile(now, seen) || now.mtimeNs !== seen.mtimeNs || now.size !== seen.size)
      throw changedMeanwhile(place.path);
    if (sha256 !== null) inherit(volume, place.path, now, entryAt(store.at(key)));
    store.write(key, recordOf("write", place.path, now, sha256));
    return { key, seen: now };
  } catch (error) {
    store.forget(key);
    throw error;
  }
}

/**
 * The error of a change that failed: the backup goes again when the old file stands there as before.
 * Otherwise nobody can say who changed it: a network mount may have done what it called a failure.
 */
export function failed(
  { tree, store }: Volume,
  place: Place,
  old: Kept | undefined,
  error: unknown,
): unknown {
  const now = tree.entry(place);
  const asBefore = old ? now !== undefined && sameFile(now, old.seen) : now === undefined;
  if (old && asBefore) store.abandon(old.key);
  const code = codeOf(error);
  if (asBefore || code === undefined) return error;
  if (code === "EEXIST") return changedMeanwhile(place.path);
  return new EffectUncertainError(
    `${place.path}: ${code}, but something else stands there now; the old file is kept`,
  );
}

/** Records a file or link that is about to be taken away. */
export function announce({ store }: Volume, place: Place, seen: Entry): string {
  const key = randomUUID();
  store.write(key, recordOf("delete", place.path, seen, null), { sync: true });
  return key;
}

/** Moves the announced file or link into the store. */
export async function takeAway(
  volume: Volume,
  place: Place,
  seen: Entry,
  key: string,
  signal: AbortSignal,
): Promise<void> {
  const { tree, store } = volume;
  try {
    renameSync(place.at, store.at(key));
  } catch (error) {
    if (codeOf(error) !== "EXDEV") throw error;
    const sha256 = await secondName(place.path, place.at, seen, store.at(key));
    inherit(volume, place.path, seen, entryAt(store.at(key)));
    store.write(key, recordOf("delete", place.path, seen, sha256), { sync: true });
    stillWanted(signal);
    if (!untouched(tree.entry(place), seen)) throw changedMeanwhile(place.path);
    unlinkSync(place.at);
    return;
  }
  const taken = entryAt(store.at(key));
  if (taken && sameFile(taken, seen)) return;
  // Somebody put another file there in the last moment. It goes back where nothing stands in its place.
  if (tree.entry(place) !== undefined)
    throw new ConflictError(
      `${place.path}: somebody replaced it twice during this call; one of theirs is kept as backup ${key}`,
    );
  renameSync(store.at(key), place.at);
  store.forget(key);
  throw changedMeanwhile(place.path);
}

/** A backup that is there and holds what its record says. */
export interface Backup {
  readonly key: string;
  readonly record: FileRecord;
  readonly entry: Entry;
}

/** @throws ConnectorError for a key that is unknown, or that belongs to another path */
export function recordFor({ store }: Pick<Volume, "store">, path: string, key: string): FileRecord {
  const record = store.read(key);
  if (!record || record.op === "move")
    throw refusal(path, "ENOENT", `there is no backup ${key}; nothing was changed`);
  if (record.path !== path)
    throw refusal(path, "EINVAL", `backup ${key} is of ${record.path}; nothing was changed`);
  return record;
}

/** Whether an entry is the very file of a record, as it was: same inode, size, time of change and mode. */
export const isRecorded = (entry: Entry, record: FileRecord): boolean =>
  entry.kind === record.kind &&
  String(entry.ino) === record.ino &&
  entry.size === record.size &&
  String(entry.mtimeNs) === record.mtimeNs &&
  entry.mode === record.mode;

/** @throws ConnectorError when the backup is missing or is not what its record says any more */
export async function intact({ store }: Pick<Volume, "store">, path: string, key: string): Promise<Backup> {
  const record = recordFor({ store }, path, key);
  const entry = entryAt(store.at(key));
  const changed = (what: string) =>
    refusal(path, "BACKUP_CHANGED", `backup ${key} ${what}; nothing was changed`);
  if (!entry) throw changed("is missing");
  const isIntact =
    record.sha256 === null
      ? isRecorded(entry, record)
      : entry.kind === record.kind && (await contentHash(path, store.at(key), entry)) === record.sha256;
  if (!isIntact) throw changed("is not what its record says any more");
  return { key, record, entry };
}

/**
 * Puts the backup's file at a new name; the backup stays.
 * @throws EEXIST when something stands there
 */
export async function bringBack({ store }: Volume, path: string, backup: Backup, to: string): Promise<void> {
  const { record, entry, key } = backup;
  const copied = await secondName(path, store.at(key), entry, to);
  if (copied !== null && record.sha256 !== null && copied !== record.sha256) {
    unlinkSync(to);
    throw refusal(path, "BACKUP_CHANGED", `backup ${key} changed while it was read; nothing was changed`);
  }
}
