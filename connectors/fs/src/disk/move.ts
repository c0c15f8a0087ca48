import { randomUUID } from "node:crypto";
import { readdirSync, renameSync, unlinkSync } from "node:fs";
import { contentLimit, EffectUncertainError } from "@reversi-connector/core";
import { changedMeanwhile, linked } from "./backups.ts";
import { hashSeen } from "./content.ts";
import { codeOf, refusal, stillWanted } from "./errors.ts";
import { type Entry, sameFile, untouched } from "./folder.ts";
import { segmentsBelow } from "./paths.ts";
import type { MoveRecord } from "./store.ts";
import type { Place, Tree } from "./tree.ts";
import { type Change, lockOf, placeToChange, type Volume } from "./volume.ts";
import { refuseAllBut } from "./write.ts";

export interface Moved {
  readonly from: string;
  readonly to: string;
  readonly type: "file" | "directory" | "symlink";
  readonly move_id: string;
  readonly sha256: string | null;
}

const isRecasing = (a: Place, b: Place) =>
  sameFile(a.folder, b.folder) && a.name !== b.name && a.name.toLowerCase() === b.name.toLowerCase();

/** What is at the two ends of a move. A volume that ignores case finds `a` under `A` too: only what is listed counts. */
export function ends(tree: Tree, from: Place, to: Place): readonly [Entry | undefined, Entry | undefined] {
  const here = tree.entry(from);
  const there = tree.entry(to);
  if (!here || !there || !sameFile(here, there) || !isRecasing(from, to)) return [here, there];
  const listed = readdirSync(from.folder.at("."));
  return [listed.includes(from.name) ? here : undefined, listed.includes(to.name) ? there : undefined];
}

/** @throws ConnectorError for a move that may not be */
function refuseToMove({ tree, store }: Volume, from: Place, to: Place, seen: Entry): void {
  refuseAllBut(from.path, seen, ["file", "directory", "symlink"]);
  if (seen.kind === "directory" && `${to.path}/`.startsWith(`${from.path}/`))
    throw refusal(to.path, "EINVAL", `lies in ${from.path}; a directory cannot be moved into itself`);
  if (seen.kind === "directory" && store.isWithin(seen))
    throw refusal(from.path, "RESERVED", "holds the backup directory, which is reserved");
  if (ends(tree, from, to)[1])
    throw refusal(to.path, "EEXIST", "something stands there already; nothing was moved");
}

/** Gives what was seen at `from` its new name and takes the old one away. Never replaces anything at `to`. */
export function relocate(volume: Volume, from: Place, to: Place, seen: Entry): void {
  const { tree } = volume;
  from.folder.confirm();
  to.folder.confirm();
  if (!untouched(tree.entry(from), seen)) throw changedMeanwhile(from.path);
  refuseToMove(volume, from, to, seen);
  const recased = tree.entry(to) !== undefined;
  const byLink = seen.kind === "file" || (seen.kind === "symlink" && process.platform === "linux");
  // Without a second name there is a small race between the look above and this rename: directories have no links.
  if (recased || !byLink || !linked(from.at, to.at)) {
    renameSync(from.at, to.at);
    return;
  }
  try {
    unlinkSync(from.at);
  } catch (error) {
    try {
      unlinkSync(to.at);
    } catch {
      throw new EffectUncertainError(
        `${from.path} has its new name ${to.path} besides the old one, and neither can be taken away (${codeOf(error)})`,
      );
    }
    throw error;
  }
}

/** Runs work on both ends of a move, with both locked. */
export async function between<T>(
  volume: Volume,
  ends: { readonly from: string; readonly to: string },
  work: (from: Place, to: Place) => Promise<T>,
): Promise<T> {
  segmentsBelow(ends.to, "to");
  const from = placeToChange(volume, ends.from, "from");
  try {
    const to = placeToChange(volume, ends.to, "to");
    try {
      return await volume.exclusively([lockOf(from), lockOf(to)], () => work(from, to));
    } finally {
      to.close();
    }
  } finally {
    from.close();
  }
}

/** The hash a move's result carries: null for what one call could not have written, which is not read. */
export const hashToKnow = async (place: Place, entry: Entry): Promise<string | null> =>
  entry.kind === "file" && entry.size <= contentLimit ? hashSeen(place.path, place.at, entry) : null;

/** The coarsest clock that file systems here take a birth time from, with room to spare. */
const tickMs = 20;

/** A file born this very moment could share its birth time with one that gets its inode number next: it grows older first. */
async function distinct({ birthtimeNs }: Entry): Promise<void> {
  const age = Date.now() - Number(birthtimeNs / 1_000_000n);
  if (age < tickMs) await new Promise((resolve) => setTimeout(resolve, tickMs - Math.max(age, 0)));
}

const recordOf = (from: Place, to: Place, seen: Entry, sha256: string | null): MoveRecord => ({
  version: 1,
  op: "move",
  from: from.path,
  to: to.path,
  kind: seen.kind as MoveRecord["kind"],
  dev: String(seen.dev),
  ino: String(seen.ino),
  // A file system without birth times says 0.
  birthtimeNs: seen.birthtimeNs === 0n ? null : String(seen.birthtimeNs),
  sha256,
  createdAt: new Date().toISOString(),
});

export async function moveFile(
  volume: Volume,
  args: { readonly from: string; readonly to: string },
  { signal, checkpoint }: Change<Moved>,
): Promise<Moved> {
  const { tree, store } = volume;
  return between(volume, args, async (from, to) => {
    stillWanted(signal);
    const [seen] = ends(tree, from, to);
    if (!seen) throw refusal(from.path, "ENOENT", "there is nothing to move");
    refuseToMove(volume, from, to, seen);
    await distinct(seen);
    const record = recordOf(from, to, seen, await hashToKnow(from, seen));
    const move_id = randomUUID();
    store.write(move_id, record, { sync: true });
    const result = { from: from.path, to: to.path, type: record.kind, move_id, sha256: record.sha256 };
    try {
      await checkpoint({ result });
      stillWanted(signal);
      relocate(volume, from, to, seen);
      // A layered file system copies what comes from a lower layer when it moves: same number, born anew.
      const moved = tree.entry(to);
      if (moved && moved.ino === seen.ino && moved.birthtimeNs !== seen.birthtimeNs)
        store.write(move_id, recordOf(from, to, moved, record.sha256), { sync: true });
    } catch (error) {
      if (!EffectUncertainError.is(error)) store.abandon(move_id);
      throw error;
    }
    return result;
  });
}
