import { putObject } from "../src/sandbox.ts";
import { bench, failure, fresh, keeping, plan, todo } from "./bench.ts";

const odd = { bucket: "notes", key: "dir/ü ñ+&=%20!*'();~.bin" };
const page = { bucket: "notes", key: "public/index.html" };

test("an object is written with its type, and read back byte for byte", async () => {
  const { call } = await bench();
  const bytes = Buffer.from([0, 1, 254, 255, 10, 13]);
  const put = await call("put_object", { ...fresh, content: bytes.toString("base64"), encoding: "base64" });
  expect(put).toMatchObject({
    ...fresh,
    existed: false,
    backup_key: null,
    size: 6,
    version_id: null,
    guarded: true,
  });
  const got = await call("get_object", { ...fresh, encoding: "base64" });
  expect(got).toMatchObject({
    ...fresh,
    content: bytes.toString("base64"),
    content_type: "application/octet-stream",
    size: 6,
    sha256: put["sha256"],
    etag: put["etag"],
    version_id: null,
    last_modified: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/),
  });
  expect(await failure(call("get_object", fresh))).toMatchObject({
    code: "FAILED",
    message: expect.stringContaining('ask for it with encoding "base64"'),
  });
});

test("a byte order mark, an empty object and 5 MiB come back as they were; one byte more is refused", async () => {
  const { call, edit, backend } = await bench();
  for (const content of ["\ufefftext", "", "x".repeat(5 * 1024 * 1024)]) {
    await call("put_object", { ...fresh, content });
    expect(await call("get_object", fresh)).toMatchObject({ content });
  }
  edit(fresh, "x".repeat(5 * 1024 * 1024 + 1));
  expect((await failure(call("get_object", fresh))).message).toMatch(/more than the 5 MiB/);
  backend.forget();
  const tooLarge = { ...fresh, content: "ü".repeat(2_621_441) };
  expect(await failure(call("put_object", tooLarge))).toMatchObject({
    code: "INVALID_ARGUMENTS",
    message: expect.stringMatching(/^content must have at most 5242880 bytes/),
  });
  expect(backend.requests).toEqual([]);
});

test.each([
  ["content", { content: "no base64!", encoding: "base64" }],
  ["content", { content: "AB=", encoding: "base64" }],
  ["content_type", { content: "x", content_type: "text/plain; charset=ü" }],
])("a malformed %s is refused before anything is sent", async (name, args) => {
  const { call, backend } = await bench();
  const error = await failure(call("put_object", { ...fresh, ...args }));
  expect(error).toMatchObject({ code: "INVALID_ARGUMENTS", message: expect.stringContaining(name) });
  expect(backend.requests).toEqual([]);
});

