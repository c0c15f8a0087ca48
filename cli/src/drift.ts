import { readFileSync, writeFileSync } from "node:fs";
import { connectorSchemaHashes, detectManifestDrift } from "@reversi-connector/core";
import { UsageError } from "@reversi-connector/core/program";
import type { AnyDefinition } from "./discover.ts";
import { definitionsOf, findAll } from "./manifests.ts";
import { exitCode } from "./usage.ts";

type Hashes = Readonly<Record<string, string>>;

/** What is stored: for each tool, the hash of what it takes, and the hash of all that a person agreed to. */
interface Baseline {
  readonly schema_hashes: Hashes;
  readonly definition_hashes: Hashes;
}

const sorted = (hashes: Hashes): Hashes =>
  Object.fromEntries(Object.entries(hashes).sort(([a], [b]) => (a < b ? -1 : 1)));

function baselineOf(definitions: readonly AnyDefinition[]): Baseline {
  const manifests = definitions.flatMap((definition) => definition.manifests);
  return {
    schema_hashes: sorted(Object.assign({}, ...definitions.map(connectorSchemaHashes))),
    definition_hashes: sorted(
      Object.fromEntries(manifests.map(({ tool, definition_hash }) => [tool, definition_hash])),
    ),
  };
}

const isHashes = (value: unknown): value is Hashes =>
  typeof value === "object" &&
  value !== null &&
  Object.values(value).every((hash) => typeof hash === "string");

/** @throws UsageError when the file cannot be read or is no baseline */
function readBaseline(file: string): Baseline {
  try {
    const { schema_hashes, definition_hashes } = JSON.parse(readFileSync(file, "utf8"));
    if (isHashes(schema_hashes) && isHashes(definition_hashes)) return { schema_hashes, definition_hashes };
  } catch (error) {
    throw new UsageError(`cannot read the baseline ${file}: ${(error as Error).message}`);
  }
  throw new UsageError(`${file} is no baseline; make one with \`drift --write ${file}\``);
}

/** Tools of these connectors only. */
const ofConnectors = (hashes: Hashes, names: readonly string[]): Hashes =>
  Object.fromEntries(Object.entries(hashes).filter(([tool]) => names.includes(tool.split(".")[0] ?? "")));

function differences(definitions: readonly AnyDefinition[], stored: Baseline): string[] {
  const manifests = definitions.flatMap((definition) => definition.manifests);
  const inputSchemas = Object.assign({}, ...definitions.map((definition) => definition.inputSchemas));
  const { added, removed, changed } = detectManifestDrift(manifests, inputSchemas, stored.schema_hashes);
  const otherwise = manifests.filter(({ tool, definition_hash }) => {
    const before = Object.hasOwn(stored.definition_hashes, tool) ? stored.definition_hashes[tool] : undefined;
    return before !== definition_hash && !added.includes(tool) && !changed.includes(tool);
  });
  return [
    ...added.map((tool) => `added ${tool}`),
    ...removed.map((tool) => `removed ${tool}`),
    ...changed.map((tool) => `changed ${tool}: input schema`),
    ...otherwise.map(({ tool }) => `changed ${tool}: description, effect or permission`),
  ];
}

/** Stores a baseline, or prints one line per difference and ends with 1 when there is any. */
export async function drift(options: {
  readonly write: string | undefined;
  readonly check: string | undefined;
  readonly connectors: readonly string[] | undefined;
}): Promise<void> {
  const { write, check, connectors = [] } = options;
  if ((write === undefined) === (check === undefined)) {
    throw new UsageError("drift needs either --write FILE or --check FILE");
  }
  const { definitions, print } = await definitionsOf(findAll(connectors));
  if (write !== undefined) {
    writeFileSync(write, `${JSON.stringify(baselineOf(definitions), null, 2)}\n`);
    return;
  }
  const stored = readBaseline(check ?? "");
  const names = definitions.map(({ name }) => name);
  const part = (hashes: Hashes) => (connectors.length === 0 ? hashes : ofConnectors(hashes, names));
  const lines = differences(definitions, {
    schema_hashes: part(stored.schema_hashes),
    definition_hashes: part(stored.definition_hashes),
  });
  if (lines.length === 0) return;
  await print(`${lines.join("\n")}\n`);
  process.exitCode = exitCode.failed;
}
