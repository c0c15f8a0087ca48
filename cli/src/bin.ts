#!/usr/bin/env node
import { reportAndExit } from "./usage.ts";
import { version } from "./version.ts";

const argv = process.argv.slice(2);
const [command, ...rest] = argv;
const has = (...flags: readonly string[]) => argv.some((argument) => flags.includes(argument));

/** `serve` and `compensate` are started by programs, often: they load nothing that only people need. */
async function main(): Promise<void> {
  if (has("--version")) return void process.stdout.write(`${version}\n`);
  if (command === "serve" && !has("--help", "-h")) return (await import("./serve.ts")).serve(rest);
  if (command === "compensate" && !has("--help", "-h"))
    return (await import("./compensate.ts")).compensate(rest);
  await (await import("./commands.ts")).run(argv);
}

main().catch(reportAndExit);
