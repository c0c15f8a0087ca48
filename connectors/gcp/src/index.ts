import { type CommonOptions, defineConnector, readPackage } from "@reversi-connector/core";
import type { HttpClient, HttpReader } from "@reversi-connector/http";
import { connect, type GcpOptions, tokenPatterns } from "./client.ts";
import { deleteObject } from "./delete.ts";
import { getObject } from "./get.ts";
import { listObjects } from "./list.ts";
import { putObject } from "./put.ts";
import { restoreObject } from "./restore.ts";

export type { GcpOptions };

/** Objects in Google Cloud Storage, before a token is known. */
export const definition = defineConnector<GcpOptions, HttpClient, HttpReader>({
  package: readPackage(import.meta.url),
  tokenPatterns,
  connect,
  tools: [getObject, listObjects, putObject, deleteObject, restoreObject],
});

/** The connector on one token. @throws InvalidArgumentsError naming the option, never its value */
export const gcp = definition.create;

declare module "@reversi-connector/core" {
  interface ConnectorOptions {
    readonly gcp?: GcpOptions & CommonOptions;
  }
}
