import {
  type Connector,
  ConnectorError,
  type Redactor,
  readSettings,
  redactor,
} from "@reversi-connector/core";
import { UsageError } from "@reversi-connector/core/program";
import { type AnyDefinition, type Found, loadDefinition, loadSandbox } from "./discover.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Redacts the credentials that are in the environment for these connectors. */
export const redactorFor = (connectors: readonly Found[], environment: Environment): Redactor =>
  redactor({
    values: connectors.flatMap(({ reversi }) =>
      Object.entries(reversi.settings).flatMap(([variable, { secret }]) => {
        const value = environment[variable]?.trim() ?? "";
        return secret && value.length >= 8 ? [value] : [];
      }),
    ),
  });

/** Where a connector's options come from. */
export interface Sources {
  readonly environment: Environment;
  /** Flag → value, for flags of connectors. */
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
}

const are = (names: readonly string[]) =>
  `${names.join(" and ")} ${names.length === 1 ? "is" : "are"} not set`;

/** What is missing, in words that name variables and flags; flags first, since only they can be given right here. */
export const missingText = (connector: string, missing: readonly string[]): string => {
  const flags = missing.filter((name) => name.startsWith("--"));
  return flags.length > 0 ? `${connector} needs ${flags.join(" and ")}` : are(missing);
};

/** A connector that may still lack what it needs: it is listed all the same, and each call says what is missing. */
export interface Enabled {
  readonly definition: AnyDefinition;
  readonly connector?: Connector;
  readonly missing: readonly string[];
}

/** @throws UsageError for a malformed setting, naming it and never its value */
export async function enable(found: Found, { environment, flags, timeoutMs }: Sources): Promise<Enabled> {
  try {
    const { options, missing } = readSettings(found.reversi, environment, flags);
    const definition = await loadDefinition(found);
    if (missing.length > 0) return { definition, missing };
    return { definition, missing, connector: definition.create({ ...options, timeoutMs }) };
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError((error as Error).message);
  }
}

/** A connector on a sandbox that runs already. */
export async function attach(found: Found, address: string, timeoutMs: number): Promise<Enabled> {
  const [definition, sandbox] = [await loadDefinition(found), await loadSandbox(found)];
  try {
    const connector = definition.create({ ...sandbox.attach(address), timeoutMs });
    return { definition, missing: [], connector };
  } catch (error) {
    throw new UsageError(
      `${found.reversi.connector}: cannot use ${address} as a sandbox: ${(error as Error).message}`,
    );
  }
}

/** The error of every call while something is missing. */
export const notSet = (missing: readonly string[]): ConnectorError =>
  new ConnectorError(
    `${are(missing)}; nothing was sent. Set it in the environment of this server and start it again`,
    { reason: "not_configured" },
  );
