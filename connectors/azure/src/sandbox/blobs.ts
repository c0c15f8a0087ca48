import type { SandboxReply } from "@reversi-connector/http/sandbox";
import { checkConditions, checkProtection, conditionIn } from "./conditions.ts";
import { copyFrom } from "./copies.ts";
import { headersIn, metadata, tierIn, written } from "./properties.ts";
import type { Call, Operation } from "./wire.ts";
import { md5Of, putBlob, removeBlob, type StoredBlob } from "./world.ts";

/** The headers of a blob, as every answer about it shows them. */
const shown = (blob: StoredBlob): SandboxReply["headers"] => ({
  ...blob.headers,
  etag: blob.etag,
  "last-modified": blob.modified.toUTCString(),
  "accept-ranges": "bytes",
  "content-md5": blob.md5,
  "x-ms-creation-time": blob.created.toUTCString(),
  "x-ms-blob-type": blob.type,
  "x-ms-server-encrypted": "true",
  "x-ms-lease-status": blob.leased ? "locked" : "unlocked",
  "x-ms-lease-state": blob.leased ? "leased" : "available",
  "x-ms-legal-hold": blob.legalHold ? "true" : undefined,
  "x-ms-access-tier": blob.type === "BlockBlob" ? (blob.tier ?? "Hot") : undefined,
  "x-ms-access-tier-inferred": blob.type === "BlockBlob" && blob.tier === undefined ? "true" : undefined,
});

/** The part that `x-ms-range` or `range` names: 206, or 416 where it begins past the end. */
function partOf({ request, fail }: Call, content: Buffer) {
  const { "x-ms-range": own, range = own } = request.headers;
  const [, from = "", to = ""] = /^bytes=(\d+)-(\d*)$/.exec(own ?? range ?? "") ?? [];
  if (from === "" || request.method === "HEAD") return undefined;
  const [start, end] = [Number(from), Math.min(to === "" ? content.length : Number(to) + 1, content.length)];
  if (start >= content.length)
    fail(416, "InvalidRange", "The range specified is invalid for the current size of the resource.");
  const where = `bytes ${start}-${end - 1}/${content.length}`;
  return {
    headers: { "content-range": where, "content-md5": undefined },
    body: content.subarray(start, end),
  };
}

export const getBlob: Operation = (call) => {
  const { request, fail } = call;
  call.query();
  call.headers("x-ms-range");
  call.need("blobs/read");
  const blob = call.blob();
  if (!blob) return fail(404, "BlobNotFound", "The specified blob does not exist.");
  const match = conditionIn(call, "if-match");
  if (match !== undefined && match !== "*" && match !== blob.etag)
    fail(412, "ConditionNotMet", "The condition specified using HTTP conditional header(s) is not met.");
  if (blob.tier === "Archive" && request.method === "GET")
    fail(409, "BlobArchived", "This operation is not permitted on an archived blob.");
  const { content, claimedSize = content.length } = blob;
  const part = partOf(call, content);
  if (part) return { status: 206, headers: { ...shown(blob), ...part.headers }, body: part.body };
  const length = request.method === "HEAD" && { "content-length": String(claimedSize) };
  return { status: 200, headers: { ...shown(blob), ...length }, body: content };
};

function checkName({ name, fail }: Call): void {
  if (name.length > 1024 || name.split("/").length > 254)
    fail(400, "InvalidUri", "The requested URI does not represent any resource on the server.");
  if (/(?:^|\/)[^/]*\.$|\/$/.test(name) || name.split("/").some((part) => part.endsWith(".")))
    fail(400, "InvalidUri", "The sandbox has no blobs whose names would be folded into others.");
}

const upload: Operation = (call) => {
  const { request, container, name, fail } = call;
  const { "content-length": length, "content-md5": sent, "x-ms-blob-type": type } = request.headers;
  call.headers(metadata, /^x-ms-blob-(?:type|content-|cache-control)/, "x-ms-access-tier");
  call.need("blobs/write");
  if (type === undefined)
    fail(400, "MissingRequiredHeader", "An HTTP header that's mandatory for this request is not specified.");
  if (type !== "BlockBlob") fail(400, "InvalidHeaderValue", "The sandbox writes block blobs only.");
  if (length === undefined)
    fail(411, "MissingContentLengthHeader", "Content-Length HTTP header was not specified.");
  const md5 = md5Of(request.bytes);
  if (sent !== undefined && sent !== md5)
    fail(
      400,
      "Md5Mismatch",
      "The MD5 value specified in the request did not match with the MD5 value calculated by the server.",
    );
  const draft = { headers: headersIn(call, "application/octet-stream"), tier: tierIn(call) };
  checkConditions(call, call.blob());
  checkProtection(call, call.blob());
  return written(201, putBlob(container, name, request.bytes, draft));
};

export const writeBlob: Operation = (call) => {
  call.query();
  checkName(call);
  return call.request.headers["x-ms-copy-source"] === undefined ? upload(call) : copyFrom(call);
};

export const deleteBlob: Operation = (call) => {
  const { container, name, world, request, fail } = call;
  call.query();
  call.headers("x-ms-delete-snapshots");
  call.need("blobs/delete");
  const blob = call.blob();
  if (!blob && (world.missingDelete === 404 || request.headers["if-match"] === undefined))
    fail(404, "BlobNotFound", "The specified blob does not exist.");
  checkConditions(call, blob);
  checkProtection(call, blob);
  if (blob && blob.snapshots > 0 && request.headers["x-ms-delete-snapshots"] !== "include")
    fail(409, "SnapshotsPresent", "This operation is not permitted because the blob has snapshots.");
  removeBlob(container, name);
  return { status: 202, headers: { "x-ms-delete-type-permanent": String(!world.softDelete) } };
};
