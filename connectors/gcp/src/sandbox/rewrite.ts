import { createHash } from "node:crypto";
import {
  checkConditions,
  checkName,
  checkPace,
  checkProtection,
  conditions,
  sourceConditions,
} from "./conditions.ts";
import { resourceOf, wantedIn } from "./resource.ts";
import { type Call, callOf, type Endpoint } from "./wire.ts";
import { type Draft, putObject, type StoredObject } from "./world.ts";

/** What is said of the copy: a body takes the place of all that is known of the source. */
function draftIn(call: Call, source: StoredObject): Draft {
  const { request, bucket, fail } = call;
  const { md5Hash } = source;
  const kmsKeyName = request.query.get("destinationKmsKeyName") ?? undefined;
  const key = kmsKeyName === undefined ? undefined : `${kmsKeyName}/cryptoKeyVersions/1`;
  const same = { attributes: source.attributes, md5Hash, kmsKeyName: key, storageClass: bucket.storageClass };
  if (request.bytes.length === 0) return same;
  if (!/^application\/json\s*(?:;|$)/i.test(request.headers["content-type"] ?? ""))
    fail(400, "parseError", "This API does not support parsing form-encoded input.");
  // An empty object says nothing: so Google's own Node client asks for a copy with all that is known.
  if (/^\s*\{\s*\}\s*$/.test(request.text)) return same;
  const wanted = wantedIn(call, request.text);
  const { attributes, storageClass = bucket.storageClass } = wanted;
  return { attributes, storageClass, md5Hash, kmsKeyName: key };
}

const opaque = (text: string) => `${createHash("sha256").update(text).digest("base64").slice(0, 40)}+/==`;

/** How far the copy has come with this request. A token belongs to the request that began it. */
function advance({ request, world, fail }: Call, size: number) {
  const rest = [...request.query].filter(([name]) => name !== "rewriteToken").sort();
  const asked = JSON.stringify([request.pathname, rest, request.text]);
  const given = request.query.get("rewriteToken");
  const begun = given === null ? undefined : world.rewrites.get(given);
  if (given !== null && begun?.request !== asked) fail(400, "invalid", "Invalid rewrite token.");
  const copied = Math.min(size, (begun?.copied ?? 0) + world.bytesPerRewrite);
  if (copied === size) return { copied, rewriteToken: undefined };
  const rewriteToken = opaque(`${asked} ${copied} ${world.rewrites.size}`);
  world.rewrites.set(rewriteToken, { request: asked, copied });
  return { copied, rewriteToken };
}

export const rewriteObject: Endpoint = (call) => {
  const { request, world, need } = call;
  const { sourceObject = "", destinationBucket = "", destinationObject: name = "" } = request.params;
  call.query(
    ...["sourceGeneration", "rewriteToken", "destinationKmsKeyName"],
    ...[...conditions, ...sourceConditions],
  );
  need("storage.objects.get", "storage.objects.create");
  const to = callOf(world, request, destinationBucket);
  checkName(to, name);
  const source = call.find(sourceObject, call.number("sourceGeneration"));
  if (source.customerKey)
    call.fail(400, "resourceIsEncryptedWithCustomerEncryptionKey", "The source has a customer's key.");
  const draft = draftIn(to, source);
  const old = to.bucket.objects.get(name);
  if (old) need("storage.objects.delete");
  checkConditions(call, source, sourceConditions);
  checkConditions(to, old);
  checkProtection(to, name, old);
  const size = source.content.length;
  const { copied, rewriteToken } = advance(call, size);
  const progress = { totalBytesRewritten: String(copied), objectSize: String(size) };
  const body = { kind: "storage#rewriteResponse", ...progress, done: rewriteToken === undefined };
  if (rewriteToken !== undefined) return { status: 200, body: { ...body, rewriteToken } };
  checkPace(to, name);
  const made = putObject(world, to.bucket, name, source.content, draft);
  return { status: 200, body: { ...body, resource: resourceOf(to.bucket, name, made) } };
};
