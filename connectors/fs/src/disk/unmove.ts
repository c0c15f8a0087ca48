import { unlinkSync } from "node:fs";
import { ConflictError, type Holds } from "@reversi-connector/core";
import { orNothing, refusal, stillWanted } from "./errors.ts";
import { type Entry, sameFile, syncFolder } from "./folder.ts";
import { markBack } from "./marks.ts";
import { between, ends, hashToKnow, type Moved, relocate } from "./move.ts";
import { segmentsBelow, spelling } from "./paths.ts";
import type { Undoing } from "./restore.ts";
import type { MoveRecord } from "./store.ts";
import type { Place } from "./tree.ts";
import type { Volume } from "./volume.ts";

export interface UnmoveArguments {
  readonly from: string;
  readonly to: string;
  readonly move_id?: string;
  readonly expected_sha256?: string | null;
}
export interface Unmoved {
  readonly from: string;
  readonly to: string;
  readonly already: boolean;
}

/** The moved thing itself: same inode, and born when it was (a freed inode number is soon given out again). */
const isMoved = (entry: Entry, record: MoveRecord): boolean =>
  String(entry.ino) === record.ino &&
  (record.birthtimeNs === null
    ? String(entry.dev) === record.dev
    : String(entry.birthtimeNs) === record.birthtimeNs);

interface Wanted extends UnmoveArguments {
  readonly record: MoveRecord | undefined;
}

/** The arguments in their one spelling, with the record they name. @throws ConnectorError for one of another move */
function wanted({ store }: Pick<Volume, "store">, args: UnmoveArguments): Wanted {
  const from = spelling(segmentsBelow(args.from, "from"));
  const to = spelling(segmentsBelow(args.to, "to"));
  const record = args.move_id === undefined ? undefined : store.read(args.move_id);
  if (record && (record.op !== "move" || record.from !== from || record.to !== to))
    throw refusal(to, "EINVAL", `record ${args.move_id} is of another step; nothing was changed`);
  return { ...args, from, to, record: record as MoveRecord | undefined };
}

/** Whether an entry is what was moved, by the record or else by its hash. */
async function recognised(place: Place, entry: Entry | undefined, { record, expected_sha256 }: Wanted) {
  if (!entry) return false;
  if (record) return isMoved(entry, record);
  return typeof expected_sha256 === "string" && (await hashToKnow(place, entry)) === expected_sha256;
}

export async function unmoveFile(
  volume: Volume,
  args: UnmoveArguments,
  { signal, onConflict }: Undoing,
): Promise<Unmoved> {
  const { tree, store } = volume;
  const move = wanted(volume, args);
  const { from, to, move_id: id, record } = move;
  if (id !== undefined && !record && typeof move.expected_sha256 !== "string")
    throw refusal(to, "ENOENT", `there is no record ${id} and no hash to know it by; nothing was changed`);
  store.make();
  if (id !== undefined && store.marked(id)) return { from, to, already: true };
  const settled = (already: boolean, home: Place): Unmoved => {
    if (id !== undefined) store.mark(id);
    markBack(volume, home);
    return { from, to, already };
  };
  const conflict = (sentence: string) => new ConflictError(`${sentence}. Nothing was changed.`);
  if (!orNothing(() => tree.place(to, "to").close() ?? true)) throw conflict(`${to}: its directory is gone`);
  return between(volume, move, async (home, away) => {
    stillWanted(signal);
    const [here, there] = ends(tree, home, away);
    const isHome = await recognised(home, here, move);
    const isAway = await recognised(away, there, move);
    if (isHome && !isAway) return settled(true, home);
    if (!there) throw conflict(`${to}: is gone, so it cannot be moved back`);
    if (here && isHome && sameFile(here, there)) {
      // The move was cut short between its two halves: only the new name has to go.
      unlinkSync(away.at);
    } else {
      if (here) throw conflict(`${from}: something else stands there now, and is not replaced`);
      if (!isAway && onConflict !== "overwrite") throw conflict(`${to}: is not what was moved there`);
      relocate(volume, away, home, there);
    }
    await syncFolder(home.folder);
    await syncFolder(away.folder);
    return settled(false, home);
  });
}

/** Whether the moved thing is at `from` again and nothing is at `to`. */
export async function isUnmoved(
  volume: Pick<Volume, "tree" | "store">,
  args: UnmoveArguments,
): Promise<Holds> {
  const move = wanted(volume, args);
  if (!move.record && typeof move.expected_sha256 !== "string") return "unknown";
  const at = await moveState(volume, move);
  return at.isHome && !at.occupied;
}

async function moveState({ tree }: Pick<Volume, "tree">, move: Wanted) {
  const home = orNothing(() => tree.place(move.from, "from"));
  const away = orNothing(() => tree.place(move.to, "to"));
  try {
    const [here, there] =
      home && away ? ends(tree, home, away) : [home && tree.entry(home), away && tree.entry(away)];
    return {
      isHome: home !== undefined && (await recognised(home, here, move)),
      isAway: away !== undefined && (await recognised(away, there, move)),
      occupied: there !== undefined,
    };
  } finally {
    home?.close();
    away?.close();
  }
}

/** Whether a move happened whose answer was lost: by the inode its record names, at the one end or the other. */
export async function moveLanded(
  volume: Pick<Volume, "tree" | "store">,
  known: Moved,
): Promise<boolean | "unknown"> {
  if (volume.store.isAbandoned(known.move_id)) return false;
  const move = wanted(volume, known);
  if (!move.record) return "unknown";
  const { isHome, isAway } = await moveState(volume, move);
  // At both ends: cut short between the two halves. Its undo finishes that.
  return isAway ? true : isHome ? false : "unknown";
}
