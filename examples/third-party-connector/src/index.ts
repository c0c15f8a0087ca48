import { type CommonOptions, defineConnector, readPackage } from "@reversi-connector/core";
import type { HttpClient, HttpReader } from "@reversi-connector/http";
import { connect, type ShelfOptions, tokenPatterns } from "./client.ts";
import { createBookmark, deleteBookmark, getBookmark, restoreBookmark, updateBookmark } from "./tools.ts";

export type { ShelfOptions };

/** Shelf before a token is known: the command line reads this. */
export const definition = defineConnector<ShelfOptions, HttpClient, HttpReader>({
  package: readPackage(import.meta.url),
  tokenPatterns,
  connect,
  tools: [getBookmark, createBookmark, updateBookmark, deleteBookmark, restoreBookmark],
});

/** The connector on one token. @throws InvalidArgumentsError naming the option, never its value */
export const shelf = definition.create;

declare module "@reversi-connector/core" {
  interface ConnectorOptions {
    readonly shelf?: ShelfOptions & CommonOptions;
  }
}
