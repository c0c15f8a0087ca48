import { s } from "@reversi-connector/core";

/** Schemas of values that several tools share. */
export const bucket = s.string("Bucket.", { pattern: "^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$" });
export const key = s.string(
  "Object key; at most 1024 bytes, no segment `.` or `..`, not below .reversi-backups/.",
  { minLength: 1, maxLength: 1024 },
);
export const content = s.string("The content, at most 5 MiB after decoding.", { maxLength: 6_990_508 });
export const size = (rules: { readonly maximum?: number } = {}) =>
  s.integer("Size in bytes.", { minimum: 0, ...rules });
export const sha256 = (description: string) => s.string(description, { pattern: "^[0-9a-f]{64}$" });
export const etag = s.string("ETag, verbatim with its quotes.");
export const lastModified = s.string("Last written (RFC 3339).");
export const existed = s.boolean("Whether something stood there before this call.");
export const backupKey = (description: string) =>
  s.nullable(
    s.string(description, {
      pattern: "^\\.reversi-backups/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
    }),
  );
export const versionWritten = s.nullable(
  s.string("Version written or delete marker; null without versioning."),
);
export const guarded = s.boolean(
  "False when the server ignores If-Match / If-None-Match (some compatible servers).",
);

/** What stays after the undo of a write. */
export const residue = [
  { id: "backup", text: "The backup stays under .reversi-backups/ (add a lifecycle rule)." },
  {
    id: "versions",
    text: "On versioned buckets every write and delete leaves a version or marker; notifications and replication ran.",
  },
  { id: "attributes", text: "ACL and object lock of the old object do not come back." },
];

/** A write waits in a rollback for every later one on the same object. */
export const sameObject = { bucket: "args.bucket", key: "args.key" } as const;
