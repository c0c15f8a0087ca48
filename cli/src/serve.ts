import type { Sandbox } from "@reversi-connector/core";
import { maxLineBytes, UsageError } from "@reversi-connector/core/program";
import type { ApprovalMode } from "./approval.ts";
import { refuseCredentialFlags } from "./credentials.ts";
import { defaultBases, type Found, findConnector, installedConnectors, loadSandbox } from "./discover.ts";
import { attach, type Enabled, enable, missingText, redactorFor } from "./enable.ts";
import {
  connectorFlags,
  type Parsed,
  parseFlags,
  positionalsOf,
  serveFlags,
  timeoutFrom,
  wholeNumber,
} from "./flags.ts";
import { ignoreClosedStderr, type Level, type Log, stderrLog, surviveMistakes, takeStdout } from "./log.ts";
import { mcpServer } from "./mcp.ts";
import { instructionsFor, offeredTools, spellings } from "./offer.ts";
import { stdioTransport } from "./stdio.ts";
import { exitCode } from "./usage.ts";
import { version } from "./version.ts";

/** How long running calls may go on after the client left. */
const farewellMs = 5000;

interface Serving {
  readonly enabled: readonly Enabled[];
  /** Sandboxes that were started here and end with us. */
  readonly sandboxes: readonly Sandbox<object>[];
}

/** `--sandbox`, `--sandbox=ADDRESS`, `--sandbox=name=ADDRESS`: connector → address, "" for a new one. */
function sandboxAddresses(values: readonly string[], found: readonly Found[]): ReadonlyMap<string, string> {
  const names = found.map(({ reversi }) => reversi.connector);
  const addresses = new Map<string, string>();
  for (const value of values) {
    const name = names.find((candidate) => value.startsWith(`${candidate}=`));
    if (name !== undefined) addresses.set(name, value.slice(name.length + 1));
    else if (value === "") for (const each of names) addresses.set(each, "");
    else if (names.length === 1) addresses.set(names[0] ?? "", value);
    else
      throw new UsageError(
        `--sandbox=${value}: say whose address it is, as in --sandbox=${names[0]}=${value}`,
      );
  }
  return addresses;
}

async function enableAll(found: readonly Found[], parsed: Parsed, log: Log): Promise<Serving> {
  const timeoutMs = timeoutFrom(process.env);
  const addresses = sandboxAddresses(parsed.list("sandbox"), found);
  const rules = connectorFlags(found.map(({ reversi }) => reversi));
  const flags = Object.fromEntries(Object.keys(rules).map((flag) => [flag, parsed.text(flag)]));
  const enabled: Enabled[] = [];
  const sandboxes: Sandbox<object>[] = [];
  for (const one of found) {
    const { connector } = one.reversi;
    let address = addresses.get(connector);
    if (address === "") {
      const sandbox = await (await loadSandbox(one)).sandbox();
      sandboxes.push(sandbox);
      address = sandbox.address;
      log.say(`the sandbox of ${connector} is at ${address}`);
    }
    if (address !== undefined) enabled.push(await attach(one, address, timeoutMs));
    else enabled.push(await enable(one, { environment: process.env, flags, timeoutMs }));
  }
  return { enabled, sandboxes };
}

/** A missing flag ends the start; a missing variable only when that is asked for. */
function checkMissing(enabled: readonly Enabled[], parsed: Parsed, log: Log): void {
  for (const { definition, missing } of enabled) {
    if (missing.length === 0) continue;
    if (missing.some((name) => name.startsWith("--")))
      throw new UsageError(missingText(definition.name, missing));
    const text = `${definition.name}: ${missingText(definition.name, missing)}`;
    if (parsed.on("require-credentials")) throw new UsageError(text, exitCode.credentials);
    log.warn(`${text}; tools are listed, and every call will say so`);
  }
}

const signalled = () =>
  new Promise<"signal">((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.once(signal, () => {
        resolve("signal");
        process.once(signal, () => process.exit(exitCode.failed)); // asked twice: at once
      });
    }
  });

const atMost = (ms: number, work: Promise<unknown>) => {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return Promise.race([work, over]).finally(() => clearTimeout(timer));
};

/** `serve <name…>`: an MCP server on stdin and stdout, until stdin ends or a signal comes. */
export async function serve(argv: readonly string[]): Promise<void> {
  const bases = defaultBases();
  const names = positionalsOf(argv, serveFlags);
  const wanted = names.length === 1 && names[0] === "all";
  const found = wanted
    ? installedConnectors(bases, true)
    : [...new Set(names)].map((name) => findConnector(name, bases));
  const rules = { ...connectorFlags(found.map(({ reversi }) => reversi)), ...serveFlags };
  refuseCredentialFlags(argv, rules, () => installedConnectors(bases));
  const parsed = parseFlags(argv, rules, process.env, true);
  if (found.length === 0) {
    throw new UsageError(
      wanted ? "no connector is installed" : "serve needs the name of a connector, as in `serve github`",
    );
  }
  const redact = redactorFor(found, process.env);
  const log = stderrLog((parsed.text("log-level") ?? "warn") as Level, redact);
  ignoreClosedStderr();
  const write = takeStdout(redact);
  for (const { foreign, packageName, folder } of found) {
    if (foreign) log.say(`${packageName} comes from the working directory: ${folder}`);
  }
  const { enabled, sandboxes } = await enableAll(found, parsed, log);
  checkMissing(enabled, parsed, log);

  const tools = offeredTools(enabled, parsed);
  const server = mcpServer({
    name: `reversi-${found.map(({ reversi }) => reversi.connector).join("-")}`,
    version,
    instructions: instructionsFor(tools),
    tools,
    byName: spellings(tools),
    approval: parsed.text("approval") as ApprovalMode,
    maxResultBytes: wholeNumber(
      "--max-result-bytes",
      parsed.text("max-result-bytes"),
      maxLineBytes,
      maxLineBytes,
    ),
    checkpointTimeoutMs: Math.min(10_000, Math.ceil(timeoutFrom(process.env) / 2)),
    log,
  });
  const transport = stdioTransport(process.stdin, write, log);
  surviveMistakes(log);
  const signal = signalled();
  await server.connect(transport);

  const how = await Promise.race([transport.over, signal]);
  log.debug(`ending: ${how}`);
  process.stdin.pause();
  // Nobody reads the answers of reads any more; a write in flight must still come to its end.
  const left = how === "broken" ? server.settled(true) : server.settled().then(() => transport.answered());
  await atMost(farewellMs, left);
  await server.close();
  await atMost(500, server.settled());
  const closing = [
    ...enabled.map(({ connector }) => connector?.close()),
    ...sandboxes.map((one) => one.close()),
  ];
  await atMost(1000, Promise.allSettled(closing));
  process.exit(exitCode.ok);
}
