import { ConnectorError } from "@reversi-connector/core";
import type { BlobClient } from "./client.ts";
import type { Place } from "./names.ts";
import { changedMeanwhile, copy, look, type Stored, same } from "./objects.ts";
import { isStale } from "./problems.ts";

/** What a backup that did not come about means: somebody changed the blob meanwhile, or else `error`. */
async function unlessOther(client: BlobClient, old: Stored, error: ConnectorError): Promise<Error> {
  const now = await look(client, old);
  if (now?.etag === old.etag && now.size === old.size) return error;
  return changedMeanwhile(old, old, now);
}

/**
 * Copies the version that was read to its backup and proves that it is there, whole.
 * @throws ConflictError when the blob changed meanwhile; ConnectorError; EffectUncertainError for the backup alone
 */
export async function backUp(client: BlobClient, old: Stored, key: string): Promise<void> {
  const to: Place = { container: old.container, blob: key };
  try {
    const etag = await copy(client, old, to, { "if-none-match": "*" });
    const backup = await look(client, to);
    // A large blob without an MD5 is bound to the version that was read by the copy's condition alone.
    if (backup?.etag === etag && (await same(client, old, backup)) !== false) return;
  } catch (error) {
    if (!isStale(error)) throw error;
    const backup = error.reason === "BlobAlreadyExists" ? await look(client, to) : undefined;
    if (!backup) throw await unlessOther(client, old, error);
    // An earlier attempt of this very call may have made it.
    if ((await same(client, old, backup)) === true) return;
    throw new ConnectorError(`${error.message}; ${key} holds another backup of the same call`, error);
  }
  const message = `the backup ${key} is not what ${old.blob} is; ${old.blob} was not touched`;
  throw await unlessOther(client, old, new ConnectorError(message, { mayHaveApplied: true }));
}
