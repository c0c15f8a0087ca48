import {
  ConnectorError,
  contentLimit,
  type Encoding,
  encodeContent,
  s,
  sha256Hex,
} from "@reversi-connector/core";
import { type S3Reader, tool } from "./client.ts";
import { checkPlace, type Place } from "./names.ts";
import { fits, storedIn } from "./objects.ts";
import * as schema from "./schemas.ts";

/** The bytes as the caller wants them. @throws ConnectorError rather than changing one */
function written(bytes: Buffer, encoding: Encoding, key: string): string {
  if (bytes.length > contentLimit) {
    throw new ConnectorError(`${key}: ${bytes.length} bytes are more than the 5 MiB that this tool returns`);
  }
  const content = encodeContent(bytes, encoding);
  if (content !== undefined) return content;
  throw new ConnectorError(`${key}: the content is not UTF-8: ask for it with encoding "base64"`);
}

/** An HTTP date in RFC 3339. @throws ConnectorError */
function timeIn(header: string | undefined): string {
  const time = Date.parse(header ?? "");
  if (Number.isNaN(time)) throw new ConnectorError("the answer lacks Last-Modified");
  return new Date(time).toISOString();
}

/** The object with its content, proven by its ETag where that is a hash. */
async function fetched(client: S3Reader, place: Place, versionId: string | undefined) {
  const answer = await client.read(place, {
    ...{ as: "bytes", encoded: true, query: { versionId } },
    headers: { "x-amz-checksum-mode": "ENABLED" },
  });
  const stored = storedIn(place, answer);
  if (fits(stored, answer.body)) return { stored, headers: answer.headers, body: answer.body };
  throw new ConnectorError(`${place.key}: the content is not what its ETag says`);
}

export const getObject = tool
  .readOnly("get_object", {
    description: "Read one object of at most 5 MiB.",
    permission: "aws:s3:read",
    input: s.object(
      { bucket: schema.bucket, key: schema.key },
      {
        encoding: s.oneOf(
          ["text", "base64"],
          "How to return the content; `text` refuses bytes that are not UTF-8.",
          { default: "text" },
        ),
        version_id: s.string("Version to read, on a versioned bucket.", { minLength: 1, maxLength: 1024 }),
      },
    ),
    output: s.object({
      bucket: schema.bucket,
      key: schema.key,
      content: schema.content,
      encoding: s.oneOf(["text", "base64"], "How `content` is written."),
      content_type: s.nullable(s.string("Media type.")),
      size: schema.size(),
      sha256: schema.sha256("SHA-256 of the bytes."),
      etag: schema.etag,
      version_id: s.nullable(s.string("Version read; null without versioning.")),
      last_modified: schema.lastModified,
    }),
  })
  .run(async ({ client, args }) => {
    const { bucket, key, encoding, version_id } = args;
    checkPlace(args);
    const { stored, headers, body } = await fetched(client, args, version_id);
    return {
      ...{ bucket, key, encoding, etag: stored.etag, version_id: stored.versionId },
      content: written(body, encoding, key),
      content_type: headers["content-type"] ?? null,
      size: body.length,
      sha256: sha256Hex(body),
      last_modified: timeIn(headers["last-modified"]),
    };
  });
