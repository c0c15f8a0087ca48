import { createHash } from "node:crypto";
import { type EventTime, instantOf, offsetAt } from "../times.ts";

export const me = "bot@example.com";

export interface StoredEvent {
  readonly id: string;
  status: "confirmed" | "tentative" | "cancelled";
  summary?: string | undefined;
  description?: string | undefined;
  location?: string | undefined;
  start: EventTime;
  end: EventTime;
  attendees: { email: string; responseStatus: string }[];
  readonly recurringEventId?: string | undefined;
  readonly created: string;
  updated: string;
  sequence: number;
  /** Counts every write; the ETag is made of it. */
  version: number;
}
export interface Calendar {
  readonly id: string;
  readonly timeZone: string;
  /** What the token's owner may do in it; `none`: it is not there for them. */
  access: "none" | "reader" | "owner";
  readonly events: StoredEvent[];
}
export interface World {
  readonly calendars: Calendar[];
  /** What the token was granted. */
  scope: "calendar.events" | "calendar.events.readonly";
  /** 403 or 429: Google answers its limits with either. */
  rateLimitStatus: number;
  /** Requests left before the limit is reached. */
  remaining: number;
  /** Mails that guests were sent. */
  mails: number;
  versions: number;
}

/** What a write says of an event. */
export interface Draft {
  readonly id: string;
  readonly summary?: string | undefined;
  readonly description?: string | undefined;
  readonly location?: string | undefined;
  readonly start: EventTime;
  readonly end: EventTime;
  readonly recurringEventId?: string | undefined;
}

export const etagOf = ({ version }: StoredEvent) => `"${3_565_805_000_000_000 + version * 2}"`;

/** A time as Google gives it back: the same moment, in the text of the calendar's zone. */
export function stored({ timeZone }: Calendar, time: EventTime): EventTime {
  if (time.date) return { date: time.date };
  const zone = time.timeZone ?? timeZone;
  const moment = instantOf({ ...time, timeZone: zone }) ?? Number.NaN;
  const offset = offsetAt(moment, timeZone);
  const wall = new Date(moment + offset).toISOString().slice(0, 19);
  const minutes = Math.abs(offset) / 60_000;
  const two = (number: number) => String(Math.floor(number)).padStart(2, "0");
  const shift = offset === 0 ? "Z" : `${offset < 0 ? "-" : "+"}${two(minutes / 60)}:${two(minutes % 60)}`;
  return { dateTime: `${wall}${shift}`, timeZone: zone };
}

/** Adds an event. */
export function addEvent(world: World, calendar: Calendar, draft: Draft): StoredEvent {
  const now = new Date().toISOString();
  const event: StoredEvent = {
    ...draft,
    start: stored(calendar, draft.start),
    end: stored(calendar, draft.end),
    status: "confirmed",
    attendees: [],
    created: now,
    updated: now,
    sequence: 0,
    version: ++world.versions,
  };
  calendar.events.push(event);
  return event;
}

/** Changes an event as anybody else would: with a new ETag. */
export function editEvent(world: World, event: StoredEvent, change: Partial<StoredEvent>): void {
  if (change.start || change.end) event.sequence++;
  Object.assign(event, change, { updated: new Date().toISOString(), version: ++world.versions });
}

export const removeEvent = (world: World, event: StoredEvent) =>
  editEvent(world, event, { status: "cancelled" });

/** The calendar under its id; `primary` is the owner's own. */
export const calendarIn = ({ calendars }: World, id: string): Calendar | undefined =>
  calendars.find((calendar) => calendar.id === (id === "primary" ? me : id));

export function newWorld(): World {
  const calendar = (id: string, access: Calendar["access"]): Calendar => ({
    ...{ id, access },
    timeZone: "Europe/Zurich",
    events: [],
  });
  const own = calendar(me, "owner");
  const holidays = calendar("en.german#holiday@group.v.calendar.google.com", "reader");
  const world: World = {
    calendars: [own, calendar("team@group.calendar.google.com", "owner"), holidays],
    scope: "calendar.events",
    rateLimitStatus: 403,
    remaining: 600,
    mails: 0,
    versions: 0,
  };
  const zone = "Europe/Zurich";
  addEvent(world, own, {
    id: "review0000000000000000000",
    summary: "Review",
    description: "The <b>first</b> draft",
    start: { dateTime: "2026-07-02T09:00:00+02:00", timeZone: zone },
    end: { dateTime: "2026-07-02T10:00:00+02:00", timeZone: zone },
  });
  addEvent(world, own, {
    id: "offsite000000000000000000",
    summary: "Offsite",
    location: "Bern",
    start: { date: "2026-07-06" },
    end: { date: "2026-07-08" },
  });
  addEvent(world, own, {
    id: "standup000000000000000000_20260703T070000Z",
    recurringEventId: "standup000000000000000000",
    summary: "Stand-up",
    start: { dateTime: "2026-07-03T09:00:00+02:00", timeZone: "Europe/Berlin" },
    end: { dateTime: "2026-07-03T09:15:00+02:00", timeZone: "Europe/Berlin" },
  });
  addEvent(world, holidays, {
    id: "20261003_germanunity",
    summary: "Day of German Unity",
    start: { date: "2026-10-03" },
    end: { date: "2026-10-04" },
  });
  return world;
}

/** What a person would see, the trash included; neither ids that a program chose nor versions and times of changes. */
export const visibleState = ({ calendars, mails }: World) => ({
  mails,
  calendars: Object.fromEntries(
    calendars.map(({ id, events }) => [
      id,
      events.map(({ id: _, created, updated, version, ...seen }) => ({ ...seen })),
    ]),
  ),
});

/** An opaque word made from a text. */
export const opaque = (text: string) => createHash("sha256").update(text).digest("base64url").slice(0, 16);
