import { s } from "@reversi-connector/core";
import { backUp, backupKeyFor, checkSize } from "./backups.ts";
import { type S3Client, tool } from "./client.ts";
import { isGuarded, writeUnlessChanged } from "./guards.ts";
import { checkPlace, type Place } from "./names.ts";
import { isEmpty, look, type Stored } from "./objects.ts";
import { restoreObject } from "./restore.ts";
import * as schema from "./schemas.ts";

/** An object as `delete_object` shows that it is gone. */
const gone = (
  { bucket, key }: Place,
  backup_key: string | null,
  version_id: string | null,
  guarded: boolean,
) => ({
  ...{ bucket, key, backup_key, version_id, guarded },
  existed: backup_key !== null,
  sha256: null,
});

/** Deletes the version that was read; the version of the marker on a versioned bucket. */
async function erase(client: S3Client, place: Place, old: Stored): Promise<string | null> {
  const { headers } = await writeUnlessChanged(client, place, old, (condition) =>
    client.write(place, { method: "DELETE", headers: condition, expect: isEmpty }),
  );
  return headers["x-amz-version-id"] ?? null;
}

export const deleteObject = tool
  .reversible("delete_object", {
    description:
      "Delete one object. It is copied to .reversi-backups/ first; a missing one changes nothing (`existed` false).",
    permission: "aws:s3:write",
    input: s.object({ bucket: schema.bucket, key: schema.key }),
    output: s.object({
      bucket: schema.bucket,
      key: schema.key,
      existed: schema.existed,
      backup_key: schema.backupKey("Backup of what was deleted; null when there was nothing."),
      sha256: s.nullable(schema.sha256("Always null: nothing is left.")),
      version_id: schema.versionWritten,
      guarded: schema.guarded,
    }),
    compensation: {
      tool: restoreObject,
      argument_map: {
        bucket: "args.bucket",
        key: "args.key",
        backup_key: "result.backup_key",
        expected_sha256: "result.sha256",
      },
    },
    requires: [
      { tool: "aws.put_object", match: schema.sameObject },
      { tool: "aws.delete_object", match: schema.sameObject },
    ],
    checkpoint: {
      result: ["bucket", "key", "existed", "backup_key", "sha256"],
      evidence: ["etag_before"],
      guard: "expected_sha256",
    },
    residue: schema.residue,
  })
  .landed(async ({ client, args, checkpoint }) => {
    checkPlace(args);
    const { backup_key } = checkpoint?.result ?? {};
    const before = checkpoint?.evidence?.etag_before;
    if (!backup_key || typeof before !== "string") return "unknown";
    const now = await look(client, args);
    const guarded = client.conditions.get("delete") ?? false;
    if (!now) return { landed: true, result: gone(args, backup_key, null, guarded) };
    return now.etag === before ? { landed: false } : "unknown";
  })
  .run(async ({ client, args, idempotencyKey, checkpoint }) => {
    checkPlace(args);
    const { bucket, key } = args;
    const old = await look(client, args);
    if (!old) return gone(args, null, null, true);
    checkSize(old);
    const backup_key = backupKeyFor(idempotencyKey, { bucket, key, deleted: true });
    const evidence = { etag_before: old.etag };
    await checkpoint({ result: { bucket, key, existed: true, backup_key, sha256: null }, evidence });
    const guarded = await isGuarded(client, ["delete", "copy"], { bucket, idempotencyKey, source: old });
    await backUp(client, old, backup_key);
    return gone(args, backup_key, await erase(client, args, old), guarded);
  });
