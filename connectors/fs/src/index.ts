import { defineConnector, readPackage } from "@reversi-connector/core";
import { connect, type FsOptions } from "./client.ts";
import { listDir, makeDir, removeDir } from "./directories.ts";
import { deleteFile, readFile, restoreFile, writeFile } from "./files.ts";
import { moveFile, unmoveFile } from "./moves.ts";

export type { FsOptions } from "./client.ts";

declare module "@reversi-connector/core" {
  interface ConnectorOptions {
    fs: FsOptions;
  }
}

export const definition = defineConnector({
  package: readPackage(import.meta.url),
  openWorld: false,
  connect: (options: FsOptions) => connect(options),
  tools: [restoreFile, writeFile, deleteFile, readFile, removeDir, makeDir, listDir, unmoveFile, moveFile],
});

/** Files and folders under one root; the root is resolved once, and nothing outside it is ever touched. */
export const fs = definition.create;
