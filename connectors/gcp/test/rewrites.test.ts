import { EffectUncertainError, type Progress } from "@reversi-connector/core";
import { changeObject } from "../src/sandbox.ts";
import { bench, failure, film, fresh, removal, rewrite, todo } from "./bench.ts";

describe("CS-03: a copy takes as many requests as Google wants", () => {
  test("the token goes along, encoded, and all else stays as it was", async () => {
    const on = await bench();
    const told: Progress[] = [];
    const progress = (news: Progress) => void told.push(news);
    const result = await on.call("delete_object", film, { progress });
    const copies = on.writes().filter(({ pathname }) => rewrite.path.test(pathname));
    const first = Object.fromEntries(copies[0]?.query ?? []);
    expect(copies).toHaveLength(3);
    for (const { query, path, text, pathname } of copies.slice(1)) {
      const { rewriteToken, ...rest } = Object.fromEntries(query);
      expect(rewriteToken).toMatch(/\+\/==$/);
      expect(path).toContain("%2B%2F%3D%3D");
      expect([pathname, rest, text]).toEqual([copies[0]?.pathname, first, copies[0]?.text]);
    }
    expect(told).toEqual([
      { message: "copying film.bin", done: 65536, total: 163840 },
      { message: "copying film.bin", done: 131072, total: 163840 },
    ]);
    const sizes = on.backups().map(([, { content }]) => content.length);
    expect(sizes).toEqual([163840]);
    await on.undo("delete_object", film, result);
    expect(on.object(film)?.content).toHaveLength(163840);
  });

  const progress = { kind: "storage#rewriteResponse", totalBytesRewritten: "5", objectSize: "5" };
  test.each([
    ["done without what was made", { ...progress, done: true }],
    ["done with something else", { ...progress, done: true, resource: { name: "x", bucket: "notes" } }],
    ["going on without a token", { ...progress, done: false }],
    ["an empty token", { ...progress, done: false, rewriteToken: "" }],
    ["neither yes nor no", { ...progress, rewriteToken: "t" }],
  ])("%s: the object is not touched", async (_, body) => {
    for (const [tool, args] of [
      ["put_object", { ...todo, content: "x" }],
      ["delete_object", todo],
    ] as const) {
      const on = await bench();
      const before = await on.state();
      on.backend.inject({ kind: "status", status: 200, body }, rewrite);
      expect(EffectUncertainError.is(await failure(on.call(tool, args)))).toBe(true);
      expect(await on.state()).toEqual(before);
      expect(on.writes()).toHaveLength(1);
    }
  });

  test("a copy that never ends is given up, and the object is not touched", async () => {
    const on = await bench();
    const before = await on.state();
    on.world.bytesPerRewrite = 0;
    const error = await failure(on.call("delete_object", film));
    expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
    expect(error.message).toMatch(/not finished its copy within \d+ requests; nothing was overwritten/);
    expect(await on.state()).toEqual(before);
  });

  test.each(["notes", "versioned.notes"])(
    "changed between two requests, in %s: a conflict",
    async (bucket) => {
      const on = await bench();
      const place = { bucket, object: "large" };
      on.put(place, Buffer.alloc(150_000));
      on.meanwhile(rewrite, () => on.put(place, "Ada's"), 2);
      expect(await failure(on.call("delete_object", place))).toMatchObject({ code: "CONFLICT" });
      expect(on.text(place)).toBe("Ada's");
    },
  );

  test("changed between two requests of an undo: nothing is overwritten", async () => {
    const on = await bench();
    const result = await on.call("delete_object", film);
    on.meanwhile(rewrite, () => on.put(film, "Ada's"), 3);
    expect(await failure(on.undo("delete_object", film, result))).toMatchObject({ code: "CONFLICT" });
    expect(on.text(film)).toBe("Ada's");
  });

  test("an expired token is an error with Google's status", async () => {
    const on = await bench();
    on.backend.inject({ kind: "status", status: 410 }, { ...rewrite, skip: 1 });
    expect(await failure(on.call("delete_object", film))).toMatchObject({ code: "FAILED", status: 410 });
    expect(on.object(film)).toBeDefined();
  });

  test("a copy that is not the same is no backup, and no restore", async () => {
    const on = await bench();
    const damaged = (body: object) => ({ kind: "status", status: 200, body }) as const;
    const result = await on.call("delete_object", film);
    const [[, backup] = []] = on.backups();
    const resource = {
      ...{ name: "film.bin", bucket: "notes", generation: "9", metageneration: "1", size: "163840" },
      ...{ updated: "2026-01-01T00:00:00Z", crc32c: backup?.crc32c, contentType: "text/html" },
    };
    on.backend.inject(damaged({ ...progress, done: true, resource }), rewrite);
    const error = await failure(on.undo("delete_object", film, result));
    expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: true });
    expect(error.message).toContain("is not the same");
    expect(await on.undo("delete_object", film, result)).toMatchObject({ already: false });
  });
});

