import type { Connector } from "@reversi-connector/core";
import { UsageError } from "@reversi-connector/core/program";
import { type Bases, connectorNamed, installedConnectors } from "./discover.ts";
import { attach, type Enabled, enable, missingText } from "./enable.ts";
import { type Parsed, timeoutFrom } from "./flags.ts";
import type { Log } from "./log.ts";

/** Connectors by the first part of a tool's name, made when they are first needed and kept. */
export interface Pool {
  /** @throws UsageError when no installed connector has that name, or it lacks what it needs */
  get(tool: string): Promise<Connector>;
  close(): Promise<void>;
}

export function connectorPool(
  parsed: Parsed,
  flags: Readonly<Record<string, string | undefined>>,
  bases: Bases,
  log: Log,
): Pool {
  const timeoutMs = timeoutFrom(process.env);
  const addresses = new Map(
    parsed.list("sandbox").map((value) => {
      const [, name, address] = /^([^=]+)=(.+)$/.exec(value) ?? [];
      if (name === undefined || address === undefined) throw new UsageError("--sandbox must be name=ADDRESS");
      return [name, address];
    }),
  );
  const made = new Map<string, Promise<Connector>>();
  const make = async (name: string, tool: string): Promise<Connector> => {
    const found = connectorNamed(name, bases);
    if (!found) {
      const known = installedConnectors(bases).map(({ reversi }) => reversi.connector);
      throw new UsageError(
        `no installed connector has a tool ${tool} (installed: ${known.join(", ") || "none"})`,
      );
    }
    if (found.foreign) log.say(`${found.packageName} comes from the working directory: ${found.folder}`);
    const address = addresses.get(name);
    const { connector, missing }: Enabled =
      address === undefined
        ? await enable(found, { environment: process.env, flags, timeoutMs })
        : await attach(found, address, timeoutMs);
    if (!connector) throw new UsageError(`${tool} cannot run: ${missingText(name, missing)}`);
    return connector;
  };
  return {
    get(tool) {
      const name = tool.split(".")[0] ?? "";
      const connector = made.get(name) ?? make(name, tool);
      made.set(name, connector);
      return connector;
    },
    async close() {
      await Promise.allSettled([...made.values()].map(async (connector) => (await connector).close()));
    },
  };
}
