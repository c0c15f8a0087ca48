import { ConflictError, ConnectorError, callUuid } from "@reversi-connector/core";
import type { S3Client } from "./client.ts";
import { isStale, refusesConditions, unlessChanged } from "./guards.ts";
import { backupPrefix, type Place } from "./names.ts";
import { copy, look, looksLike, type Stored, same } from "./objects.ts";

/** Where the backup of a call goes; the same call under the same key finds it again. */
export const backupKeyFor = (idempotencyKey: string | undefined, what: object): string =>
  `${backupPrefix}${callUuid(idempotencyKey, { entity: "backup", ...what })}`;

/** What one CopyObject takes. */
const copyLimit = 5 * 1024 ** 3;

/** Before anything is written: what cannot be backed up is not overwritten either. @throws ConnectorError */
export function checkSize(old: Stored | undefined): void {
  if (old === undefined || old.size <= copyLimit) return;
  const why = "larger than 5 GB, which no single CopyObject takes";
  throw new ConnectorError(`${old.key}: ${why}: it cannot be backed up; nothing was written`);
}

const tagsOf = ({ headers }: Stored) => headers["x-amz-tagging-count"] ?? "0";

/** Whether the backup has everything that was read; its content is what the copy's condition demanded. */
const fits = (old: Stored, backup: Stored | undefined): backup is Stored =>
  backup !== undefined && tagsOf(backup) === tagsOf(old) && looksLike(backup, old);

const changed = ({ key, etag }: Stored) =>
  new ConflictError(
    `${key}: changed by somebody else just now; nothing was overwritten. Call again to work on what is there.`,
    { expected: etag, found: "another version" },
  );

/**
 * Copies the version that was read to its backup and proves that it is there, whole.
 * @throws ConflictError when the object changed meanwhile; ConnectorError; EffectUncertainError for the backup alone
 */
export async function backUp(client: S3Client, old: Stored, key: string): Promise<void> {
  const to: Place = { bucket: old.bucket, key };
  try {
    await copyOnce(client, old, to);
  } catch (error) {
    if (!isStale(error)) throw error;
    // Either the object is another one by now, or an earlier attempt of this very call made its backup.
    const backup = await look(client, to);
    if (fits(old, backup) && (await same(client, backup, old))) return;
    if (backup)
      throw new ConnectorError(`${error.message}; ${key} holds another backup of the same call`, error);
    throw changed(old);
  }
  if (fits(old, await look(client, to))) return;
  const now = await look(client, old);
  if (now?.etag !== old.etag || now.size !== old.size) throw changed(old);
  throw new ConnectorError(`the backup ${key} is not what ${old.key} is; ${old.key} was not touched`, {
    mayHaveApplied: true,
  });
}

/** The backup's name is new: a server that refuses conditions may go without. */
async function copyOnce(client: S3Client, old: Stored, to: Place): Promise<void> {
  try {
    await copy(client, old, to, unlessChanged(undefined));
  } catch (error) {
    if (!refusesConditions(error)) throw error;
    await copy(client, old, to, {});
  }
}