describe("CS-07: what is kept from being written", () => {
  test.each([
    ["a retention policy", { retained: true }, "retentionPolicyNotMet"],
    ["a hold", { held: true }, "objectUnderActiveHold"],
  ])("%s makes an undo fail, with Google's reason", async (_, change, reason) => {
    const on = await bench();
    for (const args of [
      { ...todo, content: "x" },
      { ...fresh, content: "x" },
    ]) {
      const result = await on.call("put_object", args);
      const left = on.object(args);
      on.notes.objects.set(args.object, { ...on.put(args, "x", left), ...change });
      const error = await failure(on.undo("put_object", args, result));
      expect(error).toMatchObject({ code: "FAILED", status: 403, reason, mayHaveApplied: false });
      expect(await on.holds(on.undoArgs("put_object", args, result))).toBe(false);
    }
  });

  test.each([
    ["a hold", { held: true }, "hold"],
    ["contexts, which no copy keeps for certain", { contexts: { team: "web" } }, "contexts"],
    ["a key that only the customer has", { customerKey: true }, "key of the customer's own"],
  ])("%s stops a step before anything is written", async (_, draft, word) => {
    const on = await bench();
    on.put(todo, "milk", draft);
    for (const call of [on.call("put_object", { ...todo, content: "y" }), on.call("delete_object", todo)]) {
      const error = await failure(call);
      expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
      expect(error.message).toContain(word);
    }
    expect(on.writes()).toEqual([]);
  });

  test("a hold taken in the meantime is a failure, and no conflict", async () => {
    const on = await bench();
    on.meanwhile(removal, () => {
      const object = on.object(todo);
      if (object) on.notes.objects.set(todo.object, { ...object, held: true });
    });
    const error = await failure(on.call("delete_object", todo));
    expect(error).toMatchObject({ code: "FAILED", status: 403, reason: "objectUnderActiveHold" });
    expect(on.text(todo)).toBe("milk\n");
  });
});

describe("CS-08: what counts as gone", () => {
  test("404 for the object does; for the bucket, and lost access, do not", async () => {
    const on = await bench();
    const args = { ...fresh, backup_key: null };
    expect(await on.call("restore_object", args)).toMatchObject({ already: true, generation: null });
    expect(await on.holds(args)).toBe(true);
    const elsewhere = { ...args, bucket: "nowhere" };
    expect(await failure(on.call("restore_object", elsewhere))).toMatchObject({ status: 404 });
    expect(await failure(on.holds(elsewhere))).toMatchObject({ status: 404 });
    on.world.allowed.delete("storage.objects.list");
    const denied = { code: "FAILED", status: 403, reason: "forbidden" };
    expect(await failure(on.call("restore_object", args))).toMatchObject(denied);
    expect(await failure(on.holds(args))).toMatchObject(denied);
    expect((await failure(on.call("delete_object", fresh))).message).toContain("storage.objects.list");
    expect(on.writes()).toEqual([]);
  });

  test("a 404 that does not say what is missing asks the bucket's list once", async () => {
    const on = await bench();
    const bare = () => on.backend.inject({ kind: "status", status: 404, body: "<html>" }, { method: "GET" });
    bare();
    expect(await on.call("restore_object", { ...fresh, backup_key: null })).toMatchObject({ already: true });
    bare();
    const error = await failure(on.call("delete_object", todo));
    expect(error.message).toContain("does not say that it is gone");
    bare();
    on.world.buckets.delete("notes");
    expect(await failure(on.call("delete_object", fresh))).toMatchObject({ code: "FAILED", status: 404 });
    expect(on.writes()).toEqual([]);
  });

  test("an undo that runs twice changes nothing the second time; a backup that is gone is a failure", async () => {
    const on = await bench();
    const result = await on.call("delete_object", todo);
    const args = on.undoArgs("delete_object", todo, result);
    expect(await on.call("restore_object", args)).toMatchObject({ already: false });
    expect(await on.call("restore_object", args)).toMatchObject({ already: true });
    changeObject(on.notes, todo.object, { attributes: { contentType: "text/html" } });
    expect(await on.holds(args)).toBe(false);
    on.remove({ bucket: "notes", object: String(result["backup_key"]) });
    for (const asked of [on.call("restore_object", args), on.holds(args)]) {
      const error = await failure(asked);
      expect(error).toMatchObject({ code: "FAILED" });
      expect(error.message).toContain("lifecycle rule");
    }
    expect(await failure(on.call("restore_object", { ...todo, backup_key: "other/secret" }))).toMatchObject({
      code: "INVALID_ARGUMENTS",
    });
    expect(await failure(on.call("restore_object", todo))).toMatchObject({ code: "INVALID_ARGUMENTS" });
    expect(on.text(todo)).toBe("milk\n");
  });
});
