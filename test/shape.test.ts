import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const root = new URL("..", import.meta.url).pathname;
const json = (path: string) => JSON.parse(readFileSync(join(root, path), "utf8"));
const filesBelow = (folder: string): string[] =>
  existsSync(join(root, folder))
    ? readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) =>
        entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)],
      )
    : [];

const scope = "@reversi-connector/";
const libraries = ["core", "http", "engine", "gateway", "certification-kit"].filter((name) =>
  existsSync(join(root, name, "package.json")),
);
const connectors = readdirSync(join(root, "connectors")).sort();
const packages = [...libraries, ...connectors.map((name) => `connectors/${name}`), "cli"];
const nameOf = (folder: string) =>
  folder === "cli" ? "reversi-connectors" : `${scope}${folder.replace("connectors/", "")}`;

/** Which of our packages each folder may import; everything else of ours is an arrow the wrong way. */
const arrows: Record<string, readonly string[]> = {
  core: [],
  http: ["core"],
  engine: ["core"],
  gateway: ["engine", "core"],
  "certification-kit": ["engine", "core"],
  cli: ["certification-kit", "core"],
};
const allowed = (folder: string): readonly string[] => arrows[folder] ?? ["core", "http"];

const sources = (folder: string) => filesBelow(`${folder}/src`).filter((file) => file.endsWith(".ts"));
const importsOf = (file: string) =>
  [
    ...readFileSync(join(root, file), "utf8").matchAll(
      /^\s*(?:import|export)\s(type\s)?[^"';]*?from "([^"]+)"|import\("([^"]+)"\)/gm,
    ),
  ].map((found) => ({ typeOnly: found[1] !== undefined, from: found[2] ?? found[3] ?? "" }));

describe.each(packages)("%s", (folder) => {
  const facts = json(`${folder}/package.json`);

  test("is named after its folder, is an ES module, and says which Node it needs", () => {
    expect(facts).toMatchObject({
      name: nameOf(folder),
      type: "module",
      license: "MIT",
      sideEffects: false,
      engines: { node: ">=20.19" },
      publishConfig: { access: "public", provenance: true },
    });
    const up = folder.replace(/[^/]+/g, "..");
    expect(facts.scripts).toEqual({ test: `jest -c ${up}/jest.package.js --rootDir .` });
  });

  test("exports what it has built, types first, sources only under the private condition", () => {
    for (const [entry, target] of Object.entries<Record<string, string> | string>(facts.exports)) {
      if (typeof target === "string") {
        expect(existsSync(join(root, folder, target))).toBe(true);
        continue;
      }
      const source = (target[`${scope}source`] ?? "").replace("./", "");
      expect({ entry, exists: existsSync(join(root, folder, source)) }).toEqual({ entry, exists: true });
      const built = `./${source.replace("src/", "dist/").replace(".ts", "")}`;
      expect(target).toEqual({
        [`${scope}source`]: `./${source}`,
        types: `${built}.d.ts`,
        default: `${built}.js`,
      });
    }
  });

  test("imports only what it declares, and no package of ours against the arrows", () => {
    const declared = new Set(Object.keys(facts.dependencies ?? {}));
    const bundled = folder === "cli" ? Object.keys(facts.devDependencies ?? {}) : [];
    for (const file of sources(folder)) {
      for (const { typeOnly, from } of importsOf(file)) {
        if (from.startsWith(".") || from.startsWith("node:")) continue;
        const name = from
          .split("/")
          .slice(0, from.startsWith("@") ? 2 : 1)
          .join("/");
        const ours = name.startsWith(scope) ? name.slice(scope.length) : undefined;
        const kitTypes = typeOnly && name === `${scope}certification-kit`;
        const legal =
          kitTypes ||
          bundled.includes(name) ||
          (declared.has(name) && (ours === undefined || allowed(folder).includes(ours)));
        expect({ file, imports: from, legal }).toEqual({ file, imports: from, legal: true });
      }
    }
  });

  test("depends on its siblings by ordinary caret ranges", () => {
    for (const [name, range] of Object.entries(facts.dependencies ?? {})) {
      expect(range).toMatch(/^\^/);
      if (name.startsWith(scope))
        expect(range).toBe(`^${json(`${name.slice(scope.length)}/package.json`).version}`);
    }
    expect(facts.peerDependencies).toBeUndefined();
  });

  test("has a README, and no star exports, no console and no built-in instanceof in its code", () => {
    expect(existsSync(join(root, folder, "README.md"))).toBe(true);
    expect(existsSync(join(root, folder, "LICENSE"))).toBe(true);
    for (const file of sources(folder)) {
      const text = readFileSync(join(root, file), "utf8");
      expect({ file, star: /^export \*/m.test(text) }).toEqual({ file, star: false });
      expect({
        file,
        instance: /instanceof (Error|TypeError|Array|Object|Buffer|Uint8Array|Promise|Map|Set|Date)\b/.test(
          text,
        ),
      }).toEqual({ file, instance: false });
      if (folder !== "cli" && folder !== "gateway") {
        expect({ file, console: /\bconsole\.\w+\(/.test(text) }).toEqual({ file, console: false });
      }
    }
  });
});

/** The text between the parenthesis at `open` and its partner. */
function parenthesised(text: string, open: number): string {
  let depth = 0;
  for (let index = open; index < text.length; index++) {
    if (text[index] === "(") depth++;
    if (text[index] === ")" && --depth === 0) return text.slice(open + 1, index);
  }
  throw new Error("unbalanced parentheses");
}

describe.each(connectors)("connector %s", (name) => {
  const folder = `connectors/${name}`;

  test("has the shape of its siblings", () => {
    for (const file of [
      "README.md",
      "schema-hashes.json",
      "src/client.ts",
      "src/index.ts",
      "src/sandbox.ts",
      "test",
    ]) {
      expect({ file, exists: existsSync(join(root, folder, file)) }).toEqual({ file, exists: true });
    }
    const { reversi, exports } = json(`${folder}/package.json`);
    expect(reversi.connector).toBe(name);
    expect(Object.keys(exports)).toEqual(expect.arrayContaining([".", "./sandbox", "./package.json"]));
    for (const setting of Object.values<{ option: string; description: string }>(reversi.settings)) {
      expect(setting).toMatchObject({
        option: expect.stringMatching(/^[a-z][A-Za-z]+$/),
        description: expect.any(String),
      });
    }
  });

  test("has a public surface that fits on a screen, and handlers that do", () => {
    expect(readFileSync(join(root, folder, "src/index.ts"), "utf8").split("\n").length).toBeLessThan(50);
    for (const file of sources(folder)) {
      const text = readFileSync(join(root, file), "utf8");
      for (const found of text.matchAll(/^\s*\.(run|holds|landed)\(/gm)) {
        const lines = parenthesised(text, found.index + found[0].length - 1).split("\n").length;
        expect({ file, handler: found[1], long: lines > 17 ? lines : false }).toEqual({
          file,
          handler: found[1],
          long: false,
        });
      }
    }
  });

  test("is named in no code but its own", () => {
    for (const other of packages.filter((path) => path !== folder)) {
      for (const file of sources(other)) {
        const text = readFileSync(join(root, file), "utf8");
        expect({ file, names: text.includes(`${scope}${name}"`) }).toEqual({ file, names: false });
      }
    }
  });
});

test("no file of the repository speaks of how it was made", () => {
  const folders = [
    "core",
    "http",
    "engine",
    "gateway",
    "certification-kit",
    "connectors",
    "cli",
    "docs",
    "test",
    "bench",
    "examples",
  ];
  const texts = [...folders.flatMap(filesBelow), "README.md", "DEPENDENCIES.md"].filter(
    (file) =>
      !/node_modules|\/dist\//.test(file) &&
      /\.(ts|js|md|json)$/.test(file) &&
      statSync(join(root, file)).size < 1e6,
  );
  for (const file of texts) {
    const text = readFileSync(join(root, file), "utf8");
    const found = /\b(TODO|FIXME|XXX)\b|@ts-ignore/.exec(file === "test/shape.test.ts" ? "" : text)?.[0];
    expect({ file, found }).toEqual({ file, found: undefined });
  }
});
