import { callHash, s } from "@reversi-connector/core";
import { already, type Bookmark, bookmark, decide, find, id, put, read, remove, same } from "./bookmark.ts";
import { tool } from "./client.ts";

export const getBookmark = tool
  .readOnly("get_bookmark", {
    description: "Read a bookmark.",
    permission: "shelf:bookmarks:read",
    input: s.object({ id }),
    output: s.object({ id, bookmark }),
  })
  .run(async ({ client, args }) => ({ id: args.id, bookmark: (await read(client, args.id)).bookmark }));

export const deleteBookmark = tool
  .idempotent("delete_bookmark", {
    description: "Delete a bookmark for good. One that is gone already is success.",
    permission: "shelf:bookmarks:write",
    input: s.object({ id, expected: bookmark }),
    output: s.object({ id, already }),
    target: ["id"],
    guard: { kind: "content", server_side: true },
    on_conflict: true,
  })
  .holds(async ({ client, args }) => (await find(client, args.id)) === undefined)
  .run(async ({ client, args, onConflict }) => {
    const { id, expected } = args;
    const found = await find(client, id);
    const states = { before: undefined, after: expected, now: found?.bookmark };
    if (decide(id, states, onConflict) === "already" || !found) return { id, already: true };
    return { id, already: !(await remove(client, id, found)) };
  });

/** The id is chosen here, from the key of the call: a lost answer can be looked up, and a repeated call adds nothing. */
const chosenId = (key: string | undefined, bookmark: Bookmark) => callHash(key, { bookmark }).slice(0, 32);

export const createBookmark = tool
  .reversible("create_bookmark", {
    description: "Keep a bookmark.",
    permission: "shelf:bookmarks:write",
    input: s.object({ bookmark }),
    output: s.object({ id }),
    additive: true,
    compensation: {
      tool: deleteBookmark,
      argument_map: { id: "result.id", expected: "args.bookmark" },
    },
    checkpoint: { result: ["id"], guard: "expected" },
  })
  .landed(async ({ client, args, checkpoint }) => {
    const id = checkpoint?.result.id;
    if (!id) return "unknown";
    const found = await find(client, id);
    if (!found) return { landed: false };
    return same(found.bookmark, args.bookmark) ? { landed: true, result: { id } } : "unknown";
  })
  .run(async ({ client, args, checkpoint, idempotencyKey }) => {
    const id = chosenId(idempotencyKey, args.bookmark);
    await checkpoint({ result: { id } });
    // There already when an earlier request of this very call made it.
    const found = await find(client, id);
    if (!same(found?.bookmark, args.bookmark)) await put(client, id, args.bookmark, undefined);
    return { id };
  });

export const restoreBookmark = tool
  .idempotent("restore_bookmark", {
    description: "Put a bookmark back as it was.",
    permission: "shelf:bookmarks:write",
    input: s.object({ id, previous: bookmark, expected: bookmark }),
    output: s.object({ id, already }),
    target: ["id"],
    guard: { kind: "content", server_side: true },
    on_conflict: true,
  })
  .holds(async ({ client, args }) => same((await find(client, args.id))?.bookmark, args.previous))
  .run(async ({ client, args, onConflict }) => {
    const { id, previous, expected } = args;
    const found = await find(client, id);
    const states = { before: previous, after: expected, now: found?.bookmark };
    if (decide(id, states, onConflict) === "already") return { id, already: true };
    await put(client, id, previous, found);
    return { id, already: false };
  });

export const updateBookmark = tool
  .reversible("update_bookmark", {
    description: "Replace a bookmark.",
    permission: "shelf:bookmarks:write",
    input: s.object({ id, bookmark }),
    output: s.object({ previous: bookmark }),
    compensation: {
      tool: restoreBookmark,
      argument_map: { id: "args.id", previous: "result.previous", expected: "args.bookmark" },
    },
    requires: [
      { tool: createBookmark, match: { id: "result.id" } },
      { tool: "shelf.update_bookmark", match: { id: "args.id" } },
    ],
    checkpoint: { result: ["previous"], evidence: ["etag_before"], guard: "expected" },
    residue: [{ id: "version", text: "The ETag does not go back." }],
  })
  .landed(async ({ client, args, checkpoint }) => {
    const { result: { previous } = {}, evidence } = checkpoint ?? {};
    if (!previous || !evidence?.etag_before) return "unknown";
    const { bookmark, etag } = await read(client, args.id);
    if (etag === evidence.etag_before) return { landed: false };
    return same(bookmark, args.bookmark) ? { landed: true, result: { previous } } : "unknown";
  })
  .run(async ({ client, args, checkpoint }) => {
    const found = await read(client, args.id);
    const previous = found.bookmark;
    await checkpoint({ result: { previous }, evidence: { etag_before: found.etag } });
    await put(client, args.id, args.bookmark, found);
    return { previous };
  });
