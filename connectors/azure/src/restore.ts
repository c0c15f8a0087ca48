import { ConflictError, ConnectorError, contentLimit, s, threeWayRestore } from "@reversi-connector/core";
import { type BlobClient, type BlobReader, tool } from "./client.ts";
import { erase, writeUnlessChanged } from "./guards.ts";
import { checkPlace, type Place } from "./names.ts";
import { checkReplaceable, copy, inWords, look, type Stored, same, sha256Of } from "./objects.ts";
import * as schema from "./schemas.ts";

interface Restore extends Place {
  readonly backup_key: string | null;
  readonly expected_sha256?: string | null;
  readonly expected_etag?: string | null;
}

/** The backup; undefined when there was nothing to back up. @throws ConnectorError when it is gone */
async function backupOf(client: BlobReader, { container, backup_key }: Restore): Promise<Stored | undefined> {
  if (backup_key === null) return undefined;
  const backup = await look(client, { container, blob: backup_key });
  if (backup) return backup;
  throw new ConnectorError(
    `the backup ${backup_key} is not there any more (a lifecycle rule may have removed it); nothing was changed`,
  );
}

/** Whether what is there is what the undone step left. Into an empty place nothing is overwritten. */
async function isAsLeft(
  client: BlobReader,
  now: Stored | undefined,
  { expected_sha256, expected_etag }: Restore,
): Promise<boolean> {
  if (!now) return !expected_sha256 && !expected_etag;
  if (expected_etag && now.etag === expected_etag) return true;
  if (!expected_sha256 || now.size > contentLimit) return false;
  return (await sha256Of(client, now)) === expected_sha256;
}

async function isBack(client: BlobReader, now: Stored | undefined, backup: Stored | undefined) {
  return now && backup ? same(client, now, backup) : now === backup;
}

/** Puts the backup back, or deletes, over exactly what was looked at. Tells the new ETag. */
async function write(
  client: BlobClient,
  place: Place,
  now: Stored | undefined,
  backup: Stored | undefined,
): Promise<string | null> {
  if (now) checkReplaceable(now);
  if (backup)
    return writeUnlessChanged(client, place, now, (condition) => copy(client, backup, place, condition));
  if (now) await erase(client, place, now);
  return null;
}

/** Reads, decides and writes. */
async function attempt(client: BlobClient, args: Restore, onConflict: "refuse" | "overwrite" | undefined) {
  const { container, blob } = args;
  const backup = await backupOf(client, args);
  const now = await look(client, args);
  const back = (await isBack(client, now, backup)) === true;
  const left = !back && (await isAsLeft(client, now, args));
  const decision = threeWayRestore(
    { before: "before", after: "after", now: back ? "before" : left ? "after" : "other" },
    {
      what: blob,
      same: (a, b) => a === b,
      describe: (state) => (state === "other" ? inWords(now) : "what the undone step left"),
      onConflict,
    },
  );
  if (decision === "already") return { container, blob, already: true, etag: now?.etag ?? null };
  return { container, blob, already: false, etag: await write(client, args, now, backup) };
}

export const restoreBlob = tool
  .idempotent("restore_blob", {
    description: "Put a blob back from its backup, or delete it where there was none (`backup_key` null).",
    permission: "azure:blob:write",
    input: s.object(
      {
        container: schema.container,
        blob: schema.blob,
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
      container: schema.container,
      blob: schema.blob,
      already: s.boolean("True when nothing had to be done."),
      etag: s.nullable(s.string("Of what is there now; null when nothing is.")),
    }),
    target: ["container", "blob"],
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
