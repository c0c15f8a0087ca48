import { createHash } from "node:crypto";
import { ConflictError, ConnectorError, EffectUncertainError, sha256Hex } from "@reversi-connector/core";
import type { Headers, HttpAnswer } from "@reversi-connector/http";
import type { BlobClient, BlobReader } from "./client.ts";
import type { Place } from "./names.ts";
import { checkAbsent } from "./pages.ts";
import { isStale, saysSo } from "./problems.ts";

/** What a HEAD says of a blob. */
export interface Stored extends Place {
  readonly size: number;
  /** Verbatim, with its quotes. */
  readonly etag: string;
  /** Content-MD5 in Base64, where Azure keeps one. */
  readonly md5: string | undefined;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

const MiB = 1024 * 1024;
/** Blobs up to this size are read where no MD5 tells two contents apart. */
const readLimit = 16 * MiB;
/** What Copy Blob From URL takes, and what Put Blob From URL takes. */
const syncCopyLimit = 256 * MiB;
const copyLimit = 5000 * MiB;

export const hashIn = (algorithm: "md5" | "sha256", bytes: Uint8Array, form: "base64" | "hex"): string =>
  createHash(algorithm).update(bytes).digest(form);

/** @throws ConnectorError when the answer lacks what identifies a version */
export function storedIn({ container, blob }: Place, { headers, status }: HttpAnswer<unknown>): Stored {
  const { etag, "content-length": size = "", "content-md5": md5 } = headers;
  if (!/^"[^"]+"$/.test(etag ?? "") || etag === undefined || !/^\d+$/.test(size))
    throw new ConnectorError(`HTTP ${status}: ${blob}: the answer lacks ETag or Content-Length`, { status });
  return { container, blob, etag, size: Number(size), md5, headers };
}

/**
 * The blob as it is now; undefined when it is certainly not there: Azure says so, or its list does.
 * @throws ConnectorError when nobody can tell
 */
export async function look(client: BlobReader, place: Place): Promise<Stored | undefined> {
  try {
    return storedIn(place, await client.read(place, { method: "HEAD", as: "none" }));
  } catch (error) {
    if (!saysSo(error, 404, "BlobNotFound", undefined)) throw error;
    if (error.reason === undefined) await checkAbsent(client, place);
    return undefined;
  }
}

/** Refuses what an undo could not put back as it was, or what somebody keeps for himself. @throws ConnectorError */
export function checkReplaceable({ blob, headers }: Stored): void {
  const refuse = (why: string) => {
    throw new ConnectorError(`${blob}: ${why}; nothing was written`);
  };
  const type = headers["x-ms-blob-type"] ?? "a blob without a type";
  if (type !== "BlockBlob") refuse(`it is ${type}, and only block blobs are written`);
  if (headers["x-ms-meta-hdi_isfolder"] === "true") refuse("it is a directory");
  if (headers["x-ms-legal-hold"] === "true") refuse("it is under a legal hold");
  if (headers["x-ms-lease-status"] === "locked") refuse("somebody holds a lease on it");
}

const metadata = /^x-ms-meta-/;
const attributes =
  /^(?:content-type|cache-control|content-disposition|content-encoding|content-language|x-ms-meta-.*)$/;
/** What goes with the content of a blob and comes back with it, as text. */
const attributesOf = ({ headers }: Stored): string =>
  JSON.stringify(
    Object.entries(headers)
      .filter(([name]) => attributes.test(name))
      .sort(),
  );

/** Whether these bytes are the blob's, as far as its MD5 tells. */
export const fits = ({ md5 }: Stored, bytes: Buffer): boolean =>
  md5 === undefined || md5 === hashIn("md5", bytes, "base64");

/** The SHA-256 of exactly this version. @throws ConflictError when it is another one by now; ConnectorError */
export async function sha256Of(client: BlobReader, stored: Stored): Promise<string> {
  const request = { as: "bytes", encoded: true, headers: { "if-match": stored.etag } } as const;
  try {
    return sha256Hex((await client.read(stored, request)).body);
  } catch (error) {
    if (!isStale(error)) throw error;
    const message = `${stored.blob}: changed by somebody else while it was read. Nothing was overwritten.`;
    throw new ConflictError(message, { expected: inWords(stored), found: "another version" });
  }
}

/** Whether two blobs are the same in size, content, content headers and metadata; "unknown" for large ones without an MD5. */
export async function same(client: BlobReader, a: Stored, b: Stored): Promise<boolean | "unknown"> {
  if (a.size !== b.size || attributesOf(a) !== attributesOf(b)) return false;
  if (a.md5 !== undefined && b.md5 !== undefined) return a.md5 === b.md5;
  if (a.size > readLimit) return "unknown";
  return (await sha256Of(client, a)) === (await sha256Of(client, b));
}

/** A blob in words, for messages. */
export const inWords = (stored: Stored | undefined): string =>
  stored === undefined ? "nothing" : `${stored.size} bytes with the ETag ${stored.etag}`;

/** Somebody else was there between the look and the write. */
export const changedMeanwhile = (was: Stored | undefined, { blob }: Place, found: Stored | undefined) =>
  new ConflictError(
    `${blob}: changed by somebody else just now; found ${inWords(found)}. Nothing was overwritten. Call again to work on what is there.`,
    { expected: inWords(was), found: inWords(found) },
  );

/** The tier that somebody chose: a copy would go to the account's default. */
function tierOf({ headers }: Stored): string | undefined {
  const { "x-ms-access-tier": tier = "", "x-ms-access-tier-inferred": inferred } = headers;
  return inferred !== "true" && /^(?:Hot|Cool|Cold)$/.test(tier) ? tier : undefined;
}
const metadataOf = ({ headers }: Stored): Headers =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => metadata.test(name)));

