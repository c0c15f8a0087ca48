import { mkdirSync, rmdirSync } from "node:fs";
import { ConflictError, EffectUncertainError, InvalidArgumentsError } from "@reversi-connector/core";
import { codeOf, orNothing, refusal, stillWanted } from "./errors.ts";
import { type Entry, entryAt, type Folder, syncFolder } from "./folder.ts";
import { isOurs, markMade, undoOf } from "./marks.ts";
import { segmentsBelow, spelling } from "./paths.ts";
import type { Tree } from "./tree.ts";
import type { Change, Volume } from "./volume.ts";

export interface Made {
  readonly path: string;
  readonly existed: boolean;
  readonly created: string[];
}
export interface RemoveArguments {
  readonly path: string;
  readonly created?: readonly string[];
}
export interface Removed {
  readonly path: string;
  readonly already: boolean;
  readonly removed: string[];
}

/** Directories are made and removed one call at a time: two calls may need the same missing parent. */
const lock = ["directories"];
const mostCreated = 256;

const isThere = (tree: Tree, segments: readonly string[]): boolean =>
  orNothing(() => {
    try {
      tree.folder(segments).close();
    } catch (error) {
      if (codeOf(error) === "ENOTDIR")
        throw refusal(spelling(segments), "ENOTDIR", "is, or lies in, something that is no directory");
      throw error;
    }
    return true;
  }) ?? false;

/** How many of the segments lead to directories that exist. */
function existing(tree: Tree, segments: readonly string[]): number {
  if (isThere(tree, segments)) return segments.length;
  let there = 0;
  for (let missing = segments.length; missing - there > 1; ) {
    const middle = (there + missing) >> 1;
    if (isThere(tree, segments.slice(0, middle))) there = middle;
    else missing = middle;
  }
  return there;
}

/** Makes each missing directory in the one before it; what was made goes again when one cannot be. */
function makeEach(volume: Volume, segments: readonly string[], there: number): void {
  const path = spelling(segments);
  const made: (readonly [Folder, string])[] = [];
  let folder = volume.tree.folder(segments.slice(0, there));
  const opened = [folder];
  try {
    for (const [index, name] of segments.slice(there).entries()) {
      folder.confirm();
      mkdirSync(folder.at(name));
      made.unshift([folder, name]);
      const entry = entryAt(folder.at(name));
      if (entry) markMade(volume, spelling(segments.slice(0, there + index + 1)), entry);
      folder = folder.descend(name);
      opened.push(folder);
    }
  } catch (error) {
    try {
      for (const [above, name] of made) rmdirSync(above.at(name));
    } catch {
      throw new EffectUncertainError(`${path}: made in part, and somebody uses that part already`);
    }
    throw codeOf(error) === "EEXIST"
      ? new ConflictError(`${path}: somebody made a part of it during this call; nothing was left of ours`)
      : error;
  } finally {
    for (const each of opened) each.close();
  }
}

export async function makeDir(
  volume: Volume,
  { path: given }: { readonly path: string },
  { signal, checkpoint }: Change<Made>,
): Promise<Made> {
  const { tree, store, exclusively } = volume;
  const segments = segmentsBelow(given, "path");
  const path = spelling(segments);
  return exclusively(lock, async () => {
    stillWanted(signal);
    store.make();
    const there = existing(tree, segments);
    if (there === segments.length) return { path, existed: true, created: [] };
    if (segments.length - there > mostCreated)
      throw refusal(path, "EINVAL", `lacks more than ${mostCreated} parents; make it in several steps`);
    refuseHalfThere(tree, segments.slice(0, there + 1));
    const created = segments.slice(there).map((_, index) => spelling(segments.slice(0, there + index + 1)));
    const result = { path, existed: false, created };
    await checkpoint({ result });
    stillWanted(signal);
    store.unmark(undoOf(volume, "make", ...created));
    makeEach(volume, segments, there);
    return result;
  });
}

/** A link that leads nowhere is no directory, and is no free place either. */
function refuseHalfThere(tree: Tree, segments: readonly string[]): void {
  const place = tree.place(spelling(segments));
  try {
    if (tree.entry(place)) throw refusal(place.path, "EEXIST", "is a link that leads nowhere");
  } finally {
    place.close();
  }
}

/** Whether each of the directories is there (true), none is (false), or only some are. */
export function madeLanded({ tree }: Pick<Volume, "tree">, created: readonly string[]): boolean | "unknown" {
  const there = created.filter((path) => directoryAt(tree, path)?.kind === "directory").length;
  return there === created.length ? true : there === 0 ? false : "unknown";
}

function directoryAt(tree: Tree, path: string): Entry | undefined {
  const place = orNothing(() => tree.place(path));
  try {
    return place && tree.entry(place);
  } finally {
    place?.close();
  }
}

/** The directories to remove, deepest first. @throws InvalidArgumentsError for one that does not lead to `path` */
function toRemove({ path: given, created }: RemoveArguments): string[] {
  const path = spelling(segmentsBelow(given, "path"));
  const named = (created ?? [given]).map((each) => spelling(segmentsBelow(each, "created")));
  for (const each of named) {
    if (`${path}/`.startsWith(`${each}/`)) continue;
    const rule = `names ${each}, which is neither ${path} nor above it`;
    throw new InvalidArgumentsError(`created ${rule}`, { problems: [{ at: "created", rule }] });
  }
  return named.sort((a, b) => b.length - a.length);
}

/** Removes one directory when it is there, empty, and not kept by `stays`; says whether it did. */
async function removeOne(
  tree: Tree,
  path: string,
  { isUndo, stays }: { readonly isUndo: boolean; stays(entry: Entry): boolean },
): Promise<boolean> {
  const place = orNothing(() => tree.place(path));
  try {
    const entry = place && tree.entry(place);
    if (!place || !entry || stays(entry)) return false;
    if (entry.kind !== "directory")
      throw new ConflictError(`${path}: is no directory any more; it was not removed`);
    place.folder.confirm();
    rmdirSync(place.at);
    await syncFolder(place.folder);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    if (codeOf(error) !== "ENOTEMPTY" && codeOf(error) !== "EEXIST") throw error;
    const sentence = "is not empty; only empty directories are removed";
    throw isUndo ? new ConflictError(`${path}: ${sentence}`) : refusal(path, "ENOTEMPTY", sentence);
  } finally {
    place?.close();
  }
}

export async function removeDir(
  volume: Volume,
  args: RemoveArguments,
  { signal }: { readonly signal: AbortSignal },
): Promise<Removed> {
  const { tree, store, exclusively } = volume;
  const path = spelling(segmentsBelow(args.path, "path"));
  const all = toRemove(args);
  const isUndo = args.created !== undefined;
  return exclusively(lock, async () => {
    stillWanted(signal);
    if (all.length === 0) return { path, already: true, removed: [] };
    store.make();
    const undo = undoOf(volume, "make", ...all.toReversed());
    const wasDone = isUndo && store.marked(undo);
    const removed: string[] = [];
    for (const each of all) {
      // Done before, a directory that no step made here is an older one moved back, or somebody's new one.
      const stays = (entry: Entry) => wasDone && !isOurs(volume, each, entry);
      if (await removeOne(tree, each, { isUndo, stays })) removed.push(each);
    }
    if (isUndo) store.mark(undo);
    return { path, already: removed.length === 0, removed };
  });
}

/** Whether none of the directories is there. */
export const isRemoved = ({ tree }: Pick<Volume, "tree">, args: RemoveArguments): boolean =>
  toRemove(args).every((path) => directoryAt(tree, path) === undefined);
