import { type CommonOptions, defineConnector, readPackage } from "@reversi-connector/core";
import type { HttpClient, HttpReader } from "@reversi-connector/http";
import { connect, type GoogleCalendarOptions, tokenPatterns } from "./client.ts";
import { createEvent } from "./create.ts";
import { deleteEvent } from "./delete.ts";
import { listEvents } from "./list.ts";
import { restoreEvent, updateEvent } from "./update.ts";

export type { GoogleCalendarOptions };

/** Google Calendar events, before a token is known. */
export const definition = defineConnector<GoogleCalendarOptions, HttpClient, HttpReader>({
  package: readPackage(import.meta.url),
  tokenPatterns,
  connect,
  tools: [listEvents, createEvent, updateEvent, deleteEvent, restoreEvent],
});

/** The connector on one token. @throws InvalidArgumentsError naming the option, never its value */
export const gcalendar = definition.create;

declare module "@reversi-connector/core" {
  interface ConnectorOptions {
    readonly gcalendar?: GoogleCalendarOptions & CommonOptions;
  }
}
