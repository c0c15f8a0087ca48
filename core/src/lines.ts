/** A line that was not handed on because it is too long. Its ends may still name the request. */
export interface LongLine {
  readonly bytes: number;
  readonly head: string;
  readonly tail: string;
}

/** The longest line either side may send, in bytes: 5 MiB of any text fit, however JSON has to escape them. */
export const maxLineBytes = 64 * 1024 * 1024;

const endBytes = 512;
const newline = 0x0a;

/**
 * Cuts a stream of bytes into lines. Each line is handed on as it came, its line break included; the chunks of a long one
 * are joined once. A line above `limit` bytes is not kept, and costs itself only.
 */
export function lineSplitter(
  limit: number,
  line: (bytes: Buffer) => void,
  tooLong: (line: LongLine) => void,
) {
  let chunks: Buffer[] = [];
  let bytes = 0;
  let head = "";
  let tail = Buffer.alloc(0);

  const take = (chunk: Buffer) => {
    const before = bytes;
    bytes += chunk.length;
    if (bytes <= limit) return void chunks.push(chunk);
    if (before <= limit) {
      const kept = Buffer.concat(chunks);
      head = (kept.length > 0 ? kept : chunk).toString("utf8", 0, endBytes);
      tail = kept.subarray(-endBytes);
      chunks = [];
    }
    tail = Buffer.concat([tail, chunk.subarray(-endBytes)]).subarray(-endBytes);
  };
  const flush = () => {
    const [first] = chunks;
    const whole = chunks.length === 1 && first ? first : Buffer.concat(chunks);
    const long = bytes > limit ? { bytes, head, tail: tail.toString() } : undefined;
    chunks = [];
    bytes = 0;
    if (long) tooLong(long);
    else line(whole);
  };
  return {
    push(chunk: Buffer): void {
      let from = 0;
      for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
        take(chunk.subarray(from, at + 1));
        flush();
        from = at + 1;
      }
      if (from < chunk.length) take(chunk.subarray(from));
    },
    /** What stands after the last line break is a line as well; it gets its line break here. */
    end(): void {
      if (bytes === 0) return;
      take(Buffer.from("\n"));
      flush();
    },
  };
}
