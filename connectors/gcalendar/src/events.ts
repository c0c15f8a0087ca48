import { ConflictError, ConnectorError, callHash } from "@reversi-connector/core";
import { type HttpReader, path } from "@reversi-connector/http";
import { saysSo } from "./client.ts";
import type { Event } from "./objects.ts";

/** The arguments that name an event. */
export interface EventName {
  readonly calendar_id: string;
  readonly event_id: string;
}
export const eventPath = ({ calendar_id, event_id }: EventName) =>
  path`/calendars/${calendar_id}/events/${event_id}`;
export const eventsPath = (calendar_id: string) => path`/calendars/${calendar_id}/events`;

/** Whether an answer is about this event, and carries what a later write needs. */
export const isEvent = (event_id: string) => (event: Event | undefined) =>
  event?.id === event_id && typeof event.etag === "string" && typeof event.status === "string";

export const isDeleted = ({ status }: Event) => status === "cancelled";

/** The event, one in the trash included. @throws ConnectorError with Google's status */
export async function readEvent(client: HttpReader, name: EventName): Promise<Event> {
  const { body } = await client.read<Event>({ path: eventPath(name), expect: isEvent(name.event_id) });
  return body;
}

/** The event as it is used. @throws ConnectorError also for one in the trash */
export async function readLive(client: HttpReader, name: EventName): Promise<Event> {
  const event = await readEvent(client, name);
  if (!isDeleted(event)) return event;
  throw new ConnectorError(`event ${name.event_id} was deleted; nothing was sent`, { reason: "deleted" });
}

/** Whether the calendar itself answers: a 404 for something in it is the truth then. @throws ConnectorError */
async function answers(client: HttpReader, calendar_id: string): Promise<boolean> {
  const request = { path: eventsPath(calendar_id), query: { maxResults: 1 } };
  try {
    await client.read({ ...request, expect: ({ items }: { items?: unknown }) => Array.isArray(items) });
    return true;
  } catch (error) {
    if (saysSo(error, 404)) return false;
    throw error;
  }
}

/**
 * The event; undefined when it is deleted. Google answers 404 for lost access too, so a 404 counts only while the
 * calendar itself can be read.
 * @throws ConnectorError when nobody can tell
 */
export async function unlessGone(client: HttpReader, name: EventName): Promise<Event | undefined> {
  try {
    const event = await readEvent(client, name);
    return isDeleted(event) ? undefined : event;
  } catch (error) {
    if (saysSo(error, 410, "deleted")) return undefined;
    if (!saysSo(error, 404)) throw error;
    if (await answers(client, name.calendar_id)) return undefined;
    const why = `the calendar ${name.calendar_id} cannot be read, so nobody can tell what is gone and what is hidden`;
    throw new ConnectorError(`${error.message}; ${why}`, error);
  }
}

/** The event with a chosen id, one in the trash included; undefined when it was never made; "unknown" when hidden. */
export async function lookFor(client: HttpReader, name: EventName): Promise<Event | undefined | "unknown"> {
  try {
    return await readEvent(client, name);
  } catch (error) {
    if (!saysSo(error, 404)) throw error;
    return (await answers(client, name.calendar_id)) ? undefined : "unknown";
  }
}

/**
 * The id of the event that this very call makes; a key that is used again with other arguments chooses another one.
 * Hexadecimal digits are among the characters that Google takes (base32hex, lower case).
 * @throws InvalidArgumentsError without a key
 */
export function chosenId(idempotencyKey: string | undefined, args: object): string {
  return callHash(idempotencyKey, { entity: "event", args }).slice(0, 40);
}

const isStale = (error: unknown) => saysSo(error, 412);

/** What `writing` brings. @throws ConflictError when somebody changed the event after it was read */
export async function unlessChanged<T>({ event_id }: EventName, writing: Promise<T>): Promise<T> {
  try {
    return await writing;
  } catch (error) {
    if (!isStale(error)) throw error;
    const found = "another version";
    throw new ConflictError(
      `event ${event_id}: changed by somebody else just now; nothing was overwritten. Call again to work on what is there.`,
      { expected: "the version that was read", found },
    );
  }
}

/** Reads, decides and writes; all of it once more when the event changed in between. */
export async function onceMore<T>(name: EventName, attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (!isStale(error)) throw error;
    return unlessChanged(name, attempt());
  }
}
