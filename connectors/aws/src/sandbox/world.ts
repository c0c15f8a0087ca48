import { createHash, randomBytes } from "node:crypto";

/** An action of IAM, as far as the sandbox knows it. */
export type Action =
  | "s3:GetObject"
  | "s3:GetObjectVersion"
  | "s3:ListBucket"
  | "s3:PutObject"
  | "s3:DeleteObject"
  | "s3:GetObjectTagging"
  | "s3:PutObjectTagging";
/** What the page asks for. */
export const listedActions: readonly Action[] = [
  "s3:GetObject",
  "s3:ListBucket",
  "s3:PutObject",
  "s3:DeleteObject",
];
const everyAction: readonly Action[] = [
  ...listedActions,
  "s3:GetObjectVersion",
  "s3:GetObjectTagging",
  "s3:PutObjectTagging",
];

export interface StoredObject {
  readonly content: Buffer;
  readonly etag: string;
  /** As it was sent: content-type, cache-control and their like, and x-amz-meta-*. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
  readonly storageClass: string;
  readonly acl: string;
  readonly kmsKey?: string | undefined;
  /** In Base64, where one was sent or asked for. */
  readonly sha256?: string | undefined;
  /** What a HEAD says of the size in place of the truth: nobody stores 5 GB for a test. */
  readonly claimedSize?: number | undefined;
  /** Null without versioning. */
  readonly versionId: string | null;
  readonly isMarker: boolean;
  readonly modified: Date;
}
export interface Bucket {
  readonly name: string;
  readonly region: string;
  versioning: "off" | "enabled" | "suspended";
  /** Each key's versions, the newest last; one at most without versioning. */
  readonly objects: Map<string, StoredObject[]>;
}
/** What the server makes of If-Match and If-None-Match on writes. */
export type Conditions = "honoured" | "ignored" | "refused" | "always failed";
export interface World {
  readonly region: string;
  readonly buckets: Map<string, Bucket>;
  readonly allowed: Set<Action>;
  readonly conditions: Record<"put" | "copy" | "delete", Conditions>;
  /** Whether the keys and the token are accepted. */
  token: "good" | "expired";
  /** How far the server's clock is ahead, in milliseconds. */
  clockAhead: number;
  /** Requests left before S3 asks to slow down. */
  remaining: number;
}

const md5 = (content: Buffer) => createHash("md5").update(content).digest("hex");
export const sha256Of = (content: Buffer, encoding: "base64" | "hex") =>
  createHash("sha256").update(content).digest(encoding);

/** What is said of a new object besides its content. */
export type Draft = Partial<Omit<StoredObject, "content" | "versionId" | "isMarker" | "modified">>;

const versionOf = ({ versioning }: Bucket): string | null => {
  if (versioning === "off") return null;
  return versioning === "suspended" ? "null" : randomBytes(24).toString("base64url");
};

function push(bucket: Bucket, key: string, object: StoredObject): StoredObject {
  const versions = bucket.versioning === "off" ? [] : (bucket.objects.get(key) ?? []);
  const kept = versions.filter(({ versionId }) => versionId !== "null" || object.versionId !== "null");
  bucket.objects.set(key, [...kept, object]);
  return object;
}

/** Puts an object as anybody would. An object under a KMS key has an ETag that says nothing of its content. */
export function putObject(
  bucket: Bucket,
  key: string,
  content: string | Buffer,
  draft: Draft = {},
): StoredObject {
  const bytes = Buffer.from(content);
  return push(bucket, key, {
    etag: `"${draft.kmsKey === undefined ? md5(bytes) : randomBytes(16).toString("hex")}"`,
    headers: { "content-type": "binary/octet-stream" },
    tags: {},
    storageClass: "STANDARD",
    acl: "private",
    ...draft,
    content: bytes,
    versionId: versionOf(bucket),
    isMarker: false,
    modified: new Date(),
  });
}

/** Deletes as anybody would: on a versioned bucket by a marker. The marker, where there is one. */
export function removeObject(bucket: Bucket, key: string): StoredObject | undefined {
  if (bucket.versioning === "off") {
    bucket.objects.delete(key);
    return undefined;
  }
  return push(bucket, key, {
    content: Buffer.alloc(0),
    ...{ etag: "", headers: {}, tags: {}, storageClass: "STANDARD", acl: "private" },
    versionId: versionOf(bucket),
    isMarker: true,
    modified: new Date(),
  });
}

/** The newest version, unless it is a marker. */
export function current(bucket: Bucket, key: string): StoredObject | undefined {
  const newest = bucket.objects.get(key)?.at(-1);
  return newest?.isMarker ? undefined : newest;
}

export function addBucket(world: World, name: string, facts: Partial<Bucket> = {}): Bucket {
  const bucket: Bucket = { name, region: world.region, versioning: "off", objects: new Map(), ...facts };
  world.buckets.set(name, bucket);
  return bucket;
}

export const bucketIn = ({ buckets }: World, name: string): Bucket => {
  const bucket = buckets.get(name);
  if (!bucket) throw new Error(`there is no bucket ${name}`);
  return bucket;
};

export function newWorld(): World {
  const world: World = {
    region: "eu-central-1",
    buckets: new Map(),
    allowed: new Set(everyAction),
    conditions: { put: "honoured", copy: "honoured", delete: "honoured" },
    token: "good",
    clockAhead: 0,
    remaining: 5_500,
  };
  const plain = addBucket(world, "notes");
  putObject(plain, "todo.txt", "milk\n", {
    headers: { "content-type": "text/plain", "cache-control": "no-store", "x-amz-meta-author": "ada" },
  });
  putObject(plain, "dir/ü ñ+&=%20!*'();~.bin", Buffer.from([0, 255, 254]));
  putObject(plain, "public/index.html", "<p>Hello</p>", {
    headers: { "content-type": "text/html" },
    acl: "public-read",
    tags: { team: "web" },
    storageClass: "STANDARD_IA",
  });
  const versioned = addBucket(world, "versioned.notes", { versioning: "enabled" });
  putObject(versioned, "plan.txt", "first");
  putObject(versioned, "plan.txt", "second");
  addBucket(world, "far-away", { region: "eu-west-1" });
  return world;
}

const shown = ({ content, headers, tags, storageClass, acl, kmsKey }: StoredObject) => ({
  content: content.toString("base64"),
  ...{ headers, tags, acl, kms_key: kmsKey ?? null },
  storage_class: storageClass,
});

const isBackup = (key: string) => key.startsWith(".reversi-backups/");

/** What a person would see; neither times nor the random names of backups. */
export const visibleState = ({ buckets }: World) =>
  Object.fromEntries(
    [...buckets.values()].map((bucket) => {
      const keys = [...bucket.objects.keys()].sort();
      const seen = keys.flatMap((key) => {
        const object = current(bucket, key);
        return object ? [[key, shown(object)] as const] : [];
      });
      const backups = seen.filter(([key]) => isBackup(key)).map(([, object]) => object);
      const versions = keys.map((key) => [key, bucket.objects.get(key)?.length ?? 0] as const);
      return [
        bucket.name,
        {
          objects: Object.fromEntries(seen.filter(([key]) => !isBackup(key))),
          backups: backups.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
          versions:
            bucket.versioning === "off" ? {} : Object.fromEntries(versions.filter(([key]) => !isBackup(key))),
        },
      ];
    }),
  );
