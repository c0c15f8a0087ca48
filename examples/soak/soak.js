// Random histories through the real programs, on the sandboxed GitHub and on folders: calls with faults on the wire, edits
// by others and SIGKILL of gateway, upstream, rollback and compensator, then rolled back until nothing changes any more,
// and the report held against what the backends really hold. Every choice comes from the seed; how the operating system
// schedules the processes does not, so a failing seed meets the same plan again and not always the same interleaving.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { playHistory } from "./history.js";
import { manifests } from "./processes.js";

const usage = "node soak.js [--histories N] [--seed S] [--minutes M] [--keep]";
function options() {
  const string = { type: "string" };
  const { values } = parseArgs({
    options: { histories: string, seed: string, minutes: string, keep: { type: "boolean", default: false } },
  });
  const number = (name, otherwise) => {
    const value = Number(values[name] ?? otherwise);
    if (value >= 0) return value;
    throw new Error(`--${name} must be a number; ${usage}`);
  };
  const minutes = number("minutes", Number.POSITIVE_INFINITY);
  return {
    histories: number("histories", values.minutes === undefined ? 100 : Number.POSITIVE_INFINITY),
    seed: number("seed", Date.now() % 2 ** 31),
    minutes,
    keep: values.keep,
  };
}

const { histories, seed, minutes, keep } = options();
const lab = mkdtempSync(join(tmpdir(), "reversi-soak-"));
mkdirSync(join(lab, "manifests"));
for (const [name, text] of manifests()) writeFileSync(join(lab, "manifests", `${name}.json`), text);

const say = (text) => process.stderr.write(`${text}\n`);
const counts = { calls: 0, faults: 0, kills: 0, edits: 0, rollbacks: 0, blind: 0 };
const open = {};
const failed = [];
const began = Date.now();
let played = 0;
let complete = 0;
let next = 0;

/** Everything that is needed to understand a failure. */
function tell(own, { problems, plan, lines, place, records = [], changes = [], report }) {
  say(`\nVIOLATION with seed ${own}: node soak.js --histories 1 --seed ${own}`);
  for (const problem of problems) say(`  ${problem}`);
  say(`  plan: ${JSON.stringify(plan)}`);
  for (const line of lines) say(`  ${line}`);
  for (const change of changes) say(`  github: ${JSON.stringify(change)}`);
  for (const record of records) if (record.type !== "manifest") say(`  journal: ${JSON.stringify(record)}`);
  say(`  report: ${JSON.stringify(report?.groups)}`);
  say(`  kept: ${place}\n`);
}

async function worker() {
  while (next < histories && Date.now() - began < minutes * 60_000) {
    const own = seed + next++;
    const ended = await playHistory(own, { lab, counts, keep });
    played++;
    if (keep) for (const line of ended.lines) say(line);
    for (const [group, number] of Object.entries(ended.report?.counts ?? {}))
      open[group] = (open[group] ?? 0) + number;
    if (ended.report?.status === "complete") complete++;
    if (ended.problems.length > 0) {
      failed.push(own);
      tell(own, ended);
    }
    if (played % 10 === 0)
      say(
        `${played} histories, ${failed.length} with violations, ${Math.round((Date.now() - began) / 1000)} s`,
      );
  }
}
await Promise.all([worker(), worker()]);

if (failed.length === 0 && !keep) rmSync(lab, { recursive: true, force: true });
const groups = Object.entries(open).map(([group, number]) => `${group} ${number}`);
console.log(
  `soak: ${played} histories, ${failed.length} with violations${failed.length > 0 ? ` (seeds ${failed.join(", ")})` : ""}; ` +
    `${complete} complete; ${Object.entries(counts)
      .map(([what, number]) => `${number} ${what}`)
      .join(", ")}; ` +
    `steps: ${groups.join(", ")}; ${Math.round((Date.now() - began) / 1000)} s, seed ${seed}`,
);
if (failed.length > 0) process.exitCode = 1;