test("the old object comes back with content, type, metadata, tags and storage class", async () => {
  for (const place of [todo, odd, page]) {
    const on = await bench();
    const before = await on.seen("notes");
    const put = await on.call("put_object", { ...place, content: "new", content_type: "text/x-new" });
    expect(put).toMatchObject({ existed: true, backup_key: expect.stringMatching(/^\.reversi-backups\//) });
    expect(on.text(place)).toBe("new");
    const undone = await on.undo("put_object", place, put);
    expect(undone).toEqual({ ...place, already: false, etag: on.object(place)?.etag });
    const acl = { acl: "private" }; // as declared: it does not come back
    expect(await on.seen("notes")).toEqual({
      ...before,
      [place.key]: expect.objectContaining({
        ...(before as never as Record<string, object>)[place.key],
        ...acl,
      }),
    });
    expect(await on.undo("put_object", place, put)).toMatchObject({ already: true });
    expect(await on.holds(on.undoOf("put_object", place, put))).toBe(true);
  }
});

test("the same bytes under another type are a change, and are undone", async () => {
  const on = await bench();
  const put = await on.call("put_object", { ...todo, content: "milk\n", content_type: "text/x-new" });
  expect(await on.holds(on.undoOf("put_object", todo, put))).toBe(false);
  await on.undo("put_object", todo, put);
  expect(on.object(todo)?.headers).toMatchObject({
    "content-type": "text/plain",
    "x-amz-meta-author": "ada",
  });
});

test("a created object is deleted again; a deleted one comes back; both undos may be repeated", async () => {
  const on = await bench();
  const before = await on.seen("notes");
  const put = await on.call("put_object", { ...fresh, content: "x" });
  expect(await on.undo("put_object", fresh, put)).toEqual({ ...fresh, already: false, etag: null });
  expect(await on.undo("put_object", fresh, put)).toEqual({ ...fresh, already: true, etag: null });
  const deleted = await on.call("delete_object", todo);
  expect(deleted).toMatchObject({ existed: true, sha256: null, version_id: null, guarded: true });
  expect(on.object(todo)).toBeUndefined();
  expect(await on.undo("delete_object", todo, deleted)).toMatchObject({ already: false });
  expect(await on.undo("delete_object", todo, deleted)).toMatchObject({ already: true });
  expect(await on.seen("notes")).toEqual(before);
});

test("deleting what is not there changes nothing, and sends no write", async () => {
  const on = await bench();
  expect(await on.call("delete_object", fresh)).toEqual({
    ...fresh,
    ...{ existed: false, backup_key: null, sha256: null, version_id: null, guarded: true },
  });
  expect(on.writes()).toEqual([]);
  const marked = await on.call("delete_object", plan);
  const versions = on.backend.bucket(plan.bucket).objects.get(plan.key)?.length;
  expect(await on.call("delete_object", plan)).toMatchObject({ existed: false });
  expect(on.backend.bucket(plan.bucket).objects.get(plan.key)).toHaveLength(versions ?? 0);
  await on.undo("delete_object", plan, marked);
  expect(on.text(plan)).toBe("second");
});

test("on a versioned bucket results name versions, and each can be read", async () => {
  const { call, backend } = await bench();
  const put = await call("put_object", { ...plan, content: "third" });
  const [first] = backend.bucket(plan.bucket).objects.get(plan.key) ?? [];
  expect(await call("get_object", plan)).toMatchObject({ content: "third", version_id: put["version_id"] });
  expect(await call("get_object", { ...plan, version_id: first?.versionId })).toMatchObject({
    content: "first",
  });
  expect(await failure(call("get_object", { ...plan, version_id: "nonesuch" }))).toMatchObject({
    status: 404,
    reason: "NoSuchVersion",
  });
  const { version_id } = await call("delete_object", plan);
  expect(typeof version_id).toBe("string");
  expect(await failure(call("get_object", { ...plan, version_id }))).toMatchObject({ status: 405 });
  backend.bucket(plan.bucket).versioning = "suspended";
  expect(await call("put_object", { ...plan, content: "4" })).toMatchObject({ version_id: "null" });
});

test("what somebody else wrote after a step survives its undo, unless the operator says otherwise", async () => {
  const on = await bench();
  const put = await on.call("put_object", { ...todo, content: "bread" });
  on.edit(todo, "Ada's");
  const conflict = await failure(on.undo("put_object", todo, put));
  expect(conflict).toMatchObject({ code: "CONFLICT", found: expect.stringContaining("5 bytes") });
  expect(on.text(todo)).toBe("Ada's");
  await on.undo("put_object", todo, put, { onConflict: "overwrite" });
  expect(on.text(todo)).toBe("milk\n");

  const created = await on.call("put_object", { ...fresh, content: "x" });
  on.edit(fresh, "Ada's");
  expect((await failure(on.undo("put_object", fresh, created))).code).toBe("CONFLICT");
  expect(on.text(fresh)).toBe("Ada's");

  const deleted = await on.call("delete_object", todo);
  on.edit(todo, "Ada's");
  expect((await failure(on.undo("delete_object", todo, deleted))).code).toBe("CONFLICT");
  expect(on.text(todo)).toBe("Ada's");
});

test("an object that somebody deleted after a step is not brought back by the undo of the step", async () => {
  const on = await bench();
  const put = await on.call("put_object", { ...todo, content: "bread" });
  on.backend.bucket("notes").objects.delete(todo.key);
  expect(await failure(on.undo("put_object", todo, put))).toMatchObject({ code: "CONFLICT" });
  expect(on.object(todo)).toBeUndefined();
});

test("a change between the look and the write is never overwritten, forward or back", async () => {
  const on = await bench();
  on.meanwhile("PUT", /todo\.txt$/, () => on.edit(todo, "Ada's"));
  expect(await failure(on.call("put_object", { ...todo, content: "x" }))).toMatchObject({ code: "CONFLICT" });
  expect(on.text(todo)).toBe("Ada's");
  on.meanwhile("PUT", /fresh\.txt$/, () => on.edit(fresh, "Ada's"));
  expect(await failure(on.call("put_object", { ...fresh, content: "x" }))).toMatchObject({
    code: "CONFLICT",
  });
  expect(on.text(fresh)).toBe("Ada's");
  on.meanwhile("DELETE", /todo\.txt$/, () => on.edit(todo, "Ada's second"));
  expect(await failure(on.call("delete_object", todo))).toMatchObject({ code: "CONFLICT" });
  expect(on.text(todo)).toBe("Ada's second");

  const put = await on.call("put_object", { ...todo, content: "bread" });
  on.meanwhile("PUT", /todo\.txt$/, () => on.edit(todo, "Ada's third"));
  expect(await failure(on.undo("put_object", todo, put))).toMatchObject({ code: "CONFLICT" });
  expect(on.text(todo)).toBe("Ada's third");
});

test("somebody who puts things back between look and write has done the undo", async () => {
  const on = await bench();
  const put = await on.call("put_object", { ...fresh, content: "x" });
  on.meanwhile("DELETE", /fresh\.txt$/, () => on.backend.bucket("notes").objects.delete(fresh.key));
  expect(await on.undo("put_object", fresh, put)).toEqual({ ...fresh, already: true, etag: null });
});

test("an object that changes before its backup is not overwritten; one that changes after it neither", async () => {
  for (const fits of [/reversi-backups/, /todo\.txt$/]) {
    const on = await bench();
    await on.call("put_object", { ...fresh, content: "x" }); // the server's guards are known from here on
    await on.call("put_object", { ...fresh, content: "y" });
    on.meanwhile("PUT", fits, () => on.edit(todo, "Ada's"));
    expect(await failure(on.call("put_object", { ...todo, content: "bread" }))).toMatchObject({
      code: "CONFLICT",
    });
    expect(on.text(todo)).toBe("Ada's");
  }
});

test("without the ETag, as after a lost answer, the content decides", async () => {
  const on = await bench();
  const put = await on.call("put_object", { ...todo, content: "bread" });
  await on.undo("put_object", todo, { ...put, etag: null });
  expect(on.text(todo)).toBe("milk\n");
});

test("objects whose ETag is no hash are compared by their content", async () => {
  const on = await bench();
  const kms = { bucket: "notes", key: "kms.txt" };
  putObject(on.backend.bucket("notes"), kms.key, "secret", { kmsKey: "arn:aws:kms:eu-central-1:1:key/1" });
  const put = await on.call("put_object", { ...kms, content: "new" });
  await on.undo("put_object", kms, put);
  expect(on.object(kms)).toMatchObject({ kmsKey: "arn:aws:kms:eu-central-1:1:key/1" });
  expect(on.text(kms)).toBe("secret");
  expect(await on.holds(on.undoOf("put_object", kms, put))).toBe(true);
  const parts = { bucket: "notes", key: "parts.bin" };
  putObject(on.backend.bucket("notes"), parts.key, "long", { etag: '"0123456789abcdef0123456789abcdef-2"' });
  const deleted = await on.call("delete_object", parts);
  await on.undo("delete_object", parts, deleted);
  expect(await on.holds(on.undoOf("delete_object", parts, deleted))).toBe(true);
  expect(on.text(parts)).toBe("long");
});

test.each([
  ["of several parts", { etag: '"0123456789abcdef0123456789abcdef-2"' }],
  ["under a KMS key", { kmsKey: "arn:aws:kms:eu-central-1:1:key/1" }],
])(
  "an object %s that is too large to be read is backed up, put back and verified all the same",
  async (_, facts) => {
    const on = await bench();
    const large = { bucket: "notes", key: "large.bin" };
    putObject(on.backend.bucket("notes"), large.key, "…", { ...facts, claimedSize: 20 * 1024 ** 2 });
    const put = await on.call("put_object", { ...large, content: "x" });
    await on.undo("put_object", large, put);
    expect(await on.holds(on.undoOf("put_object", large, put))).toBe(true);
    expect(on.text(large)).toBe("…");
    expect(on.backend.requests.filter(({ method }) => method === "GET")).toEqual([]);
  },
);

test("an object of more than 5 GB is refused before anything is written, and the error says why", async () => {
  const on = await bench();
  putObject(on.backend.bucket("notes"), "huge", "…", { claimedSize: 5 * 1024 ** 3 + 1 });
  for (const [tool, more] of [
    ["put_object", { content: "x" }],
    ["delete_object", {}],
  ] as const) {
    const { checkpoint, kept } = keeping();
    const error = await failure(on.call(tool, { bucket: "notes", key: "huge", ...more }, { checkpoint }));
    expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
    expect(error.message).toMatch(/huge: larger than 5 GB/);
    expect(kept.checkpoint).toBeUndefined();
  }
  expect(on.writes()).toEqual([]);
});

test("an archived object is not overwritten: it cannot be backed up", async () => {
  const on = await bench();
  putObject(on.backend.bucket("notes"), "old", "cold", { storageClass: "GLACIER" });
  const error = await failure(on.call("put_object", { bucket: "notes", key: "old", content: "x" }));
  expect(error).toMatchObject({ status: 403, reason: "InvalidObjectState" });
  expect(error.message).toMatch(/archived: restore it from the archive first/);
  expect(on.text({ bucket: "notes", key: "old" })).toBe("cold");
});

test("an object with tags that may not be copied is not overwritten: its tags would be lost", async () => {
  const on = await bench();
  on.world.allowed.delete("s3:GetObjectTagging");
  const error = await failure(on.call("put_object", { ...page, content: "x" }));
  expect(error).toMatchObject({ status: 403, reason: "AccessDenied" });
  expect(error.message).toMatch(/s3:GetObjectTagging and s3:PutObjectTagging/);
  expect(on.text(page)).toBe("<p>Hello</p>");
});
