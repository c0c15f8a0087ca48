import { hash } from "node:crypto";
import { JournalDamagedError } from "./errors.ts";
import type { Event, JournalRecord } from "./records.ts";

/** The end of a chain: what the next line continues. */
export interface Head {
  readonly seq: number;
  /** SHA-256 of the last line. */
  readonly hash: string;
}
export const start: Head = { seq: 0, hash: "0".repeat(64) };

const newline = 0x0a;
const sumLength = 16;
/** Before the end of each line: what its own text comes to. The line after it says so too, but the last one has none. */
const sumOf = (text: string): string => hash("sha256", text).slice(0, sumLength);
const summed = (text: string): string => `${text.slice(0, -1)},"sum":"${sumOf(text)}"}`;

/** An event as the line that follows `head`. */
export function encode(event: Event, head: Head, at: string) {
  const { type, ...rest } = event;
  const record = { seq: head.seq + 1, at, type, prev: head.hash, ...rest } as JournalRecord;
  const line = Buffer.from(`${summed(JSON.stringify(record))}\n`);
  const next: Head = { seq: record.seq, hash: hash("sha256", line.subarray(0, -1)) };
  return { record, line, head: next };
}

/** Cuts a stream of bytes into lines without their ends; `rest` is what follows the last end. */
async function eachLine(chunks: AsyncIterable<Uint8Array>, visit: (line: Buffer) => void): Promise<number> {
  let parts: Buffer[] = [];
  for await (const bytes of chunks) {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let from = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      const piece = chunk.subarray(from, end);
      visit(parts.length === 0 ? piece : Buffer.concat([...parts, piece]));
      parts = [];
      from = end + 1;
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
  }
  return parts.reduce((sum, { length }) => sum + length, 0);
}

function parse(run: string, line: Buffer, number: number): JournalRecord {
  try {
    return JSON.parse(line.toString("utf8"));
  } catch {
    throw new JournalDamagedError(run, number, "it is no JSON");
  }
}

function check(run: string, { seq, prev, type, ...rest }: JournalRecord, head: Head): void {
  const line = head.seq + 1;
  if (seq !== line)
    throw new JournalDamagedError(run, line, `it carries number ${seq} where ${line} belongs`);
  if (prev !== head.hash)
    throw new JournalDamagedError(run, line, `line ${head.seq} is not the one it was written after`);
  const opens = type === "run_opened" && (rest as { run?: string }).run === run;
  if (line === 1 && !opens) throw new JournalDamagedError(run, 1, "it does not open this run");
}

/** Whether a line is as it was written. */
function isWhole(line: Buffer): boolean {
  const end = line.length - `,"sum":"${"0".repeat(sumLength)}"}`.length;
  const text = `${line.toString("utf8", 0, end)}}`;
  return end > 0 && Buffer.from(summed(text)).equals(line);
}

/**
 * Reads and verifies a journal, a line at a time.
 * `known` is the end of it as it was when its last writer closed it: the file must still hold that line.
 * @returns its end, its length in bytes without a torn last line, and how many bytes that line has
 * @throws JournalDamagedError naming the line where the chain breaks
 */
export async function verify(
  run: string,
  chunks: AsyncIterable<Uint8Array>,
  known: Head | undefined,
  visit: (record: JournalRecord) => void,
): Promise<{ readonly head: Head; readonly length: number; readonly torn: number }> {
  let head = start;
  let length = 0;
  let last: Buffer | undefined;
  const torn = await eachLine(chunks, (line) => {
    const record = parse(run, line, head.seq + 1);
    check(run, record, head);
    head = { seq: record.seq, hash: hash("sha256", line) };
    length += line.length + 1;
    last = line;
    if (head.seq === known?.seq && head.hash !== known.hash)
      throw new JournalDamagedError(run, head.seq, "it is not what its writer left there");
    visit(record);
  });
  if (known && head.seq < known.seq)
    throw new JournalDamagedError(run, head.seq + 1, `${known.seq} lines were written, ${head.seq} are left`);
  if (last && !isWhole(last))
    throw new JournalDamagedError(run, head.seq, "it is not what its writer left there");
  return { head, length, torn };
}
