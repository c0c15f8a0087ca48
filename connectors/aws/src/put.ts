import {
  type ContentArguments,
  callUuid,
  contentLimit,
  decodeContent,
  EffectUncertainError,
  mediaTypeOf,
  s,
  sha256Hex,
} from "@reversi-connector/core";
import { backUp, backupKeyFor, checkSize } from "./backups.ts";
import { type S3Client, type S3Reader, tool } from "./client.ts";
import { isGuarded, writeUnlessChanged } from "./guards.ts";
import { checkPlace, type Place } from "./names.ts";
import { isEmpty, look, type Stored } from "./objects.ts";
import { restoreObject } from "./restore.ts";
import * as schema from "./schemas.ts";

type Put = Place & ContentArguments;
/** What is to be written, and the mark by which this very call finds it again. */
interface Draft {
  readonly bytes: Buffer;
  readonly sha256: string;
  readonly contentType: string;
  readonly op: string;
  readonly backupKey: string;
}
/** @throws InvalidArgumentsError naming the argument */
function draftOf(args: Put, idempotencyKey: string | undefined): Draft {
  checkPlace(args);
  const { bucket, key } = args;
  const contentType = mediaTypeOf(args);
  const bytes = decodeContent(args);
  const sha256 = sha256Hex(bytes);
  const what = { bucket, key, sha256, contentType };
  const op = callUuid(idempotencyKey, { entity: "object", ...what });
  return { bytes, sha256, contentType, op, backupKey: backupKeyFor(idempotencyKey, what) };
}

const marker = "x-amz-meta-reversi-op";
const isOurs = ({ headers }: Stored, { op }: Draft): boolean => headers[marker] === op;

/** What is known of the result before anything is written. */
const foreseen = ({ bucket, key }: Place, { bytes, sha256, backupKey }: Draft, existed: boolean) => ({
  ...{ bucket, key, existed, sha256 },
  backup_key: existed ? backupKey : null,
  size: bytes.length,
});

/** What an earlier request of this very call left. Whether it found something its checkpoint tells, or else its backup. */
async function found(client: S3Reader, args: Put, draft: Draft, stored: Stored, existed?: boolean) {
  const backup = { bucket: args.bucket, key: draft.backupKey };
  const known = foreseen(args, draft, existed ?? (await look(client, backup)) !== undefined);
  const { etag, versionId: version_id } = stored;
  return { ...known, etag, version_id, guarded: client.conditions.get("put") ?? false };
}

/** Writes the object where everything is still as it was read. */
async function send(client: S3Client, place: Place, old: Stored | undefined, draft: Draft) {
  const { headers, status } = await writeUnlessChanged(client, place, old, (condition) =>
    client.write(place, {
      method: "PUT",
      body: draft.bytes,
      headers: {
        "content-type": draft.contentType,
        "x-amz-checksum-sha256": Buffer.from(draft.sha256, "hex").toString("base64"),
        [marker]: draft.op,
        ...condition,
      },
      expect: isEmpty,
    }),
  );
  const { etag, "x-amz-version-id": version_id = null } = headers;
  if (etag) return { etag, version_id };
  throw new EffectUncertainError(
    `HTTP ${status}: PUT ${place.key}: the answer does not carry the new ETag; whether it was written is unknown`,
  );
}

export const putObject = tool
  .reversible("put_object", {
    description: "Create or replace one object. The old one is copied to .reversi-backups/ first.",
    permission: "aws:s3:write",
    input: s.object(
      { bucket: schema.bucket, key: schema.key, content: schema.content },
      {
        encoding: s.oneOf(
          ["text", "base64"],
          "How `content` is written: UTF-8 text, or base64 for any bytes.",
          { default: "text" },
        ),
        content_type: s.string(
          "Media type; by `encoding` text/plain or application/octet-stream when left out.",
          { pattern: "^[A-Za-z0-9!#$&^_.+-]{1,127}/[A-Za-z0-9!#$&^_.+-]{1,127}( ?;.{1,200})?$" },
        ),
      },
    ),
    output: s.object({
      bucket: schema.bucket,
      key: schema.key,
      existed: schema.existed,
      backup_key: schema.backupKey("Backup of the old one; null when there was none."),
      sha256: schema.sha256("Hash of what this call leaves."),
      size: schema.size({ maximum: contentLimit }),
      etag: schema.etag,
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
        expected_etag: "result.etag",
      },
    },
    requires: [
      { tool: "aws.put_object", match: schema.sameObject },
      { tool: "aws.delete_object", match: schema.sameObject },
    ],
    checkpoint: {
      result: ["bucket", "key", "existed", "backup_key", "sha256", "size"],
      evidence: ["etag_before"],
      guard: "expected_sha256",
    },
    residue: schema.residue,
  })
  .landed(async ({ client, args, idempotencyKey, checkpoint }) => {
    const draft = draftOf(args, idempotencyKey);
    const now = await look(client, args);
    if (now && isOurs(now, draft)) {
      const result = await found(client, args, draft, now, checkpoint?.result.existed);
      return { landed: true, result };
    }
    const before = checkpoint?.evidence?.etag_before;
    return before !== undefined && (now?.etag ?? null) === before ? { landed: false } : "unknown";
  })
  .run(async ({ client, args, idempotencyKey, checkpoint }) => {
    const draft = draftOf(args, idempotencyKey);
    const old = await look(client, args);
    if (old && isOurs(old, draft)) return found(client, args, draft, old);
    checkSize(old);
    const known = foreseen(args, draft, old !== undefined);
    await checkpoint({ result: known, evidence: { etag_before: old?.etag ?? null } });
    const trial = { bucket: args.bucket, idempotencyKey, source: old };
    const guarded = await isGuarded(client, ["put", old ? "copy" : "delete"], trial);
    if (old) await backUp(client, old, draft.backupKey);
    return { ...known, ...(await send(client, args, old, draft)), guarded };
  });
