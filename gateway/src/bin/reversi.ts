#!/usr/bin/env node
import { reversi } from "../operator/reversi.ts";
import { reportAndExit } from "../shared/report.ts";

reversi(process.argv.slice(2)).then((code) => process.exit(code), reportAndExit("reversi"));
