import { token } from "../src/sandbox/wire.ts";
import { type Container, changeBlob, putBlob, removeBlob } from "../src/sandbox.ts";
import { bench, failure, fresh, key, page, todo } from "./bench.ts";

const MiB = 1024 * 1024;
const todoHeaders = { "content-type": "text/plain", "cache-control": "no-store", "x-ms-meta-Author": "ada" };

describe("the whole way round", () => {
  test.each([
    ["put_blob", { ...todo, content: "bread" }],
    ["put_blob", { ...fresh, content: "" }],
    ["put_blob", { container: "$web", blob: "a//b", content: "AP8=", encoding: "base64" }],
    ["put_blob", { container: "notes", blob: "plan.txt", content: "x", content_type: "text/x; a=b" }],
    ["delete_blob", todo],
    ["delete_blob", { container: "notes", blob: "dir/ü ñ+&=%20!*'();~.bin" }],
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

  test("of the old blob all but its tags comes back: content type, language, metadata, tier", async () => {
    const on = await bench();
    changeBlob(on.notes, page.blob, {
      headers: { "content-type": "text/html", "content-disposition": "inline", "x-ms-meta-Owner": "ada" },
    });
    const before = on.notes.blobs.get(page.blob);
    const args = { ...page, content: "<p>Bye</p>" };
    await on.undo("put_blob", args, await on.call("put_blob", args));
    const after = on.notes.blobs.get(page.blob);
    expect(after).toMatchObject({ headers: before?.headers, tier: "Cool", md5: before?.md5, tags: {} });
    expect(before?.tags).toEqual({ team: "web" });
  });

  test("deleting what is not there changes nothing, and neither does its undo", async () => {
    const on = await bench();
    const result = await on.call("delete_blob", fresh);
    expect(result).toMatchObject({ existed: false, backup_key: null, sha256: null });
    expect(await on.undo("delete_blob", fresh, result)).toMatchObject({ already: true, etag: null });
    expect(on.writes()).toEqual([]);
  });

  test("the same call under the same key writes once, and finds its backup's name again", async () => {
    const on = await bench();
    const args = { ...todo, content: "bread" };
    const first = await on.call("put_blob", args, { idempotencyKey: "k" });
    // A lifecycle rule: the mark on the blob tells all the same that there was something.
    removeBlob(on.notes, String(first["backup_key"]));
    expect(await on.call("put_blob", args, { idempotencyKey: "k" })).toEqual(first);
    expect(on.writes()).toHaveLength(2);
    expect(await failure(on.undo("put_blob", args, first))).toMatchObject({ code: "FAILED" });
    expect(on.notes.blobs.get(todo.blob)?.content.toString()).toBe("bread");
  });
});

describe("AZ-01: what is copied is read under a token of its own", () => {
  test("backup and restore both carry it, and both are synchronous and conditional", async () => {
    const on = await bench();
    const old = on.notes.blobs.get(todo.blob)?.etag;
    await on.undo("delete_blob", todo, await on.call("delete_blob", todo));
    const copies = on.writes().filter(({ headers }) => headers["x-ms-copy-source"]);
    expect(copies).toHaveLength(2);
    for (const { headers } of copies)
      expect(headers).toMatchObject({
        "x-ms-copy-source-authorization": `Bearer ${token}`,
        "x-ms-requires-sync": "true",
        "x-ms-source-if-match": expect.stringMatching(/^"0x8D[0-9A-F]+"$/),
        "if-none-match": "*",
      });
    expect(copies[0]?.headers["x-ms-source-if-match"]).toBe(old);
  });

  test.each([401, 403, 404, 409])(
    "a copy that Azure refuses with %i stops everything before it",
    async (status) => {
      const on = await bench();
      const before = await on.state();
      const headers = { "x-ms-error-code": "CannotVerifyCopySource", "x-ms-request-id": "id-1" };
      on.backend.inject({ kind: "status", status, headers, body: `<a>${token}</a>` }, { method: "PUT" });
      const error = await failure(on.call("put_blob", { ...todo, content: "bread" }));
      expect(error).toMatchObject({
        code: "FAILED",
        status,
        reason: "CannotVerifyCopySource",
        requestId: "id-1",
      });
      expect(JSON.stringify([error, error.message])).not.toContain(token);
      expect(await on.state()).toEqual(before);
      expect(on.writes()).toHaveLength(1);
    },
  );
});

describe("AZ-07: only a copy that ended as success is a backup", () => {
  test.each(["pending", "failed", "aborted", undefined] as const)("%s", async (copyStatus) => {
    const on = await bench();
    const before = await on.state();
    on.world.copyStatus = copyStatus;
    for (const [tool, args] of [
      ["put_blob", { ...todo, content: "x" }],
      ["delete_blob", todo],
    ] as const) {
      const error = await failure(on.call(tool, args));
      const failed = copyStatus === "failed" || copyStatus === "aborted";
      expect(error).toMatchObject(
        failed ? { code: "FAILED", mayHaveApplied: true } : { code: "EFFECT_UNCERTAIN" },
      );
    }
    expect(await on.state()).toEqual(before);
  });

  test("another success than 202 is none", async () => {
    const on = await bench();
    const before = await on.state();
    on.backend.inject({ kind: "status", status: 201, effect: true, body: "" }, { method: "PUT" });
    expect(await failure(on.call("delete_blob", todo))).toMatchObject({ code: "EFFECT_UNCERTAIN" });
    expect(await on.state()).toEqual(before);
  });

  test.each<[string, (notes: Container, name: string) => unknown]>([
    [
      "has been written by somebody else",
      (notes, name) => putBlob(notes, name, "milk\n", { headers: todoHeaders }),
    ],
    ["has another MD5", (notes, name) => changeBlob(notes, name, { md5: "AAAA" })],
    ["has another size", (notes, name) => changeBlob(notes, name, { claimedSize: 4 })],
    ["has lost its metadata", (notes, name) => putBlob(notes, name, "milk\n")],
    ["is not there", removeBlob],
  ])("a backup that %s is none", async (_, spoil) => {
    const on = await bench();
    const before = await on.state();
    on.meanwhile("HEAD", () => spoil(on.notes, on.backups()[0]?.[0] ?? ""), 2);
    const error = await failure(on.call("delete_blob", todo));
    expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: true });
    expect(error.message).toContain("was not touched");
    expect(await on.state()).toEqual(before);
  });
});

