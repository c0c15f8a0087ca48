import { s } from "@reversi-connector/core";
import { backUp } from "./backups.ts";
import { tool } from "./client.ts";
import { erase } from "./guards.ts";
import { backupKeyFor, checkPlace, type Place } from "./names.ts";
import { checkReplaceable, look } from "./objects.ts";
import { restoreObject } from "./restore.ts";
import * as schema from "./schemas.ts";

/** An object as `delete_object` shows that it is gone. */
const gone = ({ bucket, object }: Place, backup_key: string | null) => ({
  ...{ bucket, object, backup_key },
  existed: backup_key !== null,
  sha256: null,
});

export const deleteObject = tool
  .reversible("delete_object", {
    description:
      "Delete one object. It is copied to .reversi-backups/ first; a missing one changes nothing (`existed` false).",
    permission: "gcp:storage:write",
    input: s.object({ bucket: schema.bucket, object: schema.object }),
    output: s.object({
      bucket: schema.bucket,
      object: schema.object,
      existed: schema.existed,
      backup_key: schema.backupKey("Backup of what was deleted; null when there was nothing."),
      sha256: s.nullable(schema.sha256("Always null: nothing is left.")),
    }),
    compensation: {
      tool: restoreObject,
      argument_map: {
        bucket: "args.bucket",
        object: "args.object",
        backup_key: "result.backup_key",
        expected_sha256: "result.sha256",
      },
    },
    requires: [
      { tool: "gcp.put_object", match: schema.sameObject },
      { tool: "gcp.delete_object", match: schema.sameObject },
    ],
    checkpoint: {
      result: ["bucket", "object", "existed", "backup_key", "sha256"],
      evidence: ["generation_before"],
      guard: "expected_sha256",
    },
    residue: schema.residue,
  })
  .landed(async ({ client, args, checkpoint }) => {
    checkPlace(args);
    const { backup_key } = checkpoint?.result ?? {};
    const before = checkpoint?.evidence?.generation_before;
    if (!backup_key || typeof before !== "string") return "unknown";
    const now = await look(client, args);
    if (!now) return { landed: true, result: gone(args, backup_key) };
    return now.generation === before ? { landed: false } : "unknown";
  })
  .run(async ({ client, args, idempotencyKey, checkpoint, progress }) => {
    checkPlace(args);
    const { bucket, object } = args;
    const old = await look(client, args);
    if (!old) return gone(args, null);
    checkReplaceable(old);
    const backup_key = backupKeyFor(idempotencyKey, { bucket, object, deleted: true });
    const result = gone(args, backup_key);
    await checkpoint({ result, evidence: { generation_before: old.generation } });
    await backUp({ client, progress }, old, backup_key);
    await erase(client, args, old);
    return result;
  });
