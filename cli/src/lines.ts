import { isUtf8 } from "node:buffer";

/** A line that was not handed on: too long, or no UTF-8. Its ends may still name the request. */
export interface BadLine {
  readonly bytes: number;
  readonly reason: "too long" | "not UTF-8";
  readonly head: string;
  readonly tail: string;
}

const endBytes = 512;

/**
 * Cuts a stream of bytes into lines. Chunks are kept in a list and joined once per line; a line above `limit` bytes is
 * not kept at all.
 */
export function lineSplitter(limit: number, line: (text: string) => void, bad: (line: BadLine) => void) {
  let chunks: Buffer[] = [];
  let bytes = 0;
  let head: Buffer = Buffer.alloc(0);
  let tail: Buffer = Buffer.alloc(0);

  const take = (chunk: Buffer) => {
    if (head.length < endBytes) head = Buffer.concat([head, chunk.subarray(0, endBytes - head.length)]);
    tail =
      chunk.length >= endBytes
        ? chunk.subarray(chunk.length - endBytes)
        : Buffer.concat([tail.subarray(Math.max(0, tail.length + chunk.length - endBytes)), chunk]);
    bytes += chunk.length;
    if (bytes <= limit) chunks.push(chunk);
    else chunks = [];
  };
  const flush = () => {
    const whole = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
    const ends = { bytes, head: head.toString(), tail: tail.toString() };
    const tooLong = bytes > limit;
    chunks = [];
    bytes = 0;
    head = tail = Buffer.alloc(0);
    if (tooLong) bad({ ...ends, reason: "too long" });
    else if (!isUtf8(whole)) bad({ ...ends, reason: "not UTF-8" });
    else {
      const text = whole.toString("utf8").replace(/^\uFEFF/, "");
      if (text.trim() !== "") line(text);
    }
  };
  return {
    push(chunk: Buffer): void {
      let from = 0;
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
        take(chunk.subarray(from, at));
        flush();
        from = at + 1;
      }
      if (from < chunk.length) take(chunk.subarray(from));
    },
    /** What stands after the last line break is a line as well. */
    end(): void {
      if (bytes > 0) flush();
    },
  };
}
