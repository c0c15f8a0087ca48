import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { serveOverHttp } from "../http-wrapper.js";
import { software } from "../support.js";

const name = "@modelcontextprotocol/conformance";
const program = fileURLToPath(new URL(`../node_modules/${name}/dist/index.js`, import.meta.url));

describe(`mcp by ${software(name)}`, () => {
  let served;
  let root;
  before(async () => {
    root = mkdtempSync(join(tmpdir(), "reversi-witness-root-"));
    served = await serveOverHttp("fs", { root });
  });
  after(async () => {
    await served.close();
    rmSync(root, { recursive: true });
  });
  for (const scenario of ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"]) {
    it(`passes ${scenario}`, async () => {
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [program, "server", "--url", served.url, "--scenario", scenario],
        { cwd: root },
      ).catch((error) => {
        throw new Error(`${error.stdout}\n${error.stderr}`);
      });
      assert.match(stdout, /Passed: [1-9]\d*\/\d+, 0 failed/);
    });
  }
});
