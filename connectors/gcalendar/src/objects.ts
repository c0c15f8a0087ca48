import { refuseArgument, s } from "@reversi-connector/core";
import { type EventTime, padded, sameTime } from "./times.ts";

/** Google's event, as far as the tools read it. Empty fields are absent. */
export interface Event {
  readonly id: string;
  readonly etag: string;
  readonly status: string;
  readonly summary?: string;
  readonly description?: string;
  readonly location?: string;
  readonly start?: EventTime;
  readonly end?: EventTime;
  readonly attendees?: readonly object[];
  readonly recurringEventId?: string;
  readonly htmlLink?: string;
  readonly updated?: string;
}

/** The fields that tools change. Null: the field is empty. */
export interface Fields {
  readonly summary?: string | null;
  readonly description?: string | null;
  readonly location?: string | null;
  readonly start?: EventTime | null;
  readonly end?: EventTime | null;
}
export type FieldName = keyof Fields;
export const fieldNames = ["summary", "description", "location", "start", "end"] as const;
const isTime = (name: FieldName) => name === "start" || name === "end";

/** The fields of `names`, each as `valueAt` says. */
const each = (names: readonly FieldName[], valueAt: (name: FieldName) => unknown): Fields =>
  Object.fromEntries(names.map((name) => [name, valueAt(name)]));

/** Those that are given. */
export const namesIn = (fields: Fields): FieldName[] =>
  fieldNames.filter((name) => fields[name] !== undefined);

const asShown = (time: EventTime | undefined): EventTime | null =>
  time ? { dateTime: time.dateTime ?? null, date: time.date ?? null, timeZone: time.timeZone ?? null } : null;

/** What an event has in the fields of `names`, null where empty; times in Google's own text. */
export const fieldsOf = (event: Event, names: readonly FieldName[] = fieldNames): Fields =>
  each(names, (name) => (isTime(name) ? asShown(event[name] as EventTime) : (event[name] ?? null)));

/** What an event will have once `wanted` is written; a zone that was not given is Google's to choose. */
export const foreseen = (wanted: Fields, names: readonly FieldName[] = fieldNames): Fields =>
  each(names, (name) => {
    const value = wanted[name];
    if (!value || typeof value === "string") return value ?? null;
    const { timeZone, ...rest } = padded(value);
    return value.date || timeZone ? { ...rest, timeZone } : rest;
  });

/** Whether one field has the same value in both. Google keeps no empty text: the field is absent then. */
export const sameField = (name: FieldName, a: Fields, b: Fields): boolean =>
  isTime(name)
    ? sameTime(a[name] as EventTime, b[name] as EventTime)
    : (a[name] || null) === (b[name] || null);

/** Whether the event has every value of `fields`. */
export const hasAll = (event: Event, fields: Fields): boolean =>
  namesIn(fields).every((name) => sameField(name, fieldsOf(event), fields));

/** A patch that sets exactly these fields; null clears. */
export const patchOf = (fields: Fields): object =>
  each(namesIn(fields), (name) => {
    const value = fields[name];
    return value && typeof value === "object" ? padded(value) : value;
  });

/**
 * Times that Google would refuse, or merge into something else.
 * @throws InvalidArgumentsError naming the argument
 */
export function checkTimes({ start, end }: Fields): void {
  if (!start && !end) return;
  if (!start) refuseArgument("start", "is required: start and end go together");
  if (!end) refuseArgument("end", "is required: start and end go together");
  for (const [at, { date, dateTime }] of Object.entries({ start, end })) {
    if (!date === !dateTime) refuseArgument(at, "must have either dateTime or date");
  }
  if (!start.date !== !end.date)
    refuseArgument("end", "must be of the same kind as the start: both dateTime or both date");
}

const timeMembers = {
  dateTime: s.nullable(s.string("RFC 3339 time with offset, for a timed event.")),
  date: s.nullable(s.string("YYYY-MM-DD, for an all-day event; an end is exclusive.")),
  timeZone: s.nullable(s.string("IANA time zone.")),
};
export const time = (description: string) => s.object({}, timeMembers, description);

/** Schemas of values that several tools share. */
export const startTime = time("Start: `dateTime` or `date`, same kind as the end.");
export const endTime = time("End: `dateTime` or `date`, same kind as the start.");
export const fieldsSchema = (description: string) =>
  s.object(
    {},
    {
      summary: s.nullable(s.string("Title.")),
      description: s.nullable(s.string("Text, may hold HTML.")),
      location: s.nullable(s.string("Place.")),
      start: s.nullable(startTime),
      end: s.nullable(endTime),
    },
    description,
  );
export const calendarUsed = s.string("Calendar id as used.", { minLength: 1, maxLength: 1024 });
export const calendarId = s.string("Calendar id, not percent-encoded.", {
  minLength: 1,
  maxLength: 1024,
  default: "primary",
});
const idPattern = { pattern: "^(?!\\.{1,2}$)[^\\s/]{1,1100}$" };
export const eventId = s.string("Event id.", idPattern);
export const chosenEventId = s.string("Event id, chosen by the connector.", idPattern);
export const etag = s.string("ETag, verbatim with its quotes.");
export const url = s.nullable(s.string("Address of it for people; carries no credential."));
export const already = s.boolean("True when nothing had to be done.");
