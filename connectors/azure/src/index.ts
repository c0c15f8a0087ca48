import { type CommonOptions, defineConnector, readPackage } from "@reversi-connector/core";
import { type AzureOptions, type BlobClient, type BlobReader, connect, tokenPatterns } from "./client.ts";
import { deleteBlob } from "./delete.ts";
import { getBlob } from "./get.ts";
import { listBlobs } from "./list.ts";
import { putBlob } from "./put.ts";
import { restoreBlob } from "./restore.ts";

export type { AzureOptions };

/** Blobs in Azure Blob Storage, before a token is known. */
export const definition = defineConnector<AzureOptions, BlobClient, BlobReader>({
  package: readPackage(import.meta.url),
  tokenPatterns,
  connect,
  tools: [getBlob, listBlobs, putBlob, deleteBlob, restoreBlob],
});

/** The connector on one token and account. @throws InvalidArgumentsError naming the option, never its value */
export const azure = definition.create;

declare module "@reversi-connector/core" {
  interface ConnectorOptions {
    readonly azure?: AzureOptions & CommonOptions;
  }
}
