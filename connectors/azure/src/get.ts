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
import { fits, storedIn } from "./objects.ts";
import * as schema from "./schemas.ts";
import { timeIn } from "./times.ts";

/** The bytes as the caller wants them. @throws ConnectorError rather than changing one */
function written(bytes: Buffer, encoding: Encoding, blob: string): string {
  if (bytes.length > contentLimit) {
    throw new ConnectorError(`${blob}: ${bytes.length} bytes are more than the 5 MiB that this tool returns`);
  }
  const content = encodeContent(bytes, encoding);
  if (content !== undefined) return content;
  throw new ConnectorError(`${blob}: the content is not UTF-8: ask for it with encoding "base64"`);
}

export const getBlob = tool
  .readOnly("get_blob", {
    description: "Read one blob of at most 5 MiB.",
    permission: "azure:blob:read",
    input: s.object(
      { container: schema.container, blob: schema.blob },
      {
        encoding: s.oneOf(
          ["text", "base64"],
          "How to return the content; `text` refuses bytes that are not UTF-8.",
          { default: "text" },
        ),
      },
    ),
    output: s.object({
      container: schema.container,
      blob: schema.blob,
      content: schema.content,
      encoding: s.oneOf(["text", "base64"], "How `content` is written."),
      content_type: s.nullable(s.string("Media type.")),
      size: schema.size(),
      sha256: schema.sha256("SHA-256 of the bytes."),
      etag: schema.etag,
      last_modified: schema.lastModified,
    }),
  })
  .run(async ({ client, args }) => {
    const { container, blob, encoding } = args;
    checkPlace(args);
    const answer = await client.read(args, { as: "bytes", encoded: true });
    const { headers, body } = answer;
    const stored = storedIn(args, answer);
    if (!fits(stored, body))
      throw new ConnectorError(`${blob}: the content is not what its Content-MD5 says`);
    return {
      ...{ container, blob, encoding, etag: stored.etag },
      content: written(body, encoding, blob),
      content_type: headers["content-type"] ?? null,
      size: body.length,
      sha256: sha256Hex(body),
      last_modified: timeIn(headers["last-modified"]),
    };
  });
