import { ConflictError } from "@reversi-connector/core";
import { crc32c } from "../src/checksums.ts";
import { changeObject } from "../src/sandbox.ts";
import { bench, failure, film, fresh, page, plan, removal, rewrite, todo, upload } from "./bench.ts";

test.each([
  ["", "AAAAAA=="],
  ["hello", "mnG7TA=="],
  ["123456789", "4waSgw=="],
])("the CRC-32C of %j is %s", (text, sum) => {
  expect(crc32c(Buffer.from(text))).toBe(sum);
});

describe("the whole way round", () => {
  test.each([
    ["put_object", { ...todo, content: "bread" }],
    ["put_object", { ...fresh, content: "" }],
    ["put_object", { bucket: "notes", object: "a//b/", content: "AP8=", encoding: "base64" }],
    ["put_object", { ...film, content: "\r\n--x--\r\n", content_type: "text/x; a=b" }],
    ["put_object", { ...plan, content: "third" }],
    ["delete_object", page],
    ["delete_object", film],
    ["delete_object", plan],
  ])("%s %j: do, undo, undo again, and nothing but the declared residue is left", async (tool, args) => {
    const on = await bench();
    const before = await on.state();
    const result = await on.call(tool, args);
    expect(await on.state()).not.toEqual(before);
    expect(await on.undo(tool, args, result)).toMatchObject({ already: false });
    expect(await on.state()).toEqual(before);
    const writes = on.writes().length;
    expect(await on.undo(tool, args, result)).toMatchObject({ already: true });
    expect(on.writes()).toHaveLength(writes);
    expect(await on.holds(on.undoArgs(tool, args, result))).toBe(true);
  });

  test("headers, metadata, storage class and key are those of the backup, and come back from it", async () => {
    const on = await bench();
    const kmsKeyName = "projects/p/locations/l/keyRings/r/cryptoKeys/k/cryptoKeyVersions/1";
    on.put(todo, "zipped", {
      attributes: {
        ...{ contentType: "text/html", contentEncoding: "gzip", contentLanguage: "de" },
        ...{ cacheControl: "no-transform", contentDisposition: "inline" },
        ...{ customTime: "2026-01-02T03:04:05.000Z", metadata: { Owner: "ada", empty: "" } },
      },
      ...{ storageClass: "COLDLINE", kmsKeyName },
    });
    const old = on.object(todo);
    const before = await on.state();
    const args = { ...todo, content: "bread" };
    const result = await on.call("put_object", args);
    const [[, backup] = []] = on.backups();
    for (const name of ["content", "attributes", "storageClass", "kmsKeyName", "md5Hash"] as const)
      expect(backup?.[name]).toEqual(old?.[name]);
    expect(on.object(todo)?.attributes).toEqual({
      contentType: "text/plain; charset=utf-8",
      metadata: { reversi_op: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    });
    await on.undo("put_object", args, result);
    expect(await on.state()).toEqual(before);
  });

  test("deleting what is not there changes nothing, and neither does its undo", async () => {
    const on = await bench();
    const result = await on.call("delete_object", fresh);
    expect(result).toMatchObject({ existed: false, backup_key: null, sha256: null });
    expect(await on.undo("delete_object", fresh, result)).toMatchObject({ already: true, generation: null });
    expect(on.writes()).toEqual([]);
  });

  test("the same call under the same key writes once, and finds its backup's name again", async () => {
    const on = await bench();
    const args = { ...todo, content: "bread" };
    const first = await on.call("put_object", args, { idempotencyKey: "k" });
    expect(await on.call("put_object", args, { idempotencyKey: "k" })).toEqual(first);
    expect(on.writes()).toHaveLength(2);
    const other = await on.call("put_object", args, { idempotencyKey: "l" });
    expect(other["backup_key"]).not.toBe(first["backup_key"]);
  });

  test("a call that comes again finds the backup of its first attempt, and no other takes its place", async () => {
    const on = await bench();
    on.backend.inject({ kind: "status", status: 503 }, upload);
    const args = { ...todo, content: "bread" };
    expect(await failure(on.call("put_object", args, { idempotencyKey: "k" }))).toMatchObject({
      status: 503,
    });
    expect(await on.call("put_object", args, { idempotencyKey: "k" })).toMatchObject({ existed: true });
    on.put(todo, "Ada's");
    const error = await failure(on.call("put_object", args, { idempotencyKey: "k" }));
    expect(error.message).toContain("holds another backup of the same call");
    expect(on.text(todo)).toBe("Ada's");
  });
});

test("every write carries its conditions, and deletes never name a generation to remove for good", async () => {
  const on = await bench();
  const old = on.object(todo)?.generation;
  await on.undo("delete_object", todo, await on.call("delete_object", todo));
  await on.call("put_object", { ...todo, content: "x" });
  const [backup, removed, restored, , written] = on.writes().map(({ query }) => Object.fromEntries(query));
  const source = { sourceGeneration: old, ifSourceGenerationMatch: old, ifSourceMetagenerationMatch: "1" };
  expect(backup).toEqual({ ...source, ifGenerationMatch: "0" });
  expect(removed).toEqual({ ifGenerationMatch: old, ifMetagenerationMatch: "1" });
  expect(restored).toMatchObject({ ifGenerationMatch: "0", ifSourceMetagenerationMatch: "1" });
  expect(written).toMatchObject({ uploadType: "multipart", name: "todo.txt", ifMetagenerationMatch: "1" });
  expect(written?.["ifGenerationMatch"]).toMatch(/^\d{16}$/);
});

describe("CS-01: an object's whole name is one segment", () => {
  test.each(["dir/sub/a b#c?d.txt", "é", "a~!$'()*,:@", "/a", "a//", "日本語/&=;%2F", "\u0001"])(
    "%j is encoded once, at every place, and comes back equal",
    async (object) => {
      const on = await bench();
      const place = { bucket: "notes", object };
      on.put(place, "kept");
      const before = await on.state();
      const args = { ...place, content: "new" };
      await on.undo("put_object", args, await on.call("put_object", args));
      expect(await on.call("get_object", place)).toMatchObject({ content: "kept", object });
      const result = await on.call("delete_object", place);
      await on.undo("delete_object", place, result);
      expect(await on.state()).toEqual(before);
      const encoded = encodeURIComponent(object).replace(
        /[!'()*]/g,
        (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
      );
      for (const { pathname, query } of on.backend.requests) {
        if (query.has("name")) expect(query.get("name")).toBe(object);
        else
          expect(
            pathname.split("/").filter((part) => part === encoded || part.startsWith(".rev")).length,
          ).toBeGreaterThan(0);
      }
      const copies = on.writes().filter(({ pathname }) => rewrite.path.test(pathname));
      expect(copies[0]?.pathname).toMatch(
        /\/o\/[^/]+\/rewriteTo\/b\/notes\/o\/\.reversi-backups%2F[0-9a-f-]{36}$/,
      );
    },
  );

  test.each([".", "..", "a/../b", "./a", "a\nb", "\ud800", "é".repeat(513), ".reversi-backups/x"])(
    "%j is refused before anything is sent",
    async (object) => {
      const on = await bench();
      for (const [tool, more] of [
        ["get_object", {}],
        ["put_object", { content: "" }],
        ["delete_object", {}],
        ["restore_object", { backup_key: null }],
      ] as const)
        expect(await failure(on.call(tool, { bucket: "notes", object, ...more }))).toMatchObject({
          code: "INVALID_ARGUMENTS",
        });
      expect(on.backend.requests).toEqual([]);
    },
  );

  test.each(["..", "a..b", "-ab", "no/tes", `${"a".repeat(64)}.b`])(
    "the bucket %j is refused too",
    async (bucket) => {
      const on = await bench();
      expect(await failure(on.call("list_objects", { bucket }))).toMatchObject({ code: "INVALID_ARGUMENTS" });
      expect(on.backend.requests).toEqual([]);
    },
  );

  test("what Google alone refuses is its error, and nothing is written", async () => {
    const on = await bench();
    const object = ".well-known/acme-challenge/x";
    const error = await failure(on.call("put_object", { bucket: "notes", object, content: "" }));
    expect(error).toMatchObject({ code: "FAILED", status: 400, reason: "invalid" });
  });
});

describe("what somebody else did survives", () => {
  test.each([
    ["put_object", { ...todo, content: "x" }, rewrite],
    ["put_object", { ...todo, content: "x" }, upload],
    ["put_object", { ...fresh, content: "x" }, upload],
    ["put_object", { ...plan, content: "x" }, rewrite],
    ["delete_object", todo, rewrite],
    ["delete_object", todo, removal],
    ["delete_object", plan, removal],
  ])("%s %j: changed right before %j", async (tool, args, where) => {
    const on = await bench();
    on.meanwhile(where, () => on.put(args, "Ada's"));
    const error = await failure(on.call(tool, args));
    expect(ConflictError.is(error)).toBe(true);
    expect(error.message).toMatch(/changed by somebody else just now.*Nothing was overwritten/);
    expect(on.text(args)).toBe("Ada's");
  });

  test.each([rewrite, upload])("a change of nothing but metadata counts, right before %j", async (where) => {
    const on = await bench();
    const attributes = { contentType: "text/plain", metadata: { Author: "Ada" } };
    on.meanwhile(where, () => changeObject(on.notes, todo.object, { attributes }));
    expect(await failure(on.call("put_object", { ...todo, content: "x" }))).toMatchObject({
      code: "CONFLICT",
    });
    expect(on.object(todo)?.attributes).toEqual(attributes);
  });

  test("deleted right before the delete: a conflict for the step, and success for an undo", async () => {
    const on = await bench();
    on.meanwhile(removal, () => on.remove(todo));
    expect(await failure(on.call("delete_object", todo))).toMatchObject({ code: "CONFLICT" });
    const args = { ...fresh, content: "x" };
    const result = await on.call("put_object", args);
    on.meanwhile(removal, () => on.remove(fresh));
    expect(await on.undo("put_object", args, result)).toMatchObject({ already: true, generation: null });
  });

  test("a changed object is not restored over, unless the operator says so", async () => {
    const on = await bench();
    const before = await on.state();
    const args = { ...todo, content: "x" };
    const result = await on.call("put_object", args);
    for (const change of [
      () => changeObject(on.notes, todo.object, { attributes: { metadata: { reviewed: "by Ada" } } }),
      () => on.put(todo, "Ada's"),
      () => on.remove(todo),
    ]) {
      change();
      expect(await failure(on.undo("put_object", args, result))).toMatchObject({ code: "CONFLICT" });
    }
    on.put(todo, "Ada's");
    const forced = { onConflict: "overwrite" } as const;
    expect(await on.undo("put_object", args, result, forced)).toMatchObject({ already: false });
    expect(await on.state()).toEqual(before);
  });

  test("the same content written again by somebody else is what the step left", async () => {
    const on = await bench();
    const args = { ...todo, content: "x" };
    const result = await on.call("put_object", args);
    on.put(todo, "x");
    expect(await on.undo("put_object", args, result)).toMatchObject({ already: false });
    expect(on.text(todo)).toBe("milk\n");
  });

  test("a deleted object that somebody wrote anew, right before its undo, stays", async () => {
    const on = await bench();
    const result = await on.call("delete_object", todo);
    on.meanwhile(rewrite, () => on.put(todo, "Ada's"));
    expect(await failure(on.undo("delete_object", todo, result))).toMatchObject({ code: "CONFLICT" });
    expect(on.text(todo)).toBe("Ada's");
  });
});
