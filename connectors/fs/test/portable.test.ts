import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeDir, removeDir } from "../src/disk/dirs.ts";
import { moveFile } from "../src/disk/move.ts";
import { listDir, readFile } from "../src/disk/read.ts";
import { restoreFile } from "../src/disk/restore.ts";
import { unmoveFile } from "../src/disk/unmove.ts";
import { openVolume, type Volume } from "../src/disk/volume.ts";
import { deleteFile, writeFile } from "../src/disk/write.ts";
import { exists, refusalOf, snapshot, type Workspace, workspace } from "./support.ts";

// Where directories cannot be worked through by handle (macOS, Windows), the same work goes by checked paths.
let it: Workspace;
let volume: Volume;
beforeEach(() => {
  it = workspace();
  volume = openVolume({ root: it.root }, false);
});
afterEach(async () => {
  volume.close();
  await it.close();
});
const { signal } = new AbortController();
const change = { signal, checkpoint: async () => {} };

test("every change works by paths too, and is undone", async () => {
  mkdirSync(it.at("d"));
  writeFileSync(it.at("d/f"), "old");
  symlinkSync("d", it.at("l"));
  const before = snapshot(it.root, { times: true });
  const text = { encoding: "text", content: "new" } as const;
  const written = await writeFile(volume, { path: "l/f", ...text }, change);
  const fresh = await writeFile(volume, { path: "d/n", ...text }, change);
  const made = await makeDir(volume, { path: "d/x/y" }, change);
  const moved = await moveFile(volume, { from: "d/n", to: "d/x/y/n" }, change);
  const deleted = await deleteFile(volume, { path: "d/f" }, change);
  expect(readFile(volume, "l/x/y/n", "text")).toMatchObject({ content: "new" });
  expect((await listDir(volume, { path: "d", limit: 9 })).entries).toMatchObject([{ name: "x" }]);
  const undo = async () => [
    await restoreFile(volume, { path: "d/f", backup_key: deleted.backup_key, expected_sha256: null }, change),
    await unmoveFile(volume, { ...moved, expected_sha256: moved.sha256 }, change),
    await removeDir(volume, { path: "d/x/y", created: made.created }, change),
    await restoreFile(volume, { path: "d/n", backup_key: null, expected_sha256: fresh.sha256 }, change),
    await restoreFile(
      volume,
      { path: "l/f", backup_key: written.backup_key, expected_sha256: written.sha256 },
      change,
    ),
  ];
  expect((await undo()).map(({ already }) => already)).toEqual([false, false, false, false, false]);
  expect(snapshot(it.root, { times: true })).toEqual(before);
  expect((await undo()).map(({ already }) => already)).toEqual([true, true, true, true, true]);
  expect(snapshot(it.root, { times: true })).toEqual(before);
});

test("links that lead outside are refused, and so is the backup directory", async () => {
  mkdirSync(join(it.outer, "out"));
  writeFileSync(join(it.outer, "out", "f"), "secret");
  symlinkSync("../out", it.at("l"));
  await writeFile(volume, { path: "a", content: "", encoding: "text" }, change);
  symlinkSync(".reversi-backups", it.at("b"));
  for (const [path, reason] of [
    ["l/f", "OUTSIDE_ROOT"],
    ["b/x", "RESERVED"],
    [".reversi-backups/x", "RESERVED"],
  ] as const) {
    const write = writeFile(volume, { path, content: "x", encoding: "text" }, change);
    expect(await refusalOf(write)).toMatchObject({ reason });
    expect(await refusalOf(Promise.resolve().then(() => readFile(volume, path, "text")))).toMatchObject({
      reason,
    });
  }
});

test("a directory that is swapped for a link while the checkpoint is written is noticed", async () => {
  mkdirSync(join(it.outer, "out"));
  for (const [name, tool] of Object.entries({
    write: (path: string, during: typeof change) =>
      writeFile(volume, { path, content: "x", encoding: "text" }, during),
    delete: (path: string, during: typeof change) => deleteFile(volume, { path }, during),
    move: (path: string, during: typeof change) => moveFile(volume, { from: path, to: "free" }, during),
  })) {
    mkdirSync(it.at(name));
    writeFileSync(it.at(`${name}/f`), "inside");
    writeFileSync(join(it.outer, "out", "f"), "outside");
    const checkpoint = async () => {
      renameSync(it.at(name), it.at(`${name}-away`));
      symlinkSync("../out", it.at(name));
    };
    const error = await refusalOf(tool(`${name}/f`, { signal, checkpoint }));
    expect([name, error.reason]).toEqual([name, "EBUSY"]);
    expect(it.text(`${name}-away/f`)).toBe("inside");
  }
  expect(snapshot(join(it.outer, "out"))["./f"]).toBeDefined();
  expect(exists(it.at("free"))).toBe(false);
});

test("a root that was replaced is refused", async () => {
  renameSync(it.root, join(it.outer, "gone"));
  mkdirSync(it.root);
  const write = writeFile(volume, { path: "a", content: "x", encoding: "text" }, change);
  expect(await refusalOf(write)).toMatchObject({ reason: "ROOT_REPLACED" });
});
