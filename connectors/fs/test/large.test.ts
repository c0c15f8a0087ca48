import { closeSync, ftruncateSync, lstatSync, openSync, readFileSync, unlinkSync, writeSync } from "node:fs";
import { exists, refusalOf, type Workspace, workspace } from "./support.ts";

const GiB = 1024 ** 3;
const MiB = 1024 ** 2;

let it: Workspace;
beforeEach(() => {
  it = workspace();
});
afterEach(() => it.close());

/** A file that says it is large and takes no room, with marks at both ends. */
function sparse(path: string, size: number) {
  const fd = openSync(path, "wx", 0o640);
  ftruncateSync(fd, size);
  writeSync(fd, "first", 0);
  writeSync(fd, "last!", size - 5);
  closeSync(fd);
}
const bytesRead = () => Number(/^rchar: (\d+)/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);

test("a file of 1 GiB is overwritten, deleted, moved and restored without being read", async () => {
  sparse(it.at("big"), GiB);
  const file = lstatSync(it.at("big"), { bigint: true });
  const memory = process.memoryUsage().rss;
  const read = bytesRead();
  await it.step("write_file", { path: "big", content: "x" });
  await it.step("delete_file", { path: "big" });
  await it.rollback();
  expect(await it.step("move_file", { from: "big", to: "moved" })).toMatchObject({ sha256: null });
  await it.step("delete_file", { path: "moved" });
  const undone = await it.rollback();
  for (const step of it.steps) await it.holds(step);
  expect(bytesRead() - read).toBeLessThan(MiB);
  expect(process.memoryUsage().rss - memory).toBeLessThan(32 * MiB);
  expect(undone[0]).toMatchObject({ already: false, sha256: null });
  const { ino, size, mode, mtimeNs, blocks } = file;
  expect(lstatSync(it.at("big"), { bigint: true })).toMatchObject({ ino, size, mode, mtimeNs, blocks });
});

test("FS-15: a file of 3 GiB is refused from its size alone, and comes back after an overwrite", async () => {
  sparse(it.at("big"), 3 * GiB);
  const read = bytesRead();
  const error = await refusalOf(it.call("read_file", { path: "big" }));
  expect(error).toMatchObject({ reason: "EFBIG", message: expect.stringContaining(`${3 * GiB} bytes`) });
  await it.step("write_file", { path: "big", content: "x" });
  await it.rollback();
  expect(bytesRead() - read).toBeLessThan(MiB);
  expect(lstatSync(it.at("big")).size).toBe(3 * GiB);
});

test("a large file that took the place of a small one is a conflict, told without reading it", async () => {
  await it.step("write_file", { path: "f", content: "x" });
  unlinkSync(it.at("f"));
  sparse(it.at("f"), GiB);
  const read = bytesRead();
  const [step] = it.steps;
  expect(await refusalOf(it.undo(step ?? expect.anything()))).toMatchObject({ code: "CONFLICT" });
  expect(bytesRead() - read).toBeLessThan(MiB);
  expect(exists(it.at("f"))).toBe(true);
});

test("a copy of a large file made by somebody else is compared in little memory", async () => {
  sparse(it.at("f"), 192 * MiB);
  await it.step("write_file", { path: "f", content: "x" });
  unlinkSync(it.at("f"));
  sparse(it.at("f"), 192 * MiB);
  const memory = process.memoryUsage().rss;
  const [step] = it.steps;
  expect(await it.undo(step ?? expect.anything())).toMatchObject({ already: true, sha256: null });
  expect(process.memoryUsage().rss - memory).toBeLessThan(96 * MiB);
});
