import { UsageError } from "@reversi-connector/core/program";
import { loadSandbox } from "./discover.ts";
import { redactorFor } from "./enable.ts";
import { takeStdout } from "./log.ts";
import { findAll, printing } from "./manifests.ts";

/** Runs a connector's sandbox in this process until stdin ends or a signal comes; its address is one line on stdout. */
export async function runSandbox(name: string): Promise<void> {
  const [found, ...more] = findAll([name]);
  if (!found || more.length > 0) throw new UsageError("sandbox takes the name of one connector");
  const print = printing(takeStdout(redactorFor([found], process.env)));
  const sandbox = await (await loadSandbox(found)).sandbox();
  const over = new Promise<void>((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => resolve());
    process.stdin.once("end", resolve).once("error", resolve).resume();
    process.stdout.once("error", () => resolve());
  });
  await print(`${JSON.stringify({ connector: found.reversi.connector, address: sandbox.address })}\n`);
  await over;
  await sandbox.close();
  process.exit();
}
