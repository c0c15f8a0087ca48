import { ConflictError } from "@reversi-connector/core";
import { changeBlob, putBlob, removeBlob } from "../src/sandbox.ts";
import { bench, failure, fresh, todo } from "./bench.ts";

describe("AZ-08: what somebody else did survives", () => {
  test.each([
    ["put_blob", { ...todo, content: "x" }, "PUT", 1],
    ["put_blob", { ...todo, content: "x" }, "PUT", 2],
    ["put_blob", { ...fresh, content: "x" }, "PUT", 1],
    ["delete_blob", todo, "PUT", 1],
    ["delete_blob", todo, "DELETE", 1],
  ])("%s %j: changed right before its %s number %i", async (tool, args, method, nth) => {
    const on = await bench();
    on.meanwhile(method, () => putBlob(on.notes, args.blob, "Ada's"), nth);
    const error = await failure(on.call(tool, args));
    expect(ConflictError.is(error)).toBe(true);
    expect(error.message).toMatch(/changed by somebody else just now.*Nothing was overwritten/);
    expect(on.notes.blobs.get(args.blob)?.content.toString()).toBe("Ada's");
  });

  test.each([404, 412] as const)(
    "deleted right before the delete, which Azure answers with %i",
    async (code) => {
      const on = await bench();
      on.world.missingDelete = code;
      on.meanwhile("DELETE", () => removeBlob(on.notes, todo.blob));
      expect(await failure(on.call("delete_blob", todo))).toMatchObject({ code: "CONFLICT" });
      const args = { ...fresh, content: "x" };
      const result = await on.call("put_blob", args);
      on.meanwhile("DELETE", () => removeBlob(on.notes, fresh.blob));
      expect(await on.undo("put_blob", args, result)).toMatchObject({ already: true, etag: null });
    },
  );

  test("a changed blob is not restored over, unless the operator says so", async () => {
    const on = await bench();
    const before = await on.state();
    const args = { ...todo, content: "x" };
    const result = await on.call("put_blob", args);
    for (const change of [
      () => putBlob(on.notes, todo.blob, "Ada's"),
      () => removeBlob(on.notes, todo.blob),
    ]) {
      change();
      expect(await failure(on.undo("put_blob", args, result))).toMatchObject({ code: "CONFLICT" });
    }
    putBlob(on.notes, todo.blob, "Ada's");
    expect(await on.undo("put_blob", args, result, { onConflict: "overwrite" })).toMatchObject({
      already: false,
    });
    expect(await on.state()).toEqual(before);
  });

  test("the same content written again by somebody else is what the step left", async () => {
    const on = await bench();
    const args = { ...todo, content: "x" };
    const result = await on.call("put_blob", args);
    putBlob(on.notes, todo.blob, "x");
    expect(await on.undo("put_blob", args, result)).toMatchObject({ already: false });
  });

  test("a refusal for a condition that holds is a failure, and no conflict", async () => {
    const on = await bench();
    const headers = { "x-ms-error-code": "ConditionNotMet" };
    on.backend.inject({ kind: "status", status: 412, headers, body: "" }, { method: "DELETE" });
    const error = await failure(on.call("delete_blob", todo));
    expect(error).toMatchObject({ code: "FAILED", status: 412, reason: "ConditionNotMet" });
    expect(error.message).toContain("it is still the one that was read");
  });

  test("a blob that changes while an undo reads it is read once more, and stays", async () => {
    const on = await bench();
    const args = { ...todo, content: "x" };
    const { etag: _, ...result } = await on.call("put_blob", args);
    on.meanwhile("GET", () => putBlob(on.notes, todo.blob, "y"));
    const error = await failure(on.undo("put_blob", args, result));
    expect(ConflictError.is(error)).toBe(true);
    expect(on.notes.blobs.get(todo.blob)?.content.toString()).toBe("y");
    const [first, second] = on.backend.requests.filter(({ method }) => method === "GET");
    expect([first?.status, second?.status]).toEqual([412, 200]);
  });

  test("a deleted blob that somebody has written anew stays", async () => {
    const on = await bench();
    const result = await on.call("delete_blob", todo);
    on.meanwhile("PUT", () => putBlob(on.notes, todo.blob, "Ada's"));
    expect(await failure(on.undo("delete_blob", todo, result))).toMatchObject({ code: "CONFLICT" });
    expect(on.notes.blobs.get(todo.blob)?.content.toString()).toBe("Ada's");
  });
});

