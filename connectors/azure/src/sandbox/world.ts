import { createHash } from "node:crypto";

/** What a role allows, as far as the sandbox knows it. Storage Blob Data Contributor has all of them, Reader the first. */
export type Action = "blobs/read" | "blobs/write" | "blobs/delete";

export interface StoredBlob {
  readonly content: Buffer;
  /** With its quotes. */
  readonly etag: string;
  /** Content-MD5 in Base64; undefined where nobody keeps one. */
  readonly md5: string | undefined;
  /** content-type, cache-control and their like, and x-ms-meta-*, whose names keep their case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
  readonly type: "BlockBlob" | "AppendBlob" | "PageBlob";
  /** Undefined for the account's default. */
  readonly tier: "Hot" | "Cool" | "Cold" | "Archive" | undefined;
  readonly leased: boolean;
  readonly legalHold: boolean;
  readonly snapshots: number;
  /** What is said of the size in place of the truth: nobody stores 300 MiB for a test. */
  readonly claimedSize: number | undefined;
  readonly created: Date;
  readonly modified: Date;
}
export interface Container {
  readonly name: string;
  readonly blobs: Map<string, StoredBlob>;
  /** How often each blob was written or deleted: what Event Grid has told. */
  readonly events: Map<string, number>;
  /** How many ETags it has given out. */
  changes: number;
}
export interface World {
  readonly containers: Map<string, Container>;
  readonly allowed: Set<Action>;
  /** Whether the token is accepted. */
  token: "good" | "expired";
  /** Whether deleted blobs can be recovered. */
  softDelete: boolean;
  /** What a conditional delete answers where there is no blob; both have been seen. */
  missingDelete: 404 | 412;
  /** What becomes of a synchronous copy. */
  copyStatus: "success" | "pending" | "failed" | "aborted" | undefined;
  /** Entries on a page of a list, whatever is asked for. */
  largestPage: number;
  /** Requests left before Azure asks to slow down. */
  remaining: number;
}

export const md5Of = (content: Buffer) => createHash("md5").update(content).digest("base64");
/** In the form of Azure's, and never the same again in one container. */
const newEtag = (container: Container) =>
  `"0x8DF${(0x2f9c00000000 + ++container.changes).toString(16).toUpperCase()}"`;

/** What is said of a new blob besides its content. */
export type Draft = Partial<Omit<StoredBlob, "content" | "etag" | "created" | "modified">>;

const told = ({ events }: Container, name: string) => events.set(name, (events.get(name) ?? 0) + 1);

/** Puts a blob as anybody would: whatever stood there is replaced with its metadata and tags; snapshots stay. */
export function putBlob(
  container: Container,
  name: string,
  content: string | Buffer,
  draft: Draft = {},
): StoredBlob {
  const bytes = Buffer.from(content);
  const old = container.blobs.get(name);
  const blob: StoredBlob = {
    headers: { "content-type": "application/octet-stream" },
    ...{ md5: md5Of(bytes), tags: {}, type: "BlockBlob", tier: undefined, claimedSize: undefined },
    ...{ leased: false, legalHold: false, snapshots: old?.snapshots ?? 0 },
    ...draft,
    ...{
      content: bytes,
      etag: newEtag(container),
      created: old?.created ?? new Date(),
      modified: new Date(),
    },
  };
  container.blobs.set(name, blob);
  told(container, name);
  return blob;
}

/** Changes what is known of a blob: a lease, a hold or a tag change no ETag, metadata and headers do. */
export function changeBlob(container: Container, name: string, change: Draft): void {
  const blob = container.blobs.get(name);
  if (!blob) throw new Error(`there is no blob ${name}`);
  const etag = change.headers ? newEtag(container) : blob.etag;
  container.blobs.set(name, { ...blob, ...change, etag });
}

export function removeBlob(container: Container, name: string): void {
  container.blobs.delete(name);
  told(container, name);
}

export function addContainer(world: World, name: string): Container {
  const container: Container = { name, blobs: new Map(), events: new Map(), changes: 0 };
  world.containers.set(name, container);
  return container;
}

export const containerIn = ({ containers }: World, name: string): Container => {
  const container = containers.get(name);
  if (!container) throw new Error(`there is no container ${name}`);
  return container;
};

export function newWorld(): World {
  const world: World = {
    containers: new Map(),
    allowed: new Set(["blobs/read", "blobs/write", "blobs/delete"]),
    ...{ token: "good", softDelete: true, missingDelete: 412, copyStatus: "success" },
    ...{ largestPage: 5000, remaining: 20_000 },
  };
  const notes = addContainer(world, "notes");
  putBlob(notes, "todo.txt", "milk\n", {
    headers: { "content-type": "text/plain", "cache-control": "no-store", "x-ms-meta-Author": "ada" },
  });
  putBlob(notes, "dir/ü ñ+&=%20!*'();~.bin", Buffer.from([0, 255, 254]));
  putBlob(notes, "public/index.html", "<p>Hello</p>", {
    headers: { "content-type": "text/html", "content-language": "en" },
    tags: { team: "web" },
    tier: "Cool",
  });
  putBlob(notes, "plan.txt", "in blocks", { md5: undefined });
  putBlob(addContainer(world, "$web"), "index.html", "<p>Hi</p>", {
    headers: { "content-type": "text/html" },
  });
  return world;
}

const shown = ({ content, headers, tags, type, tier, snapshots, leased, legalHold }: StoredBlob) => ({
  content: content.toString("base64"),
  ...{ headers, tags, type, snapshots, leased },
  tier: tier ?? "default",
  legal_hold: legalHold,
});

const isBackup = (name: string) => name.startsWith(".reversi-backups/");

/** What a person would see; neither times nor the random names of backups. */
export const visibleState = ({ containers }: World) =>
  Object.fromEntries(
    [...containers.values()].map(({ name, blobs, events }) => {
      const seen = [...blobs]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, blob]) => [key, shown(blob)] as const);
      const backups = seen.filter(([key]) => isBackup(key)).map(([, blob]) => JSON.stringify(blob));
      return [
        name,
        {
          blobs: Object.fromEntries(seen.filter(([key]) => !isBackup(key))),
          backups: backups.sort(),
          events: Object.fromEntries([...events].filter(([key]) => !isBackup(key)).sort()),
        },
      ];
    }),
  );
