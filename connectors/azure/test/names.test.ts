import { putBlob } from "../src/sandbox.ts";
import { bench, failure, fresh, todo } from "./bench.ts";

describe("AZ-02: names", () => {
  test.each(["é #1+2%?.txt", "a b/ü/%2F", "日本語/&=;", "/a", "a~!$'()*,:@"])(
    "%j is encoded once, in the path and in the copy's source, and comes back equal",
    async (blob) => {
      const on = await bench();
      putBlob(on.notes, blob, "kept");
      const before = await on.state();
      const args = { container: "notes", blob, content: "new" };
      const result = await on.call("put_blob", args);
      expect(await on.call("get_blob", { container: "notes", blob })).toMatchObject({ content: "new", blob });
      await on.undo("put_blob", args, result);
      expect(await on.state()).toEqual(before);
      const source = on.writes()[0]?.headers["x-ms-copy-source"] ?? "";
      expect(source).toMatch(/^[\x21-\x7e]+$/);
      expect(decodeURIComponent(source)).toBe(`${on.backend.options.endpoint}/notes/${blob}`);
    },
  );

  test.each([
    "..",
    "a/../b",
    "a/./b",
    "a\\b",
    "dir./x",
    "x.",
    "dir./x.",
    "a/",
    "a\u0085b",
    "\ud800",
    ".reversi-backups/x",
    "//.reversi-backups/x",
    "a".repeat(1025),
    `${"a/".repeat(254)}a`,
  ])("%j is refused before anything is sent", async (blob) => {
    const on = await bench();
    for (const [tool, more] of [
      ["get_blob", {}],
      ["put_blob", { content: "" }],
      ["delete_blob", {}],
    ] as const)
      expect(await failure(on.call(tool, { container: "notes", blob, ...more }))).toMatchObject({
        code: "INVALID_ARGUMENTS",
      });
    expect(on.backend.requests).toEqual([]);
  });

  test.each(["..", "a", "A-b", "a--b", "notes/../other", "-ab", "$logs"])(
    "the container %j is refused before anything is sent",
    async (container) => {
      const on = await bench();
      const error = await failure(on.call("list_blobs", { container }));
      expect(error).toMatchObject({ code: "INVALID_ARGUMENTS" });
      expect(on.backend.requests).toEqual([]);
    },
  );

  test.each(["My", "ab", "evil.example/", "a-b-c", "x".repeat(25), "acc@evil"])(
    "the account %j is refused before anything is sent",
    async (account) => {
      const error = await failure(bench({ account, endpoint: undefined }));
      expect(error).toMatchObject({ code: "INVALID_ARGUMENTS" });
      expect(error.message).toContain("AZURE_STORAGE_ACCOUNT");
    },
  );

  test("an endpoint keeps its path, and may hold neither query nor user info", async () => {
    for (const endpoint of ["ftp://x/a", "https://u:geheimes@x/a", "https://x/a?b", "x"]) {
      const error = await failure(bench({ endpoint }));
      expect(error).toMatchObject({ code: "INVALID_ARGUMENTS" });
      expect(error.message).not.toContain("geheimes");
    }
    const on = await bench();
    await on.call("get_blob", todo);
    expect(on.backend.requests[0]?.path).toBe("/reversisandbox0/notes/todo.txt");
  });

  test("a name whose address is too long to be copied is refused before anything is written", async () => {
    const on = await bench();
    const blob = "ü".repeat(400);
    putBlob(on.notes, blob, "kept");
    const error = await failure(on.call("put_blob", { container: "notes", blob, content: "new" }));
    expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
    expect(error.message).toContain("2048");
    expect(on.writes()).toEqual([]);
  });
});

test("AZ-05: every request has the version, a date and an id; every upload its blob type", async () => {
  const on = await bench();
  await on.call("list_blobs", { container: "notes" });
  await on.call("get_blob", todo);
  await on.undo("delete_blob", todo, await on.call("delete_blob", todo));
  await on.call("put_blob", { ...fresh, content: "x" });
  for (const { headers } of on.backend.requests)
    expect(headers).toMatchObject({
      "x-ms-version": "2023-11-03",
      "x-ms-date": expect.stringMatching(/ GMT$/),
      "x-ms-client-request-id": expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  expect(on.writes().at(-1)?.headers).toMatchObject({
    "x-ms-blob-type": "BlockBlob",
    "x-ms-blob-content-type": "text/plain; charset=utf-8",
  });
});
