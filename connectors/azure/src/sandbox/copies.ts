import { randomUUID } from "node:crypto";
import type { SandboxReply } from "@reversi-connector/http/sandbox";
import { checkConditions, checkProtection, conditionIn } from "./conditions.ts";
import { metadata, metadataIn, tierIn, written } from "./properties.ts";
import { type Call, isAccepted, rootOf } from "./wire.ts";
import { putBlob, type StoredBlob } from "./world.ts";

const MiB = 1024 * 1024;
const syncLimit = 256 * MiB;
const limit = 5000 * MiB;

/** The blob that `x-ms-copy-source` names, read under a credential of its own. @throws what Azure answers where it cannot */
function sourceOf(call: Call, largest: number): StoredBlob {
  const { request, world, fail } = call;
  const { "x-ms-copy-source": source = "", host = "" } = request.headers;
  if (!/^[\x21-\x7e]*$/.test(source) || source.length > 2048)
    fail(400, "InvalidHeaderValue", "The value for one of the HTTP headers is not in the correct format.");
  const cannot = (status: number, message: string) => fail(status, "CannotVerifyCopySource", message);
  const here = `//${host}${rootOf(request)}/`;
  const at = source.indexOf(here);
  if (!/^https?:$/.test(source.slice(0, at))) cannot(404, "The specified resource does not exist.");
  // No caller's identity is carried over: a private source needs a token of its own.
  if (!isAccepted(world, request.headers["x-ms-copy-source-authorization"]))
    cannot(
      401,
      "Server failed to authenticate the request. Please refer to the information in the www-authenticate header.",
    );
  if (!world.allowed.has("blobs/read"))
    cannot(403, "This request is not authorized to perform this operation using this permission.");
  const [, name = "", path = ""] = /^([^/]+)\/(.+)$/.exec(source.slice(at + here.length)) ?? [];
  const blob = world.containers.get(decodeURIComponent(name))?.blobs.get(decodeURIComponent(path));
  if (!blob) return cannot(404, "The specified resource does not exist.");
  const match = conditionIn(call, "x-ms-source-if-match");
  if (match !== undefined && match !== blob.etag)
    fail(
      412,
      "SourceConditionNotMet",
      "The source condition specified using HTTP conditional header(s) is not met.",
    );
  if (blob.type !== "BlockBlob") fail(409, "InvalidBlobType", "The blob type is invalid for this operation.");
  if (blob.tier === "Archive")
    fail(409, "BlobArchived", "This operation is not permitted on an archived blob.");
  if ((blob.claimedSize ?? 0) > largest)
    cannot(409, `The source request length must be less or equal to ${largest}`);
  return blob;
}

/** A blob of another type, or under protection, is not written by a copy. */
function checkTarget(call: Call): void {
  const blob = call.blob();
  checkConditions(call, blob);
  checkProtection(call, blob);
  if (blob && blob.type !== "BlockBlob")
    call.fail(409, "InvalidBlobType", "The blob type is invalid for this operation.");
}

/** Copy Blob From URL: metadata comes along unless some is sent; done when it is answered. */
function copyNow(call: Call): SandboxReply {
  const { request, world, container, name } = call;
  if (request.headers["x-ms-requires-sync"] !== "true")
    call.fail(
      400,
      "InvalidHeaderValue",
      "The value for one of the HTTP headers is not in the correct format.",
    );
  const source = sourceOf(call, syncLimit);
  const tier = tierIn(call);
  checkTarget(call);
  const status = { "x-ms-copy-id": randomUUID(), "x-ms-copy-status": world.copyStatus };
  if (world.copyStatus !== "success") return { status: 202, headers: status };
  const own = metadataIn(call);
  const properties = Object.entries(source.headers).filter(([key]) => !metadata.test(key));
  const headers =
    Object.keys(own).length > 0 ? { ...Object.fromEntries(properties), ...own } : source.headers;
  const { content, md5, claimedSize } = source;
  const made = written(202, putBlob(container, name, content, { headers, md5, claimedSize, tier }));
  return { ...made, headers: { ...made.headers, ...status } };
}

/** Put Blob From URL: content headers come along, metadata does not. */
function putFromUrl(call: Call): SandboxReply {
  const { request, container, name } = call;
  if (request.headers["x-ms-blob-type"] !== "BlockBlob")
    call.fail(
      400,
      "InvalidHeaderValue",
      "The value for one of the HTTP headers is not in the correct format.",
    );
  const { content, md5, claimedSize, headers: from } = sourceOf(call, limit);
  const properties = Object.entries(from).filter(([key]) => !metadata.test(key));
  const headers = { ...Object.fromEntries(properties), ...metadataIn(call) };
  const tier = tierIn(call);
  checkTarget(call);
  return written(201, putBlob(container, name, content, { headers, md5, claimedSize, tier }));
}

/** Without `x-ms-requires-sync` Azure only takes the order, and may fail later. */
const copyLater = (): SandboxReply => ({
  status: 202,
  headers: { "x-ms-copy-id": randomUUID(), "x-ms-copy-status": "pending" },
});

export function copyFrom(call: Call): SandboxReply {
  const { request } = call;
  call.headers(
    ...["x-ms-copy-source", "x-ms-copy-source-authorization", "x-ms-source-if-match", "x-ms-requires-sync"],
    ...["x-ms-blob-type", "x-ms-access-tier", metadata],
  );
  call.need("blobs/write");
  if (request.headers["content-length"] !== "0")
    call.fail(
      400,
      "InvalidHeaderValue",
      "The value for one of the HTTP headers is not in the correct format.",
    );
  if (request.headers["x-ms-requires-sync"] !== undefined) return copyNow(call);
  return request.headers["x-ms-blob-type"] === undefined ? copyLater() : putFromUrl(call);
}
