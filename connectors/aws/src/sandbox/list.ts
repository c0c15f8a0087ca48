import { createHash } from "node:crypto";
import { type Call, element, leaf, namespaced, type Operation, xml } from "./wire.ts";
import { current } from "./world.ts";

/** As S3 encodes keys in lists: a blank becomes a plus. */
const encoded = (text: string) =>
  encodeURIComponent(text)
    .replace(/[!'()]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%20", "+")
    .replaceAll("%2F", "/");

const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** A token that only this sandbox can read, and only for this very list. */
const tokenOf = (query: URLSearchParams, after: string) => {
  const list = ["prefix", "delimiter"].map((name) => query.get(name) ?? "").join("\n");
  const sign = createHash("sha256").update(list).digest("base64").slice(0, 12);
  return `${sign}/${Buffer.from(after).toString("base64")}`;
};
function afterOf({ fail }: Call, query: URLSearchParams): string {
  const token = query.get("continuation-token");
  if (token === null) return query.get("start-after") ?? "";
  const after = Buffer.from(token.slice(13), "base64").toString();
  if (tokenOf(query, after) !== token)
    fail(400, "InvalidArgument", "The continuation token provided is incorrect", {
      ArgumentName: "continuation-token",
    });
  return after;
}

function limitOf({ fail }: Call, query: URLSearchParams): number {
  const text = query.get("max-keys") ?? "1000";
  if (!/^\d+$/.test(text))
    fail(400, "InvalidArgument", "Argument maxKeys must be an integer", { ArgumentName: "max-keys" });
  return Math.min(Number(text), 1000);
}

/** What the list shows of a key: itself, or the group it belongs to. */
function shownAs(
  key: string,
  prefix: string,
  delimiter: string | null,
): { readonly name: string; readonly group: boolean } {
  const at = delimiter ? key.indexOf(delimiter, prefix.length) : -1;
  return at < 0
    ? { name: key, group: false }
    : { name: key.slice(0, at + (delimiter ?? "").length), group: true };
}

export const listObjects: Operation = (call) => {
  const { bucket, fail } = call;
  const query = call.query(
    "list-type",
    "prefix",
    "delimiter",
    "max-keys",
    "continuation-token",
    "start-after",
    "encoding-type",
  );
  call.need("s3:ListBucket");
  call.headers();
  if (query.get("list-type") !== "2") fail(501, "NotImplemented", "The sandbox speaks ListObjectsV2 only.");
  const url = query.get("encoding-type") === "url";
  if (query.has("encoding-type") && !url)
    fail(400, "InvalidArgument", "Invalid Encoding Method specified in Request");
  const text = url ? encoded : (name: string) => name;
  const [prefix, delimiter] = [query.get("prefix") ?? "", query.get("delimiter")];
  const [limit, after] = [limitOf(call, query), afterOf(call, query)];
  const shown = new Map<string, boolean>();
  for (const key of [...bucket.objects.keys()].sort(byBytes)) {
    if (!key.startsWith(prefix) || !current(bucket, key)) continue;
    const { name, group } = shownAs(key, prefix, delimiter);
    if (after === "" || byBytes(name, after) > 0) shown.set(name, group);
  }
  const page = [...shown].slice(0, limit);
  const truncated = shown.size > page.length && limit > 0;
  const entries = page.map(([name, group]) => {
    const object = current(bucket, name);
    if (group || !object) return element("CommonPrefixes", leaf("Prefix", text(name)));
    const { etag, content, modified, storageClass } = object;
    const size = leaf("Size", content.length);
    const head = [
      leaf("Key", text(name)),
      leaf("LastModified", modified.toISOString()),
      leaf("ETag", etag),
      size,
    ];
    return element("Contents", [...head, leaf("StorageClass", storageClass)].join(""));
  });
  const head = [
    leaf("Name", bucket.name),
    leaf("Prefix", text(prefix)),
    ...(delimiter === null ? [] : [leaf("Delimiter", text(delimiter))]),
    leaf("KeyCount", page.length),
    leaf("MaxKeys", limit),
    ...(url ? [leaf("EncodingType", "url")] : []),
    leaf("IsTruncated", truncated),
    ...(truncated ? [leaf("NextContinuationToken", tokenOf(query, page.at(-1)?.[0] ?? ""))] : []),
  ];
  return xml(200, namespaced("ListBucketResult", [...head, ...entries].join("")));
};
