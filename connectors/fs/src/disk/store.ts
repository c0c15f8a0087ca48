import {
  chmodSync,
  closeSync,
  fdatasyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, resolve, sep } from "node:path";
import { hashOf, InvalidArgumentsError } from "@reversi-connector/core";
import { readSeen } from "./content.ts";
import { codeOf, orNothing, refusal } from "./errors.ts";
import {
  entryAt,
  type Folder,
  folderByHandle,
  folderByPath,
  type Identity,
  removeIfThere,
  sameFile,
} from "./folder.ts";
import type { Root } from "./tree.ts";

/** What a backup holds and where it belongs; written beside it before anything changes. */
export interface FileRecord {
  readonly version: 1;
  readonly op: "write" | "delete";
  readonly path: string;
  readonly kind: "file" | "symlink";
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: number;
  readonly mtimeNs: string;
  /** Inode number of the file that was there. The backup is that very file, unless `sha256` is set. */
  readonly ino: string;
  /** Set when the backup is a copy (another file system): the hash of what was copied. */
  readonly sha256: string | null;
  readonly createdAt: string;
}
/** What was moved, so that it is known again at its new place. */
export interface MoveRecord {
  readonly version: 1;
  readonly op: "move";
  readonly from: string;
  readonly to: string;
  readonly kind: "file" | "directory" | "symlink";
  readonly dev: string;
  readonly ino: string;
  /** Tells a file from a later one that was given the same inode number; null where the system cannot say. */
  readonly birthtimeNs: string | null;
  readonly sha256: string | null;
  readonly createdAt: string;
}
export type StoreRecord = FileRecord | MoveRecord;

/** The backup directory: backups, their records, and marks of what was undone. Flat; only its own user may enter. */
export interface Store {
  /** Which directory it is now; undefined before the first write. */
  identity(): Identity | undefined;
  /** Makes the directory when it is not there. */
  make(): void;
  /** A path to one of its entries. The directory must be there. */
  at(name: string): string;
  /** Durable when `sync` is set, else as safe as the process, not as the power supply. */
  write(key: string, record: StoreRecord, options?: { readonly sync?: boolean }): void;
  /** @throws ConnectorError for a record that nobody here can have written */
  read(key: string): StoreRecord | undefined;
  /** Drops a backup that turned out not to be needed. */
  forget(key: string): void;
  /** Forgets what was announced and never done, and says so to whoever was told of it before. */
  abandon(key: string): void;
  isAbandoned(key: string): boolean;
  mark(name: string): void;
  marked(name: string): boolean;
  unmark(name: string): void;
  /** A name for a mark, made from what identifies it; another root has other names. */
  nameOf(...identity: readonly string[]): string;
  /** Whether the store lies in that directory, at any depth, or is it. */
  isWithin(directory: Identity): boolean;
  close(): void;
}

const defaultName = ".reversi-backups";
const recordName = (key: string) => `${key}.json`;
const markName = (name: string) => `${name}.mark`;

const unlessThere = (make: () => unknown) => {
  try {
    make();
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
};

export function openStore(root: Root, backupDir: string | undefined, handles: boolean): Store {
  // The default is reached through the root's handle and may be no link; another one is the operator's choice.
  const path = backupDir === undefined ? root.folder.at(defaultName) : resolve(backupDir);
  const follow = backupDir !== undefined;
  const [rootPath = ""] = root.paths;
  const real = orNothing(() => realpathSync.native(path)) ?? path;
  if (follow && `${rootPath}${sep}`.startsWith(real.endsWith(sep) ? real : real + sep))
    throw new InvalidArgumentsError(
      "fs: backupDir (--backup-dir) must not be the root or a directory above it",
    );
  // Whether what is held is still what stands there is a question only; it may go by name, which costs less.
  const name = follow ? path : join(rootPath, defaultName);
  const open = () =>
    handles
      ? folderByHandle(path, { follow })
      : folderByPath(path, follow ? undefined : rootPath, { follow });

  let known: Folder | undefined;
  let made: Folder | undefined;
  /** The directory as it stands at its path now: somebody may have cleared it away. */
  const find = (): Folder | undefined => {
    const now = (follow ? statSync : lstatSync)(name, { bigint: true, throwIfNoEntry: false });
    if (known && now && sameFile(known, now)) return known;
    known?.close();
    known = now && orNothing(open);
    return known;
  };
  const folder = (): Folder => {
    if (!known) throw refusal("backups", "ENOENT", "there is no backup directory");
    return known;
  };
  const at = (name: string) => folder().at(name);
  /** Only where there is a store at all. */
  const look = (name: string) => (known ?? find()) && entryAt(at(name));

  const forget = (key: string) => {
    removeIfThere(at(key));
    removeIfThere(at(recordName(key)));
  };
  return {
    identity: () => find(),
    make: () => {
      root.check();
      if (find() !== undefined && known === made) return;
      unlessThere(() => mkdirSync(path, { mode: 0o700, recursive: follow }));
      if (!find())
        throw refusal(
          defaultName,
          "ENOTDIR",
          "is no directory; backups have no place, so nothing is written",
        );
      // Another directory than the default may serve other purposes too: its mode is the operator's.
      if (!follow) chmodSync(at("."), 0o700);
      unlessThere(() => writeFileSync(at(".gitignore"), "*\n", { flag: "wx" }));
      made = known;
    },
    at,
    write: (key, record, { sync = false } = {}) => {
      const whole = at(recordName(key));
      const part = `${whole}.part`;
      const fd = openSync(part, "wx", 0o600);
      try {
        writeFileSync(fd, JSON.stringify(record));
        if (sync) fdatasyncSync(fd);
      } catch (error) {
        removeIfThere(part);
        throw error;
      } finally {
        closeSync(fd);
      }
      renameSync(part, whole);
    },
    read: (key) => {
      const entry = look(recordName(key));
      if (!entry) return undefined;
      try {
        const record = JSON.parse(readSeen(key, at(recordName(key)), entry).toString("utf8")) as StoreRecord;
        if (record.version === 1) return record;
      } catch {
        // No JSON, no file, too large: whatever it is, it is no record.
      }
      throw refusal(`backup ${key}`, "BACKUP_CHANGED", "its record cannot be read; nothing was changed");
    },
    forget,
    abandon: (key) => {
      forget(key);
      closeSync(openSync(at(markName(key)), "a", 0o600));
    },
    isAbandoned: (key) => look(markName(key)) !== undefined && look(recordName(key)) === undefined,
    mark: (name) => closeSync(openSync(at(markName(name)), "a", 0o600)),
    marked: (name) => look(markName(name)) !== undefined,
    unmark: (name) => removeIfThere(at(markName(name))),
    nameOf: (...identity) => hashOf([String(root.folder.ino), ...identity]),
    isWithin: (directory) => {
      let up = ".";
      for (let below: Identity | undefined; ; up += "/..") {
        const here = entryAt(`${at(up)}/.`);
        if (!here || (below && sameFile(below, here))) return false;
        if (sameFile(here, directory)) return true;
        below = here;
      }
    },
    close: () => known?.close(),
  };
}
