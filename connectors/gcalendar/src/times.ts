/** A time as Google has it. Null: there is none. Left out: nothing is said of it. */
export interface EventTime {
  readonly dateTime?: string | null;
  readonly date?: string | null;
  readonly timeZone?: string | null;
}

const withOffset = /(?:Z|[+-]\d\d:?\d\d)$/i;

/** How far a zone is ahead of UTC at a moment, in milliseconds. @throws RangeError for an unknown zone */
export function offsetAt(moment: number, timeZone: string): number {
  const parts = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" }).formatToParts(
    moment,
  );
  const name = parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
  const [, sign = "+", hours = "0", minutes = "0"] = /([+-])(\d\d):(\d\d)/.exec(name) ?? [];
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

/** Milliseconds since 1970; undefined for what is no moment, or has neither an offset nor a known zone. */
export function instantOf({ dateTime, timeZone }: EventTime): number | undefined {
  if (!dateTime) return undefined;
  const local = !withOffset.test(dateTime);
  const read = Date.parse(local ? `${dateTime}Z` : dateTime);
  if (Number.isNaN(read)) return undefined;
  if (!local) return read;
  if (!timeZone) return undefined;
  try {
    // The offset is that of the moment meant, which is known only once an offset is: look twice.
    return read - offsetAt(read - offsetAt(read, timeZone), timeZone);
  } catch {
    return undefined;
  }
}

/** Whether two times are the same moment in the same zone: Google gives the same moment back in another text. */
export function sameTime(a: EventTime | null | undefined, b: EventTime | null | undefined): boolean {
  if (!a || !b) return !a && !b;
  if ((a.date ?? null) !== (b.date ?? null)) return false;
  const [one, two] = [instantOf(a), instantOf(b)];
  const known = one !== undefined && two !== undefined;
  if (known ? one !== two : (a.dateTime ?? null) !== (b.dateTime ?? null)) return false;
  return a.timeZone === undefined || b.timeZone === undefined || a.timeZone === b.timeZone;
}

/** As Google must be told, for it merges: the members of the other kind are cleared. */
export const padded = ({ dateTime, date, timeZone }: EventTime) =>
  date
    ? { date, dateTime: null, timeZone: null }
    : { dateTime: dateTime ?? null, ...(timeZone !== undefined && { timeZone }), date: null };
