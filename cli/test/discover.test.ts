import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "@jest/globals";
import { addConnector, cleanUp, finish, folder, project } from "./support.ts";

const named = (connector: string) => ({
  reversi: { connector, settings: {}, flags: { root: { option: "folder", description: "Its folder" } } },
});

let root: string;
beforeEach(() => {
  root = project();
});
afterAll(cleanUp);

/** Tools of a connector, by the command that loads it and nothing else. */
async function manifestsOf(name: string, cwd = root) {
  const { code, stdout, stderr } = await finish(root, ["manifests", name], "", { cwd });
  const said = stderr.split("\n").filter((line) => line.startsWith("reversi-connectors: "));
  return {
    code,
    said,
    tools: stdout === "" ? [] : JSON.parse(stdout).map(({ tool }: { tool: string }) => tool),
  };
}
const found = (prefix: string) => ({
  code: 0,
  said: [],
  tools: expect.arrayContaining([`${prefix}.read_note`]),
});

describe("a name is looked up", () => {
  test("in the connectors' own scope, then by prefix, then by prefix in any scope", async () => {
    addConnector(root, "@vendor/reversi-connector-box", named("third"));
    expect(await manifestsOf("box")).toEqual(found("third"));
    addConnector(root, "reversi-connector-box", named("second"));
    expect(await manifestsOf("box")).toEqual(found("second"));
    addConnector(root, "@reversi-connector/box", named("first"));
    expect(await manifestsOf("box")).toEqual(found("first"));
    expect(await manifestsOf("@vendor/reversi-connector-box")).toEqual(found("third"));
  });

  test("as the full name of a package, or as a path", async () => {
    const target = addConnector(root, "plain-package", named("plain"));
    expect(await manifestsOf("plain-package")).toEqual(found("plain"));
    expect(await manifestsOf("./node_modules/plain-package")).toEqual(found("plain"));
    expect(await manifestsOf(target)).toEqual(found("plain"));
  });

  test("through the links of a workspace", async () => {
    const elsewhere = folder();
    const target = addConnector(elsewhere, "box", named("box"));
    mkdirSync(join(elsewhere, "node_modules/@reversi-connector"), { recursive: true });
    symlinkSync(
      join(root, "node_modules/@reversi-connector/core"),
      join(elsewhere, "node_modules/@reversi-connector/core"),
    );
    symlinkSync(target, join(root, "node_modules/@reversi-connector/box"));
    expect(await manifestsOf("box")).toEqual(found("box"));
    expect(await manifestsOf("all")).toEqual(found("box"));
  });
});

describe("the working directory", () => {
  test("is looked at only for a name not found beside the program, and that is said with the path", async () => {
    const work = folder();
    const target = addConnector(work, "@reversi-connector/box", named("foreign"));
    symlinkSync(
      join(root, "node_modules/@reversi-connector/core"),
      join(work, "node_modules/@reversi-connector/core"),
    );
    const inner = join(work, "deep/inside");
    mkdirSync(inner, { recursive: true });
    expect(await manifestsOf("box", inner)).toEqual({
      ...found("foreign"),
      said: [`reversi-connectors: @reversi-connector/box comes from the working directory: ${target}`],
    });
    expect((await manifestsOf("all", inner)).said).toHaveLength(1);
    const served = await finish(root, ["serve", "box", "--root", work], "", { cwd: work });
    expect([served.code, served.stderr]).toEqual([
      0,
      expect.stringContaining("comes from the working directory"),
    ]);
    const undo = JSON.stringify({
      tool: "foreign.restore_note",
      args: { id: "a", before: null, after: null },
    });
    const undone = await finish(root, ["compensate", "--root", work], undo, { cwd: work });
    expect([undone.code, undone.stderr]).toEqual([
      0,
      expect.stringContaining("comes from the working directory"),
    ]);

    addConnector(root, "@reversi-connector/box", named("own"));
    expect(await manifestsOf("box", inner)).toEqual(found("own"));
  });

  test("is itself a connector, to whoever writes one there: by its name, by its package's, and among all", async () => {
    addConnector(root, "@reversi-connector/box", named("other"));
    const work = join(folder(), "mine");
    cpSync(addConnector(folder(), "reversi-connector-mine", named("mine")), work, { recursive: true });
    mkdirSync(join(work, "node_modules/@reversi-connector"), { recursive: true });
    symlinkSync(
      join(root, "node_modules/@reversi-connector/core"),
      join(work, "node_modules/@reversi-connector/core"),
    );
    const said = [`reversi-connectors: reversi-connector-mine comes from the working directory: ${work}`];
    for (const name of ["mine", "reversi-connector-mine"]) {
      expect(await manifestsOf(name, join(work, "node_modules"))).toEqual({ ...found("mine"), said });
    }
    const { tools } = await manifestsOf("all", work);
    expect(tools).toEqual(expect.arrayContaining(["mine.read_note", "other.read_note"]));
    const undo = JSON.stringify({ tool: "mine.restore_note", args: { id: "a", before: null, after: null } });
    expect((await finish(root, ["compensate", "--root", work], undo, { cwd: work })).code).toBe(0);
    expect((await manifestsOf("mine")).code).toBe(64);
  });
});

