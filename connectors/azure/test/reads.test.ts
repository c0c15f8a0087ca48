import { changeBlob, putBlob } from "../src/sandbox.ts";
import { bench, failure, todo } from "./bench.ts";

interface Listed {
  readonly blobs: readonly { readonly blob: string; readonly etag: string }[];
  readonly prefixes: readonly string[];
  readonly next_cursor: string | null;
}

describe("get_blob", () => {
  test("brings text, or bytes, with what identifies them", async () => {
    const { call, notes } = await bench();
    const stored = notes.blobs.get(todo.blob);
    expect(await call("get_blob", todo)).toEqual({
      ...todo,
      ...{ content: "milk\n", encoding: "text", content_type: "text/plain", size: 5, etag: stored?.etag },
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      last_modified: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect(await call("get_blob", { ...todo, encoding: "base64" })).toMatchObject({ content: "bWlsawo=" });
  });

  test("refuses what is not text, what is too large, and what is not what its MD5 says", async () => {
    const { call, notes } = await bench();
    const args = { container: "notes", blob: "b" };
    putBlob(notes, "b", Buffer.from([255]));
    expect((await failure(call("get_blob", args))).message).toContain('"base64"');
    putBlob(notes, "b", Buffer.alloc(5 * 1024 * 1024 + 1));
    expect((await failure(call("get_blob", args))).message).toContain("5 MiB");
    putBlob(notes, "b", "");
    expect(await call("get_blob", args)).toMatchObject({ content: "", size: 0 });
    changeBlob(notes, "b", { md5: "AAAA" });
    expect((await failure(call("get_blob", args))).message).toContain("Content-MD5");
  });

  test("takes a stored content encoding for what it is: a header", async () => {
    const { call, notes } = await bench();
    putBlob(notes, "b", "zipped", { headers: { "content-type": "text/plain", "content-encoding": "gzip" } });
    expect(await call("get_blob", { container: "notes", blob: "b" })).toMatchObject({ content: "zipped" });
  });
});

describe("list_blobs", () => {
  const all = async (call: Awaited<ReturnType<typeof bench>>["call"], args: object) => {
    const pages: Listed[] = [];
    let cursor: string | null | undefined;
    do {
      const page: Listed = await call("list_blobs", { ...args, ...(cursor && { cursor }) });
      pages.push(page);
      cursor = page.next_cursor;
    } while (cursor);
    return pages;
  };
  const names = (pages: readonly Listed[]) => pages.flatMap(({ blobs }) => blobs.map(({ blob }) => blob));

  test("goes through pages of any size to the end, and gives ETags the quotes that lists leave out", async () => {
    const { call, notes, world } = await bench();
    for (const largestPage of [1, 2, 5000]) {
      world.largestPage = largestPage;
      for (const limit of [1, 3, 1000]) {
        const pages = await all(call, { container: "notes", limit });
        expect(names(pages)).toEqual([...notes.blobs.keys()].sort());
        for (const { blob, etag } of pages.flatMap(({ blobs }) => blobs))
          expect(etag).toBe(notes.blobs.get(blob)?.etag);
        for (const { blobs } of pages) expect(blobs.length).toBeLessThanOrEqual(limit);
      }
    }
  });

  test("hides backups, however many, without a request for each few of them", async () => {
    const { call, notes, backend } = await bench();
    const own = [...notes.blobs.keys()].sort();
    for (let index = 0; index < 2000; index++) putBlob(notes, `.reversi-backups/${index}`, "");
    putBlob(notes, "!first", "");
    expect(names(await all(call, { container: "notes", limit: 1 }))).toEqual(["!first", ...own]);
    expect(backend.requests.length).toBeLessThan(20);
    expect(await call("list_blobs", { container: "notes", delimiter: "/" })).toMatchObject({
      prefixes: ["dir/", "public/"],
    });
  });

  test("a page may be short, and only a null cursor is the end", async () => {
    const { call, notes, world, backend } = await bench();
    for (let index = 0; index < 30; index++) putBlob(notes, `.reversi-backups/${index}`, "");
    world.largestPage = 1;
    const first: Listed = await call("list_blobs", { container: "notes" });
    expect(first).toMatchObject({ blobs: [], next_cursor: expect.any(String) });
    expect(backend.requests).toHaveLength(20);
    expect(names(await all(call, { container: "notes" }))).toHaveLength(4);
  });

  test("reads names that XML cannot hold, and those it must escape", async () => {
    const { call, notes } = await bench();
    for (const blob of ["z/\uffff%41", "z/<&>\"'", "z/ a "]) putBlob(notes, blob, "");
    expect(names(await all(call, { container: "notes", prefix: "z/" }))).toEqual(
      ["z/\uffff%41", "z/<&>\"'", "z/ a "].sort(),
    );
  });

  test.each([
    ["cut half way", '\ufeff<?xml version="1.0"?><EnumerationResults><Blobs><Blob>'],
    ["without an end", "<EnumerationResults><Blobs /></EnumerationResults>"],
    [
      "an entry without ETag",
      "<EnumerationResults><Blobs><Blob><Name>a</Name></Blob></Blobs><NextMarker /></EnumerationResults>",
    ],
    ["a page of HTML", "<!doctype html><html></html>"],
  ])("%s is no list", async (_, body) => {
    const { call, backend } = await bench();
    backend.inject({ kind: "status", status: 200, body }, { times: 3 });
    expect(await failure(call("list_blobs", { container: "notes" }))).toMatchObject({ code: "FAILED" });
  });

  test("a list that runs in a circle is an error", async () => {
    const { call, backend } = await bench();
    const body = "<EnumerationResults><Blobs></Blobs><NextMarker>m</NextMarker></EnumerationResults>";
    backend.inject({ kind: "status", status: 200, body }, { times: 2 });
    const error = await failure(call("list_blobs", { container: "notes" }));
    expect(error.message).toContain("circle");
  });
});
