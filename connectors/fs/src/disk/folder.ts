import {
  type BigIntStats,
  close,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsync,
  lstatSync,
  openSync,
  realpathSync,
  statSync,
  unlinkSync,
} from "node:fs";
import { sep } from "node:path";
import { promisify } from "node:util";
import { EffectUncertainError } from "@reversi-connector/core";
import { codeOf, refusal, systemError } from "./errors.ts";

export interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}
export const sameFile = (a: Identity, b: Identity): boolean => a.dev === b.dev && a.ino === b.ino;

export type Kind = "file" | "directory" | "symlink" | "other";

/** One look at a directory entry; links are not followed. */
export interface Entry extends Identity {
  readonly kind: Kind;
  /** Permission bits with setuid, setgid and sticky. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: number;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly birthtimeNs: bigint;
}

const kindOf = (stats: BigIntStats): Kind =>
  stats.isFile() ? "file" : stats.isDirectory() ? "directory" : stats.isSymbolicLink() ? "symlink" : "other";

export const entryOf = (stats: BigIntStats): Entry => ({
  dev: stats.dev,
  ino: stats.ino,
  kind: kindOf(stats),
  mode: Number(stats.mode & 0o7777n),
  uid: Number(stats.uid),
  gid: Number(stats.gid),
  size: Number(stats.size),
  mtimeNs: stats.mtimeNs,
  ctimeNs: stats.ctimeNs,
  birthtimeNs: stats.birthtimeNs,
});

export function entryAt(path: string | Buffer): Entry | undefined {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && entryOf(stats);
}

/** Removes a file or link that may be gone already. */
export function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

/** Nothing about it changed between two looks. */
export const untouched = (a: Entry | undefined, b: Entry | undefined): boolean =>
  a === undefined || b === undefined
    ? a === b
    : sameFile(a, b) && a.ctimeNs === b.ctimeNs && a.mtimeNs === b.mtimeNs && a.size === b.size;

/** An open directory. What is reached through it stays in it, whatever happens to the names above it. */
export interface Folder extends Identity {
  /** A path to one of its entries, for the next system call. */
  at(name: string): string;
  /** One of its directories. A symbolic link, like anything else that is none, is ENOTDIR. */
  descend(name: string): Folder;
  /** Right before a change: fails when the directory is no longer where it was (only where no handle holds it). */
  confirm(): void;
  close(): void;
}

// Absent on Windows, where a flag that is undefined must not turn the others into NaN.
const { O_DIRECTORY = 0, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = constants;
const handleOnly = 0o10000000; // O_PATH
export const readFlags: number = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

/** Whether directories can be held open and worked through, so that no race can lead elsewhere. */
export const hasHandles: boolean = process.platform === "linux" && existsSync("/proc/self/fd");

/** Linux: a handle, and `/proc/self/fd/<n>/<name>` for what is in it. */
export function folderByHandle(path: string, { follow = false } = {}): Folder {
  const fd = openSync(path, handleOnly | O_DIRECTORY | (follow ? 0 : O_NOFOLLOW));
  const { dev, ino } = fstatSync(fd, { bigint: true });
  const prefix = `/proc/self/fd/${fd}/`;
  return {
    dev,
    ino,
    at: (name) => prefix + name,
    descend: (name) => folderByHandle(prefix + name),
    confirm: () => {},
    close: () => closeSync(fd),
  };
}

/** Elsewhere: a real path inside `root`, compared again before every change; a small race stays. */
export function folderByPath(path: string, root: string | undefined, { follow = false } = {}): Folder {
  const found = lstatSync(path, { bigint: true });
  if (!found.isDirectory() && !(follow && found.isSymbolicLink())) throw systemError("ENOTDIR");
  const real = realpathSync.native(path);
  const { dev, ino } = statSync(real, { bigint: true });
  if (root !== undefined && real !== root && !real.startsWith(root.endsWith(sep) ? root : root + sep))
    throw refusal("path", "OUTSIDE_ROOT", "leads outside the root");
  const prefix = real.endsWith(sep) ? real : real + sep;
  return {
    dev,
    ino,
    at: (name) => prefix + name,
    descend: (name) => folderByPath(prefix + name, root),
    confirm: () => {
      const now = statSync(real, { bigint: true, throwIfNoEntry: false });
      if (!now || !sameFile(now, { dev, ino }) || realpathSync.native(real) !== real)
        throw refusal("path", "EBUSY", "a directory on the way was replaced meanwhile; nothing was changed");
    },
    close: () => {},
  };
}

const closed = promisify(close);
const synced = promisify(fsync);

/**
 * Puts the names in a directory on disk. Where directories cannot be synced (Windows, some mounts) that is left out.
 * @throws EffectUncertainError when the disk answers that it failed: the change is made, but may not last
 */
export async function syncFolder(folder: Folder): Promise<void> {
  let fd: number | undefined;
  try {
    fd = openSync(folder.at("."), O_RDONLY | O_DIRECTORY);
    await synced(fd);
  } catch (error) {
    const code = codeOf(error);
    if (code === "EIO" || code === "ENOSPC" || code === "EDQUOT")
      throw new EffectUncertainError(`done, but the disk could not keep it (${code})`);
  } finally {
    if (fd !== undefined) await closed(fd);
  }
}
