import { ConflictError, ConnectorError, canonicalJson, sha256Hex } from "@reversi-connector/core";
import type { HttpReader } from "@reversi-connector/http";
import { crc32c, md5Base64 } from "./checksums.ts";
import { listPath, objectPath, type Place } from "./names.ts";
import { isAbsence, saysSo } from "./problems.ts";

/** An object as Google shows it, as far as it is used here. Numbers of 64 bits are text. */
export interface Resource {
  readonly bucket: string;
  readonly name: string;
  /** Changes with the content. */
  readonly generation: string;
  /** 1 for every new generation; changes with what is known of it. */
  readonly metageneration: string;
  readonly size: string;
  readonly updated: string;
  readonly crc32c: string;
  /** Composed objects have none. */
  readonly md5Hash?: string;
  readonly contentType?: string;
  readonly cacheControl?: string;
  readonly contentDisposition?: string;
  readonly contentEncoding?: string;
  readonly contentLanguage?: string;
  readonly customTime?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly storageClass?: string;
  readonly kmsKeyName?: string;
  readonly customerEncryption?: object;
  readonly contexts?: { readonly custom?: object };
  readonly temporaryHold?: boolean;
  readonly eventBasedHold?: boolean;
}
/** One generation of an object. */
export interface Stored extends Resource, Place {}

const isNumber = (value: unknown) => typeof value === "string" && /^\d{1,20}$/.test(value);

/** Whether an answer is about this object, and carries what identifies its version and its content. */
export const isResource =
  ({ bucket, object }: Place) =>
  (resource: Resource | undefined): boolean =>
    resource?.bucket === bucket &&
    resource.name === object &&
    [resource.generation, resource.metageneration, resource.size].every(isNumber) &&
    typeof resource.updated === "string" &&
    (typeof resource.crc32c === "string" || resource.customerEncryption !== undefined);

export const storedIn = (resource: Resource): Stored => ({ ...resource, object: resource.name });

/** The object, or one of its generations. @throws ConnectorError also for one whose content nobody can read or copy */
export async function read(client: HttpReader, place: Place, generation?: string): Promise<Stored> {
  const request = { path: objectPath(place), query: { generation }, expect: isResource(place) };
  const { body } = await client.read<Resource>(request);
  if (!body.customerEncryption) return storedIn(body);
  const why = "it is encrypted with a key of the customer's own, so it cannot be read or copied";
  throw new ConnectorError(`${place.object}: ${why}; nothing was written`);
}

interface List {
  readonly kind?: unknown;
  readonly items?: readonly { readonly name?: unknown }[];
  readonly nextPageToken?: unknown;
}
const isList = ({ kind, items = [] }: List) => kind === "storage#objects" && Array.isArray(items);

/** A 404 that does not say what is missing: the bucket's list tells. @throws ConnectorError when it does not */
async function checkAbsent(client: HttpReader, { bucket, object }: Place, error: ConnectorError) {
  const query = { prefix: object, maxResults: 1, fields: "kind,items(name),nextPageToken" };
  const { body } = await client.read<List>({ path: listPath(bucket), query, expect: isList });
  // The name itself comes before all that it begins.
  if (body.items ? body.items[0]?.name !== object : !body.nextPageToken) return;
  throw new ConnectorError(`${error.message}; yet its bucket does not say that it is gone`, error);
}

/**
 * The object as it is now; undefined when it is certainly not there: Google says so of it, or its list does.
 * @throws ConnectorError when nobody can tell
 */
export async function look(client: HttpReader, place: Place): Promise<Stored | undefined> {
  try {
    return await read(client, place);
  } catch (error) {
    if (!saysSo(error, 404)) throw error;
    if (!isAbsence(error, place)) await checkAbsent(client, place, error);
    return undefined;
  }
}

/** Refuses what an undo could not put back as it was, or what is kept from being written. @throws ConnectorError */
export function checkReplaceable({ object, temporaryHold, eventBasedHold, contexts }: Stored): void {
  const refuse = (why: string) => {
    throw new ConnectorError(`${object}: ${why}; nothing was written`);
  };
  if (temporaryHold || eventBasedHold) refuse("it is under a hold: release it first");
  if (contexts?.custom) refuse("it has contexts, which would be lost");
}

/** What goes with the content of an object and comes back with it. */
export const attributesOf = (stored: Stored) => {
  const { contentType, cacheControl, contentDisposition, contentEncoding, contentLanguage } = stored;
  const { customTime, metadata = {} } = stored;
  return {
    ...{ contentType, cacheControl, contentDisposition, contentEncoding, contentLanguage, customTime },
    metadata,
  };
};

/** Whether two objects are the same in size, content, content headers and metadata. */
export const same = (a: Stored, b: Stored): boolean =>
  a.size === b.size &&
  a.crc32c === b.crc32c &&
  (!a.md5Hash || !b.md5Hash || a.md5Hash === b.md5Hash) &&
  canonicalJson(attributesOf(a)) === canonicalJson(attributesOf(b));

/** Whether nobody has touched it in between, its metadata included. */
export const isVersion = (a: Stored | undefined, b: Stored | undefined): boolean =>
  a?.generation === b?.generation && a?.metageneration === b?.metageneration;

/** The bytes of exactly this generation, as they are stored. @throws ConnectorError when they are not what Google says */
export async function contentOf(client: HttpReader, stored: Stored): Promise<Buffer> {
  const { body } = await client.read({
    path: objectPath(stored),
    query: { alt: "media", generation: stored.generation },
    // Without this Google unpacks what is stored as gzip.
    headers: { "accept-encoding": stored.contentEncoding === "gzip" ? "gzip" : undefined },
    ...({ as: "bytes", encoded: true } as const),
  });
  const { object, size, md5Hash } = stored;
  const fits = String(body.length) === size && crc32c(body) === stored.crc32c;
  if (fits && (md5Hash === undefined || md5Base64(body) === md5Hash)) return body;
  throw new ConnectorError(`${object}: the content is not what its size and checksums say`);
}

export const sha256Of = async (client: HttpReader, stored: Stored): Promise<string> =>
  sha256Hex(await contentOf(client, stored));

/** An object in words, for messages. */
export const inWords = (stored: Stored | undefined): string =>
  stored === undefined
    ? "nothing"
    : `${stored.size} bytes of generation ${stored.generation}, metageneration ${stored.metageneration}`;

/** Somebody else was there between the look and the write. */
export const changedMeanwhile = (was: Stored | undefined, { object }: Place, found: Stored | undefined) =>
  new ConflictError(
    `${object}: changed by somebody else just now; found ${inWords(found)}. Nothing was overwritten. Call again to work on what is there.`,
    { expected: inWords(was), found: inWords(found) },
  );
