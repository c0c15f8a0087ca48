import { ConflictError, ConnectorError, type OnConflict, s } from "@reversi-connector/core";
import type { HttpClient } from "@reversi-connector/http";
import { quietly, saysSo, tool } from "./client.ts";
import { type EventName, eventPath, onceMore, unlessGone } from "./events.ts";
import {
  already,
  calendarId,
  calendarUsed,
  type Event,
  eventId,
  type Fields,
  fieldsOf,
  fieldsSchema,
  hasAll,
  namesIn,
} from "./objects.ts";

/** @throws ConflictError when somebody changed the event or invited anybody since */
function checkUntouched(event: Event, expected: Fields | undefined, onConflict: OnConflict = "refuse"): void {
  if (!expected || onConflict === "overwrite") return;
  const guests = event.attendees?.length ?? 0;
  if (guests === 0 && hasAll(event, expected)) return;
  const wanted = JSON.stringify(expected);
  const found = JSON.stringify({ ...fieldsOf(event, namesIn(expected)), ...(guests > 0 && { guests }) });
  throw new ConflictError(
    `event ${event.id}: changed since; expected ${wanted}, found ${found}. Nothing was deleted.`,
    { expected: wanted, found },
  );
}

/** Deletes the version that was read; false when somebody else deleted it meanwhile. */
async function erase(client: HttpClient, name: EventName, { etag }: Event): Promise<boolean> {
  try {
    await client.write({
      method: "DELETE",
      path: eventPath(name),
      query: quietly,
      headers: { "if-match": etag },
      expect: (body) => body === undefined,
    });
    return true;
  } catch (error) {
    if (saysSo(error, 410, "deleted")) return false;
    const mayBeGone = ConnectorError.is(error) && error.status === 404;
    if (mayBeGone && (await unlessGone(client, name)) === undefined) return false;
    throw error;
  }
}

export const deleteEvent = tool
  .idempotent("delete_event", {
    description: "Delete an event. A deleted event is success.",
    permission: "gcalendar:events:delete",
    input: s.object(
      { event_id: eventId },
      {
        calendar_id: calendarId,
        expected: fieldsSchema("Values the undone step left; other values are a conflict."),
      },
    ),
    output: s.object({ calendar_id: calendarUsed, event_id: eventId, already }),
    target: ["calendar_id", "event_id"],
    guard: { kind: "content", server_side: true },
    on_conflict: true,
  })
  .holds(async ({ client, args }) => (await unlessGone(client, args)) === undefined)
  .run(({ client, args, onConflict }) =>
    onceMore(args, async () => {
      const { calendar_id, event_id } = args;
      const event = await unlessGone(client, args);
      if (!event) return { calendar_id, event_id, already: true };
      checkUntouched(event, args.expected, onConflict);
      return { calendar_id, event_id, already: !(await erase(client, args, event)) };
    }),
  );
