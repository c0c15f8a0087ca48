import { InvalidArgumentsError, s } from "@reversi-connector/core";
import { tool } from "./client.ts";
import { eventsPath } from "./events.ts";
import {
  calendarId,
  calendarUsed,
  type Event,
  endTime,
  etag,
  eventId,
  fieldsOf,
  startTime,
  url,
} from "./objects.ts";
import type { EventTime } from "./times.ts";

interface Page {
  readonly timeZone?: string;
  readonly items: readonly Event[];
  readonly nextPageToken?: string;
}
const isPage = ({ items }: Partial<Page>) =>
  Array.isArray(items) && items.every(({ id, etag }: Partial<Event>) => Boolean(id && etag));

/** An event as `list_events` shows it. */
const seen = (event: Event) => {
  const { summary = null, description = null, location = null, start, end } = fieldsOf(event);
  return {
    event_id: event.id,
    status: event.status,
    ...{ summary, description, location },
    start: start as EventTime | null,
    end: end as EventTime | null,
    recurring_event_id: event.recurringEventId ?? null,
    etag: event.etag,
    url: event.htmlLink ?? null,
    updated_at: event.updated ?? null,
  };
};

export const listEvents = tool
  .readOnly("list_events", {
    description: "List events, page by page.",
    permission: "gcalendar:events:read",
    input: s.object(
      {},
      {
        calendar_id: calendarId,
        time_min: s.string("Ends after this time (RFC 3339 with offset)."),
        time_max: s.string("Starts before this time (RFC 3339 with offset)."),
        q: s.string("Free text.", { minLength: 1, maxLength: 1024 }),
        single_events: s.boolean("Show each occurrence of a series.", { default: true }),
        order_by: s.oneOf(["startTime", "updated"], "Order; `startTime` needs single_events."),
        limit: s.integer("At most this many entries.", { minimum: 1, maximum: 2500, default: 250 }),
        cursor: s.string("`next_cursor` of the previous page.", { minLength: 1, maxLength: 4096 }),
      },
    ),
    output: s.object({
      calendar_id: calendarUsed,
      time_zone: s.nullable(s.string("Time zone of the calendar.")),
      events: s.array(
        s.object(
          {
            event_id: eventId,
            status: s.string("confirmed, tentative or cancelled."),
            summary: s.nullable(s.string("Title.")),
            description: s.nullable(s.string("Text, may hold HTML.")),
            location: s.nullable(s.string("Place.")),
            start: s.nullable(startTime),
            end: s.nullable(endTime),
            recurring_event_id: s.nullable(s.string("Series it belongs to.")),
            etag,
            url,
            updated_at: s.nullable(s.string("Last changed (RFC 3339).")),
          },
          {},
          "One entry.",
        ),
        "The events; attendees are left out.",
      ),
      next_cursor: s.nullable(s.string("Pass as `cursor` for the next page; null at the end.")),
    }),
  })
  .run(async ({ client, args }) => {
    const { calendar_id, time_min, time_max, q, single_events, order_by, limit, cursor } = args;
    if (order_by === "startTime" && !single_events) {
      const problem = { at: "order_by", rule: "startTime needs single_events" };
      throw new InvalidArgumentsError("order_by: startTime needs single_events", { problems: [problem] });
    }
    const query = {
      ...{ q, timeMin: time_min, timeMax: time_max, singleEvents: single_events },
      ...{ orderBy: order_by, maxResults: limit, pageToken: cursor },
    };
    const { body } = await client.read<Page>({ path: eventsPath(calendar_id), query, expect: isPage });
    const { timeZone = null, items, nextPageToken = null } = body;
    return { calendar_id, time_zone: timeZone, events: items.map(seen), next_cursor: nextPageToken };
  });
