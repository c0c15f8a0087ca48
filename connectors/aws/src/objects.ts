import { createHash } from "node:crypto";
import { ConnectorError, EffectUncertainError, sha256Hex } from "@reversi-connector/core";
import type { Headers, HttpAnswer } from "@reversi-connector/http";
import { parseXml, textOf } from "@reversi-connector/http/xml";
import type { S3Client, S3Reader } from "./client.ts";
import { copySource, type Place } from "./names.ts";
import { failureIn, saysSo } from "./problems.ts";

/** What a HEAD says of an object. */
export interface Stored extends Place {
  readonly size: number;
  /** Verbatim, with its quotes. */
  readonly etag: string;
  readonly versionId: string | null;
  /** In hexadecimal, where S3 keeps it. */
  readonly sha256: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** Objects up to this size are read where nothing cheaper tells two contents apart. */
const readLimit = 16 * 1024 * 1024;

/** The SHA-256 that S3 keeps of the whole object; those of parts say nothing of it. */
function checksumIn(headers: Stored["headers"]): string | undefined {
  const value = headers["x-amz-checksum-sha256"] ?? "";
  if ((headers["x-amz-checksum-type"] ?? "FULL_OBJECT") !== "FULL_OBJECT") return undefined;
  return /^[A-Za-z0-9+/]{43}=$/.test(value) ? Buffer.from(value, "base64").toString("hex") : undefined;
}

/** @throws ConnectorError when the answer lacks what identifies a version */
export function storedIn(place: Place, { headers, status }: HttpAnswer<unknown>): Stored {
  const { etag, "content-length": size } = headers;
  if (!etag || !/^\d+$/.test(size ?? ""))
    throw new ConnectorError(`HTTP ${status}: ${place.key}: the answer lacks ETag or Content-Length`, {
      status,
    });
  return {
    bucket: place.bucket,
    key: place.key,
    etag,
    size: Number(size),
    versionId: headers["x-amz-version-id"] ?? null,
    sha256: checksumIn(headers),
    headers,
  };
}

/** A 404 of a HEAD has no body: it is about the key only while the bucket answers. @throws ConnectorError */
async function provenAbsent(client: S3Reader, { bucket }: Place): Promise<undefined> {
  await client.read({ bucket }, { method: "HEAD", as: "none" }).catch((error: unknown) => {
    if (!ConnectorError.is(error)) throw error;
    const why = `nobody can tell what is in the bucket ${bucket}`;
    throw new ConnectorError(`${error.message}; ${why} (s3:ListBucket is needed)`, error);
  });
  return undefined;
}

/** The object as it is now; undefined when it is certainly not there. @throws ConnectorError when nobody can tell */
export async function look(client: S3Reader, place: Place): Promise<Stored | undefined> {
  try {
    const headers = { "x-amz-checksum-mode": "ENABLED" };
    return storedIn(place, await client.read(place, { method: "HEAD", as: "none", headers }));
  } catch (error) {
    if (saysSo(error, 404)) return provenAbsent(client, place);
    if (!saysSo(error, 403)) throw error;
    const hint = "this does not tell whether the key exists: grant s3:GetObject and s3:ListBucket";
    throw new ConnectorError(`${error.message}; ${hint}`, error);
  }
}

const attributes =
  /^(?:content-type|cache-control|content-disposition|content-encoding|content-language|expires|x-amz-meta-.*)$/;
/** What goes with the content of an object and comes back with it, as text. */
const attributesOf = ({ headers }: Stored): string =>
  JSON.stringify(
    Object.entries(headers)
      .filter(([name]) => attributes.test(name))
      .sort(),
  );

/** The ETag is the content's MD5: not for objects of several parts, and not for some encryptions. */
const isHash = ({ etag, headers }: Stored) =>
  /^"[0-9a-f]{32}"$/.test(etag) && (headers["x-amz-server-side-encryption"] ?? "AES256") === "AES256";

/** Whether these bytes are the object's, as far as its ETag and its checksum tell. */
export const fits = (stored: Stored, bytes: Buffer): boolean =>
  (!isHash(stored) || stored.etag === `"${createHash("md5").update(bytes).digest("hex")}"`) &&
  (stored.sha256 === undefined || stored.sha256 === sha256Hex(bytes));

/** @throws ConnectorError when it is too large to be read for its hash */
export async function sha256Of(client: S3Reader, stored: Stored): Promise<string> {
  if (stored.sha256 !== undefined) return stored.sha256;
  if (stored.size > readLimit)
    throw new ConnectorError(`${stored.key}: too large to be compared, and S3 keeps no SHA-256 of it`);
  const request = { as: "bytes", encoded: true, headers: { "if-match": stored.etag } } as const;
  const { body } = await client.read(stored, request);
  return sha256Hex(body);
}

/** Whether nothing that a HEAD tells sets two objects apart. */
export const looksLike = (a: Stored, b: Stored): boolean =>
  a.size === b.size && attributesOf(a) === attributesOf(b) && (a.etag === b.etag || !isHash(a) || !isHash(b));

/** Whether two objects are the same in size, content, content type and metadata. @throws ConnectorError */
export async function same(client: S3Reader, a: Stored, b: Stored): Promise<boolean> {
  if (!looksLike(a, b)) return false;
  return a.etag === b.etag || (await sha256Of(client, a)) === (await sha256Of(client, b));
}

/** What a put and a delete answer when they are done. */
export const isEmpty = (text: string): boolean => text === "";

/** An object in words, for messages. */
export const inWords = (stored: Stored | undefined): string =>
  stored === undefined ? "nothing" : `${stored.size} bytes with the ETag ${stored.etag}`;

/** Class and encryption are not copied by themselves. */
const copiedOnRequest = [
  "x-amz-storage-class",
  "x-amz-server-side-encryption",
  "x-amz-server-side-encryption-aws-kms-key-id",
  "x-amz-server-side-encryption-bucket-key-enabled",
];

/**
 * Copies exactly the version that was read, with its content type, metadata, tags, class and encryption, and has S3 keep a
 * SHA-256 of it.
 * @throws ConnectorError also for a failure inside a 200; EffectUncertainError for an answer that proves nothing
 */
export async function copy(client: S3Client, from: Stored, to: Place, condition: Headers) {
  const kept = copiedOnRequest.map((name) => [name, from.headers[name]]);
  const answer = await client.write(to, {
    method: "PUT",
    headers: {
      ...Object.fromEntries(kept),
      "x-amz-copy-source": copySource(from),
      "x-amz-copy-source-if-match": from.etag,
      "x-amz-checksum-algorithm": "SHA256",
      ...condition,
    },
  });
  const failure = failureIn(answer, `copy to ${to.key}`);
  if (failure) throw failure;
  const result = parseXml(answer.text.trim());
  const etag = result?.name === "CopyObjectResult" ? textOf(result, "ETag") : undefined;
  if (etag) return { etag };
  throw new EffectUncertainError(
    `HTTP ${answer.status}: copy to ${to.key}: the answer does not carry the copy's ETag; whether it was made is unknown`,
  );
}
