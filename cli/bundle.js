// Builds the published command: everything it needs inside, split so that each command loads only its own part.
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const outdir = join(here, "dist/bin");
const { version } = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));

/** The SDK's default validator is not used (mcp.ts gives another), and it is as large as the rest. */
const withoutAjv = {
  name: "without-ajv",
  setup({ onLoad }) {
    onLoad({ filter: /@modelcontextprotocol[\\/]sdk[\\/].*[\\/]ajv-provider\.js$/ }, () => ({
      contents: "export class AjvJsonSchemaValidator {}",
    }));
  },
};

/** Zod compiles each schema to code at its first use; a server that starts often and lists once is faster without. */
const withoutCompiledSchemas = {
  name: "without-compiled-schemas",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]core[\\/]core\.js$/ }, ({ path }) => {
      const shared = "export const globalConfig = globalThis.__zod_globalConfig;";
      const source = readFileSync(path, "utf8");
      if (!source.includes(shared)) throw new Error(`${path} has changed: it no longer says "${shared}"`);
      return { contents: source.replace(shared, "export const globalConfig = { jitless: true };") };
    });
  },
};

/** Each command is a file of its own, with all it needs: at start, files count more than bytes. */
const commandsApart = {
  name: "commands-apart",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/(serve|compensate|commands|certify)\.ts$/ }, ({ path, kind }) =>
      kind === "dynamic-import" ? { path: path.replace(/\.ts$/, ".js"), external: true } : undefined,
    );
  },
};

const settings = {
  absWorkingDir: here,
  outdir,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  conditions: ["@reversi-connector/source"],
  define: { REVERSI_VERSION: JSON.stringify(version) },
  // Its ES modules: the other build needs a `require`, which a bundle of ES modules does not have.
  alias: { yaml: join(here, "../node_modules/yaml/browser/index.js") },
  minify: true,
  legalComments: "none",
  chunkNames: "chunk-[hash]",
  plugins: [withoutAjv, withoutCompiledSchemas, commandsApart],
  // Only the certification of a GraphQL connector needs it, and says so.
  external: ["graphql"],
  metafile: true,
  write: false, // a build that fails leaves the last one as it was
  logLevel: "warning",
};

const entries = {
  "reversi-connectors": "bin",
  serve: "serve",
  compensate: "compensate",
  commands: "commands",
  certify: "certify",
};
const built = await Promise.all(
  Object.entries(entries).map(([name, file]) =>
    build({ ...settings, entryPoints: { [name]: join(here, `src/${file}.ts`) } }),
  ),
);

rmSync(outdir, { recursive: true, force: true });
mkdirSync(outdir, { recursive: true });
for (const { path, contents } of built.flatMap(({ outputFiles }) => outputFiles))
  writeFileSync(path, contents);
chmodSync(join(outdir, "reversi-connectors.js"), 0o755);

/** The folder of the package that a bundled file came from; undefined for our own. */
const packageFolder = (file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1];
const outputs = built.flatMap(({ metafile }) => Object.values(metafile.outputs));
const bundled = outputs.flatMap(({ inputs }) =>
  Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : [])),
);
const folders = [...new Set(bundled.map(packageFolder))].filter(Boolean).sort();
const notices = folders.map((folder) => {
  const {
    name,
    version: its,
    license,
  } = JSON.parse(readFileSync(join(here, folder, "package.json"), "utf8"));
  const file = readdirSync(join(here, folder)).find((entry) => /^(licen[cs]e|copying)(\..*)?$/i.test(entry));
  const text = file ? readFileSync(join(here, folder, file), "utf8").trim() : `Licence: ${license}`;
  return `${name} ${its} (${license})\n\n${text}\n`;
});
const intro = "The command reversi-connectors contains these packages.\n";
writeFileSync(join(outdir, "THIRD-PARTY-NOTICES.txt"), [intro, ...notices].join(`\n${"-".repeat(80)}\n\n`));
