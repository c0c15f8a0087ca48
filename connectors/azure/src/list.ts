import { ConnectorError, s } from "@reversi-connector/core";
import { type BlobReader, tool } from "./client.ts";
import { backupPrefix, checkContainer } from "./names.ts";
import { type Entry, pageOf, type Wanted } from "./pages.ts";
import * as schema from "./schemas.ts";

const nameOf = (entry: Entry | string) => (typeof entry === "string" ? entry : entry.blob);
const isShown = (entry: Entry | string) => !nameOf(entry).startsWith(backupPrefix);
const largestPage = 5000;
const maxPages = 20;

/** Up to `limit` entries, backups left out. Azure's pages may be short, or empty, before the end. */
async function list(client: BlobReader, container: string, limit: number, from: Omit<Wanted, "maxresults">) {
  const found: (Entry | string)[] = [];
  const seen = new Set([from.marker]);
  let { marker } = from;
  let maxresults = limit;
  for (let pages = 0; pages < maxPages; pages++) {
    const page = await pageOf(client, container, { ...from, marker, maxresults });
    const shown = page.entries.filter(isShown);
    const tooMany = shown[limit - found.length];
    if (tooMany !== undefined) {
      // A cursor leads to the end of a page only.
      maxresults = page.entries.indexOf(tooMany);
      continue;
    }
    found.push(...shown);
    marker = page.next;
    if (marker === undefined || found.length === limit) break;
    if (seen.has(marker)) throw new ConnectorError(`${container}: the list runs in a circle, without end`);
    seen.add(marker);
    // Nothing but backups: there may be thousands more.
    maxresults = shown.length === 0 && page.entries.length > 0 ? largestPage : limit - found.length;
  }
  return { found, next: marker };
}

export const listBlobs = tool
  .readOnly("list_blobs", {
    description: "List blobs, page by page; backups are hidden.",
    permission: "azure:blob:read",
    input: s.object(
      { container: schema.container },
      {
        prefix: s.string("Only names that begin so.", { maxLength: 1024 }),
        delimiter: s.string("Group names at this text, such as `/`.", { minLength: 1, maxLength: 100 }),
        limit: s.integer("At most this many entries.", { minimum: 1, maximum: 1000, default: 1000 }),
        cursor: s.string("`next_cursor` of the previous page.", { minLength: 1, maxLength: 4096 }),
      },
    ),
    output: s.object({
      blobs: s.array(
        s.object(
          {
            blob: s.string("Name."),
            size: schema.size(),
            etag: schema.etag,
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
  .run(async ({ client, args: { container, prefix, delimiter, limit, cursor } }) => {
    checkContainer(container);
    const from = { prefix, delimiter, marker: cursor };
    const { found, next = null } = await list(client, container, limit, from);
    return {
      blobs: found.filter((entry) => typeof entry !== "string"),
      prefixes: found.filter((entry) => typeof entry === "string"),
      next_cursor: next,
    };
  });
