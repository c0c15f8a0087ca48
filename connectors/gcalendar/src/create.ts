import { ConnectorError, EffectUncertainError, s } from "@reversi-connector/core";
import type { HttpClient } from "@reversi-connector/http";
import { quietly, saysSo, tool } from "./client.ts";
import { deleteEvent } from "./delete.ts";
import { chosenId, type EventName, eventsPath, isDeleted, isEvent, lookFor, readEvent } from "./events.ts";
import {
  calendarId,
  calendarUsed,
  checkTimes,
  chosenEventId,
  type Event,
  endTime,
  etag,
  type Fields,
  fieldsOf,
  fieldsSchema,
  foreseen,
  startTime,
  url,
} from "./objects.ts";

/** Of a time only what was given: the text goes to Google as it came. */
const given = (time: object) =>
  Object.fromEntries(Object.entries(time).filter(([, value]) => value !== null));

const bodyOf = (id: string, { summary, description, location, start, end }: Fields) => ({
  ...{ id, summary, description, location },
  start: given(start ?? {}),
  end: given(end ?? {}),
});

/** An event as `create_event` shows it, with `current` in its fields. */
const made = (calendar_id: string, { id, etag, htmlLink }: Event, current: Fields) => ({
  ...{ calendar_id, event_id: id, current, etag },
  url: htmlLink ?? null,
});

/** The new event; where an earlier request under the same key made it already, that one. */
async function insertOnce(client: HttpClient, name: EventName, args: Fields): Promise<Event> {
  const { calendar_id, event_id } = name;
  try {
    const { body } = await client.write<Event>({
      method: "POST",
      path: eventsPath(calendar_id),
      query: quietly,
      json: bodyOf(event_id, args),
      expect: isEvent(event_id),
    });
    return body;
  } catch (error) {
    if (!saysSo(error, 409, "duplicate")) throw error;
    const there = await readEvent(client, name).catch(({ message }) => {
      throw new EffectUncertainError(`${error.message}; an earlier request made it, and now: ${message}`);
    });
    if (!isDeleted(there)) return there;
    throw new ConnectorError(`${error.message} An earlier request made it, and it was deleted since.`, error);
  }
}

export const createEvent = tool
  .reversible("create_event", {
    description: "Create an event, without attendees and without mails.",
    permission: "gcalendar:events:write",
    input: s.object(
      { start: startTime, end: endTime },
      {
        calendar_id: calendarId,
        summary: s.string("Title.", { maxLength: 1024 }),
        description: s.string("Text, may hold HTML.", { maxLength: 8192 }),
        location: s.string("Place.", { maxLength: 1024 }),
      },
    ),
    output: s.object({
      calendar_id: calendarUsed,
      event_id: chosenEventId,
      current: fieldsSchema("The fields as this call leaves them."),
      etag: s.nullable(etag),
      url,
    }),
    additive: true,
    compensation: {
      tool: deleteEvent,
      argument_map: {
        calendar_id: "result.calendar_id",
        event_id: "result.event_id",
        expected: "result.current",
      },
    },
    checkpoint: { result: ["calendar_id", "event_id", "current"], guard: "event_id" },
    residue: [
      { id: "trash", text: "The event stays in the calendar's trash for a while; its id stays taken." },
    ],
  })
  .landed(async ({ client, args, idempotencyKey, checkpoint }) => {
    const { calendar_id } = args;
    const event_id =
      checkpoint?.result.event_id ?? (idempotencyKey ? chosenId(idempotencyKey, args) : undefined);
    if (!event_id) return "unknown";
    const event = await lookFor(client, { calendar_id, event_id });
    if (event === "unknown") return event;
    return event ? { landed: true, result: made(calendar_id, event, foreseen(args)) } : { landed: false };
  })
  .run(async ({ client, args, idempotencyKey, checkpoint }) => {
    checkTimes(args);
    const name = { calendar_id: args.calendar_id, event_id: chosenId(idempotencyKey, args) };
    await checkpoint({ result: { ...name, current: foreseen(args) } });
    const event = await insertOnce(client, name, args);
    return made(args.calendar_id, event, fieldsOf(event));
  });
