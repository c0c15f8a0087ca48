import { ConnectorError } from "@reversi-connector/core";
import type { Place } from "./names.ts";
import { changedMeanwhile, isVersion, look, type Stored, same } from "./objects.ts";
import { isStale } from "./problems.ts";
import { type Copying, copy } from "./rewrite.ts";

/**
 * Copies the version that was read to its backup; that is there, whole, when this returns.
 * @throws ConflictError when the object changed meanwhile; ConnectorError; EffectUncertainError for the backup alone
 */
export async function backUp(call: Copying, old: Stored, key: string): Promise<void> {
  const to: Place = { bucket: old.bucket, object: key };
  try {
    await copy(call, old, to, { ifGenerationMatch: "0" });
  } catch (error) {
    if (!isStale(error, old)) throw error;
    const now = await look(call.client, old);
    if (!isVersion(now, old)) throw changedMeanwhile(old, old, now);
    // An earlier attempt of this very call may have made it.
    const backup = await look(call.client, to);
    if (backup && same(old, backup)) return;
    const why = backup ? `${key} holds another backup of the same call` : "yet nothing has changed";
    throw new ConnectorError(`${error.message}; ${why}; nothing was overwritten`, error);
  }
}
