import { ConflictError, ConnectorError, callUuid, EffectUncertainError } from "@reversi-connector/core";
import type { Headers } from "@reversi-connector/http";
import type { ConditionalWrite, S3Client } from "./client.ts";
import { backupPrefix, type Place } from "./names.ts";
import { copy, inWords, isEmpty, look, type Stored } from "./objects.ts";
import { saysSo } from "./problems.ts";

/** What a write demands of the place: that it is as it was read. */
export const unlessChanged = (now: Stored | undefined): Headers =>
  now ? { "if-match": now.etag } : { "if-none-match": "*" };

/** Somebody else was there between the look and the write, and S3 did nothing. */
export const isStale = (error: unknown): error is ConnectorError =>
  saysSo(error, 412) || saysSo(error, 409, "ConditionalRequestConflict") || saysSo(error, 404, "NoSuchKey");

/** A refusal that broke off before it named its reason proves nothing. */
function orUncertain(error: unknown, status: number): boolean {
  if (saysSo(error, status) && error.reason === undefined) throw new EffectUncertainError(error.message);
  return saysSo(error, status);
}

/** The server knows no conditions, and did nothing. @throws EffectUncertainError when it did not get to say so */
export const refusesConditions = (error: unknown): boolean => orUncertain(error, 501);

/** No object has it. */
const never = { "if-match": '"00000000000000000000000000000000"' };

const trial: Readonly<
  Record<ConditionalWrite, (client: S3Client, at: Place, source: Stored | undefined) => Promise<unknown>>
> = {
  put: (client, at) => client.write(at, { method: "PUT", body: "", headers: never, expect: isEmpty }),
  copy: (client, at, source) => (source ? copy(client, source, at, never) : Promise.resolve()),
  delete: (client, at) => client.write(at, { method: "DELETE", headers: never, expect: isEmpty }),
};

/** A write that must be refused, to a name under which nothing can be lost. */
async function isHeld(client: S3Client, kind: ConditionalWrite, at: Place, source: Stored | undefined) {
  try {
    await trial[kind](client, at, source);
  } catch (error) {
    if (isStale(error)) return true;
    if (refusesConditions(error)) return false;
    orUncertain(error, 404);
    throw error;
  }
  if (kind !== "delete") await client.write(at, { method: "DELETE" });
  return false;
}

/** Where the server is tried, and what a copy may be made of. */
interface Trial {
  readonly bucket: string;
  readonly idempotencyKey: string | undefined;
  readonly source: Stored | undefined;
}

/**
 * Whether the server holds these writes to their conditions. Amazon documents that it does; another server is tried once
 * in the life of a connection.
 */
export async function isGuarded(
  client: S3Client,
  writes: readonly ConditionalWrite[],
  { bucket, idempotencyKey, source }: Trial,
): Promise<boolean> {
  const key = `${backupPrefix}${callUuid(idempotencyKey, { entity: "trial", bucket })}`;
  for (const kind of writes) {
    if (client.conditions.has(kind)) continue;
    client.conditions.set(kind, await isHeld(client, kind, { bucket, key }, source));
  }
  return writes.every((kind) => client.conditions.get(kind));
}

/**
 * A write under the condition that the place is as it was read. A server that answers 501 to conditions gets it without
 * one, after a second look.
 * @throws ConflictError when somebody changed the place meanwhile
 */
export async function writeUnlessChanged<Answer>(
  client: S3Client,
  place: Place,
  now: Stored | undefined,
  write: (condition: Headers) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await write(unlessChanged(now));
  } catch (error) {
    const refused = refusesConditions(error);
    if (!ConnectorError.is(error) || !(refused || isStale(error))) throw error;
    const found = await look(client, place);
    if (found?.etag === now?.etag) {
      if (refused) return write({});
      if (error.status !== 412) throw error;
      throw new ConnectorError(
        `${error.message}; yet it is still the one that was read: this server cannot be trusted with conditions, and nothing was overwritten`,
        error,
      );
    }
    throw new ConflictError(
      `${place.key}: changed by somebody else just now; found ${inWords(found)}. Nothing was overwritten. Call again to work on what is there.`,
      { expected: inWords(now), found: inWords(found) },
    );
  }
}
