import { readFileSync } from "node:fs";
import { join } from "node:path";
import { casesIn, caseTable } from "../scripts/cases.js";
import { filled } from "../scripts/tables.js";
import { root } from "./connectors.ts";
import { dataAt, testOn } from "./contracts.ts";

const bank = dataAt("../cases/open.md");
const whereKnown = testOn(bank);

whereKnown("every known case is named by a test", () => {
  const known = [...readFileSync(bank, "utf8").matchAll(/^### ([A-Z0-9]{2}-\d{2})\b/gm)].map(([, id]) => id);
  const named = casesIn(root);
  expect(known.length).toBeGreaterThan(100);
  expect(known.filter((id = "") => !named.has(id))).toEqual([]);
});

test("docs/cases.md lists the tests of every case (npm run tables)", () => {
  const written = readFileSync(join(root, "docs/cases.md"), "utf8");
  expect(written).toBe(filled(written, "cases", caseTable(root)));
});
