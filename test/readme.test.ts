import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expectedReadmes } from "../scripts/tables.js";
import { root } from "./connectors.ts";

test("the tool tables of every README are what the manifests say (npm run tables)", async () => {
  const load = async (name: string) => (await import(`../connectors/${name}/src/index.ts`)).definition;
  for (const [path, text] of await expectedReadmes(load)) {
    expect({ path, text: readFileSync(join(root, path), "utf8") }).toEqual({ path, text });
  }
});

/** The fenced blocks of one language in a text. */
const blocks = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(
    (found) => found[1] ?? "",
  );

test("the TypeScript of the README compiles and runs", () => {
  // Inside the repository, so that packages resolve as they do for a user; out of sight of every other tool.
  const folder = mkdtempSync(join(root, "node_modules/.readme-"));
  try {
    const samples = blocks(readFileSync(join(root, "README.md"), "utf8"), "ts");
    expect(samples.length).toBeGreaterThan(0);
    mkdirSync(join(folder, "work"));
    for (const [index, sample] of samples.entries()) {
      const file = join(folder, `sample-${index}.mts`);
      writeFileSync(file, sample);
      const options = "--ignoreConfig --strict --module nodenext --target es2023 --types node --skipLibCheck";
      execFileSync(join(root, "node_modules/.bin/tsc"), [...options.split(" "), file], { encoding: "utf8" });
      writeFileSync(join(folder, "work", "a.txt"), "old");
      execFileSync(process.execPath, [join(folder, `sample-${index}.mjs`)], { cwd: folder });
      expect(readFileSync(join(folder, "work", "a.txt"), "utf8")).toBe("old");
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 60_000);
