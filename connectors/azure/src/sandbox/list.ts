import { escapeXml } from "@reversi-connector/http/xml";
import { type Call, document, element, leaf, type Operation, rootOf, xml } from "./wire.ts";
import type { StoredBlob } from "./world.ts";

const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** A marker that only this sandbox can read, and only for this very list. */
const markerFor = (query: URLSearchParams, after: string) => {
  const list = ["prefix", "delimiter"].map((name) => query.get(name) ?? "").join("\n");
  const text = Buffer.from(JSON.stringify([list, after])).toString("base64");
  return `2!${text.length}!${text}`;
};
function afterOf({ fail }: Call, query: URLSearchParams): string {
  const marker = query.get("marker") ?? "";
  if (marker === "") return "";
  try {
    const [, after] = JSON.parse(Buffer.from(marker.split("!")[2] ?? "", "base64").toString());
    if (markerFor(query, after) === marker) return after;
  } catch {
    // Not one of ours either.
  }
  return fail(400, "OutOfRangeInput", "One of the request inputs is out of range.");
}

function sizeOf({ world, fail }: Call, query: URLSearchParams): number {
  const text = query.get("maxresults") ?? "5000";
  if (!/^\d{1,9}$/.test(text))
    fail(
      400,
      "InvalidQueryParameterValue",
      "Value for one of the query parameters specified in the request URI is invalid.",
    );
  if (Number(text) === 0)
    fail(
      400,
      "OutOfRangeQueryParameterValue",
      "One of the query parameters specified in the request URI is outside the permissible range.",
    );
  return Math.min(Number(text), 5000, world.largestPage);
}

/** What XML cannot hold is percent-encoded. */
const nameElement = (name: string) =>
  /[\ufffe\uffff\p{Cc}]/u.test(name)
    ? `<Name Encoded="true">${encodeURIComponent(name)}</Name>`
    : `<Name>${escapeXml(name)}</Name>`;

const blobElement = (name: string, blob: StoredBlob) => {
  const properties = [
    leaf("Creation-Time", blob.created.toUTCString()),
    leaf("Last-Modified", blob.modified.toUTCString()),
    leaf("Etag", blob.etag.replaceAll('"', "")),
    leaf("Content-Length", blob.claimedSize ?? blob.content.length),
    leaf("Content-Type", blob.headers["content-type"] ?? ""),
    leaf("Content-MD5", blob.md5 ?? ""),
    leaf("BlobType", blob.type),
    leaf("AccessTier", blob.tier ?? "Hot"),
    ...(blob.tier === undefined ? [leaf("AccessTierInferred", true)] : []),
    leaf("LeaseStatus", blob.leased ? "locked" : "unlocked"),
    leaf("LeaseState", blob.leased ? "leased" : "available"),
  ];
  return element("Blob", nameElement(name) + element("Properties", properties.join("")));
};

/** What the list shows of a name: itself, or the group it belongs to. */
function shownAs(name: string, prefix: string, delimiter: string) {
  const at = delimiter === "" ? -1 : name.indexOf(delimiter, prefix.length);
  return at < 0 ? name : name.slice(0, at + delimiter.length);
}

export const listBlobs: Operation = (call) => {
  const { container, request, fail } = call;
  const query = call.query("restype", "comp", "prefix", "delimiter", "marker", "maxresults", "include");
  call.headers();
  call.need("blobs/read");
  if (query.get("restype") !== "container" || query.get("comp") !== "list")
    fail(
      400,
      "InvalidQueryParameterValue",
      "The sandbox knows no other operation on a container than its list.",
    );
  if (query.has("include"))
    fail(400, "InvalidQueryParameterValue", "The sandbox includes nothing in its lists.");
  const [prefix, delimiter] = [query.get("prefix") ?? "", query.get("delimiter") ?? ""];
  const [size, after] = [sizeOf(call, query), afterOf(call, query)];
  const shown = new Set<string>();
  for (const name of [...container.blobs.keys()].sort(byText)) {
    const as = shownAs(name, prefix, delimiter);
    if (name.startsWith(prefix) && as > after) shown.add(as);
  }
  const page = [...shown].slice(0, size);
  const entries = page.map((name) => {
    const blob = container.blobs.get(name);
    return blob && shownAs(name, prefix, delimiter) === name && !(delimiter && name.endsWith(delimiter))
      ? blobElement(name, blob)
      : element("BlobPrefix", nameElement(name));
  });
  const asked = ["prefix", "marker", "maxresults", "delimiter"].flatMap((name) => {
    const tag = { prefix: "Prefix", marker: "Marker", maxresults: "MaxResults", delimiter: "Delimiter" }[
      name
    ];
    const value = query.get(name);
    return tag && value ? [leaf(tag, value)] : [];
  });
  const next = shown.size > page.length ? markerFor(query, page.at(-1) ?? "") : "";
  const endpoint = escapeXml(`http://${request.headers["host"]}${rootOf(request)}/`);
  const inner = [...asked, element("Blobs", entries.join("")), leaf("NextMarker", next)].join("");
  const root = `<EnumerationResults ServiceEndpoint="${endpoint}" ContainerName="${escapeXml(container.name)}">${inner}</EnumerationResults>`;
  return xml(200, document(root));
};
