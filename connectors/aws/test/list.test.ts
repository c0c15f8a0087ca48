import { putObject } from "../src/sandbox.ts";
import { type Bench, bench, failure } from "./bench.ts";

interface Page {
  readonly objects: readonly { readonly key: string; readonly size: number }[];
  readonly prefixes: readonly string[];
  readonly next_cursor: string | null;
}

/** All pages of a list. */
async function pages({ call }: Bench, args: object): Promise<Page[]> {
  const found: Page[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: Page = await call<Page>("list_objects", { ...args, ...(cursor && { cursor }) });
    found.push(page);
    cursor = page.next_cursor;
  }
  return found;
}
const keysOf = (found: readonly Page[]) => found.flatMap(({ objects }) => objects.map(({ key }) => key));

test("every object is listed once, in whatever pages, with keys that XML cannot hold", async () => {
  const on = await bench();
  for (const key of ["a\u0001b", "a b", "a+b", "a%2Bb", '<&">', "😀", "ü"])
    putObject(on.backend.bucket("notes"), key, "x");
  const whole = await pages(on, { bucket: "notes" });
  expect(whole).toHaveLength(1);
  expect(keysOf(whole)).toEqual(
    expect.arrayContaining(["a\u0001b", "a b", "a+b", "a%2Bb", '<&">', "😀", "ü"]),
  );
  expect(keysOf(whole)).toHaveLength(10);
  for (const limit of [1, 2, 3]) {
    const small = await pages(on, { bucket: "notes", limit });
    expect(keysOf(small)).toEqual(keysOf(whole));
    expect(small.every(({ objects }) => objects.length <= limit)).toBe(true);
  }
  expect(whole[0]?.objects[0]).toEqual({
    key: '<&">',
    size: 1,
    etag: expect.stringMatching(/^"[0-9a-f]{32}"$/),
    last_modified: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
  });
});

test("a prefix and a delimiter group keys", async () => {
  const on = await bench();
  expect(await on.call("list_objects", { bucket: "notes", delimiter: "/" })).toMatchObject({
    objects: [{ key: "todo.txt" }],
    prefixes: ["dir/", "public/"],
    next_cursor: null,
  });
  expect(keysOf(await pages(on, { bucket: "notes", prefix: "public/" }))).toEqual(["public/index.html"]);
});

test("backups are hidden, fill no page, and are not read through", async () => {
  const on = await bench();
  const bucket = on.backend.bucket("notes");
  for (let number = 0; number < 40; number++)
    putObject(bucket, `.reversi-backups/${String(number).padStart(3, "0")}`, "x");
  for (const key of ["-before", ".reversi-backups0", ".reversi-other"]) putObject(bucket, key, "x");
  on.backend.forget();
  const small = await pages(on, { bucket: "notes", limit: 2 });
  expect(keysOf(small)).toEqual([
    ...["-before", ".reversi-backups0", ".reversi-other"],
    ...["dir/ü ñ+&=%20!*'();~.bin", "public/index.html", "todo.txt"],
  ]);
  expect(small.slice(0, -1).every(({ objects }) => objects.length === 2)).toBe(true);
  expect(on.backend.requests.length).toBeLessThan(8);
  expect(await pages(on, { bucket: "notes", delimiter: "/", limit: 1 })).toHaveLength(6);
  expect(keysOf(await pages(on, { bucket: "notes", prefix: ".reversi-backups/" }))).toEqual([]);
});

test("an empty bucket is an empty list; a missing one, and a made-up cursor, are errors", async () => {
  const on = await bench();
  on.backend.bucket("notes").objects.clear();
  expect(await on.call("list_objects", { bucket: "notes" })).toEqual({
    objects: [],
    prefixes: [],
    next_cursor: null,
  });
  expect(await failure(on.call("list_objects", { bucket: "no-such-bucket" }))).toMatchObject({
    reason: "NoSuchBucket",
  });
  expect(await failure(on.call("list_objects", { bucket: "notes", cursor: "made up" }))).toMatchObject({
    status: 400,
  });
});

const entry =
  "<Contents><Key>a</Key><LastModified>2026-11-30T10:11:12.000Z</LastModified><ETag>&quot;1&quot;</ETag><Size>5</Size></Contents>";
const listed = (inner: string) => `<ListBucketResult>${inner}</ListBucketResult>`;
test.each([
  ["cut half way", `<ListBucketResult><IsTruncated>false</IsTruncated>${entry}`],
  ["truncated without a token", listed("<IsTruncated>true</IsTruncated>")],
  ["silent on its end", listed(entry)],
  [
    "an entry without a size",
    listed(`<IsTruncated>false</IsTruncated>${entry.replace("<Size>5</Size>", "")}`),
  ],
  [
    "encoded wrongly",
    listed(
      `<EncodingType>url</EncodingType><IsTruncated>false</IsTruncated>${entry.replace("<Key>a", "<Key>%")}`,
    ),
  ],
  ["an error", "<Error><Code>InternalError</Code></Error>"],
])("a list that is %s is an error, never a short list", async (_, body) => {
  const { call, backend } = await bench();
  backend.inject({ kind: "status", status: 200, body });
  expect(await failure(call("list_objects", { bucket: "notes" }))).toMatchObject({
    code: "FAILED",
    status: 200,
  });
});

test("a server that does not encode its keys is read as it writes them", async () => {
  const { call, backend } = await bench();
  const body = listed(
    `<IsTruncated>false</IsTruncated>${entry.replace("<Key>a", "<Key>a+b %2B &amp; &#252;")}`,
  );
  backend.inject({ kind: "status", status: 200, body });
  expect(await call("list_objects", { bucket: "notes" })).toMatchObject({
    objects: [{ key: "a+b %2B & ü" }],
  });
});
