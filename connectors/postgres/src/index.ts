import { type CommonOptions, defineConnector, readPackage } from "@reversi-connector/core";
import {
  connect,
  type PostgresClient,
  type PostgresOptions,
  type PostgresReader,
  secretsIn,
} from "./client.ts";
import { query } from "./query.ts";
import { deleteRow, insertRow, restoreRow, updateRow } from "./rows.ts";

export type { PostgresOptions };

/** Rows of a Postgres database, before a connection string is known. */
export const definition = defineConnector<PostgresOptions, PostgresClient, PostgresReader>({
  package: readPackage(import.meta.url),
  secretsIn,
  connect,
  tools: [query, deleteRow, insertRow, restoreRow, updateRow],
});

/** The connector on one connection string. @throws InvalidArgumentsError naming the option, never its value */
export const postgres = definition.create;

declare module "@reversi-connector/core" {
  interface ConnectorOptions {
    readonly postgres?: PostgresOptions & CommonOptions;
  }
}