test("a call that is made again under its key takes the backup that it made before, if it is one", async () => {
  for (const changed of [false, true]) {
    const on = await bench();
    on.backend.inject({ kind: "cutBefore" }, { method: "DELETE" });
    const context = { idempotencyKey: key };
    expect(await failure(on.call("delete_blob", todo, context))).toMatchObject({ code: "EFFECT_UNCERTAIN" });
    if (changed) putBlob(on.notes, todo.blob, "Ada's");
    const again = on.call("delete_blob", todo, context);
    if (changed) expect((await failure(again)).message).toContain("another backup of the same call");
    else expect(await again).toMatchObject({ existed: true });
    expect(on.backups()).toHaveLength(1);
    expect(on.notes.blobs.has(todo.blob)).toBe(changed);
  }
});

describe("large blobs", () => {
  const large = (on: Awaited<ReturnType<typeof bench>>, claimedSize: number) =>
    changeBlob(on.notes, todo.blob, { claimedSize });

  test("above 256 MiB go by Put Blob From URL, with their metadata, both ways", async () => {
    const on = await bench();
    large(on, 300 * MiB);
    const before = await on.state();
    await on.undo("delete_blob", todo, await on.call("delete_blob", todo));
    const copies = on.writes().filter(({ method }) => method === "PUT");
    for (const { headers } of copies) {
      expect(headers).toMatchObject({ "x-ms-blob-type": "BlockBlob", "x-ms-meta-author": "ada" });
      expect(headers["x-ms-requires-sync"]).toBeUndefined();
    }
    expect(copies).toHaveLength(2);
    // Metadata names keep no case in HTTP headers.
    expect(JSON.stringify(await on.state()).toLowerCase()).toBe(JSON.stringify(before).toLowerCase());
  });

  test("above 5000 MiB are refused before anything is written", async () => {
    const on = await bench();
    large(on, 5001 * MiB);
    const error = await failure(on.call("put_blob", { ...todo, content: "x" }));
    expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
    expect(error.message).toContain("5000 MiB");
    expect(on.writes()).toEqual([]);
  });

  test("without an MD5 they are bound to their version by the copy's condition; holds cannot tell", async () => {
    const on = await bench();
    changeBlob(on.notes, todo.blob, { claimedSize: 20 * MiB, md5: undefined });
    const result = await on.call("delete_blob", todo);
    expect(await on.undo("delete_blob", todo, result)).toMatchObject({ already: false });
    expect(await on.holds(on.undoArgs("delete_blob", todo, result))).toBe("unknown");
  });
});
