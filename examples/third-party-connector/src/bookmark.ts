import { ConflictError, ConnectorError, type OnConflict, s, threeWayRestore } from "@reversi-connector/core";
import { type HttpClient, type HttpReader, path } from "@reversi-connector/http";

export interface Bookmark {
  readonly url: string;
  readonly title: string;
}
/** A bookmark with the version that it was read at. */
export interface Found {
  readonly bookmark: Bookmark;
  readonly etag: string;
}

/** Schemas that several tools share. */
export const id = s.string("Id of the bookmark.", { pattern: "^[0-9a-f]{32}$" });
export const bookmark = s.object({
  url: s.string("Where it leads.", { minLength: 1, maxLength: 2000 }),
  title: s.string("What people see.", { minLength: 1, maxLength: 200 }),
});
export const already = s.boolean("True when nothing had to be done.");

export const at = (id: string) => path`/bookmarks/${id}`;

/** Whether Shelf itself refused, and for this reason: a bare status may come from anything on the way to it. */
const says = (error: unknown, reason: "no_such_bookmark" | "another_version") =>
  ConnectorError.is(error) && error.reason === reason;

export const same = (a: Bookmark | undefined, b: Bookmark | undefined) =>
  a?.url === b?.url && a?.title === b?.title;

/** @throws ConnectorError with Shelf's status, also where there is no such bookmark */
export async function read(client: HttpReader, id: string): Promise<Found> {
  const { body, headers } = await client.read<Bookmark>({ path: at(id), expect: ["url", "title"] });
  const { etag } = headers;
  if (!etag) throw new ConnectorError(`bookmark ${id} came without an ETag, so nothing can be guarded`);
  return { bookmark: { url: body.url, title: body.title }, etag };
}

/** Undefined when there is none. Shelf answers 403, never 404, to whoever may not look. */
export async function find(client: HttpReader, id: string): Promise<Found | undefined> {
  try {
    return await read(client, id);
  } catch (error) {
    if (says(error, "no_such_bookmark")) return undefined;
    throw error;
  }
}

/** What Shelf is to hold a write to: the version that was read, or that there was none. */
const only = (found: Found | undefined) => (found ? { "if-match": found.etag } : { "if-none-match": "*" });

/** @throws ConflictError when somebody else was faster */
async function guarded<T>(id: string, writing: Promise<T>): Promise<T> {
  try {
    return await writing;
  } catch (error) {
    if (!says(error, "another_version")) throw error;
    throw new ConflictError(`bookmark ${id}: changed by somebody else just now; nothing was overwritten`, {
      expected: "what was read",
      found: "another version",
    });
  }
}

/** Writes on what was read, and on nothing else. */
export async function put(client: HttpClient, id: string, next: Bookmark, found: Found | undefined) {
  const expect = (now: Bookmark) => same(now, next);
  const request = { method: "PUT", path: at(id), headers: only(found), json: next, expect } as const;
  await guarded(id, client.write(request));
}

/** Deletes what was read; false when somebody else did already. */
export async function remove(client: HttpClient, id: string, found: Found): Promise<boolean> {
  const request = { method: "DELETE", path: at(id), headers: only(found), as: "none" } as const;
  try {
    await guarded(id, client.write(request));
    return true;
  } catch (error) {
    if (says(error, "no_such_bookmark")) return false;
    throw error;
  }
}

interface States {
  /** What the undone step found; undefined for nothing. */
  readonly before: Bookmark | undefined;
  /** What it left. */
  readonly after: Bookmark;
  readonly now: Bookmark | undefined;
}

/** Whether an undo has anything to do. @throws ConflictError when somebody changed the bookmark since */
export const decide = (id: string, states: States, onConflict: OnConflict | undefined) =>
  threeWayRestore<Bookmark | undefined>(states, {
    what: `bookmark ${id}`,
    same,
    describe: (bookmark) => (bookmark ? JSON.stringify(bookmark) : "nothing"),
    onConflict,
  });
