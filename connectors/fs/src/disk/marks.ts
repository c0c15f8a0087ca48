import { type Entry, entryAt } from "./folder.ts";
import type { Store } from "./store.ts";
import type { Place } from "./tree.ts";

type Marks = { readonly store: Store };

/**
 * Undos that are told apart by path and hash alone can be alike for two steps of a run. Two marks on the thing itself,
 * not on the step, decide what such an undo may remove: what a step of ours made, never what an undo of ours put back.
 */
const made = ({ store }: Marks, path: string, { ino, birthtimeNs }: Entry) =>
  store.nameOf("made", path, String(ino), String(birthtimeNs));
/** A file is marked as it was left: once edited it is somebody's. A directory's times move with its entries. */
const back = ({ store }: Marks, path: string, { ino, kind, birthtimeNs, ctimeNs }: Entry) =>
  store.nameOf("back", path, String(ino), String(kind === "directory" ? birthtimeNs : ctimeNs));

export const markMade = (marks: Marks, path: string, entry: Entry): void =>
  marks.store.mark(made(marks, path, entry));
export const isOurs = (marks: Marks, path: string, entry: Entry): boolean =>
  marks.store.marked(made(marks, path, entry));

/** What stands for a thing that a step of ours made is ours too: a copy of it, or its content written over it again. */
export function inherit(marks: Marks, path: string, from: Entry, to: Entry | undefined): void {
  if (to && isOurs(marks, path, from)) markMade(marks, path, to);
}

export function markBack(marks: Marks, place: Place): void {
  const entry = entryAt(place.at);
  if (entry) marks.store.mark(back(marks, place.path, entry));
}
export const isBack = (marks: Marks, path: string, entry: Entry): boolean =>
  marks.store.marked(back(marks, path, entry));

/** The mark of an undo that was done and has no record of its own, by all that identifies it. */
export const undoOf = ({ store }: Marks, tool: "write" | "make", ...identity: readonly string[]): string =>
  store.nameOf("undone", tool, ...identity);
