import { s } from "@reversi-connector/core";

/** Schemas of values that several tools share. */
export const bucket = s.string("Bucket.", { pattern: "^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$" });
export const object = s.string(
  "Object name; at most 1024 bytes, no segment `.` or `..`, not below .reversi-backups/.",
  { minLength: 1, maxLength: 1024 },
);
export const content = s.string("The content, at most 5 MiB after decoding.", { maxLength: 6_990_508 });
export const size = (rules: { readonly maximum?: number } = {}) => s.integer("Size in bytes.", rules);
export const sha256 = (description: string) => s.string(description, { pattern: "^[0-9a-f]{64}$" });
export const generation = (description = "Generation, digits.") =>
  s.string(description, { pattern: "^[0-9]{1,20}$" });
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
    id: "generation",
    text: "The generation does not go back; versioning, soft delete and Pub/Sub saw every write.",
  },
];

/** A write waits in a rollback for every later one on the same object. */
export const sameObject = { bucket: "args.bucket", object: "args.object" } as const;
