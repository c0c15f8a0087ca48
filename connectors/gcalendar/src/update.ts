import { ConflictError, type OnConflict, refuseArgument, s, threeWayRestore } from "@reversi-connector/core";
import type { HttpClient } from "@reversi-connector/http";
import { quietly, tool } from "./client.ts";
import { createEvent } from "./create.ts";
import {
  type EventName,
  eventPath,
  isDeleted,
  isEvent,
  onceMore,
  readEvent,
  readLive,
  unlessChanged,
} from "./events.ts";
import {
  already,
  calendarId,
  calendarUsed,
  checkTimes,
  type Event,
  etag,
  eventId,
  type FieldName,
  type Fields,
  fieldsOf,
  fieldsSchema,
  foreseen,
  hasAll,
  namesIn,
  patchOf,
  sameField,
  time,
  url,
} from "./objects.ts";

/** Sets the fields on the version that was read, and on no other. */
async function patch(
  client: HttpClient,
  name: EventName,
  { etag }: Event,
  fields: Fields,
  expect: (event: Event) => boolean,
): Promise<Event> {
  const { body } = await client.write<Event>({
    method: "PATCH",
    path: eventPath(name),
    query: quietly,
    headers: { "if-match": etag },
    json: patchOf(fields),
    expect: (event: Event) => isEvent(name.event_id)(event) && expect(event),
  });
  return body;
}

interface Restore {
  readonly previous: Fields;
  readonly expected?: Fields;
}

/** Whether any field is to be put back. @throws ConflictError when one is neither as it was nor as the step left it */
function isToRestore(event: Event, { previous, expected }: Restore, onConflict: OnConflict | undefined) {
  const now = fieldsOf(event);
  const verdict = (name: FieldName) =>
    threeWayRestore<Fields>(
      // Without a word on what the step left, the tool does as told.
      { before: previous, after: expected?.[name] === undefined ? now : expected, now },
      {
        what: `${name} of event ${event.id}`,
        same: (a, b) => sameField(name, a, b),
        describe: (fields) => JSON.stringify(fields[name] ?? null),
        onConflict,
      },
    );
  return namesIn(previous).map(verdict).includes("restore");
}

export const restoreEvent = tool
  .idempotent("restore_event", {
    description: "Put old values of an event's fields back; a null clears the field.",
    permission: "gcalendar:events:write",
    input: s.object(
      { event_id: eventId, previous: fieldsSchema("The values to put back.") },
      {
        calendar_id: calendarId,
        expected: fieldsSchema("Values the undone step left in the same fields."),
      },
    ),
    output: s.object({ calendar_id: calendarUsed, event_id: eventId, etag, already }),
    target: ["calendar_id", "event_id"],
    guard: { kind: "content", server_side: true },
    on_conflict: true,
  })
  .holds(async ({ client, args }) => {
    const event = await readEvent(client, args);
    return !isDeleted(event) && hasAll(event, args.previous);
  })
  .run(({ client, args, onConflict }) =>
    onceMore(args, async () => {
      const { calendar_id, event_id, previous } = args;
      checkTimes({ start: previous.start ?? null, end: previous.end ?? null });
      const event = await readEvent(client, args);
      if (isDeleted(event)) {
        const states = { expected: "the event", found: "deleted" };
        throw new ConflictError(`event ${event_id} was deleted; nothing was restored`, states);
      }
      if (!isToRestore(event, args, onConflict))
        return { calendar_id, event_id, etag: event.etag, already: true };
      const restored = await patch(client, args, event, previous, (now) => hasAll(now, previous));
      return { calendar_id, event_id, etag: restored.etag, already: false };
    }),
  );

/** The fields to change. @throws InvalidArgumentsError when there is none, or when Google could not take the times */
function wantedIn(args: Fields): FieldName[] {
  const names = namesIn(args);
  if (names.length > 0) {
    checkTimes(args);
    return names;
  }
  return refuseArgument("arguments", "must give at least one field to change");
}

/** An event as `update_event` shows it. */
const changed = (
  name: EventName,
  { etag, htmlLink }: Event,
  { previous, current }: { readonly previous: Fields; readonly current: Fields },
) => ({
  calendar_id: name.calendar_id,
  event_id: name.event_id,
  ...{ previous, current, etag },
  url: htmlLink ?? null,
});

export const updateEvent = tool
  .reversible("update_event", {
    description:
      "Change fields of an event; null clears one. Give at least one field; start and end together.",
    permission: "gcalendar:events:write",
    input: s.object(
      { event_id: eventId },
      {
        calendar_id: calendarId,
        summary: s.nullable(s.string("Title.", { maxLength: 1024 })),
        description: s.nullable(s.string("Text, may hold HTML.", { maxLength: 8192 })),
        location: s.nullable(s.string("Place.", { maxLength: 1024 })),
        start: time("Start."),
        end: time("End."),
      },
    ),
    output: s.object({
      calendar_id: calendarUsed,
      event_id: eventId,
      previous: fieldsSchema("Old values of exactly the fields changed; null where empty."),
      current: fieldsSchema("The same fields as this call leaves them."),
      etag: s.nullable(etag),
      url,
    }),
    compensation: {
      tool: restoreEvent,
      argument_map: {
        calendar_id: "result.calendar_id",
        event_id: "args.event_id",
        previous: "result.previous",
        expected: "result.current",
      },
    },
    requires: [
      { tool: createEvent, match: { event_id: "result.event_id" } },
      { tool: "gcalendar.update_event", match: { event_id: "args.event_id" } },
    ],
    checkpoint: {
      result: ["calendar_id", "event_id", "previous", "current"],
      evidence: ["etag_before"],
      guard: "expected",
    },
    residue: [
      {
        id: "version",
        text: "`updated`, `sequence` and ETag do not go back; Google may still mail guests.",
      },
    ],
  })
  .landed(async ({ client, args, checkpoint }) => {
    const { previous, current } = checkpoint?.result ?? {};
    const before = checkpoint?.evidence?.etag_before;
    if (!previous || !current || typeof before !== "string") return "unknown";
    const event = await readEvent(client, args);
    if (event.etag === before) return { landed: false };
    if (isDeleted(event) || !hasAll(event, current)) return "unknown";
    return { landed: true, result: changed(args, event, { previous, current }) };
  })
  .run(async ({ client, args, checkpoint }) => {
    const names = wantedIn(args);
    const { calendar_id, event_id } = args;
    const event = await readLive(client, args);
    const [previous, current] = [fieldsOf(event, names), foreseen(args, names)];
    if (hasAll(event, current)) return changed(args, event, { previous, current: previous });
    const evidence = { etag_before: event.etag };
    await checkpoint({ result: { calendar_id, event_id, previous, current }, evidence });
    const patching = patch(client, args, event, args, () => true);
    const after = await unlessChanged(args, patching);
    return changed(args, after, { previous, current: fieldsOf(after, names) });
  });
