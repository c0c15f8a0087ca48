import { createInterface } from "node:readline";
import { compensatorFor } from "@reversi-connector/core";
import { fileJournal, Registry, Run } from "@reversi-connector/engine";
import { calls, pad } from "./pad.ts";

/** A program of its own: makes the calls, undoes them, and asks for leave before every step. */
async function main(folder: string): Promise<void> {
  const leave = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const pause = async () => {
    process.stdout.write("?\n");
    await leave.next();
  };
  const connector = pad({ folder, pause });
  const journal = fileJournal(folder);
  const registry = Registry.from(connector.manifests);
  const run = await Run.open({ registry, journal, run: "run", callTimeoutMs: 1, graceMs: 1 });
  for (const { tool, args } of calls) {
    await pause();
    await run.call({
      tool,
      args,
      execute: (given, context) => connector.tools[tool]?.(given, context) as Promise<unknown>,
    });
  }
  await pause();
  const report = await run.rollback({ compensate: compensatorFor([connector]) });
  await run.close();
  process.stdout.write(`${report.status}\n`);
  process.exit(0);
}

void main(process.argv[2] as string);
