import { ConnectorError } from "@reversi-connector/core";
import type { HttpClient, Query } from "@reversi-connector/http";
import { objectPath, type Place } from "./names.ts";
import { changedMeanwhile, isVersion, look, type Stored } from "./objects.ts";
import { isStale } from "./problems.ts";

/** What a write demands of the place: content and metadata as they were read. */
const unlessChanged = (now: Stored | undefined): Query =>
  now
    ? { ifGenerationMatch: now.generation, ifMetagenerationMatch: now.metageneration }
    : { ifGenerationMatch: "0" };

/**
 * A write under the condition that the place is as it was read.
 * @throws ConflictError when somebody changed the place meanwhile
 */
export async function writeUnlessChanged<Answer>(
  client: HttpClient,
  place: Place,
  now: Stored | undefined,
  write: (condition: Query) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await write(unlessChanged(now));
  } catch (error) {
    if (!isStale(error, place)) throw error;
    const found = await look(client, place);
    if (!isVersion(found, now)) throw changedMeanwhile(now, place, found);
    const still = "yet it is still the one that was read; nothing was overwritten";
    throw new ConnectorError(`${error.message}; ${still}`, error);
  }
}

/** Deletes exactly the version that was read; not by `generation`, which would remove it for good. @throws ConflictError */
export const erase = (client: HttpClient, place: Place, now: Stored) =>
  writeUnlessChanged(client, place, now, (query) =>
    client.write({
      ...{ method: "DELETE", path: objectPath(place), query },
      expect: (body) => body === undefined,
    }),
  );
