// Makes the published JavaScript of every library: one file for each entry, other packages outside; tsc makes the types.
// At start, files count more than bytes: with its core, a connector opens two instead of fifty.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const folders = [
  ...["core", "http", "engine", "gateway", "certification-kit"],
  ...readdirSync(join(root, "connectors")).map((name) => `connectors/${name}`),
  "cli",
].filter((folder) => existsSync(join(root, folder, "package.json")));

/** Output name → source: what the package exports, and the programs it brings that are not bundled elsewhere. */
function entriesOf(folder) {
  const { exports, bin = {} } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
  const sources = Object.values(exports).flatMap((target) => target["@reversi-connector/source"] ?? []);
  const programs = Object.values(bin).map((path) =>
    path.replace("./dist/", "./src/").replace(/\.js$/, ".ts"),
  );
  return Object.fromEntries(
    [...sources, ...programs]
      .filter((source) => existsSync(join(root, folder, source)))
      .map((source) => [source.replace("./src/", "").replace(/\.ts$/, ""), source]),
  );
}

/** Removes the JavaScript of an earlier build, and of sources that are gone. */
function clear(folder) {
  const dist = join(root, folder, "dist");
  if (!existsSync(dist)) return;
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (folder === "cli" && path.startsWith(join(dist, "bin/"))) continue;
    if (entry.isFile() && /\.js(\.map)?$/.test(entry.name)) rmSync(path);
  }
}

await Promise.all(
  folders.map(async (folder) => {
    const entryPoints = entriesOf(folder);
    const made = await build({
      absWorkingDir: join(root, folder),
      entryPoints,
      outdir: "dist",
      bundle: true,
      splitting: true,
      packages: "external",
      format: "esm",
      platform: "node",
      target: "node20",
      sourcemap: true,
      sourcesContent: false,
      chunkNames: "shared-[hash]",
      write: false,
      logLevel: "warning",
    });
    clear(folder);
    for (const { path, contents } of made.outputFiles) {
      mkdirSync(join(path, ".."), { recursive: true });
      writeFileSync(path, contents);
      if (/\/bin\/[^/]+\.js$/.test(path)) chmodSync(path, 0o755);
    }
  }),
);
