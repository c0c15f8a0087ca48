// A reporter for `node --test`: one line for each piece of software, every failure in full, and the record.
import { writeFileSync } from "node:fs";

const tally = new Map();
const at = (title) => {
  if (!tally.has(title)) tally.set(title, { operations: 0, errors: new Set(), failed: 0, skipped: 0 });
  return tally.get(title);
};

/** Connector → who drove it, how many operations, and which errors it raised. What failed is no witness. */
function record() {
  const found = {};
  for (const [title, { operations, errors, failed }] of [...tally].sort()) {
    const [connector, by] = title.split(" by ");
    if (failed > 0 || operations === 0) continue;
    found[connector] ??= { by: [], operations: 0, errors: [] };
    const entry = found[connector];
    entry.by.push(by);
    entry.operations += operations;
    entry.errors = [...new Set([...entry.errors, ...errors])].sort();
  }
  return found;
}

export default async function* report(events) {
  const suites = [];
  let broken = 0;
  for await (const { type, data } of events) {
    const { name, nesting, details, skip } = data ?? {};
    if (type === "test:start") suites[nesting] = name;
    if (type === "test:stderr") yield data.message;
    if (type !== "test:pass" && type !== "test:fail") continue;
    if (nesting === 0) {
      if (skip !== undefined) yield `skipped  ${name}: ${skip}\n`;
      if (!tally.has(name)) {
        if (type === "test:fail") {
          broken++;
          yield `${name}: ${details.error?.cause?.stack ?? details.error}\n`;
        }
        continue;
      }
      if (type === "test:fail" && details.error?.failureType === "hookFailed") {
        broken++;
        yield `${name}: ${details.error.cause?.stack ?? details.error}\n`;
      }
      const { operations, failed, skipped } = at(name);
      const what = failed > 0 ? `${failed} FAILED` : operations > 0 ? "ok" : "skipped";
      const count = `${operations} operations${skipped > 0 ? `, ${skipped} skipped` : ""}`;
      yield `${what.padEnd(8)} ${name}: ${count}, ${Math.round(details.duration_ms)} ms\n`;
      continue;
    }
    if (nesting !== 1) continue;
    const entry = at(suites[0]);
    if (skip !== undefined) {
      entry.skipped++;
      yield `skipped  ${suites[0]}: ${name}: ${skip}\n`;
    } else if (type === "test:pass") {
      entry.operations++;
      const error = /^raises ([^:]+):/.exec(name)?.[1];
      if (error) entry.errors.add(error);
    } else {
      entry.failed++;
      yield `FAILED   ${suites[0]}: ${name}\n${details.error?.cause?.stack ?? details.error}\n`;
    }
  }
  const failed = [...tally.values()].reduce((sum, entry) => sum + entry.failed, broken);
  const passed = [...tally.values()].reduce((sum, entry) => sum + entry.operations, 0);
  const file = process.env.WITNESS_RECORD;
  if (file && failed === 0) writeFileSync(file, `${JSON.stringify(record(), null, 2)}\n`);
  yield `${passed} passed, ${failed} failed\n`;
}
