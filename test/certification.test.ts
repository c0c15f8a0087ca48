import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { certifiable, filled } from "../scripts/tables.js";
import { root } from "./connectors.ts";

test("every connector that brings a subject is certified, and the README says what this run says (npm run tables)", () => {
  const program = join(root, "cli/dist/bin/reversi-connectors.js");
  // Ends with 1, and so throws, when a check failed or did not run.
  const printed = execFileSync(
    process.execPath,
    [program, "certify", ...certifiable, "--format", "markdown"],
    {
      cwd: root,
      encoding: "utf8",
      env: { ...process.env, NODE_OPTIONS: "" },
    },
  );
  const readme = readFileSync(join(root, "README.md"), "utf8");
  expect(readme).toBe(filled(readme, "certification", `\n${printed.trim()}\n`));
}, 600_000);
