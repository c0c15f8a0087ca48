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
import { backUp } from "./backups.ts";
import { type BlobClient, tool } from "./client.ts";
import { writeUnlessChanged } from "./guards.ts";
import { backupKeyFor, checkPlace, type Place } from "./names.ts";
import { checkReplaceable, etagIn, hashIn, look, type Stored } from "./objects.ts";
import { restoreBlob } from "./restore.ts";
import * as schema from "./schemas.ts";

type Put = Place & ContentArguments;
/** What is to be written, and the marks by which this very call finds it again. */
interface Draft {
  readonly bytes: Buffer;
  readonly sha256: string;
  readonly contentType: string;
  readonly backupKey: string;
  /** In the blob's metadata: whether it took an empty place or another blob's. */
  readonly marks: { readonly created: string; readonly replaced: string };
}
/** @throws InvalidArgumentsError naming the argument */
function draftOf(args: Put, idempotencyKey: string | undefined): Draft {
  checkPlace(args);
  const { container, blob } = args;
  const contentType = mediaTypeOf(args);
  const bytes = decodeContent(args);
  const sha256 = sha256Hex(bytes);
  const what = { container, blob, sha256, contentType };
  const marks = {
    created: callUuid(idempotencyKey, { entity: "created", ...what }),
    replaced: callUuid(idempotencyKey, { entity: "replaced", ...what }),
  };
  return { bytes, sha256, contentType, marks, backupKey: backupKeyFor(idempotencyKey, what) };
}

/** A blob as `put_blob` shows what it leaves, but for its ETag. */
const left = ({ container, blob }: Place, { bytes, sha256, backupKey }: Draft, existed: boolean) => ({
  ...{ container, blob, existed, sha256 },
  backup_key: existed ? backupKey : null,
  size: bytes.length,
});

const marker = "x-ms-meta-reversi_op";

/** What an earlier request of this very call left; undefined when the blob is not from it. */
function ownIn(now: Stored | undefined, args: Put, draft: Draft) {
  const mark = now?.headers[marker];
  if (!now || (mark !== draft.marks.created && mark !== draft.marks.replaced)) return undefined;
  return { ...left(args, draft, mark === draft.marks.replaced), etag: now.etag };
}

/** Writes the blob where everything is still as it was read, and tells its ETag. */
async function send(client: BlobClient, place: Place, old: Stored | undefined, draft: Draft) {
  const { bytes, contentType, marks } = draft;
  const md5 = hashIn("md5", bytes, "base64");
  const answer = await writeUnlessChanged(client, place, old, (condition) =>
    client.write(place, {
      ...{ method: "PUT", body: bytes, done: 201 },
      headers: {
        "content-type": "application/octet-stream",
        "content-md5": md5,
        "x-ms-blob-type": "BlockBlob",
        "x-ms-blob-content-type": contentType,
        [marker]: old ? marks.replaced : marks.created,
        ...condition,
      },
    }),
  );
  if ((answer.headers["content-md5"] ?? md5) === md5) return etagIn(answer, place);
  throw new EffectUncertainError(`PUT ${place.blob}: Azure says that it wrote something else`);
}

export const putBlob = tool
  .reversible("put_blob", {
    description: "Create or replace one blob. The old one is copied to .reversi-backups/ first.",
    permission: "azure:blob:write",
    input: s.object(
      { container: schema.container, blob: schema.blob, content: schema.content },
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
      container: schema.container,
      blob: schema.blob,
      existed: schema.existed,
      backup_key: schema.backupKey("Backup of the old one; null when there was none."),
      sha256: schema.sha256("Hash of what this call leaves."),
      size: schema.size({ maximum: contentLimit }),
      etag: schema.etag,
    }),
    compensation: {
      tool: restoreBlob,
      argument_map: {
        container: "args.container",
        blob: "args.blob",
        backup_key: "result.backup_key",
        expected_sha256: "result.sha256",
        expected_etag: "result.etag",
      },
    },
    requires: [
      { tool: "azure.put_blob", match: schema.sameBlob },
      { tool: "azure.delete_blob", match: schema.sameBlob },
    ],
    checkpoint: {
      result: ["container", "blob", "existed", "backup_key", "sha256", "size"],
      evidence: ["etag_before"],
      guard: "expected_sha256",
    },
    residue: schema.residue,
  })
  .landed(async ({ client, args, idempotencyKey, checkpoint }) => {
    const draft = draftOf(args, idempotencyKey);
    const now = await look(client, args);
    const own = ownIn(now, args, draft);
    if (own) return { landed: true, result: own };
    const before = checkpoint?.evidence?.etag_before;
    return before !== undefined && (now?.etag ?? null) === before ? { landed: false } : "unknown";
  })
  .run(async ({ client, args, idempotencyKey, checkpoint }) => {
    const draft = draftOf(args, idempotencyKey);
    const old = await look(client, args);
    const own = ownIn(old, args, draft);
    if (own) return own;
    if (old) checkReplaceable(old);
    const result = left(args, draft, old !== undefined);
    await checkpoint({ result, evidence: { etag_before: old?.etag ?? null } });
    if (old) await backUp(client, old, draft.backupKey);
    return { ...result, etag: await send(client, args, old, draft) };
  });
