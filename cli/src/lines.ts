import { isUtf8 } from "node:buffer";
import { lineSplitter as byteLines, type LongLine } from "@reversi-connector/core/program";

/** A line that was not handed on: too long, or no UTF-8. Its ends may still name the request. */
export interface BadLine extends LongLine {
  readonly reason: "too long" | "not UTF-8";
}

const endBytes = 512;

/** Cuts a stream of bytes into lines of text; empty ones are passed over. */
export const lineSplitter = (limit: number, line: (text: string) => void, bad: (line: BadLine) => void) =>
  byteLines(
    limit,
    (bytes) => {
      if (!isUtf8(bytes)) {
        const ends = {
          head: bytes.toString("utf8", 0, endBytes),
          tail: bytes.subarray(-endBytes).toString(),
        };
        return bad({ bytes: bytes.length, ...ends, reason: "not UTF-8" });
      }
      const text = bytes.toString("utf8").replace(/^\uFEFF/, "");
      if (text.trim() !== "") line(text);
    },
    (long) => bad({ ...long, reason: "too long" }),
  );
