import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { certification, filled } from "../scripts/tables.js";
import { root } from "./connectors.ts";
import { dataAt, testOn } from "./contracts.ts";

const program = join(root, "cli/dist/bin/reversi-connectors.js");
// Without the vendors' descriptions the column of contracts is empty.
const whereKnown = testOn(dataAt(""));

whereKnown(
  "every connector is certified, and the README says what this run says (npm run tables)",
  () => {
    // Ends with 1, and so throws, when a check failed or did not run.
    const printed = execFileSync(process.execPath, [program, ...certification], {
      cwd: root,
      encoding: "utf8",
      env: { ...process.env, NODE_OPTIONS: "" },
    });
    const readme = readFileSync(join(root, "README.md"), "utf8");
    expect(readme).toBe(filled(readme, "certification", `\n${printed.trim()}\n`));
  },
  900_000,
);
