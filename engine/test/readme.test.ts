import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { effectsIn, pad } from "./support/pad.ts";
import { page, sample } from "./support/readme.ts";

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
const here = process.cwd();
let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "reversi-"));
  process.chdir(folder);
});
afterEach(() => {
  process.chdir(here);
  rmSync(folder, { recursive: true });
});

test("the sample in README.md is the one that is compiled and run here", async () => {
  const [, shown] = /```ts\n([\s\S]*?)```/.exec(read("../README.md")) ?? [];
  const [, run] = / {2}\/\/ begin\n([\s\S]*?) {2}\/\/ end/.exec(read("./support/readme.ts")) ?? [];
  expect(shown).toBe(run?.replaceAll(/^ {2}/gm, ""));
  const said: unknown[] = [];
  const connector = pad({ folder, pause: async () => {} }) as Parameters<typeof sample>[0];
  const { undo } = await sample(connector, { log: (...words) => said.push(...words) });
  expect(said).toEqual(["complete", { compensated: 1 }]);
  expect(undo).toEqual({ tool: "pad.restore", args: { name: "shopping", previous: null, expected: "milk" } });
});

test("the connectors page's sample works as it stands, and leaves nothing behind", async () => {
  const connectors = [pad({ folder, pause: async () => {} })] as unknown as Parameters<typeof page>[0];
  expect((await page(connectors)).status).toBe("complete");
  expect(effectsIn(folder).map(({ kind }) => kind)).toEqual(["write", "restore"]);
});
