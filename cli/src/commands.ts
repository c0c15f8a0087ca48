import { UsageError } from "@reversi-connector/core/program";
import yargs, { type Argv } from "yargs";
import { formats } from "./certify-formats.ts";
import { refuseCredentialFlags } from "./credentials.ts";
import { installedConnectors } from "./discover.ts";
import { drift } from "./drift.ts";
import { compensateFlags, connectorFlags, type FlagRules, serveFlags } from "./flags.ts";
import { manifests } from "./manifests.ts";
import { runSandbox } from "./sandbox.ts";
import { version } from "./version.ts";

const ownFlags: FlagRules = {
  ...serveFlags,
  ...compensateFlags,
  format: { type: "string", description: "" },
  write: { type: "string", description: "" },
  check: { type: "string", description: "" },
  connectors: { type: "string", description: "" },
  list: { type: "boolean", description: "" },
  contracts: { type: "string", description: "" },
  witness: { type: "string", description: "" },
};

const variablesOf = (rules: FlagRules) =>
  Object.entries(rules).flatMap(([flag, { variable }]) => (variable ? [`  ${variable} (as --${flag})`] : []));

/** The credentials and other variables of everything installed, for `--help`. */
const connectorVariables = () =>
  installedConnectors().flatMap(({ reversi }) =>
    Object.entries(reversi.settings).map(
      ([variable, { description, optional }]) =>
        `  ${variable} (${reversi.connector}${optional ? ", optional" : ""}): ${description}`,
    ),
  );

const describe = (command: Argv, rules: FlagRules): Argv => {
  for (const [flag, { type, description, choices, default: fallback }] of Object.entries(rules)) {
    command.option(flag, {
      type,
      description,
      ...(choices && { choices }),
      ...(fallback !== undefined && { default: fallback }),
    });
  }
  return command;
};

const epilogue = (lines: readonly string[]) =>
  ["Variables:", ...(lines.length > 0 ? lines : ["  none"])].join("\n");

/** What `serve` and `compensate` say of themselves; they run elsewhere. */
function described(
  command: Argv,
  rules: FlagRules,
  more: readonly string[],
  example: readonly [string, string],
): Argv {
  const flags = connectorFlags(installedConnectors().map(({ reversi }) => reversi));
  const known = { ...flags, ...rules };
  return describe(command, known)
    .epilogue(epilogue([...variablesOf(rules), ...more, ...connectorVariables()]))
    .example(...example);
}

const timeout = "  REVERSI_TIMEOUT_MS: milliseconds for one call (30000)";

/** All commands but those that programs start. */
export async function run(argv: readonly string[]): Promise<void> {
  refuseCredentialFlags(argv, ownFlags, () => installedConnectors());
  await yargs([...argv])
    .scriptName("reversi-connectors")
    .detectLocale(false)
    .usage("$0 <command>\n\nMCP servers for agents whose writes can be undone")
    .command("serve <name..>", "MCP server on stdin and stdout", (command) =>
      described(command, serveFlags, [timeout], ["$0 serve github --read-only", "offer what only reads"]),
    )
    .command("compensate", "Run one compensation call from stdin", (command) =>
      described(
        command,
        compensateFlags,
        [
          timeout,
          "  REVERSI_COMPENSATOR: stream/1 for one call a line",
          "  REVERSI_STDIN_TIMEOUT_MS: how long stdin may stay open without a byte (10000)",
        ],
        ['echo \'{"tool": …, "args": {…}}\' | $0 compensate --root .', "undo one step"],
      ),
    )
    .command(
      "manifests <name>",
      "Print the manifests of a connector, or of all that are installed",
      (command) =>
        command
          .positional("name", { type: "string", demandOption: true, description: "a connector, or all" })
          .option("format", { choices: ["json", "yaml"] as const, default: "json" as const })
          .epilogue(epilogue([]))
          .example("$0 manifests github --format yaml", "for the gateway"),
      ({ name, format }) => manifests(name, format),
    )
    .command(
      "drift",
      "Store what tools take, or compare with what was stored",
      (command) =>
        command
          .option("write", { type: "string", description: "Store the hashes of every tool in this file" })
          .option("check", {
            type: "string",
            description: "Compare with this file; exit 1 on any difference",
          })
          .option("connectors", { type: "string", array: true, description: "Only these" })
          .epilogue(epilogue([]))
          .example("$0 drift --check reversi.lock.json", "in CI, after an upgrade"),
      ({ write, check, connectors }) => drift({ write, check, connectors }),
    )
    .command(
      "sandbox <name>",
      "Start a connector's sandbox and print its address, until stdin ends",
      (command) =>
        command
          .positional("name", { type: "string", demandOption: true })
          .epilogue(epilogue([]))
          .example("$0 sandbox github", 'prints {"connector":"github","address":"http://127.0.0.1:…"}'),
      ({ name }) => runSandbox(name),
    )
    .command(
      "certify [names..]",
      "Run the certification of a connector (name or path), or of all that are installed",
      (command) =>
        command
          .positional("names", { type: "string", array: true, description: "connectors, paths, or all" })
          .option("format", { choices: formats, default: "table" as const })
          .option("check", { type: "string", array: true, description: "Only this check; may be repeated" })
          .option("contracts", { type: "string", description: "Folder of the vendors' API descriptions" })
          .option("witness", {
            type: "string",
            description: "Record of what the vendors' own software has shown",
          })
          .option("list", { type: "boolean", description: "Print what is checked, and where" })
          .epilogue(epilogue(["  REVERSI_CONTRACTS (as --contracts)"]))
          .example("$0 certify all", "exit 1 when a check failed or did not run"),
      async ({ names = [], format, check, list, contracts, witness }) =>
        (await import("./certify.ts")).certify(names, { format, check, list, contracts, witness }),
    )
    .demandCommand(1, "say what to do: serve, compensate, manifests, drift, certify or sandbox")
    .strict()
    .version(version)
    .wrap(null)
    .fail((message, error) => {
      throw error ?? new UsageError(message);
    })
    .parseAsync();
}