describe("what is no connector", () => {
  test("a name that is not installed: both commands that help, and the nearest names", async () => {
    addConnector(root, "@reversi-connector/stripe", named("stripe"));
    const { code, said } = await manifestsOf("strype");
    expect(code).toBe(64);
    expect(said).toEqual([
      "reversi-connectors: the connector strype is not installed. Did you mean stripe? Install it with " +
        "`npm install @reversi-connector/strype`, or run `npx -p reversi-connectors -p @reversi-connector/strype " +
        "reversi-connectors serve strype`. Installed: stripe.",
    ]);
  });

  test("a package that lacks the field, or the definition, or cannot be loaded: what is missing", async () => {
    for (const [packageName, files, problem] of [
      ["no-field", { "package.json": "{}" }, /lacks the field "reversi" with "connector" and "settings"/],
      [
        "@reversi-connector/half",
        { "package.json": `{"reversi": {"connector": "half"}}` },
        /lacks the field "reversi"/,
      ],
      [
        "no-definition",
        {
          "package.json": JSON.stringify({ type: "module", ...named("x") }),
          "index.js": "export const x = 1;",
        },
        /exports no `definition` made by defineConnector/,
      ],
      [
        "broken",
        {
          "package.json": JSON.stringify({ main: "./main.mjs", ...named("x") }),
          "main.mjs": "throw new Error('no')",
        },
        /main\.mjs\) could not be loaded: no/,
      ],
    ] as const) {
      for (const [file, text] of Object.entries(files)) {
        const target = join(root, "node_modules", packageName, file);
        mkdirSync(dirname(target), { recursive: true });
        writeFileSync(target, text);
      }
      const { code, said } = await manifestsOf(packageName);
      expect([code, said]).toEqual([64, [expect.stringMatching(problem)]]);
    }
    expect(await manifestsOf("half")).toMatchObject({ code: 64 });
    expect(await manifestsOf("../nowhere")).toMatchObject({
      code: 64,
      said: [expect.stringMatching(/there is no package/)],
    });
    expect(await manifestsOf("a b")).toMatchObject({
      code: 64,
      said: [expect.stringMatching(/neither a connector's name/)],
    });
  });

  test("`all` with nothing installed", async () => {
    expect(await manifestsOf("all")).toMatchObject({
      code: 64,
      said: [expect.stringMatching(/no connector is installed/)],
    });
  });
});

test("`all` takes every package with the field, whatever its name, and each connector once", async () => {
  addConnector(root, "odd-name", named("odd"));
  addConnector(root, "@reversi-connector/box", named("box"));
  addConnector(root, "@vendor/reversi-connector-box", named("box"));
  const { tools } = await manifestsOf("all");
  expect(new Set(tools.map((tool: string) => tool.split(".")[0]))).toEqual(new Set(["box", "odd"]));
  expect(tools).toEqual([...tools].sort());
  expect(tools).toHaveLength(14);
});
