import { readdirSync } from "node:fs";

export const root = new URL("..", import.meta.url).pathname;

/** The connectors of this repository, by name. */
export const connectorNames = readdirSync(new URL("../connectors", import.meta.url)).sort();
