import { createHash } from "node:crypto";
import { resourceOf } from "./resource.ts";
import type { Call, Endpoint } from "./wire.ts";

const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

const lists = ["prefix", "delimiter", "startOffset", "endOffset"];
const signOf = (query: URLSearchParams) =>
  createHash("sha256")
    .update(JSON.stringify(lists.map((name) => query.get(name))))
    .digest("base64")
    .slice(0, 8);

/** A token that only this very list takes. */
const tokenFor = (query: URLSearchParams, after: string) =>
  Buffer.from(JSON.stringify([signOf(query), after])).toString("base64");
function afterIn({ fail }: Call, query: URLSearchParams): string {
  const token = query.get("pageToken");
  if (token === null) return "";
  try {
    const [sign, after] = JSON.parse(Buffer.from(token, "base64").toString());
    if (sign === signOf(query)) return after;
  } catch {
    // Not one of ours either.
  }
  return fail(400, "invalid", "Invalid value for: pageToken");
}

function sizeIn({ world, fail }: Call, query: URLSearchParams): number {
  const text = query.get("maxResults") ?? "1000";
  if (!/^\d{1,9}$/.test(text) || Number(text) === 0) fail(400, "invalid", "Invalid value for: maxResults");
  return Math.min(Number(text), 1000, world.largestPage);
}

/** The members of each item that `fields` names; all without it. */
function selector({ fail }: Call, query: URLSearchParams) {
  const fields = query.get("fields");
  if (fields === null) return (item: object) => item;
  const [, items = ""] = /^kind,items\(([\w,]+)\)(?:,(?:prefixes|nextPageToken))*$/.exec(fields) ?? [];
  if (items === "") fail(400, "invalidParameter", `Invalid field selection ${fields}`);
  const names = items.split(",");
  return (item: object) => Object.fromEntries(Object.entries(item).filter(([name]) => names.includes(name)));
}

/** What the list shows of a name: itself, or the group it belongs to. */
function shownAs(name: string, prefix: string, delimiter: string): string {
  const at = delimiter === "" ? -1 : name.indexOf(delimiter, prefix.length);
  return at < 0 ? name : name.slice(0, at + delimiter.length);
}

export const listObjects: Endpoint = (call) => {
  const { bucket } = call;
  const query = call.query("maxResults", "pageToken", ...lists);
  call.need("storage.objects.list");
  const [size, after, select] = [sizeIn(call, query), afterIn(call, query), selector(call, query)];
  const [prefix = "", delimiter = "", start = "", end] = lists.map((name) => query.get(name) ?? undefined);
  const shown = new Set<string>();
  for (const name of [...bucket.objects.keys()].sort(byBytes)) {
    const inRange = byBytes(name, start) >= 0 && (end === undefined || byBytes(name, end) < 0);
    const as = shownAs(name, prefix, delimiter);
    if (inRange && name.startsWith(prefix) && byBytes(as, after) > 0) shown.add(as);
  }
  const page = [...shown].slice(0, size);
  const isGroup = (name: string) => delimiter !== "" && name.slice(prefix.length).endsWith(delimiter);
  const items = page.flatMap((name) => {
    const object = isGroup(name) ? undefined : bucket.objects.get(name);
    return object ? [select(resourceOf(bucket, name, object))] : [];
  });
  const prefixes = page.filter(isGroup);
  return {
    status: 200,
    body: {
      kind: "storage#objects",
      ...(items.length > 0 && { items }),
      ...(prefixes.length > 0 && { prefixes }),
      ...(shown.size > page.length && { nextPageToken: tokenFor(query, page.at(-1) ?? after) }),
    },
  };
};
