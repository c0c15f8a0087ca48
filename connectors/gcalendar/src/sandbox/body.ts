import { type EventTime, instantOf } from "../times.ts";
import type { Call } from "./wire.ts";

type Values = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const texts = ["summary", "description", "location"];
const timeMembers = ["date", "dateTime", "timeZone"];
const known = ["id", "status", "start", "end", ...texts];

/** Refuses what Google's event does not have, and values of another kind. */
export function checkBody({ fail }: Call, body: Values): void {
  const unknown = (name: string, at: string) => {
    const message = `Invalid JSON payload received. Unknown name "${name}" at '${at}': Cannot find field.`;
    return fail(400, "badRequest", message);
  };
  for (const [name, value] of Object.entries(body)) {
    if (!known.includes(name)) unknown(name, "event");
    if (name !== "start" && name !== "end") {
      if (value !== null && typeof value !== "string") fail(400, "invalid", `Invalid value for: ${name}`);
      continue;
    }
    if (value !== null && !isObject(value)) fail(400, "invalid", `Invalid value for: ${name}`);
    for (const [member, text] of Object.entries(value ?? {})) {
      if (!timeMembers.includes(member)) unknown(member, `event.${name}`);
      if (text !== null && typeof text !== "string") fail(400, "invalid", `Invalid ${name} time.`);
    }
  }
}

/** Google's merge: objects deeply, null clears, what is left out stays. Empty text is kept as no text. */
export function merged(before: Values, change: Values): Record<string, unknown> {
  const after: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(change)) {
    if (value === null || value === "") delete after[name];
    else after[name] = isObject(value) ? merged(isObject(before[name]) ? before[name] : {}, value) : value;
  }
  return after;
}

const isDate = (text: string) =>
  /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00Z`));
const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?$/i;

/** The moment of a time, an all-day one at midnight. */
function checkTime({ fail }: Call, name: "start" | "end", time: EventTime | undefined): number {
  if (!time || Object.keys(time).length === 0) return fail(400, "required", `Missing ${name} time.`);
  const invalid = () => fail(400, "invalid", `Invalid ${name} time.`);
  if (!time.date === !time.dateTime) return invalid();
  if (time.date) return isDate(time.date) ? Date.parse(`${time.date}T00:00:00Z`) : invalid();
  if (!dateTime.test(time.dateTime ?? "")) return invalid();
  const isLocal = instantOf({ dateTime: time.dateTime ?? "" }) === undefined;
  if (isLocal && !time.timeZone) {
    return fail(400, "required", `Missing time zone definition for ${name} time.`);
  }
  const inZone = time.timeZone ? instantOf({ dateTime: "2026-01-01T00:00:00", timeZone: time.timeZone }) : 0;
  if (inZone === undefined) return fail(400, "invalid", `Invalid time zone definition for ${name} time.`);
  return instantOf(time) ?? invalid();
}

/** Holds a pair of times to Google's rules: both there, of one kind, and a range that is not empty. */
export function checkRange(call: Call, start: EventTime | undefined, end: EventTime | undefined): void {
  const [from, to] = [checkTime(call, "start", start), checkTime(call, "end", end)];
  if (!start?.date !== !end?.date) call.fail(400, "invalid", "Invalid start time.");
  const isEmpty = start?.date ? from >= to : from > to;
  if (isEmpty) call.fail(400, "timeRangeEmpty", "The specified time range is empty.");
}
