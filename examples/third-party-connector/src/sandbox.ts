import type { Sandbox } from "@reversi-connector/core";
import {
  type RoutedRequest,
  route,
  router,
  type SandboxReply,
  type Sandbox as Server,
  startSandbox,
} from "@reversi-connector/http/sandbox";
import type { Bookmark } from "./bookmark.ts";
import type { ShelfOptions } from "./client.ts";

/** A token of realistic length that the sandbox really checks, and nobody else accepts. */
export const token = "shelf_sandbox0NotASecret0ForNobodyElse";
/** The id of the bookmark that a sandbox starts with. */
export const first = "00000000000000000000000000000001";

interface Stored extends Bookmark {
  readonly version: number;
}
/** A Shelf on 127.0.0.1. Faults are injected on its wire. */
export interface ShelfSandbox extends Sandbox<ShelfOptions>, Omit<Server, "url"> {
  /** All it knows, by id; to be changed as other people would. */
  readonly bookmarks: Map<string, Stored>;
  /** Whether the token may see anything. */
  allowed: boolean;
}

/** Options for a sandbox that runs already, in whichever process. */
export const attach = (address: string): ShelfOptions => ({ token, baseUrl: `${address}/v1` });

const errorBody = (_: number, message: string) => ({ error: message.replaceAll(" ", "_"), message });
const etagOf = ({ version }: Stored) => `"${version}"`;

/** Starts a sandbox, with one bookmark on it. */
export async function sandbox(): Promise<ShelfSandbox> {
  const bookmarks = new Map<string, Stored>([
    [first, { url: "https://example.com/", title: "An example", version: 1 }],
  ]);

  /** Refuses whatever Shelf refuses before it looks at the bookmark. @throws the reply */
  function check({ method, headers, bytes, query, params, error }: RoutedRequest): string {
    const { id = "" } = params;
    if (headers["authorization"] !== `Bearer ${token}`) throw error(401, "unknown token");
    if (!shelf.allowed) throw error(403, "this token may not see bookmarks");
    if (query.size > 0) throw error(400, "unknown parameter");
    if (!/^[0-9a-f]{32}$/.test(id)) throw error(404, "no such bookmark");
    if (method !== "PUT" && bytes.length > 0) throw error(400, "unexpected body");
    return id;
  }

  /** Holds a write to the version it was meant for. @throws the reply */
  function checkVersion({ headers, error }: RoutedRequest, found: Stored | undefined): void {
    const { "if-match": match, "if-none-match": none } = headers;
    if (match === undefined && none !== "*") throw error(428, "say which version you mean");
    const etag = found && etagOf(found);
    const fits = match === undefined ? !found : found && (match === "*" || match === etag);
    if (!fits) throw error(412, "another version");
  }

  function bookmarkIn({ headers, json, error }: RoutedRequest): Bookmark {
    if (headers["content-type"] !== "application/json") throw error(415, "send JSON");
    const { url, title, ...unknown } = json() as Record<string, unknown>;
    if (Object.keys(unknown).length > 0) throw error(422, "unknown field");
    if (typeof url !== "string" || typeof title !== "string") throw error(422, "url and title are texts");
    return { url, title };
  }

  const shown = (status: number, stored: Stored): SandboxReply => {
    const { version, ...bookmark } = stored;
    return { status, headers: { etag: etagOf(stored) }, body: bookmark };
  };

  const server = await startSandbox({
    errorBody,
    handle: router([
      route("GET /v1/bookmarks/:id", (request) => {
        const found = bookmarks.get(check(request));
        return found ? shown(200, found) : request.error(404, "no such bookmark");
      }),
      route("PUT /v1/bookmarks/:id", (request) => {
        const id = check(request);
        const bookmark = bookmarkIn(request);
        const found = bookmarks.get(id);
        checkVersion(request, found);
        const next = { ...bookmark, version: (found?.version ?? 0) + 1 };
        bookmarks.set(id, next);
        return shown(found ? 200 : 201, next);
      }),
      route("DELETE /v1/bookmarks/:id", (request) => {
        const id = check(request);
        const found = bookmarks.get(id);
        if (!found) return request.error(404, "no such bookmark");
        checkVersion(request, found);
        bookmarks.delete(id);
        return { status: 204 };
      }),
    ]),
  });

  const { url: address, ...wire } = server;
  const shelf: ShelfSandbox = {
    ...wire,
    address,
    options: attach(address),
    bookmarks,
    allowed: true,
    // Without ids: states of different runs are compared, and some ids are made at random.
    state: async () => [...bookmarks.values()],
  };
  return shelf;
}
