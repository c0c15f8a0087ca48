import { readlinkSync, realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { InvalidArgumentsError } from "@reversi-connector/core";
import { codeOf, orNothing, refusal, systemError } from "./errors.ts";
import {
  type Entry,
  entryAt,
  type Folder,
  folderByHandle,
  folderByPath,
  type Identity,
  sameFile,
} from "./folder.ts";
import { segmentsBelow, segmentsOf, spelling } from "./paths.ts";

/** The one directory the connector can touch, resolved once. */
export interface Root {
  readonly folder: Folder;
  /** Its absolute paths, as given and as resolved: what an absolute link inside may begin with. */
  readonly paths: readonly string[];
  /** @throws ConnectorError when another directory stands at its path now */
  check(): void;
}

/** @throws InvalidArgumentsError when there is no such directory */
export function openRoot(given: string, handles: boolean): Root {
  const path = resolve(given);
  const real = orNothing(() => realpathSync.native(path));
  const folder =
    real === undefined
      ? undefined
      : orNothing(() => (handles ? folderByHandle(real) : folderByPath(real, real)));
  if (real === undefined || folder === undefined)
    throw new InvalidArgumentsError("fs: root (--root) is not a directory");
  return {
    folder,
    paths: [real, path],
    check: () => {
      const now = statSync(real, { bigint: true, throwIfNoEntry: false });
      if (!now || !sameFile(now, folder))
        throw refusal("root", "ROOT_REPLACED", "another directory stands there now; start again");
    },
  };
}

/** Where one entry is or could be: its directory, held open, and its name in it. */
export interface Place {
  readonly path: string;
  readonly folder: Folder;
  readonly name: string;
  /** For the next system call. */
  readonly at: string;
  /** The backup directory, as it was known on the way here. */
  readonly reserved: Identity | undefined;
  close(): void;
}

/** Ways into the root. Links are followed by hand and only inside; the backup directory is out of reach. */
export interface Tree {
  /** The place itself, for a change: a link at its end is not followed, the root is refused. */
  place(path: string, argument?: string): Place;
  /** The place that reading leads to: a link at its end is followed. */
  behind(path: string): Place;
  folder(segments: readonly string[]): Folder;
  /** What is there now; undefined when nothing is. */
  entry(place: Place): Entry | undefined;
}

const mostLinks = 40;
const separators = process.platform === "win32" ? /[\\/]/ : /\//;

/** What a link says, or undefined for what is none. */
function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (codeOf(error) === "EINVAL") return undefined;
    throw error;
  }
}

export function openTree(root: Root, reserved: () => Identity | undefined): Tree {
  const outside = (path: string) =>
    refusal(path, "OUTSIDE_ROOT", "a symbolic link on the way leads outside the root");
  const hidden = (path: string) => refusal(path, "RESERVED", "the backup directory is reserved");
  // The root stays open; whoever closes a folder that turned out to be the root must not close it.
  const top: Folder = { ...root.folder, close: () => {} };

  /** An absolute link's target below the root, or undefined. */
  const below = (target: string): string | undefined => {
    for (const path of root.paths) {
      const prefix = path.endsWith("/") ? path : `${path}/`;
      if (`${target}/`.startsWith(prefix)) return target.slice(prefix.length);
    }
    return undefined;
  };

  function walk(segments: readonly string[], end: "name" | "behind" | "folder") {
    root.check();
    const secret = reserved();
    const path = spelling(segments);
    let pending = [...segments];
    let passed: string[] = [];
    let folder = top;
    let links = 0;
    const restart = (from: string[]) => {
      folder.close();
      folder = top;
      passed = [];
      pending = from;
    };
    try {
      for (let name = pending.shift(); name !== undefined; name = pending.shift()) {
        if (name === "..") {
          // Only a link's target can say so. What was passed holds no link, so its text is its place.
          if (passed.length === 0) throw outside(path);
          restart([...passed.slice(0, -1), ...pending]);
          continue;
        }
        const last = pending.length === 0;
        if (last && end === "name") return { folder, name, reserved: secret };
        let target: string | undefined;
        if (last && end === "behind") {
          if (entryAt(folder.at(name))?.kind !== "symlink") return { folder, name, reserved: secret };
          target = linkTarget(folder.at(name));
        } else {
          try {
            const next = folder.descend(name);
            folder.close();
            folder = next;
            passed.push(name);
          } catch (error) {
            if (codeOf(error) !== "ENOTDIR" && codeOf(error) !== "ELOOP") throw error;
            target = linkTarget(folder.at(name));
            if (target === undefined) throw error;
          }
        }
        if (target !== undefined) {
          if (++links > mostLinks) throw systemError("ELOOP");
          const absolute = resolve(target) === target || target.startsWith("/");
          const inside = absolute ? below(target) : target;
          if (inside === undefined) throw outside(path);
          const names = inside.split(separators).filter((part) => part !== "" && part !== ".");
          if (absolute) restart([...names, ...pending]);
          else pending = [...names, ...pending];
        } else if (secret && sameFile(folder, secret)) throw hidden(path);
      }
      return { folder, name: ".", reserved: secret };
    } catch (error) {
      folder.close();
      throw error;
    }
  }

  const placed = (segments: readonly string[], end: "name" | "behind"): Place => {
    const found = walk(segments, end);
    const { folder, name } = found;
    return { ...found, path: spelling(segments), at: folder.at(name), close: () => folder.close() };
  };
  return {
    place: (path, argument = "path") => placed(segmentsBelow(path, argument), "name"),
    behind: (path) => placed(segmentsOf(path, "path"), "behind"),
    folder: (segments) => walk(segments, "folder").folder,
    entry: (place) => {
      const entry = entryAt(place.at);
      if (entry && place.reserved && sameFile(entry, place.reserved)) throw hidden(place.path);
      return entry;
    },
  };
}
