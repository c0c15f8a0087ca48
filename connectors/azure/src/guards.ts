import { ConnectorError } from "@reversi-connector/core";
import type { Headers } from "@reversi-connector/http";
import type { BlobClient } from "./client.ts";
import type { Place } from "./names.ts";
import { changedMeanwhile, look, type Stored } from "./objects.ts";
import { isStale } from "./problems.ts";

/** What a write demands of the place: that it is as it was read. */
const unlessChanged = (now: Stored | undefined): Headers =>
  now ? { "if-match": now.etag } : { "if-none-match": "*" };

/**
 * A write under the condition that the place is as it was read.
 * @throws ConflictError when somebody changed the place meanwhile
 */
export async function writeUnlessChanged<Answer>(
  client: BlobClient,
  place: Place,
  now: Stored | undefined,
  write: (condition: Headers) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await write(unlessChanged(now));
  } catch (error) {
    if (!isStale(error)) throw error;
    const found = await look(client, place);
    if (found?.etag === now?.etag) {
      const still = "yet it is still the one that was read; nothing was overwritten";
      throw new ConnectorError(`${error.message}; ${still}`, error);
    }
    throw changedMeanwhile(now, place, found);
  }
}

/** Deletes exactly the version that was read. @throws ConflictError */
export const erase = (client: BlobClient, place: Place, now: Stored) =>
  writeUnlessChanged(client, place, now, (condition) =>
    client.write(place, { method: "DELETE", headers: condition, done: 202 }),
  );
