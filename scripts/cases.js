// Failures that people met with tools of this kind, and the tests that show the right outcome: docs/cases.md.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const systems = {
  FS: "Filesystem",
  PG: "Postgres",
  SL: "Slack",
  GH: "GitHub",
  GL: "GitLab",
  TM: "Microsoft Teams",
  LN: "Linear",
  JR: "Jira",
  ST: "Stripe",
  GC: "Google Calendar",
  S3: "Amazon S3",
  CS: "Cloud Storage",
  AZ: "Blob Storage",
  K8: "Kubernetes",
  MC: "MCP",
  SE: "Secrets",
  HT: "HTTP",
  CK: "Certification",
};
const order = Object.keys(systems);
const caseId = new RegExp(`\\b(?:${order.join("|")})-\\d{2}`, "g");

function* testFiles(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !["node_modules", "dist", ".git"].includes(entry.name)) yield* testFiles(path);
    else if (entry.name.endsWith(".test.ts")) yield path;
  }
}

/** Case → files whose tests name it. */
export function casesIn(root) {
  const found = new Map();
  for (const path of testFiles(root)) {
    for (const [id] of readFileSync(path, "utf8").matchAll(caseId)) {
      const files = found.get(id) ?? new Set();
      found.set(id, files.add(path.slice(root.length).replace(/^\//, "")));
    }
  }
  return found;
}

const rank = (id) => order.indexOf(id.slice(0, 2)) * 1000 + Number(id.slice(3));

/** The table of docs/cases.md. */
export function caseTable(root) {
  const rows = [...casesIn(root)]
    .sort(([a], [b]) => rank(a) - rank(b))
    .map(([id, files]) => {
      const links = [...files].sort().map((file) => `[${file}](../${file})`);
      return `| ${id} | ${systems[id.slice(0, 2)]} | ${links.join(", ")} |`;
    });
  return ["| Case | System | Tests |", "| - | - | - |", ...rows].join("\n");
}
