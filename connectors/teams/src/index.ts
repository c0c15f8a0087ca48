import { type CommonOptions, defineConnector, readPackage } from "@reversi-connector/core";
import type { HttpClient, HttpReader } from "@reversi-connector/http";
import { listChannels } from "./channels.ts";
import { connect, type TeamsOptions, tokenPatterns } from "./client.ts";
import { takingPastedIds } from "./ids.ts";
import { deleteMessage, postMessage } from "./messages.ts";

export type { TeamsOptions };

/** Messages in Microsoft Teams' channels, before a token is known. */
export const definition = takingPastedIds(
  defineConnector<TeamsOptions, HttpClient, HttpReader>({
    package: readPackage(import.meta.url),
    tokenPatterns,
    connect,
    tools: [listChannels, postMessage, deleteMessage],
  }),
);

/** The connector on one token. @throws InvalidArgumentsError naming the option, never its value */
export const teams = definition.create;

declare module "@reversi-connector/core" {
  interface ConnectorOptions {
    readonly teams?: TeamsOptions & CommonOptions;
  }
}
