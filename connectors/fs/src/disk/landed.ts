import { contentLimit } from "@reversi-connector/core";
import { contentHash } from "./backups.ts";
import { orNothing } from "./errors.ts";
import { entryAt, sameFile } from "./folder.ts";
import type { Volume } from "./volume.ts";
import type { Deleted, Written } from "./write.ts";

type Readable = Pick<Volume, "tree" | "store">;

/** Whether a write happened whose answer was lost: the old file (it is the backup) still there, or the new content. */
export async function writeLanded({ tree, store }: Readable, known: Written): Promise<boolean | "unknown"> {
  const place = orNothing(() => tree.place(known.path));
  try {
    const now = place && tree.entry(place);
    if (!place || !now) return known.backup_key === null ? false : "unknown";
    const record = known.backup_key === null ? undefined : store.read(known.backup_key);
    if (known.backup_key !== null && store.isAbandoned(known.backup_key)) return false;
    const kept = record && known.backup_key !== null ? entryAt(store.at(known.backup_key)) : undefined;
    if (record && kept && (sameFile(now, kept) || (record.sha256 !== null && String(now.ino) === record.ino)))
      return false;
    if (now.kind !== "file" || now.size > contentLimit) return "unknown";
    return (await contentHash(place.path, place.at, now)) === known.sha256 ? true : "unknown";
  } finally {
    place?.close();
  }
}

/** Whether a deletion happened whose answer was lost: nothing at the path, and the file itself among the backups. */
export function deleteLanded({ tree, store }: Readable, known: Deleted): boolean | "unknown" {
  const record = known.backup_key === null ? undefined : store.read(known.backup_key);
  if (known.backup_key !== null && store.isAbandoned(known.backup_key)) return false;
  if (known.backup_key === null || !record) return "unknown";
  const kept = entryAt(store.at(known.backup_key));
  const place = orNothing(() => tree.place(known.path));
  try {
    const now = place && tree.entry(place);
    if (now && String(now.ino) === record.ino) return false;
    const isKept = kept && (record.sha256 !== null || String(kept.ino) === record.ino);
    return !now && isKept ? true : "unknown";
  } finally {
    place?.close();
  }
}
