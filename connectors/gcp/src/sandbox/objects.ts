import type { SandboxReply } from "@reversi-connector/http/sandbox";
import { crc32c, md5Base64 } from "../checksums.ts";
import { checkConditions, checkName, checkPace, checkProtection, conditions } from "./conditions.ts";
import { etagOf, resourceOf, type Wanted, wantedIn } from "./resource.ts";
import type { Call, Endpoint } from "./wire.ts";
import { putObject, removeObject, type StoredObject } from "./world.ts";

const nameIn = ({ request }: Call) => request.params["object"] ?? "";

/** The bytes as they are stored, whatever Content-Encoding they have. */
function media({ request, fail }: Call, object: StoredObject): SandboxReply {
  const { content, attributes, generation, metageneration, md5Hash } = object;
  if (object.customerKey)
    fail(400, "resourceIsEncryptedWithCustomerEncryptionKey", "The object is encrypted by a customer's key.");
  if (attributes.contentEncoding === "gzip" && !/\bgzip\b/.test(request.headers["accept-encoding"] ?? ""))
    fail(400, "invalid", "The sandbox unpacks nothing: it wants Accept-Encoding: gzip.");
  const md5 = md5Hash === undefined ? "" : `,md5=${md5Hash}`;
  return {
    status: 200,
    body: content,
    headers: {
      "content-type": attributes.contentType ?? "application/octet-stream",
      "content-encoding": attributes.contentEncoding,
      "cache-control": attributes.cacheControl,
      etag: etagOf(object),
      "x-goog-generation": generation,
      "x-goog-metageneration": String(metageneration),
      "x-goog-hash": `crc32c=${object.crc32c}${md5}`,
      "x-goog-stored-content-length": String(content.length),
      "x-goog-stored-content-encoding": attributes.contentEncoding ?? "identity",
      "x-goog-storage-class": object.storageClass,
    },
  };
}

export const getObject: Endpoint = (call) => {
  const query = call.query("generation", ...conditions);
  call.need("storage.objects.get");
  const object = call.find(nameIn(call), call.number("generation"));
  checkConditions(call, object);
  if (query.get("alt") === "media") return media(call, object);
  return { status: 200, body: resourceOf(call.bucket, nameIn(call), object) };
};

/** `generation` is not known here: it would remove that version for good, past versioning and soft delete. */
export const deleteObject: Endpoint = (call) => {
  const name = nameIn(call);
  call.query(...conditions);
  call.need("storage.objects.delete");
  const object = call.find(name);
  checkConditions(call, object);
  checkProtection(call, name, object);
  checkPace(call, name);
  removeObject(call.bucket, name);
  return { status: 204 };
};

/** The two parts of a multipart/related body: what is said of the object, and its bytes. */
function partsIn({ request, fail }: Call) {
  const { "content-type": type = "" } = request.headers;
  const [, boundary] = /^multipart\/related;\s*boundary="?([\w'()+,./:=?-]{1,70})"?$/i.exec(type) ?? [];
  const bad = () => fail(400, "badContent", "Malformed multipart body.");
  if (boundary === undefined) return bad();
  const text = request.bytes.toString("latin1");
  const [before, first = "", second = "", after, ...more] = `\r\n${text}`.split(`\r\n--${boundary}`);
  if (before !== "" || !/^--(?:\r\n)?$/.test(after ?? "") || more.length > 0) return bad();
  const [head, json] = [
    /^\r\n((?:[^\r\n]+\r\n)+)\r\n/.exec(first),
    /^\r\n((?:[^\r\n]+\r\n)*)\r\n/.exec(second),
  ];
  if (!head || !json || !/^content-type: *application\/json/im.test(head[1] ?? "")) return bad();
  const bytesAfter = (part: string, length: number) => Buffer.from(part.slice(length), "latin1");
  return {
    description: bytesAfter(first, head[0].length).toString(),
    content: bytesAfter(second, json[0].length),
  };
}

function checkSums({ fail }: Call, { md5Hash, crc32c: sum }: Wanted, content: Buffer): void {
  const differs = (kind: string, sent: string, real: string) =>
    fail(400, "invalid", `Provided ${kind} "${sent}" doesn't match calculated ${kind} "${real}".`);
  const [md5, crc] = [md5Base64(content), crc32c(content)];
  if (md5Hash !== undefined && md5Hash !== md5) differs("MD5 hash", md5Hash, md5);
  if (sum !== undefined && sum !== crc) differs("CRC32C", sum, crc);
}

export const insertObject: Endpoint = (call) => {
  const { world, bucket, fail, need } = call;
  const query = call.query("uploadType", "name", ...conditions);
  if (query.get("uploadType") !== "multipart")
    fail(400, "invalid", "The sandbox takes uploads of the type multipart only.");
  const name = query.get("name") ?? "";
  checkName(call, name);
  const { description, content } = partsIn(call);
  const wanted = wantedIn(call, description);
  checkSums(call, wanted, content);
  need("storage.objects.create");
  const old = bucket.objects.get(name);
  if (old) need("storage.objects.delete");
  checkConditions(call, old);
  checkProtection(call, name, old);
  checkPace(call, name);
  const { attributes, storageClass = bucket.storageClass } = wanted;
  const object = putObject(world, bucket, name, content, { attributes, storageClass });
  return { status: 200, headers: { etag: etagOf(object) }, body: resourceOf(bucket, name, object) };
};
