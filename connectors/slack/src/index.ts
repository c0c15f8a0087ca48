import { type CommonOptions, defineConnector, readPackage } from "@reversi-connector/core";
import type { HttpClient, HttpReader } from "@reversi-connector/http";
import { listChannels } from "./channels.ts";
import { connect, type SlackOptions, tokenPatterns } from "./client.ts";
import { deleteMessage, postMessage } from "./messages.ts";
import { addReaction, removeReaction } from "./reactions.ts";

export type { SlackOptions };

/** Slack messages and reactions, before a token is known. */
export const definition = defineConnector<SlackOptions, HttpClient, HttpReader>({
  package: readPackage(import.meta.url),
  tokenPatterns,
  connect,
  tools: [listChannels, postMessage, addReaction, deleteMessage, removeReaction],
});

/** The connector on one token. @throws InvalidArgumentsError naming the option, never its value */
export const slack = definition.create;

declare module "@reversi-connector/core" {
  interface ConnectorOptions {
    readonly slack?: SlackOptions & CommonOptions;
  }
}
