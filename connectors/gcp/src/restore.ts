import {
  ConflictError,
  ConnectorError,
  contentLimit,
  type OnConflict,
  s,
  threeWayRestore,
} from "@reversi-connector/core";
import type { HttpReader } from "@reversi-connector/http";
import { tool } from "./client.ts";
import { erase, writeUnlessChanged } from "./guards.ts";
import { checkPlace, type Place } from "./names.ts";
import { inWords, look, type Stored, same, sha256Of } from "./objects.ts";
import { type Copying, copy } from "./rewrite.ts";
import * as schema from "./schemas.ts";

interface Restore extends Place {
  readonly backup_key: string | null;
  readonly expected_sha256?: string | null;
  readonly expected_generation?: string | null;
}

/** The backup; undefined when there was nothing to back up. @throws ConnectorError when it is gone */
async function backupOf(client: HttpReader, { bucket, backup_key }: Restore): Promise<Stored | undefined> {
  if (backup_key === null) return undefined;
  const backup = await look(client, { bucket, object: backup_key });
  if (backup) return backup;
  throw new ConnectorError(
    `the backup ${backup_key} is not there any more (a lifecycle rule may have removed it); nothing was changed`,
  );
}

/** Whether what is there is what the undone step left. Into an empty place nothing is overwritten. */
async function isAsLeft(
  client: HttpReader,
  now: Stored | undefined,
  { expected_sha256, expected_generation }: Restore,
): Promise<boolean> {
  if (!now) return !expected_sha256 && !expected_generation;
  // A put leaves the first one: somebody has changed what is known of the object since.
  if (now.metageneration !== "1") return false;
  if (expected_generation && now.generation === expected_generation) return true;
  if (!expected_sha256 || Number(now.size) > contentLimit) return false;
  return (await sha256Of(client, now)) === expected_sha256;
}

const isBack = (now: Stored | undefined, backup: Stored | undefined): boolean =>
  now && backup ? same(now, backup) : now === backup;

/** Puts the backup back, or deletes, over exactly what was looked at. Tells the new generation. */
async function write(call: Copying, place: Place, now: Stored | undefined, backup: Stored | undefined) {
  if (backup) {
    const made = await writeUnlessChanged(call.client, place, now, (condition) =>
      copy(call, backup, place, condition),
    );
    return made.generation;
  }
  if (now) await erase(call.client, place, now);
  return null;
}

/** Reads, decides and writes. */
async function attempt(call: Copying, args: Restore, onConflict: OnConflict | undefined) {
  const { bucket, object } = args;
  const backup = await backupOf(call.client, args);
  const now = await look(call.client, args);
  const back = isBack(now, backup);
  const left = !back && (await isAsLeft(call.client, now, args));
  const decision = threeWayRestore(
    { before: "before", after: "after", now: back ? "before" : left ? "after" : "other" },
    {
      what: object,
      same: (a, b) => a === b,
      describe: (state) => (state === "other" ? inWords(now) : "what the undone step left"),
      onConflict,
    },
  );
  if (decision === "already") return { bucket, object, already: true, generation: now?.generation ?? null };
  return { bucket, object, already: false, generation: await write(call, args, now, backup) };
}

export const restoreObject = tool
  .idempotent("restore_object", {
    description: "Put an object back from its backup, or delete it where there was none (`backup_key` null).",
    permission: "gcp:storage:write",
    input: s.object(
      {
        bucket: schema.bucket,
        object: schema.object,
        backup_key: schema.backupKey("Backup to put back; null: there was nothing, so delete."),
      },
      {
        expected_sha256: s.nullable(
          schema.sha256("Hash of what the undone step left; null when it left nothing."),
        ),
        expected_generation: s.nullable(
          schema.generation(
            "Generation the undone step left: equal means unchanged without reading the content; null when not known.",
          ),
        ),
      },
    ),
    output: s.object({
      bucket: schema.bucket,
      object: schema.object,
      already: s.boolean("True when nothing had to be done."),
      generation: s.nullable(schema.generation("Of what is there now; null when nothing is.")),
    }),
    target: ["bucket", "object"],
    guard: { kind: "content", server_side: true },
    on_conflict: true,
  })
  .holds(async ({ client, args }) => {
    checkPlace(args);
    const backup = await backupOf(client, args);
    return isBack(await look(client, args), backup);
  })
  .run(async ({ client, args, onConflict, progress }) => {
    checkPlace(args);
    try {
      return await attempt({ client, progress }, args, onConflict);
    } catch (error) {
      // Changed between look and write: what is there now decides, once more.
      if (!ConflictError.is(error)) throw error;
      return attempt({ client, progress }, args, onConflict);
    }
  });
