import { type CommonOptions, defineConnector, readPackage } from "@reversi-connector/core";
import { type AwsOptions, connect, type S3Client, type S3Reader, tokenPatterns } from "./client.ts";
import { deleteObject } from "./delete.ts";
import { getObject } from "./get.ts";
import { listObjects } from "./list.ts";
import { putObject } from "./put.ts";
import { restoreObject } from "./restore.ts";

export type { AwsOptions };

/** Objects in Amazon S3, before credentials are known. */
export const definition = defineConnector<AwsOptions, S3Client, S3Reader>({
  package: readPackage(import.meta.url),
  tokenPatterns,
  connect,
  tools: [getObject, listObjects, putObject, deleteObject, restoreObject],
});

/** The connector on one pair of keys. @throws InvalidArgumentsError naming the option, never its value */
export const aws = definition.create;

declare module "@reversi-connector/core" {
  interface ConnectorOptions {
    readonly aws?: AwsOptions & CommonOptions;
  }
}
