import { isUtf8 } from "node:buffer";
import { refuseArgument } from "./errors.ts";

/** The most that one call reads or writes, in bytes: 5 MiB. */
export const contentLimit = 5 * 1024 * 1024;

/** How bytes stand in JSON: as UTF-8 text, or in Base64. */
export type Encoding = "text" | "base64";

/** Arguments of a tool that writes content. */
export interface ContentArguments {
  readonly content: string;
  readonly encoding: Encoding;
  /** The media type, where content has one. */
  readonly content_type?: string;
}

/**
 * The bytes that the argument `content` stands for.
 * @throws InvalidArgumentsError for what is no Base64 in its one standard form, and for more bytes than the limit
 */
export function decodeContent({ content, encoding }: ContentArguments): Buffer {
  const bytes = Buffer.from(content, encoding === "text" ? "utf8" : "base64");
  if (encoding === "base64" && bytes.toString("base64") !== content)
    refuseArgument(
      "content",
      "must be base64 in its one standard form (with + and /, padded, no line breaks)",
    );
  if (bytes.length > contentLimit)
    refuseArgument("content", `must have at most ${contentLimit} bytes (5 MiB), and has ${bytes.length}`);
  return bytes;
}

/** Bytes as a result gives them back; undefined where text would change them, for they are not UTF-8. */
export function encodeContent(bytes: Buffer, encoding: Encoding): string | undefined {
  if (encoding === "base64") return bytes.toString("base64");
  return isUtf8(bytes) ? bytes.toString() : undefined;
}

/**
 * The media type of what is written: what was asked for, or the usual one.
 * @throws InvalidArgumentsError for what no header can carry
 */
export function mediaTypeOf({ encoding, content_type }: ContentArguments): string {
  const usual = encoding === "text" ? "text/plain; charset=utf-8" : "application/octet-stream";
  const type = content_type ?? usual;
  if (!/^[\x20-\x7e]*$/.test(type)) refuseArgument("content_type", "must be ASCII");
  return type;
}
