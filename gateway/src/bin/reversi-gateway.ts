#!/usr/bin/env node
import { gateway } from "../proxy/gateway.ts";
import { help } from "../proxy/options.ts";
import { reportAndExit } from "../shared/report.ts";
import { version } from "../shared/usage.ts";

const argv = process.argv.slice(2);
const has = (...flags: readonly string[]) => argv.some((argument) => flags.includes(argument));

if (has("--version")) process.stdout.write(`${version}\n`);
else if (has("--help", "-h")) process.stdout.write(help);
else gateway(argv).then((code) => process.exit(code), reportAndExit("reversi-gateway"));
