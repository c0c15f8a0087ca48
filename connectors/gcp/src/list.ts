import { ConnectorError, s } from "@reversi-connector/core";
import type { HttpReader } from "@reversi-connector/http";
import { tool } from "./client.ts";
import { backupPrefix, checkBucket, listPath } from "./names.ts";
import * as schema from "./schemas.ts";

interface Item {
  readonly name: string;
  readonly size: string;
  readonly generation: string;
  readonly updated: string;
}
interface Page {
  readonly kind?: string;
  readonly items?: readonly Item[];
  readonly prefixes?: readonly string[];
  readonly nextPageToken?: string;
}
const isItem = ({ name, size, generation, updated }: Partial<Item>) =>
  [name, size, generation, updated].every((value) => typeof value === "string" && value !== "");
const isPage = ({ kind, items = [], prefixes = [], nextPageToken }: Page) =>
  kind === "storage#objects" &&
  items.every(isItem) &&
  prefixes.every((prefix) => typeof prefix === "string") &&
  (nextPageToken === undefined || (typeof nextPageToken === "string" && nextPageToken !== ""));

const fields = "kind,items(name,size,generation,updated),prefixes,nextPageToken";
const isShown = (name: string) => !name.startsWith(backupPrefix);

/** The first name that may come behind all backups, and what a cursor into that part of the list begins with. */
const behindBackups = ".reversi-backups0";
const behind = ">";

/** The page that a cursor leads to, and the cursor to the next one. */
async function pageAt(client: HttpReader, bucket: string, wanted: object, cursor: string | undefined) {
  const jumped = cursor?.startsWith(behind);
  const from = jumped
    ? { startOffset: behindBackups, pageToken: cursor?.slice(behind.length) || undefined }
    : { pageToken: cursor };
  const query = { ...wanted, ...from, fields };
  const { body } = await client.read<Page>({ path: listPath(bucket), query, expect: isPage });
  const { items = [], prefixes = [], nextPageToken } = body;
  const amongBackups = items.at(-1)?.name.startsWith(backupPrefix);
  const next = nextPageToken && (amongBackups ? behind : `${jumped ? behind : ""}${nextPageToken}`);
  return { items: items.filter(({ name }) => isShown(name)), prefixes: prefixes.filter(isShown), next };
}

const mostPages = 20;

interface Wanted {
  readonly bucket: string;
  readonly limit: number;
  readonly cursor?: string;
}

/** Up to `limit` entries. Google's pages may be short, or empty, before the end. */
async function list(client: HttpReader, { bucket, limit, cursor, ...wanted }: Wanted) {
  const items: Item[] = [];
  const prefixes = new Set<string>();
  const seen = new Set<string>();
  let next = cursor;
  for (let pages = 0; pages < mostPages; pages++) {
    const maxResults = limit - items.length - prefixes.size;
    const page = await pageAt(client, bucket, { ...wanted, maxResults }, next);
    items.push(...page.items);
    for (const prefix of page.prefixes) prefixes.add(prefix);
    next = page.next;
    if (!next || items.length + prefixes.size >= limit) break;
    if (seen.has(next)) throw new ConnectorError(`${bucket}: the list runs in a circle, without end`);
    seen.add(next);
  }
  return { items, prefixes: [...prefixes], next };
}

export const listObjects = tool
  .readOnly("list_objects", {
    description: "List objects, page by page; backups are hidden.",
    permission: "gcp:storage:read",
    input: s.object(
      { bucket: schema.bucket },
      {
        prefix: s.string("Only names that begin so.", { maxLength: 1024 }),
        delimiter: s.string("Group names at this text, such as `/`.", { minLength: 1, maxLength: 100 }),
        limit: s.integer("At most this many entries.", { minimum: 1, maximum: 1000, default: 1000 }),
        cursor: s.string("`next_cursor` of the previous page.", { minLength: 1, maxLength: 4096 }),
      },
    ),
    output: s.object({
      objects: s.array(
        s.object(
          {
            object: s.string("Name."),
            size: schema.size(),
            generation: schema.generation(),
            last_modified: schema.lastModified,
          },
          {},
          "One entry.",
        ),
        "The entries.",
      ),
      prefixes: s.array(s.string("Prefix."), "Groups, when `delimiter` is given."),
      next_cursor: s.nullable(s.string("Pass as `cursor` for the next page; null at the end.")),
    }),
  })
  .run(async ({ client, args }) => {
    checkBucket(args.bucket);
    const { items, prefixes, next } = await list(client, args);
    const objects = items.map(({ name, size, generation, updated }) => ({
      ...{ object: name, size: Number(size), generation },
      last_modified: updated,
    }));
    return { objects, prefixes, next_cursor: next ?? null };
  });
