import { s } from "@reversi-connector/core";

/** Schemas of values that several tools share. */
export const container = s.string("Container.", {
  pattern: "^(\\$root|\\$web|[a-z0-9](?!.*--)[a-z0-9-]{1,61}[a-z0-9])$",
});
export const blob = s.string(
  "Blob name; at most 1024 characters, no segment `.` or `..`, no backslash, not below .reversi-backups/.",
  { minLength: 1, maxLength: 1024, pattern: "^[^\\\\\\u0000-\\u001f]+$" },
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

/** What stays after the undo of a write. */
export const residue = [
  { id: "backup", text: "The backup stays under .reversi-backups/ (add a lifecycle rule)." },
  {
    id: "etag",
    text: "ETag and Last-Modified do not go back; soft delete, versions and Event Grid saw every write.",
  },
  { id: "tags", text: "Blob tags of the old blob do not come back." },
];

/** A write waits in a rollback for every later one on the same blob. */
export const sameBlob = { container: "args.container", blob: "args.blob" } as const;
