import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as core from "../src/index.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const root = fileURLToPath(new URL("../..", import.meta.url));

test("the example compiles, runs, and undoes what it did", () => {
  const sample = /^```ts\n([\s\S]*?)^```/m.exec(readme)?.[1] ?? "";
  // Inside the repository, so that the package resolves as it does for a user; out of sight of every other tool.
  const folder = mkdtempSync(join(root, "node_modules/.core-readme-"));
  try {
    const file = join(folder, "sample.mts");
    writeFileSync(
      file,
      `${sample}\nconsole.log(kept.get("todo"), await compensate(undo), await compensate.holds(undo));\n`,
    );
    const options = "--ignoreConfig --strict --module nodenext --target es2023 --types node --skipLibCheck";
    execFileSync(join(root, "node_modules/.bin/tsc"), [...options.split(" "), file], { encoding: "utf8" });
    const said = execFileSync(process.execPath, [join(folder, "sample.mjs")], { encoding: "utf8" });
    expect(said).toBe("old { already: true } true\n");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 60_000);

test("every function that the table names exists", () => {
  const rows = [...readme.matchAll(/^\| [a-z][^|]* \| (`[^|]*) \|$/gm)].map((row) => row[1] ?? "");
  const names = rows.flatMap((row) => [...row.matchAll(/`([A-Za-z]+)`/g)].map((found) => found[1] ?? ""));
  expect(names.length).toBeGreaterThan(10);
  expect(Object.keys(core)).toEqual(expect.arrayContaining(names));
});
