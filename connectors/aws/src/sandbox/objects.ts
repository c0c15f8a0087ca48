import { crc32 } from "node:zlib";
import type { SandboxReply } from "@reversi-connector/http/sandbox";
import { type Call, failure, leaf, namespaced, type Operation, xml } from "./wire.ts";
import { current, type Draft, putObject, removeObject, type StoredObject, sha256Of } from "./world.ts";

const kept =
  /^(?:content-type|cache-control|content-disposition|content-encoding|content-language|expires|x-amz-meta-.*)$/;
const metadata = /^x-amz-meta-/;

/** The headers of an object, as every answer about it shows them. */
function shown({ request, world }: Call, object: StoredObject): SandboxReply["headers"] {
  const { etag, headers, storageClass, versionId, kmsKey, sha256, tags } = object;
  const wantsChecksum = request.headers["x-amz-checksum-mode"] === "ENABLED";
  const tagCount = Object.keys(tags).length;
  return {
    ...headers,
    etag,
    "accept-ranges": "bytes",
    "last-modified": object.modified.toUTCString(),
    "x-amz-version-id": versionId ?? undefined,
    "x-amz-storage-class": storageClass === "STANDARD" ? undefined : storageClass,
    "x-amz-server-side-encryption": kmsKey === undefined ? "AES256" : "aws:kms",
    "x-amz-server-side-encryption-aws-kms-key-id": kmsKey,
    "x-amz-tagging-count":
      tagCount > 0 && world.allowed.has("s3:GetObjectTagging") ? String(tagCount) : undefined,
    ...(wantsChecksum &&
      sha256 !== undefined && { "x-amz-checksum-sha256": sha256, "x-amz-checksum-type": "FULL_OBJECT" }),
  };
}

const noSuchKey = ({ key }: Call, headers: SandboxReply["headers"] = {}) =>
  failure(404, "NoSuchKey", "The specified key does not exist.", { Key: key }, headers);

/** The version that a read is about. @throws what S3 answers where there is none */
function readable(call: Call): StoredObject {
  const { bucket, key, fail, need } = call;
  const versionId = call.query("versionId").get("versionId");
  call.headers("x-amz-checksum-mode");
  need(versionId === null ? "s3:GetObject" : "s3:GetObjectVersion");
  const versions = bucket.objects.get(key) ?? [];
  const found =
    versionId === null
      ? versions.at(-1)
      : versions.find((version) => (version.versionId ?? "null") === versionId);
  if (!found && versionId !== null) fail(404, "NoSuchVersion", "The specified version does not exist.");
  if (found && !found.isMarker) return found;
  // Whoever may not list is not told what is missing.
  need("s3:ListBucket");
  if (found && versionId !== null) fail(405, "MethodNotAllowed", "The specified method is not allowed.");
  throw noSuchKey(
    call,
    found && { "x-amz-delete-marker": "true", "x-amz-version-id": found.versionId ?? "null" },
  );
}

export const getObject: Operation = (call) => {
  const object = readable(call);
  const { "if-match": wanted } = call.request.headers;
  if (wanted !== undefined && wanted !== object.etag) preconditionFailed(call, "If-Match");
  if (object.storageClass === "GLACIER" && call.request.method === "GET") archived(call);
  const length = object.claimedSize === undefined ? {} : { "content-length": String(object.claimedSize) };
  return { status: 200, headers: { ...shown(call, object), ...length }, body: object.content };
};

const archived = ({ fail }: Call) =>
  fail(403, "InvalidObjectState", "The operation is not valid for the object's storage class");
const preconditionFailed = ({ fail }: Call, Condition: string) =>
  fail(412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold", {
    Condition,
  });

/** Holds a write to its conditions, as this server does. */
function checkConditions(call: Call, kind: "put" | "copy" | "delete"): void {
  const { request, world, fail } = call;
  const { "if-match": match, "if-none-match": noneMatch } = request.headers;
  const mode = world.conditions[kind];
  if ((match === undefined && noneMatch === undefined) || mode === "ignored") return;
  const implied = "A header you provided implies functionality that is not implemented.";
  if (mode === "refused" || (noneMatch !== undefined && noneMatch !== "*"))
    fail(501, "NotImplemented", implied);
  if (mode === "always failed") preconditionFailed(call, "If-Match");
  const object = call.object();
  if (noneMatch === "*" && object) preconditionFailed(call, "If-None-Match");
  if (match === undefined) return;
  if (match !== "*" || kind !== "delete") call.need("s3:GetObject");
  if (!object) throw noSuchKey(call);
  if (match !== "*" && match !== object.etag) preconditionFailed(call, "If-Match");
}

function checkKey({ key, fail }: Call): void {
  if (Buffer.byteLength(key) > 1024) fail(400, "KeyTooLongError", "Your key is too long");
}

/** What a write says of the object's headers. */
function headersIn({ request, fail }: Call): Readonly<Record<string, string>> {
  const headers = Object.entries(request.headers).filter(([name]) => kept.test(name));
  const size = headers.filter(([name]) => metadata.test(name)).join("").length;
  if (size > 2048)
    fail(400, "MetadataTooLarge", "Your metadata headers exceed the maximum allowed metadata size");
  return { "content-type": "binary/octet-stream", ...Object.fromEntries(headers) };
}

const writeHeaders = [
  "x-amz-storage-class",
  "x-amz-server-side-encryption",
  "x-amz-server-side-encryption-aws-kms-key-id",
  "x-amz-server-side-encryption-bucket-key-enabled",
];

