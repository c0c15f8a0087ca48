import {
  type ContentArguments,
  callUuid,
  contentLimit,
  decodeContent,
  mediaTypeOf,
  s,
  sha256Hex,
} from "@reversi-connector/core";
import type { HttpClient } from "@reversi-connector/http";
import { backUp } from "./backups.ts";
import { crc32c, md5Base64 } from "./checksums.ts";
import { tool } from "./client.ts";
import { writeUnlessChanged } from "./guards.ts";
import { backupKeyFor, checkPlace, type Place, uploadPath } from "./names.ts";
import { checkReplaceable, isResource, look, type Resource, type Stored } from "./objects.ts";
import { restoreObject } from "./restore.ts";
import * as schema from "./schemas.ts";

type Put = Place & ContentArguments;
/** What is to be written, and the marks by which this very call finds it again. */
interface Draft {
  readonly bytes: Buffer;
  readonly sha256: string;
  readonly contentType: string;
  readonly backupKey: string;
  /** In the object's metadata: whether it took an empty place or another object's. */
  readonly marks: { readonly created: string; readonly replaced: string };
}

/** @throws InvalidArgumentsError naming the argument */
function draftOf(args: Put, idempotencyKey: string | undefined): Draft {
  checkPlace(args);
  const { bucket, object } = args;
  const contentType = mediaTypeOf(args);
  const bytes = decodeContent(args);
  const sha256 = sha256Hex(bytes);
  const what = { bucket, object, sha256, contentType };
  const marks = {
    created: callUuid(idempotencyKey, { entity: "created", ...what }),
    replaced: callUuid(idempotencyKey, { entity: "replaced", ...what }),
  };
  return { bytes, sha256, contentType, marks, backupKey: backupKeyFor(idempotencyKey, what) };
}

/** What is known of the result before anything is written. */
const foreseen = ({ bucket, object }: Place, { bytes, sha256, backupKey }: Draft, existed: boolean) => ({
  ...{ bucket, object, existed, sha256 },
  backup_key: existed ? backupKey : null,
  size: bytes.length,
});

/** What an earlier request of this very call left; undefined when the object is not from it. */
function ownIn(now: Stored | undefined, args: Put, draft: Draft) {
  const mark = now?.metadata?.["reversi_op"];
  if (!now || (mark !== draft.marks.created && mark !== draft.marks.replaced)) return undefined;
  return { ...foreseen(args, draft, mark === draft.marks.replaced), generation: now.generation };
}

/** Metadata and content in one request. The boundary is made of the content's hash, so the content cannot hold it. */
function multipart(resource: object, { bytes, contentType, sha256, marks }: Draft) {
  const boundary = `${marks.created}-${sha256.slice(0, 32)}`;
  const head = [
    `--${boundary}\r\ncontent-type: application/json; charset=utf-8\r\n\r\n${JSON.stringify(resource)}\r\n`,
    `--${boundary}\r\ncontent-type: ${contentType}\r\n\r\n`,
  ];
  return {
    headers: { "content-type": `multipart/related; boundary=${boundary}` },
    body: Buffer.concat([Buffer.from(head.join("")), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  };
}

/** Writes the object where everything is still as it was read, and tells its generation. */
async function send(client: HttpClient, place: Place, old: Stored | undefined, draft: Draft) {
  const { bytes, contentType, marks } = draft;
  const metadata = { reversi_op: old ? marks.replaced : marks.created };
  const sums = { md5Hash: md5Base64(bytes), crc32c: crc32c(bytes) };
  const isWritten = (made: Resource) => isResource(place)(made) && made.crc32c === sums.crc32c;
  const answer = await writeUnlessChanged(client, place, old, (condition) =>
    client.write<Resource>({
      ...{ method: "POST", path: uploadPath(place.bucket), expect: isWritten },
      query: { uploadType: "multipart", name: place.object, ...condition },
      ...multipart({ contentType, ...sums, metadata }, draft),
    }),
  );
  return answer.body.generation;
}

export const putObject = tool
  .reversible("put_object", {
    description: "Create or replace one object. The old one is copied to .reversi-backups/ first.",
    permission: "gcp:storage:write",
    input: s.object(
      { bucket: schema.bucket, object: schema.object, content: schema.content },
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
      object: schema.object,
      existed: schema.existed,
      backup_key: schema.backupKey("Backup of the old one; null when there was none."),
      sha256: schema.sha256("Hash of what this call leaves."),
      size: schema.size({ maximum: contentLimit }),
      generation: schema.generation(),
    }),
    compensation: {
      tool: restoreObject,
      argument_map: {
        bucket: "args.bucket",
        object: "args.object",
        backup_key: "result.backup_key",
        expected_sha256: "result.sha256",
        expected_generation: "result.generation",
      },
    },
    requires: [
      { tool: "gcp.put_object", match: schema.sameObject },
      { tool: "gcp.delete_object", match: schema.sameObject },
    ],
    checkpoint: {
      result: ["bucket", "object", "existed", "backup_key", "sha256", "size"],
      evidence: ["generation_before"],
      guard: "expected_sha256",
    },
    residue: schema.residue,
  })
  .landed(async ({ client, args, idempotencyKey, checkpoint }) => {
    const now = await look(client, args);
    const own = ownIn(now, args, draftOf(args, idempotencyKey));
    if (own) return { landed: true, result: own };
    const before = checkpoint?.evidence?.generation_before;
    return before !== undefined && (now?.generation ?? null) === before ? { landed: false } : "unknown";
  })
  .run(async ({ client, args, idempotencyKey, checkpoint, progress }) => {
    const draft = draftOf(args, idempotencyKey);
    const old = await look(client, args);
    const own = ownIn(old, args, draft);
    if (own) return own;
    if (old) checkReplaceable(old);
    const result = foreseen(args, draft, old !== undefined);
    await checkpoint({ result, evidence: { generation_before: old?.generation ?? null } });
    if (old) await backUp({ client, progress }, old, draft.backupKey);
    return { ...result, generation: await send(client, args, old, draft) };
  });
