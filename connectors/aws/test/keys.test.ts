import { aws } from "../src/index.ts";
import { addressOf, encodeKey } from "../src/names.ts";
import { bench, failure, fresh } from "./bench.ts";

const raw = ({ backend }: Awaited<ReturnType<typeof bench>>) => backend.requests.map(({ path }) => path);

test("S3-01: what encodeURIComponent leaves alone is encoded all the same, and the signature holds", async () => {
  const on = await bench();
  const place = { bucket: "notes", key: "a!'()*b.txt" };
  await on.call("put_object", { ...place, content: "x" });
  expect(await on.call("get_object", place)).toMatchObject({ key: place.key, content: "x" });
  await on.call("delete_object", place);
  expect(raw(on).filter((path) => path.startsWith("/notes/a"))).toEqual(
    expect.arrayContaining(["/notes/a%21%27%28%29%2Ab.txt"]),
  );
  expect(on.object(place)).toBeUndefined();
});

test.each([
  ["a+b", "a%2Bb"],
  ["a b", "a%20b"],
  ["a%2Fb", "a%252Fb"],
  ["a%20b", "a%2520b"],
  ["été/日本/😀", "%C3%A9t%C3%A9/%E6%97%A5%E6%9C%AC/%F0%9F%98%80"],
  ["k?x=1&y", "k%3Fx%3D1%26y"],
  ["t:12:00", "t%3A12%3A00"],
  ["a\tb\nc\u0001\u007f", "a%09b%0Ac%01%7F"],
  ["/leading", "/leading"],
  ["double//slash", "double//slash"],
  ["trailing/", "trailing/"],
  ["a\\b", "a%5Cb"],
  ["...", "..."],
  [".hidden/..x", ".hidden/..x"],
  ["é +#?%.txt", "%C3%A9%20%2B%23%3F%25.txt"],
])(
  "S3-02: %j is one object: written, replaced, read, listed, deleted and put back under that very key",
  async (key, wire) => {
    const on = await bench();
    const place = { bucket: "notes", key };
    const first = await on.call("put_object", { ...place, content: "one" });
    expect(raw(on)[0]).toBe(`/notes/${wire}`);
    const second = await on.call("put_object", { ...place, content: "two" });
    expect(await on.call("get_object", place)).toMatchObject({ key, content: "two" });
    const { objects } = await on.call<{ objects: { key: string }[] }>("list_objects", { bucket: "notes" });
    expect(objects.map((object) => object.key)).toContain(key);
    await on.undo("put_object", place, second);
    expect(on.text(place)).toBe("one");
    const deleted = await on.call("delete_object", place);
    expect(on.object(place)).toBeUndefined();
    await on.undo("delete_object", place, deleted);
    expect(on.text(place)).toBe("one");
    await on.undo("put_object", place, first);
    expect(on.object(place)).toBeUndefined();
  },
);

test("S3-02: a key of 1024 bytes goes, one of 1025 and a lone surrogate are refused before anything is sent", async () => {
  const on = await bench();
  await on.call("put_object", { bucket: "notes", key: "ü".repeat(512), content: "x" });
  on.backend.forget();
  const long = { bucket: "notes", key: "ü".repeat(513), content: "x" };
  expect(await failure(on.call("put_object", long))).toMatchObject({
    code: "INVALID_ARGUMENTS",
    message: expect.stringMatching(/^key must have at most 1024 bytes/),
  });
  for (const tool of ["put_object", "get_object", "delete_object"]) {
    const content = tool === "put_object" ? { content: "x" } : {};
    const error = await failure(on.call(tool, { bucket: "notes", key: "a\ud800", ...content }));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENTS", message: expect.stringContaining("key") });
  }
  expect(() => encodeKey("a\ud800")).toThrow(/key holds a lone surrogate/);
  expect(on.backend.requests).toEqual([]);
});

test.each(["x/../../b2/y", "x/../.reversi-backups/u", "./a", "a/..", "..", ".", "a/./b"])(
  "S3-03: the key %j is refused before anything is sent, and the error names the argument",
  async (key) => {
    const on = await bench();
    const place = { bucket: "notes", key };
    const errors = [
      await failure(on.call("get_object", place)),
      await failure(on.call("put_object", { ...place, content: "x" })),
      await failure(on.call("delete_object", place)),
      await failure(on.call("restore_object", { ...place, backup_key: null })),
      await failure(on.holds({ ...place, backup_key: null })),
    ];
    for (const error of errors) {
      expect(error.code).toBe("INVALID_ARGUMENTS");
      expect(error.message).toMatch(/^key must not have a segment that is "\." or "\.\."/);
    }
    expect(on.backend.requests).toEqual([]);
  },
);

