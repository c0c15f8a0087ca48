import { randomUUID } from "node:crypto";
import type { SandboxReply } from "@reversi-connector/http/sandbox";
import type { EventTime } from "../times.ts";
import { checkBody, checkRange, merged } from "./body.ts";
import type { Call, Endpoint } from "./wire.ts";
import { addEvent, editEvent, etagOf, me, removeEvent, type StoredEvent, stored } from "./world.ts";

const person = { email: me, self: true };

/** An event as Google shows it: what is empty is absent. */
export function shown({ calendar }: Call, event: StoredEvent): object {
  const { version: _, attendees, ...fields } = event;
  return {
    kind: "calendar#event",
    etag: etagOf(event),
    htmlLink: `https://www.google.com/calendar/event?eid=${Buffer.from(`${event.id} ${calendar.id}`).toString("base64url")}`,
    ...fields,
    creator: person,
    organizer: person,
    ...(event.recurringEventId && { originalStartTime: event.start }),
    ...(attendees.length > 0 && { attendees }),
    iCalUID: `${event.recurringEventId ?? event.id}@google.com`,
    reminders: { useDefault: true },
    eventType: "default",
  };
}
const answer = (call: Call, event: StoredEvent): SandboxReply => ({
  status: 200,
  headers: { etag: etagOf(event) },
  body: shown(call, event),
});

export const getEvent: Endpoint = (call) => {
  call.query("timeZone", "maxAttendees", "alwaysIncludeEmail");
  return answer(call, call.event());
};

interface Times {
  readonly start?: EventTime;
  readonly end?: EventTime;
}

export const insertEvent: Endpoint = (call) => {
  const { calendar, world, fail } = call;
  call.query("sendUpdates");
  call.needWriter();
  checkBody(call, call.body());
  // Without an id Google makes one, of 26 letters and digits.
  const { id = randomUUID().replaceAll("-", "").slice(0, 26), status, ...wanted } = merged({}, call.body());
  const { start, end } = wanted as Times;
  if (status !== undefined && status !== "confirmed") fail(400, "invalid", "Invalid value for: status");
  checkRange(call, start, end);
  if (typeof id !== "string" || !/^[a-v0-9]{5,1024}$/.test(id)) {
    return fail(400, "invalid", "Invalid resource id value.");
  }
  if (calendar.events.some((event) => event.id === id)) {
    return fail(409, "duplicate", "The requested identifier already exists.");
  }
  const event = addEvent(world, calendar, { ...wanted, id, start: start ?? {}, end: end ?? {} });
  call.mail(event);
  return answer(call, event);
};

export const patchEvent: Endpoint = (call) => {
  const { calendar, world, fail } = call;
  call.query("sendUpdates");
  call.needWriter();
  const change = call.body();
  checkBody(call, change);
  const event = call.event();
  call.ifMatch(event);
  if (change["id"] !== undefined && change["id"] !== event.id)
    fail(400, "invalid", "Invalid resource id value.");
  const { summary, description, location, start, end, status } = merged(
    { ...event },
    change,
  ) as Partial<StoredEvent>;
  checkRange(call, start, end);
  const times = { start: stored(calendar, start ?? {}), end: stored(calendar, end ?? {}) };
  const moved = JSON.stringify(times) !== JSON.stringify({ start: event.start, end: event.end });
  editEvent(world, event, {
    ...{ summary, description, location },
    status: status ?? "confirmed",
    ...(moved && times),
  });
  call.mail(event);
  return answer(call, event);
};

export const deleteEvent: Endpoint = (call) => {
  call.query("sendUpdates");
  call.needWriter();
  if (call.request.bytes.length > 0) call.fail(400, "parseError", "Parse Error");
  const event = call.event();
  if (event.status === "cancelled") call.fail(410, "deleted", "Resource has been deleted");
  call.ifMatch(event);
  removeEvent(call.world, event);
  call.mail(event);
  return { status: 204 };
};
