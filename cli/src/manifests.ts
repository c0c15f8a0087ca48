import type { Manifest } from "@reversi-connector/core";
import { UsageError } from "@reversi-connector/core/program";
import {
  type AnyDefinition,
  defaultBases,
  type Found,
  findConnector,
  installedConnectors,
  loadDefinition,
} from "./discover.ts";
import { redactorFor } from "./enable.ts";
import { type StdoutWrite, takeStdout } from "./log.ts";

/** Packages by name, or all that are installed; those from the working directory are named on stderr. */
export function findAll(names: readonly string[]): Found[] {
  const bases = defaultBases();
  const everything = names.length === 0 || names.includes("all");
  const found = everything
    ? installedConnectors(bases, true)
    : names.map((name) => findConnector(name, bases));
  if (found.length === 0) {
    throw new UsageError(
      "no connector is installed; install one with `npm install @reversi-connector/<name>`",
    );
  }
  for (const { foreign, packageName, folder } of found) {
    if (foreign) {
      process.stderr.write(
        `reversi-connectors: ${packageName} comes from the working directory: ${folder}\n`,
      );
    }
  }
  return found;
}

/** Their definitions; what connectors print while they are loaded does not get between what is printed here. */
export async function definitionsOf(found: readonly Found[]): Promise<{
  readonly definitions: readonly AnyDefinition[];
  readonly print: (text: string) => Promise<void>;
}> {
  const write = takeStdout(redactorFor(found, process.env));
  return { definitions: await Promise.all(found.map(loadDefinition)), print: printing(write) };
}

/** Resolves when the text is out, or its reader is gone. */
export const printing = (write: StdoutWrite) => (text: string) =>
  new Promise<void>((resolve) => {
    write(text, () => resolve());
  });

/** Prints one array with the manifests of all tools, sorted by tool. */
export async function manifests(name: string, format: "json" | "yaml"): Promise<void> {
  const { definitions, print } = await definitionsOf(findAll([name]));
  const all: Manifest[] = definitions
    .flatMap((definition) => definition.manifests)
    .sort((a, b) => (a.tool < b.tool ? -1 : 1));
  const text =
    format === "yaml"
      ? (await import("yaml")).stringify(all, { aliasDuplicateObjects: false })
      : `${JSON.stringify(all, null, 2)}\n`;
  await print(text);
}
