import { crc32c, md5Base64 } from "../checksums.ts";

export type Permission =
  | "storage.objects.get"
  | "storage.objects.list"
  | "storage.objects.create"
  | "storage.objects.delete";

/** What goes with an object's content, as far as anybody may set it. */
export interface Attributes {
  readonly contentType?: string;
  readonly cacheControl?: string;
  readonly contentDisposition?: string;
  readonly contentEncoding?: string;
  readonly contentLanguage?: string;
  readonly customTime?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}
export interface StoredObject {
  readonly content: Buffer;
  readonly attributes: Attributes;
  readonly generation: string;
  readonly metageneration: number;
  readonly storageClass: string;
  readonly crc32c: string;
  /** Composed objects have none. */
  readonly md5Hash: string | undefined;
  readonly kmsKeyName: string | undefined;
  /** Under a temporary hold. */
  readonly held: boolean;
  /** Kept by a retention policy. */
  readonly retained: boolean;
  /** Encrypted with a key that only the customer has. */
  readonly customerKey: boolean;
  readonly contexts: Readonly<Record<string, string>> | undefined;
  readonly created: Date;
  readonly updated: Date;
}
export interface Bucket {
  readonly name: string;
  readonly versioning: boolean;
  readonly softDelete: boolean;
  readonly storageClass: string;
  readonly objects: Map<string, StoredObject>;
  /** Old generations, which stay readable on a versioned bucket. */
  readonly noncurrent: { readonly name: string; readonly object: StoredObject }[];
  /** Names of the generations that soft delete keeps. */
  readonly softDeleted: string[];
  /** How often each object was written or deleted: what Pub/Sub has told. */
  readonly events: Map<string, number>;
}
/** A copy that is under way. */
export interface Rewrite {
  /** The request that began it. */
  readonly request: string;
  readonly copied: number;
}
export interface World {
  readonly buckets: Map<string, Bucket>;
  readonly allowed: Set<Permission>;
  /** Whether the token is accepted. */
  token: "good" | "expired";
  /** How many bytes one request copies: fewer than Google's, so that small objects show several requests. */
  bytesPerRewrite: number;
  readonly rewrites: Map<string, Rewrite>;
  /** How many more changes of an object, by its name, come too soon after the last one. */
  readonly busy: Map<string, number>;
  /** Entries on a page of a list, whatever is asked for. */
  largestPage: number;
  /** Requests left before the project's limit is reached. */
  remaining: number;
  generations: number;
}

/** What is said of a new object besides its content. */
export type Draft = Partial<Omit<StoredObject, "content" | "generation" | "metageneration" | "crc32c">>;

const KiB = 1024;
const isBackup = (name: string) => name.startsWith(".reversi-backups/");

/** What becomes of the generation that is no longer the live one. */
function retire(bucket: Bucket, name: string): void {
  const object = bucket.objects.get(name);
  if (object && bucket.versioning) bucket.noncurrent.push({ name, object });
  else if (object && bucket.softDelete) bucket.softDeleted.push(name);
  bucket.events.set(name, (bucket.events.get(name) ?? 0) + 1);
}

/** Writes an object as anybody would: whatever stood there is replaced with all that was known of it. */
export function putObject(
  world: World,
  bucket: Bucket,
  name: string,
  content: string | Buffer,
  draft: Draft = {},
): StoredObject {
  const bytes = Buffer.from(content);
  const now = new Date();
  const object: StoredObject = {
    ...{ attributes: { contentType: "application/octet-stream" }, storageClass: bucket.storageClass },
    ...{ md5Hash: md5Base64(bytes), kmsKeyName: undefined, contexts: undefined },
    ...{ held: false, retained: false, customerKey: false, created: now, updated: now },
    ...draft,
    ...{ content: bytes, crc32c: crc32c(bytes), metageneration: 1 },
    generation: String(1_764_500_000_000_000 + ++world.generations * 1000),
  };
  retire(bucket, name);
  bucket.objects.set(name, object);
  return object;
}

/** Changes what is known of an object: its generation stays, its metageneration rises. */
export function changeObject(bucket: Bucket, name: string, change: Draft): void {
  const object = bucket.objects.get(name);
  if (!object) throw new Error(`there is no object ${name}`);
  const { metageneration } = object;
  bucket.objects.set(name, { ...object, ...change, metageneration: metageneration + 1, updated: new Date() });
}

export function removeObject(bucket: Bucket, name: string): void {
  retire(bucket, name);
  bucket.objects.delete(name);
}

export function addBucket(world: World, name: string, rules: Partial<Bucket> = {}): Bucket {
  const bucket: Bucket = {
    ...{ name, versioning: false, softDelete: true, storageClass: "STANDARD" },
    ...{ objects: new Map(), noncurrent: [], softDeleted: [], events: new Map() },
    ...rules,
  };
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
    buckets: new Map(),
    allowed: new Set([
      "storage.objects.get",
      "storage.objects.list",
      "storage.objects.create",
      "storage.objects.delete",
    ]),
    ...{ token: "good", bytesPerRewrite: 64 * KiB, rewrites: new Map(), busy: new Map() },
    ...{ largestPage: 1000, remaining: 20_000, generations: 0 },
  };
  const notes = addBucket(world, "notes");
  putObject(world, notes, "todo.txt", "milk\n", {
    attributes: { contentType: "text/plain", cacheControl: "no-store", metadata: { Author: "ada" } },
  });
  putObject(world, notes, "dir/ü ñ+&=%20!*'();~.bin", Buffer.from([0, 255, 254]));
  putObject(world, notes, "public/index.html", "<p>Hello</p>", {
    attributes: {
      ...{ contentType: "text/html", contentLanguage: "en", contentDisposition: "inline" },
      customTime: "2026-01-02T03:04:05.000Z",
    },
    storageClass: "NEARLINE",
  });
  putObject(world, notes, "composed.txt", "in parts", { md5Hash: undefined });
  putObject(world, notes, "film.bin", Buffer.alloc(160 * KiB, "film"));
  const versioned = addBucket(world, "versioned.notes", { versioning: true });
  putObject(world, versioned, "plan.txt", "first");
  putObject(world, versioned, "plan.txt", "second", { attributes: { contentType: "text/plain" } });
  return world;
}

const shown = ({ content, crc32c, attributes, storageClass, held, kmsKeyName }: StoredObject) => ({
  content: content.length > KiB ? `${content.length} bytes, ${crc32c}` : content.toString("base64"),
  ...{ attributes, held, storage_class: storageClass, key: kmsKeyName ?? "Google's" },
});
const own = (names: readonly string[]) => names.filter((name) => !isBackup(name)).sort();

/** What a person would see; neither times and generations nor the names of backups. */
export const visibleState = ({ buckets }: World) =>
  Object.fromEntries(
    [...buckets.values()].map(({ name, objects, events, noncurrent, softDeleted }) => {
      const seen = [...objects]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, object]) => [key, shown(object)] as const);
      const backups = seen.filter(([key]) => isBackup(key)).map(([, object]) => JSON.stringify(object));
      return [
        name,
        {
          objects: Object.fromEntries(seen.filter(([key]) => !isBackup(key))),
          backups: backups.sort(),
          history: {
            events: Object.fromEntries([...events].filter(([key]) => !isBackup(key)).sort()),
            noncurrent: own(noncurrent.map((old) => old.name)),
            soft_deleted: own(softDeleted),
          },
        },
      ];
    }),
  );