/** Only `success` is done: a copy that Azure goes on with by itself may still fail. @throws what became of it instead */
function checkCopied({ headers, status }: HttpAnswer<string>, { blob }: Place): void {
  const copied = headers["x-ms-copy-status"];
  if (copied === "success") return;
  if (copied === "failed" || copied === "aborted")
    throw new ConnectorError(`HTTP ${status}: copy to ${blob}: ${copied}`, { status, mayHaveApplied: true });
  const what = copied === "pending" ? "it is pending" : "the answer does not say that it is done";
  throw new EffectUncertainError(`HTTP ${status}: copy to ${blob}: ${what}; whether it succeeds is unknown`);
}

/** The new ETag of what was written. @throws EffectUncertainError */
export function etagIn({ headers, status }: HttpAnswer<string>, { blob }: Place): string {
  const { etag } = headers;
  if (etag) return etag;
  throw new EffectUncertainError(
    `HTTP ${status}: PUT ${blob}: the answer does not carry the new ETag; whether it was written is unknown`,
  );
}

/**
 * Copies exactly the version that was read, with its content headers, metadata and tier, and tells the copy's ETag. Done
 * when it returns.
 * @throws ConnectorError, EffectUncertainError
 */
export async function copy(client: BlobClient, from: Stored, to: Place, condition: Headers): Promise<string> {
  const large = from.size > syncCopyLimit;
  if (from.size > copyLimit)
    throw new ConnectorError(
      `${from.blob}: larger than the 5000 MiB that Azure copies in one request; nothing was written`,
    );
  const how = large
    ? { "x-ms-blob-type": "BlockBlob", ...metadataOf(from) }
    : { "x-ms-requires-sync": "true" };
  const answer = await client.write(to, {
    ...{ method: "PUT", from, done: large ? 201 : 202 },
    headers: { ...how, "x-ms-source-if-match": from.etag, "x-ms-access-tier": tierOf(from), ...condition },
  });
  if (!large) checkCopied(answer, to);
  return etagIn(answer, to);
}
