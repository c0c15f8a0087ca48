import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = new URL("../..", import.meta.url).pathname;
const program = join(root, "cli/dist/bin/reversi-connectors.js");
const folder = mkdtempSync(join(tmpdir(), "certify-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (...args: readonly string[]) =>
  spawnSync(process.execPath, [program, ...args], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, NODE_OPTIONS: "" },
  });

/** A copy of a built connector, as somebody would have it installed. */
function installed(name: string): string {
  const scope = join(folder, "node_modules/@reversi-connector");
  mkdirSync(scope, { recursive: true });
  symlinkSync(join(root, "core"), join(scope, "core"));
  cpSync(join(root, "connectors", name), join(scope, name), {
    recursive: true,
    filter: (path) => !/\/(src|test|node_modules)(\/|$)/.test(path.slice(root.length)),
  });
  return join(scope, name);
}

test("a connector given by its path passes; with one byte changed in what it does, it fails by name", () => {
  const path = installed("fs");
  const sound = run("certify", path, "--check", "forward_success");
  expect({ status: sound.status, text: sound.stdout }).toEqual({
    status: 0,
    text: expect.stringMatching(/Forward success +pass/),
  });

  let changed = 0;
  for (const file of readdirSync(join(path, "dist")).filter((entry) => entry.endsWith(".js"))) {
    const text = readFileSync(join(path, "dist", file), "utf8");
    // One character: a size that the schema of the result does not allow.
    const other = text.replaceAll("size: bytes.length", "size:-bytes.length");
    if (other !== text) changed++;
    writeFileSync(join(path, "dist", file), other);
  }
  expect(changed).toBeGreaterThan(0);
  const broken = run("certify", path, "--format", "json", "--check", "forward_success");
  expect(broken.status).toBe(1);
  const [{ checks }] = JSON.parse(broken.stdout);
  expect(checks).toMatchObject([{ name: "forward_success", status: "fail" }]);
}, 60_000);

test("the checklist names every check and the file that holds it", () => {
  const { stdout, status } = run("certify", "--list");
  const files = stdout.match(/certification-kit\/src\/\S+\.ts/g) ?? [];
  expect({ status, files: files.length }).toEqual({ status: 0, files: 16 });
  for (const file of files) expect(readFileSync(join(root, file), "utf8")).not.toBe("");
});

test.each([
  [["certify"], "say what to certify"],
  [["certify", "nosuch"], "npm install @reversi-connector/nosuch"],
  [["certify", "fs", "--check", "speed"], "there is no check speed"],
])("%j is refused in one line", (args, line) => {
  const { status, stderr, stdout } = run(...args);
  expect({ status, stdout }).toEqual({ status: 64, stdout: "" });
  expect(stderr.trim().split("\n")).toEqual([expect.stringContaining(line)]);
});
