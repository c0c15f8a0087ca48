import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checks, guarantees } from "../src/index.ts";

const root = new URL("../..", import.meta.url).pathname;
const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

test("the README lists every check and guarantee in the words of the code", () => {
  const rows = [...checks, ...guarantees].map(({ title, sentence }) => `| ${title} | ${sentence} |`);
  const table = ["| Check | What it verifies |", "| - | - |", ...rows];
  const [, listed] = /<!-- checks:start -->\n([\s\S]*?)\n?<!-- checks:end -->/.exec(readme) ?? [];
  // Formatters align the columns of a table.
  const lines = (listed ?? "").trim().split("\n");
  expect(lines.map((line) => line.replace(/ +/g, " ").replace(/-{2,}/g, "-"))).toEqual(table);
});

test("the code of the README compiles", () => {
  const folder = mkdtempSync(join(root, "node_modules/.kit-readme-"));
  try {
    const samples = [...readme.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code = ""]) => code);
    const files = samples.map((code, index) => {
      const file = join(folder, `sample-${index}.mts`);
      writeFileSync(file, code);
      return file;
    });
    expect(files).toHaveLength(3);
    const options =
      "--ignoreConfig --noEmit --strict --module nodenext --target es2023 --types node,jest --skipLibCheck";
    execFileSync(join(root, "node_modules/.bin/tsc"), [...options.split(" "), ...files], {
      encoding: "utf8",
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 60_000);
