import {
  ConnectorError,
  contentLimit,
  type Encoding,
  encodeContent,
  s,
  sha256Hex,
} from "@reversi-connector/core";
import { tool } from "./client.ts";
import { checkPlace } from "./names.ts";
import { contentOf, read, type Stored } from "./objects.ts";
import * as schema from "./schemas.ts";

/** @throws ConnectorError before a large object is fetched in vain */
function checkSize({ object, size }: Stored): void {
  if (Number(size) <= contentLimit) return;
  throw new ConnectorError(`${object}: ${size} bytes are more than the 5 MiB that this tool returns`);
}

/** The bytes as the caller wants them. @throws ConnectorError rather than changing one */
function written(bytes: Buffer, encoding: Encoding, object: string): string {
  const content = encodeContent(bytes, encoding);
  if (content !== undefined) return content;
  throw new ConnectorError(`${object}: the content is not UTF-8: ask for it with encoding "base64"`);
}

export const getObject = tool
  .readOnly("get_object", {
    description: "Read one object of at most 5 MiB.",
    permission: "gcp:storage:read",
    input: s.object(
      { bucket: schema.bucket, object: schema.object },
      {
        encoding: s.oneOf(
          ["text", "base64"],
          "How to return the content; `text` refuses bytes that are not UTF-8.",
          { default: "text" },
        ),
        generation: schema.generation("Generation to read, on a versioned bucket."),
      },
    ),
    output: s.object({
      bucket: schema.bucket,
      object: schema.object,
      content: schema.content,
      encoding: s.oneOf(["text", "base64"], "How `content` is written."),
      content_type: s.nullable(s.string("Media type.")),
      size: schema.size(),
      sha256: schema.sha256("SHA-256 of the bytes."),
      generation: schema.generation(),
      last_modified: schema.lastModified,
    }),
  })
  .run(async ({ client, args }) => {
    const { bucket, object, encoding } = args;
    checkPlace(args);
    const stored = await read(client, args, args.generation);
    checkSize(stored);
    const bytes = await contentOf(client, stored);
    return {
      ...{ bucket, object, encoding, generation: stored.generation },
      content: written(bytes, encoding, object),
      content_type: stored.contentType ?? null,
      size: bytes.length,
      sha256: sha256Hex(bytes),
      last_modified: stored.updated,
    };
  });
