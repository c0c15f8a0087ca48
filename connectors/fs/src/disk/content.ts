import { createHash } from "node:crypto";
import { closeSync, createReadStream, fstatSync, openSync, readSync } from "node:fs";
import { contentLimit, type Encoding, encodeContent, sha256Hex } from "@reversi-connector/core";
import { refusal } from "./errors.ts";
import { type Entry, entryOf, readFlags, sameFile } from "./folder.ts";

export function encode(path: string, bytes: Buffer, encoding: Encoding): string {
  const content = encodeContent(bytes, encoding);
  if (content !== undefined) return content;
  throw refusal(path, "EILSEQ", 'holds bytes that are not UTF-8 text; read it with encoding "base64"');
}

/** Opens the regular file that was seen there, and no other; never waits for a pipe or wakes a device. */
export function openSeen(path: string, at: string, seen: Entry): number {
  if (seen.kind === "directory") throw refusal(path, "EISDIR", "is a directory");
  if (seen.kind !== "file")
    throw refusal(path, "EINVAL", "is no regular file (a pipe, socket, device or link); it is not opened");
  const fd = openSync(at, readFlags);
  const opened = entryOf(fstatSync(fd, { bigint: true }));
  if (opened.kind === "file" && sameFile(opened, seen)) return fd;
  closeSync(fd);
  throw refusal(path, "EAGAIN", "was replaced while it was opened; try again");
}

/** All bytes of an open file, however its size changes meanwhile; refused beyond the limit. */
function readAll(path: string, fd: number, size: number): Buffer {
  const tooLarge = (found: string) =>
    refusal(path, "EFBIG", `has ${found} bytes; at most ${contentLimit} (5 MiB) are read by one call`);
  if (size > contentLimit) throw tooLarge(String(size));
  // One byte more than expected shows the end of the file; files in /proc and the like say 0.
  let buffer = Buffer.allocUnsafe(size === 0 ? 65_536 : size + 1);
  for (let length = 0; ; ) {
    const read = readSync(fd, buffer, length, buffer.length - length, null);
    length += read;
    // A regular file on a disk that gives just its size, though one more was asked for, is at its end.
    if (read === 0 || (size > 0 && length === size)) return buffer.subarray(0, length);
    if (length > contentLimit) throw tooLarge(`more than ${contentLimit}`);
    if (length === buffer.length) buffer = Buffer.concat([buffer], Math.min(length * 2, contentLimit + 1));
  }
}

/** The content of a file of at most 5 MiB. */
export function readSeen(path: string, at: string, seen: Entry): Buffer {
  const fd = openSeen(path, at, seen);
  try {
    return readAll(path, fd, seen.size);
  } finally {
    closeSync(fd);
  }
}

/** SHA-256 of a file of any size, in little memory. */
export async function hashSeen(path: string, at: string, seen: Entry): Promise<string> {
  if (seen.size <= contentLimit) return sha256Hex(readSeen(path, at, seen));
  const fd = openSeen(path, at, seen);
  try {
    const hash = createHash("sha256");
    for await (const chunk of createReadStream("", { fd, autoClose: false, highWaterMark: 1 << 20 })) {
      hash.update(chunk);
    }
    return hash.digest("hex");
  } finally {
    closeSync(fd);
  }
}