/** Class and encryption, as a write asks for them. */
function draftIn({ request, fail }: Call): Draft {
  const { headers } = request;
  const storageClass = headers["x-amz-storage-class"] ?? "STANDARD";
  if (!["STANDARD", "STANDARD_IA", "GLACIER"].includes(storageClass))
    fail(400, "InvalidStorageClass", "The storage class you specified is not valid");
  const encryption = headers["x-amz-server-side-encryption"] ?? "AES256";
  if (encryption !== "AES256" && encryption !== "aws:kms")
    fail(400, "InvalidEncryptionAlgorithmError", "The encryption request that you specified is not valid.");
  const kmsKey = headers["x-amz-server-side-encryption-aws-kms-key-id"];
  return { storageClass, ...(encryption === "aws:kms" && { kmsKey: kmsKey ?? "aws/s3" }) };
}

const checksums = ["x-amz-checksum-sha256", "x-amz-checksum-crc32"];
/** As S3 writes it: four bytes in Base64. */
function crc32Of(content: Buffer): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(content));
  return bytes.toString("base64");
}

const writtenHeaders = ({ versionId, kmsKey }: StoredObject) => ({
  "x-amz-version-id": versionId ?? undefined,
  "x-amz-server-side-encryption": kmsKey === undefined ? "AES256" : "aws:kms",
});

export const writeObject: Operation = (call) => {
  const { request, bucket, key, fail } = call;
  if (request.headers["x-amz-copy-source"] !== undefined) return copyObject(call);
  call.query();
  call.need("s3:PutObject");
  call.headers(metadata, ...checksums, "x-amz-sdk-checksum-algorithm", ...writeHeaders);
  checkKey(call);
  if (request.headers["content-length"] === undefined)
    fail(411, "MissingContentLength", "You must provide the Content-Length HTTP header.");
  const { "x-amz-checksum-sha256": sha256, "x-amz-checksum-crc32": crc } = request.headers;
  if (sha256 !== undefined && sha256 !== sha256Of(request.bytes, "base64"))
    fail(400, "BadDigest", "The SHA256 you specified did not match the calculated checksum.");
  if (crc !== undefined && crc !== crc32Of(request.bytes))
    fail(400, "BadDigest", "The CRC32 you specified did not match the calculated checksum.");
  checkConditions(call, "put");
  const object = putObject(bucket, key, request.bytes, {
    ...draftIn(call),
    headers: headersIn(call),
    sha256,
  });
  return {
    status: 200,
    headers: {
      ...writtenHeaders(object),
      etag: object.etag,
      ...(sha256 && { "x-amz-checksum-sha256": sha256, "x-amz-checksum-type": "FULL_OBJECT" }),
    },
  };
};

const largestCopy = 5 * 1024 ** 3;

/** The object that `x-amz-copy-source` names. @throws what S3 answers where it cannot be copied */
function sourceOf(call: Call): StoredObject {
  const { request, world, fail, need } = call;
  const { "x-amz-copy-source": header = "", "x-amz-copy-source-if-match": wanted } = request.headers;
  const [, name = "", key = ""] = /^\/?([^/]+)\/([^?]+)$/.exec(header) ?? [];
  if (key === "") fail(400, "InvalidArgument", "Invalid copy source object key");
  need("s3:GetObject");
  const from = world.buckets.get(decodeURIComponent(name));
  if (!from) return fail(404, "NoSuchBucket", "The specified bucket does not exist", { BucketName: name });
  const source = current(from, decodeURIComponent(key));
  if (!source) {
    need("s3:ListBucket");
    return fail(404, "NoSuchKey", "The specified key does not exist.", { Key: decodeURIComponent(key) });
  }
  if (wanted !== undefined && wanted !== source.etag) preconditionFailed(call, "x-amz-copy-source-If-Match");
  if (Object.keys(source.tags).length > 0) need("s3:GetObjectTagging", "s3:PutObjectTagging");
  if (source.storageClass === "GLACIER") archived(call);
  if ((source.claimedSize ?? 0) > largestCopy)
    fail(
      400,
      "InvalidRequest",
      `The specified copy source is larger than the maximum allowable size for a copy source: ${largestCopy}`,
    );
  return source;
}

function copyObject(call: Call): SandboxReply {
  const { request, bucket, key, fail } = call;
  call.query();
  call.need("s3:PutObject");
  call.headers(
    "x-amz-copy-source",
    "x-amz-copy-source-if-match",
    "x-amz-checksum-algorithm",
    ...writeHeaders,
  );
  checkKey(call);
  const algorithm = request.headers["x-amz-checksum-algorithm"];
  if (request.bytes.length > 0) fail(400, "InvalidRequest", "A copy has no body.");
  if (algorithm !== undefined && algorithm !== "SHA256")
    fail(400, "InvalidRequest", "Checksum algorithm provided is unsupported.");
  const { content, headers, tags, claimedSize, sha256: known } = sourceOf(call);
  checkConditions(call, "copy");
  const sha256 = algorithm === undefined ? known : sha256Of(content, "base64");
  const object = putObject(bucket, key, content, { ...draftIn(call), headers, tags, claimedSize, sha256 });
  const result = [
    leaf("LastModified", object.modified.toISOString()),
    leaf("ETag", object.etag),
    ...(sha256 === undefined ? [] : [leaf("ChecksumSHA256", sha256), leaf("ChecksumType", "FULL_OBJECT")]),
  ];
  return xml(200, namespaced("CopyObjectResult", result.join("")), writtenHeaders(object));
}

export const deleteObject: Operation = (call) => {
  call.query();
  call.need("s3:DeleteObject");
  call.headers();
  checkConditions(call, "delete");
  const marker = removeObject(call.bucket, call.key);
  const headers = marker && { "x-amz-delete-marker": "true", "x-amz-version-id": marker.versionId ?? "null" };
  return { status: 204, headers };
};