test("S3-03: dots that are written as escapes are text like any other", async () => {
  const on = await bench();
  const place = { bucket: "notes", key: "a/%2e%2e/b" };
  await on.call("put_object", { ...place, content: "x" });
  expect(raw(on)[0]).toBe("/notes/a/%252e%252e/b");
  expect(on.text(place)).toBe("x");
});

test("S3-03: backups are no objects for tools, and are not listed", async () => {
  const on = await bench();
  const { backup_key } = await on.call("delete_object", { bucket: "notes", key: "todo.txt" });
  on.backend.forget();
  const place = { bucket: "notes", key: String(backup_key) };
  for (const [tool, more] of [
    ["get_object", {}],
    ["put_object", { content: "x" }],
    ["delete_object", {}],
    ["restore_object", { backup_key: null }],
  ] as const) {
    expect(await failure(on.call(tool, { ...place, ...more }))).toMatchObject({
      code: "INVALID_ARGUMENTS",
      message: expect.stringMatching(/^key must not be below \.reversi-backups\//),
    });
  }
  expect(on.backend.requests).toEqual([]);
});

test("S3-07: the source of a copy is encoded like the path; a question mark is part of the name", async () => {
  const on = await bench();
  for (const key of ["é +#?%.txt", "a?versionId=evil"]) {
    const place = { bucket: "notes", key };
    on.edit(place, "old");
    const result = await on.call("put_object", { ...place, content: "new" });
    await on.undo("put_object", place, result);
    expect(on.text(place)).toBe("old");
  }
  const sources = on.backend.requests.map(({ headers }) => headers["x-amz-copy-source"]);
  expect(sources).toEqual(
    expect.arrayContaining(["/notes/%C3%A9%20%2B%23%3F%25.txt", "/notes/a%3FversionId%3Devil"]),
  );
});

test.each([
  "a",
  "UPPER",
  "x/../y",
  "b?x",
  "evil.com#",
  "evil.com/",
  "a..b",
  "a.-b",
  "192.168.5.4",
  "xn--a",
  "b--x-s3",
  "-a1",
  "a_b",
])("S3-17: the bucket %j is refused, so that no name can change the host", async (bucket) => {
  const on = await bench();
  const error = await failure(on.call("list_objects", { bucket }));
  expect(error).toMatchObject({ code: "INVALID_ARGUMENTS", message: expect.stringContaining("bucket") });
  expect(on.backend.requests).toEqual([]);
});

test("S3-17: each bucket has its own host; names with dots, and other servers, go into the path", () => {
  const region = "eu-central-1";
  expect(addressOf({ region }, "notes")).toEqual({
    baseUrl: "https://notes.s3.eu-central-1.amazonaws.com",
    prefix: "",
  });
  expect(addressOf({ region }, "my.bucket")).toEqual({
    baseUrl: "https://s3.eu-central-1.amazonaws.com",
    prefix: "/my.bucket",
  });
  expect(addressOf({ region: "cn-north-1" }, "notes").baseUrl).toBe(
    "https://notes.s3.cn-north-1.amazonaws.com.cn",
  );
  expect(addressOf({ region: "eusc-de-east-1" }, "notes").baseUrl).toBe(
    "https://notes.s3.eusc-de-east-1.amazonaws.eu",
  );
  expect(addressOf({ region, endpoint: "http://127.0.0.1:9000/s3" }, "notes")).toEqual({
    baseUrl: "http://127.0.0.1:9000/s3",
    prefix: "/notes",
  });
});

test("S3-17: the host that is signed is the host that is sent, with its port", async () => {
  const on = await bench();
  await on.call("put_object", { ...fresh, content: "x" });
  const { host } = new URL(on.backend.address);
  for (const { headers } of on.backend.requests) {
    expect(headers["host"]).toBe(host);
    expect(headers["authorization"]).toMatch(/SignedHeaders=(?:[a-z0-9-]+;)*host;/);
  }
});

test.each([
  ["region", { region: "eu central" }],
  ["region", { region: "evil.com/" }],
  ["endpoint", { endpoint: "127.0.0.1:9000" }],
  ["endpoint", { endpoint: "https://me:secret-word@host" }],
  ["endpoint", { endpoint: "https://host/?x=secret-word" }],
  ["endpoint", { endpoint: "ftp://host" }],
])("HT-09: a malformed %s is refused by name and not repeated", (name, options) => {
  const keys = {
    accessKeyId: "AKIAIOSFODNN7EXAMPLE",
    secretAccessKey: "x".repeat(40),
    region: "eu-central-1",
  };
  expect(() => aws({ ...keys, ...options })).toThrow(new RegExp(`aws: ${name} must`));
  expect(() => aws({ ...keys, ...options })).not.toThrow(/secret-word/);
});
