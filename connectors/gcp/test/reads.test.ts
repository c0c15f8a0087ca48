import { gzipSync } from "node:zlib";
import { type Bench, bench, failure, page, plan, todo } from "./bench.ts";

interface Listed {
  readonly objects: readonly { readonly object: string; readonly size: number }[];
  readonly prefixes: readonly string[];
  readonly next_cursor: string | null;
}

describe("get_object", () => {
  test("brings text, or bytes, with what identifies them", async () => {
    const on = await bench();
    expect(await on.call("get_object", todo)).toEqual({
      ...todo,
      ...{ content: "milk\n", encoding: "text", content_type: "text/plain", size: 5 },
      generation: on.object(todo)?.generation,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      last_modified: on.object(todo)?.updated.toISOString(),
    });
    expect(await on.call("get_object", { ...todo, encoding: "base64" })).toMatchObject({
      content: "bWlsawo=",
    });
  });

  test("brings an old generation where the bucket keeps them", async () => {
    const on = await bench();
    const [old] = on.backend.bucket(plan.bucket).noncurrent;
    const generation = old?.object.generation;
    expect(await on.call("get_object", { ...plan, generation })).toMatchObject({
      content: "first",
      generation,
    });
    const error = await failure(on.call("get_object", { ...todo, generation: "1" }));
    expect(error).toMatchObject({ status: 404, reason: "notFound" });
  });

  test("content and metadata are of one generation: replaced in between, it is not mixed", async () => {
    const on = await bench();
    on.meanwhile({ method: "GET", path: /alt=media/ }, () => on.put(todo, "Ada's"));
    expect(await failure(on.call("get_object", todo))).toMatchObject({ code: "FAILED", status: 404 });
    on.meanwhile({ method: "GET", path: /alt=media/ }, () => on.put(plan, "Ada's"));
    expect(await on.call("get_object", plan)).toMatchObject({ content: "second" });
  });

  test("refuses what is not text, what is too large, and what is not what its checksums say", async () => {
    const on = await bench();
    const args = { bucket: "notes", object: "b" };
    on.put(args, Buffer.from([255]));
    expect((await failure(on.call("get_object", args))).message).toContain('"base64"');
    on.put(args, Buffer.alloc(5 * 1024 * 1024 + 1));
    on.backend.forget();
    expect((await failure(on.call("get_object", args))).message).toContain("5 MiB");
    expect(on.backend.requests).toHaveLength(1);
    on.put(args, "");
    expect(await on.call("get_object", args)).toMatchObject({ content: "", size: 0 });
    on.backend.inject({ kind: "garbage", body: "milk!" }, { path: /alt=media/ });
    expect((await failure(on.call("get_object", todo))).message).toContain("checksums");
  });

  test("what is stored as gzip comes as it is stored", async () => {
    const on = await bench();
    const zipped = gzipSync("milk");
    on.put(todo, zipped, { attributes: { contentType: "text/plain", contentEncoding: "gzip" } });
    const got = await on.call("get_object", { ...todo, encoding: "base64" });
    expect(got).toMatchObject({ content: zipped.toString("base64"), size: zipped.length });
  });
});

describe("list_objects", () => {
  const all = async ({ call }: Bench, args: object) => {
    const pages: Listed[] = [];
    let cursor: string | null | undefined;
    do {
      const page: Listed = await call("list_objects", {
        bucket: "notes",
        ...args,
        ...(cursor && { cursor }),
      });
      pages.push(page);
      cursor = page.next_cursor;
    } while (cursor);
    return pages;
  };
  const names = (pages: readonly Listed[]) =>
    pages.flatMap(({ objects }) => objects.map(({ object }) => object));
  const groups = (pages: readonly Listed[]) => pages.flatMap(({ prefixes }) => prefixes);
  const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

  test("goes through pages of any size to the end, backups left out, however many there are", async () => {
    const on = await bench();
    for (const object of ["!first", ".reversi-backups", ".reversi-backups0", "\u{1f600}", "\uffee"])
      on.put({ bucket: "notes", object }, "");
    const own = [...on.notes.objects.keys()].sort(byBytes);
    for (let index = 0; index < 1500; index++)
      on.put({ bucket: "notes", object: `.reversi-backups/${index}` }, "");
    for (const largestPage of [1, 3, 1000]) {
      on.world.largestPage = largestPage;
      for (const limit of [1, 2, 1000]) {
        on.backend.forget();
        const pages = await all(on, { limit });
        expect(names(pages)).toEqual(own);
        for (const { objects } of pages) expect(objects.length).toBeLessThanOrEqual(limit);
        expect(on.backend.requests.length).toBeLessThan(own.length + 5);
      }
    }
    expect(names(await all(on, { prefix: ".reversi-backups/" }))).toEqual([]);
  });

  test("groups at a delimiter, each group once, and without the backups' own", async () => {
    const on = await bench();
    for (const object of [".a-1", ".reversi-backups/a-1", ".z-1", "é-1", "é-2"])
      on.put({ bucket: "notes", object }, "");
    for (const limit of [1, 2, 1000]) {
      expect(groups(await all(on, { limit, delimiter: "/" }))).toEqual(["dir/", "public/"]);
      expect(groups(await all(on, { limit, delimiter: "-" }))).toEqual([".a-", ".reversi-", ".z-", "é-"]);
    }
    const pages = await all(on, { prefix: "é", delimiter: "-" });
    expect([names(pages), groups(pages)]).toEqual([[], ["é-"]]);
    expect(names(await all(on, { prefix: "public/", delimiter: "/" }))).toEqual([page.object]);
  });

  test.each([
    ["nothing in it", {}],
    [
      "an item without generation",
      { kind: "storage#objects", items: [{ name: "a", size: "1", updated: "u" }] },
    ],
    ["items that are none", { kind: "storage#objects", items: "a" }],
    ["a page of HTML", "<!doctype html>"],
  ])("an answer with %s is no list", async (_, body) => {
    const { call, backend } = await bench();
    backend.inject({ kind: "status", status: 200, body });
    expect(await failure(call("list_objects", { bucket: "notes" }))).toMatchObject({ code: "FAILED" });
  });

  test("empty pages are no end, and a list that runs in a circle is an error", async () => {
    const { call, backend } = await bench();
    const body = (nextPageToken: string) => ({ kind: "storage#objects", nextPageToken });
    backend.inject({ kind: "status", status: 200, body: body("a") });
    backend.inject({ kind: "status", status: 200, body: body("b") });
    backend.inject({ kind: "status", status: 200, body: body("a") });
    const error = await failure(call("list_objects", { bucket: "notes" }));
    expect(error.message).toContain("circle");
  });

  test("a cursor of another list, and a bucket that is not there, are Google's errors", async () => {
    const on = await bench();
    const { next_cursor: cursor } = await on.call<Listed>("list_objects", { bucket: "notes", limit: 1 });
    const error = await failure(on.call("list_objects", { bucket: "notes", prefix: "t", cursor }));
    expect(error).toMatchObject({ status: 400, reason: "invalid" });
    expect(await failure(on.call("list_objects", { bucket: "nowhere" }))).toMatchObject({ status: 404 });
  });
});
