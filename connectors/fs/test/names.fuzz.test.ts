import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { InvalidArgumentsError } from "@reversi-connector/core";
import fc from "fast-check";
import { always } from "../../../test/fuzz.ts";
import { hashOf, kept, snapshot, type Workspace, workspace } from "./support.ts";

/** Works on a folder of its own, beside which stands what must never be seen or changed. */
async function fresh(work: (it: Workspace) => Promise<void>): Promise<void> {
  const it = workspace();
  try {
    mkdirSync(join(it.outer, "root-evil"));
    writeFileSync(join(it.outer, "root-evil", "s"), "secret");
    writeFileSync(join(it.outer, "a"), "secret");
    await work(it);
  } finally {
    await it.close();
  }
}

const units = [
  "a",
  "A",
  ".",
  "..",
  " ",
  "é",
  "e\u0301",
  "İ",
  "ß",
  "😀",
  "\n",
  "\r",
  "\u0001",
  "\u007f",
  "\u202e",
  "\ufeff",
  "%2e",
  "%2F",
  "~",
  "*",
  ":",
  "'",
  '"',
  "$(x)",
  "CON",
  "-rf",
  "\u2215",
  "\uff0f",
];
const nothingButDots = (name: string) => name === "." || name === "..";
/** Any one name that a file can have. */
const name = fc
  .oneof(
    fc.string({ unit: fc.constantFrom(...units), minLength: 1, maxLength: 8 }),
    fc.string({ unit: "binary", minLength: 1, maxLength: 20 }),
    fc.integer({ min: 1, max: 255 }).map((length) => "x".repeat(length)),
    fc.integer({ min: 1, max: 63 }).map((length) => "😀".repeat(length)),
    fc.constantFrom(".reversi-backup", ".reversi-backups.", ".Reversi-Backups", "constructor", "__proto__"),
  )
  .filter(
    (one) =>
      one.isWellFormed() &&
      !["/", "\\", "\0"].some((refused) => one.includes(refused)) &&
      !nothingButDots(one) &&
      Buffer.byteLength(one) <= 255 &&
      one !== kept,
  );
const content = fc.string({ unit: "binary", maxLength: 20 }).filter((text) => text.isWellFormed());
const hash = (text: string) => hashOf(Buffer.from(text));

always(
  "one name is one file: what is written under it is read under it, lies there alone, and is undone to the same tree",
  50,
  fc.asyncProperty(
    fc.array(name, { minLength: 1, maxLength: 3 }),
    content,
    fc.option(content),
    (names, first, other) =>
      fresh(async (it) => {
        const second = other ?? first;
        const file = names.at(-1) as string;
        const folder = names.slice(0, -1).join("/");
        const path = names.join("/");
        const before = snapshot(it.outer);
        if (folder !== "") await it.step("make_dir", { path: folder });
        const made = await it.step("write_file", { path, content: first });
        expect(made).toMatchObject({ existed: false, sha256: hash(first) });
        const there = snapshot(it.outer);
        expect(readdirSync(join(it.root, folder)).filter((one) => one !== kept)).toEqual([file]);
        expect(readFileSync(join(it.root, path), "utf8")).toBe(first);
        const read = await it.call("read_file", { path });
        expect([read["content"], read["path"], read["sha256"]]).toEqual([first, path, hash(first)]);
        const { entries } = await it.call("list_dir", { path: folder || "." });
        expect((entries as { readonly name: string }[]).map((entry) => entry.name)).toEqual([file]);
        const written = await it.step("write_file", { path, content: second });
        expect(written).toMatchObject({ existed: true, sha256: hash(second) });
        await it.undo(it.steps.pop() as never);
        expect(snapshot(it.outer)).toEqual(there);
        await it.rollback();
        expect(snapshot(it.outer)).toEqual(before);
      }),
  ),
);

always(
  "two names are two files: nothing done to one, and undone, touches the other",
  40,
  fc.asyncProperty(fc.uniqueArray(name, { minLength: 2, maxLength: 2 }), content, (names, text) =>
    fresh(async (it) => {
      const [ours = "", theirs = ""] = names;
      writeFileSync(it.at(theirs), "theirs");
      const before = snapshot(it.outer);
      for (const work of [
        () => it.step("write_file", { path: ours, content: text }),
        () => it.step("delete_file", { path: ours }),
        () => it.step("make_dir", { path: ours }),
      ]) {
        await work();
        expect(readFileSync(it.at(theirs), "utf8")).toBe("theirs");
      }
      await it.rollback();
      it.steps.length = 0;
      expect(snapshot(it.outer)).toEqual(before);
      await it.step("move_file", { from: theirs, to: ours });
      expect(readFileSync(it.at(ours), "utf8")).toBe("theirs");
      await it.rollback();
      it.steps.length = 0;
      expect(snapshot(it.outer)).toEqual(before);
      await it.step("delete_file", { path: theirs });
    }),
  ),
);

const piece = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      "..",
      ".",
      "",
      "/",
      "a",
      "s",
      "out",
      "in",
      "root-evil",
      kept,
      "..\u0000",
      "%2e%2e",
      "..\\..",
      "...",
      ".. ",
      "~",
      "etc",
    ),
  },
  name,
);
const path = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join("/"));
const wherever = (one: string): readonly (readonly [string, Record<string, unknown>])[] => [
  ["read_file", { path: one }],
  ["list_dir", { path: one }],
  ["write_file", { path: one, content: "ours" }],
  ["make_dir", { path: one }],
  ["move_file", { from: one, to: "moved" }],
  ["move_file", { from: "a", to: one }],
  ["restore_file", { path: one, backup_key: null, expected_sha256: hash("secret") }],
  ["unmove_file", { from: "a", to: one, expected_sha256: hash("secret") }],
  ["remove_dir", { path: one, created: [one] }],
  ["delete_file", { path: one }],
];
always(
  "no path leads outside of the root or into the backups, by any tool, through names or links",
  25,
  fc.asyncProperty(path, (one) =>
    fresh(async (it) => {
      for (const made of ["a", "in"])
        if (!readdirSync(it.root).includes(made)) writeFileSync(it.at(made), "ours");
      if (!readdirSync(it.root).includes("out")) symlinkSync("../root-evil", it.at("out"));
      const outside = () => [
        snapshot(join(it.outer, "root-evil")),
        readFileSync(join(it.outer, "a"), "utf8"),
        readdirSync(it.outer).sort(),
      ];
      const before = outside();
      for (const [tool, args] of wherever(one)) {
        const stored = it.backups();
        const ended = await it.call(tool, args).then(
          (result) => ({ result: JSON.stringify(result) }),
          (error) => ({ error: error as Error }),
        );
        expect({ tool, one, leaks: "result" in ended && ended.result.includes("secret") }).toEqual({
          tool,
          one,
          leaks: false,
        });
        const climbs =
          one.split("/").includes("..") || one.startsWith("/") || one.includes("\\") || one.includes("\0");
        if (climbs)
          expect({ tool, one, refused: "error" in ended && InvalidArgumentsError.is(ended.error) }).toEqual({
            tool,
            one,
            refused: true,
          });
        if ("error" in ended) expect(ended.error.message).not.toContain(it.outer);
        if (one.split("/").filter((part) => part !== "" && part !== ".")[0] === kept)
          expect("error" in ended).toBe(true);
        for (const key of stored) expect(it.backups()).toContain(key);
        expect(outside()).toEqual(before);
      }
    }),
  ),
);
