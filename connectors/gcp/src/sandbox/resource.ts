import type { Call } from "./wire.ts";
import type { Attributes, Bucket, StoredObject } from "./world.ts";

/** An object as Google shows it: numbers of 64 bits are text, and what is empty is absent. */
export function resourceOf({ name: bucket }: Bucket, name: string, object: StoredObject) {
  const { generation, metageneration, storageClass, attributes, kmsKeyName, contexts } = object;
  const { metadata = {}, ...headers } = attributes;
  const path = `${bucket}/o/${encodeURIComponent(name)}`;
  const [created, updated] = [object.created.toISOString(), object.updated.toISOString()];
  return {
    kind: "storage#object",
    id: `${bucket}/${name}/${generation}`,
    selfLink: `https://www.googleapis.com/storage/v1/b/${path}`,
    mediaLink: `https://storage.googleapis.com/download/storage/v1/b/${path}?generation=${generation}&alt=media`,
    ...{ name, bucket, generation, storageClass, kmsKeyName },
    metageneration: String(metageneration),
    ...headers,
    ...(Object.keys(metadata).length > 0 && { metadata }),
    size: String(object.content.length),
    ...(object.customerKey
      ? { customerEncryption: { encryptionAlgorithm: "AES256", keySha256: "AAAA" } }
      : { md5Hash: object.md5Hash, crc32c: object.crc32c }),
    ...(object.md5Hash === undefined && { componentCount: 2 }),
    ...(object.held && { temporaryHold: true }),
    ...(contexts && { contexts: { custom: contextsOf(contexts, created) } }),
    etag: etagOf(object),
    timeCreated: created,
    updated,
    timeStorageClassUpdated: created,
    timeFinalized: created,
  };
}

const contextsOf = (contexts: Readonly<Record<string, string>>, createTime: string) =>
  Object.fromEntries(Object.entries(contexts).map(([key, value]) => [key, { value, createTime }]));

export const etagOf = ({ generation, metageneration }: StoredObject) =>
  Buffer.from(`${generation}/${metageneration}`).toString("base64");

const texts = [
  "contentType",
  "cacheControl",
  "contentDisposition",
  "contentEncoding",
  "contentLanguage",
  "customTime",
];

/** What a request says of an object. */
export interface Wanted {
  readonly attributes: Attributes;
  readonly storageClass: string | undefined;
  readonly md5Hash: string | undefined;
  readonly crc32c: string | undefined;
}
const known = [...texts, "metadata", "storageClass", "md5Hash", "crc32c"];

/** Reads the JSON that describes an object. What Google does not know, or sets by itself, is refused. */
export function wantedIn({ fail }: Call, text: string): Wanted {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return fail(400, "parseError", "Parse Error");
  }
  if (typeof body !== "object" || body === null || Array.isArray(body))
    return fail(400, "parseError", "Parse Error");
  const { metadata = {}, ...rest } = body as Record<string, unknown>;
  for (const [name, value] of Object.entries(rest)) {
    if (!known.includes(name)) fail(400, "invalid", `Unknown name "${name}": Cannot find field.`);
    if (typeof value !== "string") fail(400, "invalid", `Invalid value for: ${name}`);
  }
  const isMap = typeof metadata === "object" && metadata !== null && !Array.isArray(metadata);
  if (!isMap || Object.values(metadata).some((value) => typeof value !== "string"))
    fail(400, "invalid", "Invalid value for: metadata");
  const { storageClass, md5Hash, crc32c, ...headers } = rest as Record<string, string | undefined>;
  if (storageClass && !/^(?:STANDARD|NEARLINE|COLDLINE|ARCHIVE)$/.test(storageClass))
    fail(400, "invalid", `Invalid storage class: ${storageClass}`);
  const attributes = { ...headers, ...(Object.keys(metadata as object).length > 0 && { metadata }) };
  return { attributes: attributes as Attributes, storageClass, md5Hash, crc32c };
}
