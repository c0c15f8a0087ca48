import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import type { ConnectorDefinition } from "@reversi-connector/core";

export const root = new URL("..", import.meta.url).pathname;

/** The connectors of this repository, by name. */
export const connectorNames = readdirSync(new URL("../connectors", import.meta.url)).sort();

/** A connector's definition, from its built package: what users install. */
export function definitionOf(name: string): ConnectorDefinition<object> {
  return createRequire(import.meta.url)(`../connectors/${name}/dist/index.js`).definition;
}
