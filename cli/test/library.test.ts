import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { acmeProject, cleanUp } from "./support.ts";

let acme: ReturnType<typeof acmeProject>;
beforeAll(() => {
  acme = acmeProject();
});
afterAll(cleanUp);

/** Runs a user's program in a project; what it prints as JSON is its answer. Connectors talk on stdout while loaded. */
function program(file: string, head: string, body: string): unknown {
  const path = join(acme.root, file);
  writeFileSync(path, `${head}\nconst folder = ${JSON.stringify(acme.notes)};\n(async () => {${body}})();`);
  const { stdout, stderr } = spawnSync(process.execPath, [path], {
    cwd: acme.root,
    encoding: "utf8",
    env: {},
  });
  expect(stderr.replace(/\(node:.*\n|.*trace-warnings.*\n/g, "")).toBe("");
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}
const names =
  "{ allConnectors, compensatorFor, connectorSchemaHashes, detectManifestDrift, EffectUncertainError, InvalidArgumentsError }";
const print = (value: string) => `process.stdout.write("\\n" + JSON.stringify(${value}));`;

describe.each([
  ["program.mjs", `import ${names} from "reversi-connectors";`],
  ["program.cjs", `const ${names} = require("reversi-connectors");`],
])("in %s", (file, head) => {
  test("connectors are loaded by the names in the options, undone, and closed", () => {
    const body = `
      const connectors = allConnectors({ acme: { token: "acme-token-1234", folder }, other: undefined });
      const [acme] = connectors;
      const result = await acme.tools["acme.write_note"]({ id: "a", text: "new" }, {});
      const compensate = compensatorFor(connectors);
      const undo = { tool: "acme.restore_note", args: { id: "a", before: null, after: "new" } };
      const undone = await compensate(undo);
      const holds = await compensate.holds(undo);
      const lost = { tool: "acme.restore_note", args: { id: "lost", before: null, after: null } };
      const uncertain = await compensate(lost).catch((error) => EffectUncertainError.is(error));
      await acme.close();
      ${print("{ count: connectors.length, result, undone, holds, uncertain }")}`;
    expect(program(file, head, body)).toEqual({
      count: 1,
      result: { before: null },
      undone: { already: false },
      holds: true,
      uncertain: true,
    });
  });

  test("a baseline of schema hashes shows what was added, removed and changed", () => {
    const body = `
      const [acme] = allConnectors({ acme: { token: "acme-token-1234", folder } });
      const { "acme.chatter": _, ...baseline } = connectorSchemaHashes(acme);
      const stored = { ...baseline, "acme.gone": "x", "acme.read_note": "y" };
      ${print("detectManifestDrift(acme.manifests, acme.inputSchemas, stored)")}`;
    expect(program(file, head, body)).toEqual({
      added: ["acme.chatter"],
      removed: ["acme.gone"],
      changed: ["acme.read_note"],
    });
  });

  test("a connector that is not installed, and options that lack something, are errors that say so", () => {
    const body = `
      const problem = (options) => {
        try {
          return allConnectors(options);
        } catch (error) {
          return [InvalidArgumentsError.is(error), error.message];
        }
      };
      ${print("[problem({ nowhere: {} }), problem({ acme: { folder } })]")}`;
    expect(program(file, head, body)).toEqual([
      [false, expect.stringContaining("npm install @reversi-connector/nowhere")],
      [true, expect.stringContaining("token (ACME_TOKEN) is not set")],
    ]);
  });
});
