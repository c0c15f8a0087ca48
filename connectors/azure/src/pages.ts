import { ConnectorError } from "@reversi-connector/core";
import { childOf, type Element, parseXml, textOf } from "@reversi-connector/http/xml";
import type { BlobReader } from "./client.ts";
import type { Place } from "./names.ts";
import { timeIn } from "./times.ts";

/** A blob in a list. */
export interface Entry {
  readonly blob: string;
  readonly size: number;
  readonly etag: string;
  readonly last_modified: string;
}
export interface Page {
  /** In Azure's order: a blob, or the name of a group. */
  readonly entries: readonly (Entry | string)[];
  readonly next: string | undefined;
}

/** What XML cannot hold comes percent-encoded. @throws URIError for what is not */
function nameIn(element: Element): string {
  const name = childOf(element, "Name");
  const text = name?.text ?? "";
  return /\bEncoded="true"/i.test(name?.attributes ?? "") ? decodeURIComponent(text) : text;
}

/** @throws ConnectorError for an entry without what it must have */
function entryIn(element: Element): Entry | string {
  const blob = nameIn(element);
  if (element.name === "BlobPrefix") return blob;
  const properties = childOf(element, "Properties");
  const etag = textOf(properties, "Etag") ?? "";
  const size = Number(textOf(properties, "Content-Length") || Number.NaN);
  if (blob === "" || etag === "" || !Number.isSafeInteger(size))
    throw new ConnectorError("an entry of the list lacks its name, ETag or size");
  const last_modified = timeIn(textOf(properties, "Last-Modified"));
  // Lists leave out the quotes.
  return { blob, size, etag: etag.startsWith('"') ? etag : `"${etag}"`, last_modified };
}

/** A page of a list; undefined when the answer is none, or an incomplete one. */
function pageIn(text: string): Page | undefined {
  const list = parseXml(text.trim());
  const blobs = childOf(list, "Blobs");
  const next = textOf(list, "NextMarker");
  if (list?.name !== "EnumerationResults" || !blobs || next === undefined) return undefined;
  return { entries: blobs.children.map(entryIn), next: next || undefined };
}

export interface Wanted {
  readonly prefix?: string | undefined;
  readonly delimiter?: string | undefined;
  readonly marker?: string | undefined;
  readonly maxresults: number;
}
/** One page of a container's list. @throws ConnectorError */
export async function pageOf(client: BlobReader, container: string, wanted: Wanted): Promise<Page> {
  const query = { restype: "container", comp: "list", ...wanted };
  const expect = (text: string) => pageIn(text) !== undefined;
  const { body, status } = await client.read({ container }, { as: "text", query, expect });
  const page = pageIn(body);
  if (!page) throw new ConnectorError(`HTTP ${status}: the answer is no list of blobs`, { status });
  return page;
}

/** A 404 without a code is about the blob only when the container's list does not have it. @throws ConnectorError */
export async function checkAbsent(client: BlobReader, { container, blob }: Place): Promise<void> {
  const { entries } = await pageOf(client, container, { prefix: blob, maxresults: 1 });
  if (entries.some((entry) => typeof entry !== "string" && entry.blob === blob))
    throw new ConnectorError(`${blob}: it is in the list of ${container}, and yet it cannot be read`);
}
