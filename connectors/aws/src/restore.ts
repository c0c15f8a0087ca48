import {
  ConflictError,
  ConnectorError,
  contentLimit,
  type OnConflict,
  s,
  threeWayRestore,
} from "@reversi-connector/core";
import { type S3Client, type S3Reader, tool } from "./client.ts";
import { writeUnlessChanged } from "./guards.ts";
import { checkPlace, type Place } from "./names.ts";
import { copy, inWords, isEmpty, look, type Stored, same, sha256Of } from "./objects.ts";
import * as schema from "./schemas.ts";

interface Restore extends Place {
  readonly backup_key: string | null;
  readonly expected_sha256?: string | null;
  readonly expected_etag?: string | null;
}

/** The backup; undefined when there was nothing to back up. @throws ConnectorError when it is gone */
async function backupOf(client: S3Reader, { bucket, backup_key }: Restore): Promise<Stored | undefined> {
  if (backup_key === null) return undefined;
  const backup = await look(client, { bucket, key: backup_key });
  if (backup) return backup;
  throw new ConnectorError(
    `the backup ${backup_key} is not there any more (a lifecycle rule may have removed it); nothing was changed`,
  );
}

/** Whether what is there is what the undone step left. Into an empty place nothing is overwritten. */
async function isAsLeft(
  client: S3Reader,
  now: Stored | undefined,
  { expected_sha256, expected_etag }: Restore,
) {
  if (!now) return !expected_sha256 && !expected_etag;
  if (expected_etag && now.etag === expected_etag) return true;
  return Boolean(
    expected_sha256 && now.size <= contentLimit && (await sha256Of(client, now)) === expected_sha256,
  );
}

async function isBack(
  client: S3Reader,
  now: Stored | undefined,
  backup: Stored | undefined,
): Promise<boolean> {
  return now && backup ? same(client, now, backup) : now === backup;
}

/** Puts the backup back, or deletes, over exactly what was looked at. */
async function write(client: S3Client, place: Place, now: Stored | undefined, backup: Stored | undefined) {
  const { etag } = await writeUnlessChanged(client, place, now, async (condition) => {
    if (backup) return copy(client, backup, place, condition);
    await client.write(place, { method: "DELETE", headers: condition, expect: isEmpty });
    return { etag: null };
  });
  return etag;
}

/** Reads, decides and writes. */
async function attempt(client: S3Client, args: Restore, onConflict: OnConflict | undefined) {
  const { bucket, key } = args;
  const backup = await backupOf(client, args);
  const now = await look(client, args);
  const back = await isBack(client, now, backup);
  const left = !back && (await isAsLeft(client, now, args));
  const decision = threeWayRestore(
    { before: "before", after: "after", now: back ? "before" : left ? "after" : "other" },
    {
      what: key,
      same: (a, b) => a === b,
      describe: (state) => (state === "other" ? inWords(now) : "what the undone step left"),
      onConflict,
    },
  );
  if (decision === "already") return { bucket, key, already: true, etag: now?.etag ?? null };
  return { bucket, key, already: false, etag: await write(client, args, now, backup) };
}

export const restoreObject = tool
  .idempotent("restore_object", {
    description: "Put an object back from its backup, or delete it where there was none (`backup_key` null).",
    permission: "aws:s3:write",
    input: s.object(
      {
        bucket: schema.bucket,
        key: schema.key,
        backup_key: schema.backupKey("Backup to put back; null: there was nothing, so delete."),
      },
      {
        expected_sha256: s.nullable(
          schema.sha256("Hash of what the undone step left; null when it left nothing."),
        ),
        expected_etag: s.nullable(
          s.string(
            "ETag the undone step left: equal means unchanged without reading the content; null when not known.",
          ),
        ),
      },
    ),
    output: s.object({
      bucket: schema.bucket,
      key: schema.key,
      already: s.boolean("True when nothing had to be done."),
      etag: s.nullable(s.string("Of what is there now; null when nothing is.")),
    }),
    target: ["bucket", "key"],
    guard: { kind: "content", server_side: true },
    on_conflict: true,
  })
  .holds(async ({ client, args }) => {
    checkPlace(args);
    const backup = await backupOf(client, args);
    return isBack(client, await look(client, args), backup);
  })
  .run(async ({ client, args, onConflict }) => {
    checkPlace(args);
    try {
      return await attempt(client, args, onConflict);
    } catch (error) {
      // Changed between look and write: what is there now decides, once more.
      if (!ConflictError.is(error)) throw error;
      return attempt(client, args, onConflict);
    }
  });