describe("what cannot be put back is not touched", () => {
  test.each([
    ["an append blob", { type: "AppendBlob" }, "AppendBlob"],
    ["a page blob", { type: "PageBlob" }, "PageBlob"],
    ["a leased blob", { leased: true }, "lease"],
    ["a blob under a legal hold", { legalHold: true }, "legal hold"],
    ["a directory", { headers: { "x-ms-meta-hdi_isfolder": "true" } }, "directory"],
  ] as const)("%s", async (_, change, word) => {
    const on = await bench();
    const args = { ...todo, content: "x" };
    const result = await on.call("put_blob", args);
    changeBlob(on.notes, todo.blob, change);
    on.backend.forget();
    for (const call of [
      () => on.call("put_blob", { ...todo, content: "y" }),
      () => on.call("delete_blob", todo),
      () => on.undo("put_blob", args, result, { onConflict: "overwrite" }),
    ]) {
      const error = await failure(call());
      expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
      expect(error.message).toContain(word);
    }
    expect(on.writes()).toEqual([]);
  });

  test.each([
    ["a lease", { leased: true }, 412, "LeaseIdMissing"],
    ["a legal hold", { legalHold: true }, 409, "BlobImmutableDueToPolicy"],
    ["a snapshot", { snapshots: 1 }, 409, "SnapshotsPresent"],
  ] as const)("%s taken in the meantime is a failure, and no conflict", async (_, change, status, reason) => {
    const on = await bench();
    on.meanwhile("DELETE", () => changeBlob(on.notes, todo.blob, change));
    expect(await failure(on.call("delete_blob", todo))).toMatchObject({ code: "FAILED", status, reason });
    expect(on.notes.blobs.get(todo.blob)?.content.toString()).toBe("milk\n");
  });

  test("an archived blob is refused by Azure before it is touched", async () => {
    const on = await bench();
    changeBlob(on.notes, todo.blob, { tier: "Archive" });
    for (const tool of ["put_blob", "delete_blob", "get_blob"]) {
      const call = on.call(tool, tool === "put_blob" ? { ...todo, content: "x" } : todo);
      expect(await failure(call)).toMatchObject({ status: 409, reason: "BlobArchived" });
    }
  });
});

describe("what counts as gone", () => {
  test("404 BlobNotFound does; ContainerNotFound and lost access do not", async () => {
    const on = await bench();
    const args = { ...fresh, backup_key: null };
    expect(await on.call("restore_blob", args)).toMatchObject({ already: true });
    expect(await on.holds(args)).toBe(true);
    const elsewhere = { ...args, container: "nowhere" };
    expect(await failure(on.call("restore_blob", elsewhere))).toMatchObject({ reason: "ContainerNotFound" });
    on.world.allowed.clear();
    const denied = { status: 403, reason: "AuthorizationPermissionMismatch" };
    expect(await failure(on.holds(args))).toMatchObject(denied);
    expect(await failure(on.call("delete_blob", fresh))).toMatchObject(denied);
  });

  test("a 404 without a code asks the container's list once", async () => {
    const on = await bench();
    const bare = () => on.backend.inject({ kind: "status", status: 404, body: "" }, { method: "HEAD" });
    bare();
    expect(await on.call("restore_blob", { ...fresh, backup_key: null })).toMatchObject({ already: true });
    bare();
    const error = await failure(on.call("delete_blob", todo));
    expect(error.message).toContain("yet it cannot be read");
    bare();
    on.world.containers.delete("notes");
    expect(await failure(on.call("delete_blob", fresh))).toMatchObject({ reason: "ContainerNotFound" });
    expect(on.writes()).toEqual([]);
  });

  test("a backup that is not there any more is a failure", async () => {
    const on = await bench();
    const result = await on.call("delete_blob", todo);
    removeBlob(on.notes, String(result["backup_key"]));
    const error = await failure(on.undo("delete_blob", todo, result));
    expect(error.message).toContain("lifecycle rule");
    expect(await failure(on.holds(on.undoArgs("delete_blob", todo, result)))).toMatchObject({
      code: "FAILED",
    });
  });
});
