import { createRequire } from "node:module";
import type { CommonOptions, Connector, ConnectorOptions } from "@reversi-connector/core";
import { definitionOf, entryOf, findConnector } from "./discover.ts";

export {
  type AnyConnectorError,
  ConflictError,
  type Connector,
  ConnectorError,
  type ConnectorOptions,
  compensatorFor,
  connectorSchemaHashes,
  type Drift,
  detectManifestDrift,
  EffectUncertainError,
  InvalidArgumentsError,
  isConnectorError,
  type Manifest,
} from "@reversi-connector/core";

/**
 * Connector name → its options. Names whose package is imported somewhere in the program are checked by the compiler;
 * the others when the connector is made.
 */
export type AllOptions = {
  readonly [Name in keyof ConnectorOptions]?: ConnectorOptions[Name] & CommonOptions;
} & { readonly [name: string]: object | undefined };

/**
 * The connectors that the options name, in that order, each loaded from its installed package; no other is touched.
 * @throws an error that says how to install a connector that is missing; InvalidArgumentsError for its options
 */
export function allConnectors(options: AllOptions): Connector[] {
  const require = createRequire(import.meta.url);
  return Object.entries(options).flatMap(([name, given]) => {
    if (given === undefined) return [];
    const found = findConnector(name);
    return [definitionOf(found, require(entryOf(found))).create(given)];
  });
}
