import { isUtf8 } from "node:buffer";
import { readdir } from "node:fs/promises";
import { type Encoding, InvalidArgumentsError, sha256Hex } from "@reversi-connector/core";
import { encode, readSeen } from "./content.ts";
import { refusal } from "./errors.ts";
import { type Entry, entryAt, type Kind, sameFile } from "./folder.ts";
import { segmentsOf, spelling } from "./paths.ts";
import type { Volume } from "./volume.ts";

export interface FileContent {
  readonly path: string;
  readonly content: string;
  readonly encoding: Encoding;
  readonly size: number;
  readonly sha256: string;
}
export interface Listing {
  readonly path: string;
  readonly entries: { readonly name: string; readonly type: Kind; readonly size: number | null }[];
  readonly next_cursor: string | null;
}

type Readable = Pick<Volume, "tree" | "store">;

export function readFile({ tree }: Readable, path: string, encoding: Encoding): FileContent {
  const place = tree.behind(path);
  try {
    const entry = tree.entry(place);
    if (!entry) throw refusal(place.path, "ENOENT", "there is no such file");
    const bytes = readSeen(place.path, place.at, entry);
    place.folder.confirm();
    const content = encode(place.path, bytes, encoding);
    return { path: place.path, content, encoding, size: bytes.length, sha256: sha256Hex(bytes) };
  } finally {
    place.close();
  }
}

/** A name as text. Bytes that are not UTF-8 come as `\xNN`: a backslash shows that no path can name the file. */
const readable = (name: Buffer): string =>
  isUtf8(name)
    ? name.toString("utf8")
    : Array.from(name.toString("latin1"), (character) =>
        character < "\x80" ? character : `\\x${character.charCodeAt(0).toString(16)}`,
      ).join("");

/** A cursor is the last name of the page before, whatever its bytes. */
function afterCursor(cursor: string | undefined): Buffer {
  const name = Buffer.from(cursor ?? "", "base64url");
  if (name.toString("base64url") === (cursor ?? "")) return name;
  const rule = "is not a cursor of this tool; pass `next_cursor` as it came";
  throw new InvalidArgumentsError(`cursor ${rule}`, { problems: [{ at: "cursor", rule }] });
}

export async function listDir(
  { tree, store }: Readable,
  { path, limit, cursor }: { readonly path: string; readonly limit: number; readonly cursor?: string },
): Promise<Listing> {
  const after = afterCursor(cursor);
  const segments = segmentsOf(path, "path");
  const folder = tree.folder(segments);
  try {
    const prefix = Buffer.from(folder.at(""));
    const names = await readdir(folder.at("."), { encoding: "buffer" });
    const rest = names.filter((name) => name.compare(after) > 0).sort(Buffer.compare);
    const hidden = store.identity();
    const page: { readonly name: Buffer; readonly entry: Entry }[] = [];
    for (const name of rest) {
      const entry = entryAt(Buffer.concat([prefix, name]));
      if (!entry || (hidden && sameFile(entry, hidden))) continue;
      page.push({ name, entry });
      // One more than asked for shows that there is a next page.
      if (page.length > limit) break;
    }
    folder.confirm();
    const shown = page.slice(0, limit);
    return {
      path: spelling(segments),
      entries: shown.map(({ name, entry }) => ({
        name: readable(name),
        type: entry.kind,
        size: entry.kind === "file" ? entry.size : null,
      })),
      next_cursor: page.length > limit ? (shown.at(-1)?.name.toString("base64url") ?? null) : null,
    };
  } finally {
    folder.close();
  }
}
