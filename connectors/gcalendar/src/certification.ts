import { readFileSync } from "node:fs";
import type { Plan, Subject } from "@reversi-connector/certification-kit";
import { gcalendar } from "./index.ts";
import { token } from "./sandbox/wire.ts";
import { attach, editEvent, type GoogleCalendarSandbox, sandbox } from "./sandbox.ts";

const review = "review0000000000000000000";
const offsite = "offsite000000000000000000";
const team = "team@group.calendar.google.com";
const timed = (day: string) => ({
  start: { dateTime: `${day}T09:00:00+02:00`, timeZone: "Europe/Berlin" },
  end: { dateTime: `${day}T10:00:00+02:00`, timeZone: "Europe/Berlin" },
});
const allDay = { start: { date: "2026-07-10" }, end: { date: "2026-07-11" } };

type Calls = Readonly<Record<string, Plan<GoogleCalendarSandbox> | readonly Plan<GoogleCalendarSandbox>[]>>;

/** Somebody changes every field of the event that a call worked on. */
const edit: NonNullable<Plan<GoogleCalendarSandbox>["edit"]> = ({ world }, { result }) => {
  const event = world.calendars.flatMap(({ events }) => events).find(({ id }) => id === result.event_id);
  const change = { summary: "Moved by Ada", location: "Room 9", description: "See Ada" };
  const [start, end] = [{ date: "2027-01-04" }, { date: "2027-01-05" }];
  if (event) editEvent(world, event, { ...change, start, end });
};

/** Good calls: in the calendar `primary` a timed event and an all-day one. */
const calls: Calls = {
  "gcalendar.list_events": { args: { q: "review", order_by: "startTime" } },
  "gcalendar.create_event": [
    { title: "a timed event", args: { summary: "Sync", location: "Bern", ...timed("2026-07-09") }, edit },
    { title: "an all-day event of the team", args: { calendar_id: team, summary: "Fair", ...allDay }, edit },
  ],
  "gcalendar.update_event": [
    { title: "texts", args: { event_id: review, description: null, location: "Basel" }, edit },
    { title: "from timed to all-day", args: { event_id: review, ...allDay }, edit },
    { title: "from all-day to timed", args: { event_id: offsite, ...timed("2026-07-06") }, edit },
  ],
  "gcalendar.delete_event": { args: { event_id: review } },
  "gcalendar.restore_event": { args: { event_id: offsite, previous: { location: null, summary: "Away" } } },
};

interface Seen {
  readonly status: string;
  readonly sequence: number;
}
interface State {
  readonly calendars: Readonly<Record<string, readonly Seen[]>>;
}

/** The state with the events of each calendar as `change` makes them. */
const each = (
  before: State,
  after: State,
  change: (was: readonly Seen[], is: readonly Seen[]) => unknown,
) => ({
  ...after,
  calendars: Object.fromEntries(
    Object.entries(after.calendars).map(([id, is]) => [id, change(before.calendars[id] ?? [], is)]),
  ),
});

const schemaHashes: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL("../schema-hashes.json", import.meta.url), "utf8"),
);

/** What the certification needs to know about this connector. */
export const subject = {
  connector: ({ address, credential, timeoutMs }) =>
    gcalendar({ ...attach(address), token: credential, timeoutMs }),
  backend: () => sandbox(),
  wire: (backend, { http }) => http(backend, { address: backend.address }),
  credential: token,
  calls,
  schemaHashes,
  residue: {
    trash: (before: State, after: State) =>
      each(before, after, (was, is) =>
        is.filter(({ status }, index) => status !== "cancelled" || was[index] !== undefined),
      ),
    version: (before: State, after: State) =>
      each(before, after, (was, is) =>
        is.map((event, index) => ({ ...event, sequence: was[index]?.sequence ?? event.sequence })),
      ),
  },
  contract: (folder, kit) => kit.openApi(`${folder}/gcalendar.json`),
  permit({ world }, access) {
    if (access === "none") for (const calendar of world.calendars) calendar.access = "none";
  },
} satisfies Subject<GoogleCalendarSandbox>;
