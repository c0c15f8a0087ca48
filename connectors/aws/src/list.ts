import { ConnectorError, s } from "@reversi-connector/core";
import { childrenOf, type Element, parseXml, textOf } from "@reversi-connector/http/xml";
import { type S3Client, tool } from "./client.ts";
import { backupPrefix, checkBucket } from "./names.ts";
import * as schema from "./schemas.ts";

interface Entry {
  readonly key: string;
  readonly size: number;
  readonly etag: string;
  readonly last_modified: string;
}
interface Page {
  readonly objects: readonly Entry[];
  readonly prefixes: readonly string[];
  readonly next: string | null;
}

/** @throws URIError for what is not encoded as the answer says */
const decodedIn = (list: Element) =>
  textOf(list, "EncodingType") === "url"
    ? (text: string) => decodeURIComponent(text.replaceAll("+", " "))
    : (text: string) => text;

/** A page of a list; undefined when the answer is none, or an incomplete one. */
function pageIn(text: string): Page | undefined {
  const list = parseXml(text.trim());
  if (list?.name !== "ListBucketResult") return undefined;
  const decode = decodedIn(list);
  const truncated = textOf(list, "IsTruncated");
  const next = textOf(list, "NextContinuationToken") || null;
  const objects = childrenOf(list, "Contents").map((entry) => ({
    key: decode(textOf(entry, "Key") ?? ""),
    size: Number(textOf(entry, "Size") ?? Number.NaN),
    etag: textOf(entry, "ETag") ?? "",
    last_modified: textOf(entry, "LastModified") ?? "",
  }));
  const prefixes = childrenOf(list, "CommonPrefixes").map((entry) => decode(textOf(entry, "Prefix") ?? ""));
  const whole = objects.every(
    ({ key, size, etag }) => key !== "" && etag !== "" && Number.isSafeInteger(size),
  );
  if (!whole || prefixes.includes("")) return undefined;
  if (truncated === "false") return { objects, prefixes, next: null };
  return truncated === "true" && next !== null ? { objects, prefixes, next } : undefined;
}

const isPage = (text: string) => pageIn(text) !== undefined;
const isShown = (name: string) => !name.startsWith(backupPrefix);
/** After every backup, and before whatever comes behind them. */
const afterBackups = `${backupPrefix}\u{10ffff}`;

interface Wanted {
  readonly prefix: string | undefined;
  readonly delimiter: string | undefined;
  readonly limit: number;
}
async function pageOf(
  client: S3Client,
  bucket: string,
  { limit, ...wanted }: Wanted,
  from: object,
): Promise<Page> {
  const query = { "list-type": 2, "encoding-type": "url", ...wanted, "max-keys": limit, ...from };
  const { body, status } = await client.read({ bucket }, { as: "text", query, expect: isPage });
  const page = pageIn(body);
  if (!page) throw new ConnectorError(`HTTP ${status}: the answer is no list of objects`, { status });
  return page;
}

export const listObjects = tool
  .readOnly("list_objects", {
    description: "List objects, page by page; backups are hidden.",
    permission: "aws:s3:read",
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
            key: s.string("Name."),
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
  .run(async ({ client, args: { bucket, prefix, delimiter, limit, cursor } }) => {
    checkBucket(bucket);
    const objects: Entry[] = [];
    const prefixes: string[] = [];
    let next: string | null = cursor ?? null;
    let from: object = { "continuation-token": cursor };
    do {
      const rest = limit - objects.length - prefixes.length;
      const page = await pageOf(client, bucket, { prefix, delimiter, limit: rest }, from);
      objects.push(...page.objects.filter(({ key }) => isShown(key)));
      prefixes.push(...page.prefixes.filter(isShown));
      next = page.next;
      const among = page.objects.at(-1)?.key.startsWith(backupPrefix);
      from = among ? { "start-after": afterBackups } : { "continuation-token": next };
    } while (next !== null && objects.length + prefixes.length < limit);
    return { objects, prefixes, next_cursor: next };
  });
