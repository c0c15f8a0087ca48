import { s } from "@reversi-connector/core";
import { backUp } from "./backups.ts";
import { tool } from "./client.ts";
import { erase } from "./guards.ts";
import { backupKeyFor, checkPlace, type Place } from "./names.ts";
import { checkReplaceable, look } from "./objects.ts";
import { restoreBlob } from "./restore.ts";
import * as schema from "./schemas.ts";

/** A blob as `delete_blob` shows that it is gone. */
const gone = ({ container, blob }: Place, backup_key: string | null) => ({
  ...{ container, blob, backup_key },
  existed: backup_key !== null,
  sha256: null,
});

export const deleteBlob = tool
  .reversible("delete_blob", {
    description:
      "Delete one blob. It is copied to .reversi-backups/ first; a missing one changes nothing (`existed` false).",
    permission: "azure:blob:write",
    input: s.object({ container: schema.container, blob: schema.blob }),
    output: s.object({
      container: schema.container,
      blob: schema.blob,
      existed: schema.existed,
      backup_key: schema.backupKey("Backup of what was deleted; null when there was nothing."),
      sha256: s.nullable(schema.sha256("Always null: nothing is left.")),
    }),
    compensation: {
      tool: restoreBlob,
      argument_map: {
        container: "args.container",
        blob: "args.blob",
        backup_key: "result.backup_key",
        expected_sha256: "result.sha256",
      },
    },
    requires: [
      { tool: "azure.put_blob", match: schema.sameBlob },
      { tool: "azure.delete_blob", match: schema.sameBlob },
    ],
    checkpoint: {
      result: ["container", "blob", "existed", "backup_key", "sha256"],
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
    if (!now) return { landed: true, result: gone(args, backup_key) };
    return now.etag === before ? { landed: false } : "unknown";
  })
  .run(async ({ client, args, idempotencyKey, checkpoint }) => {
    checkPlace(args);
    const { container, blob } = args;
    const old = await look(client, args);
    if (!old) return gone(args, null);
    checkReplaceable(old);
    const backup_key = backupKeyFor(idempotencyKey, { container, blob, deleted: true });
    const result = gone(args, backup_key);
    await checkpoint({ result, evidence: { etag_before: old.etag } });
    await backUp(client, old, backup_key);
    await erase(client, args, old);
    return result;
  });
