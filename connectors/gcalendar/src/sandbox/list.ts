import { instantOf } from "../times.ts";
import { shown } from "./events.ts";
import type { Call, Endpoint } from "./wire.ts";
import { etagOf, opaque, type StoredEvent } from "./world.ts";

/** The moment of a time; an all-day one begins at midnight. */
const momentOf = ({ date, ...time }: StoredEvent["start"]) =>
  date ? Date.parse(`${date}T00:00:00Z`) : (instantOf(time) ?? 0);

/** A bound of the list: RFC 3339 with offset. */
function bound({ request, fail }: Call, name: string): number | undefined {
  const text = request.query.get(name);
  if (text === null) return undefined;
  const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(text) ? instantOf({ dateTime: text }) : undefined;
  return moment ?? fail(400, "badRequest", "Bad Request");
}

function flag({ request, fail }: Call, name: string): boolean {
  const text = request.query.get(name) ?? "false";
  if (text !== "true" && text !== "false") fail(400, "invalidParameter", `Invalid boolean value: '${text}'.`);
  return text === "true";
}

/** At which event the page begins, for a token that belongs to this very query. */
function beginning(call: Call, query: URLSearchParams): number {
  const pageToken = query.get("pageToken");
  if (pageToken === null) return 0;
  const [at = "", sign] = pageToken.split(".");
  return sign === signOf(query) ? Number(at) : call.fail(400, "invalid", "Invalid page token value.");
}
const signOf = (query: URLSearchParams) =>
  opaque([...query].filter(([name]) => name !== "pageToken" && name !== "maxResults").join("&"));

const known = [
  "timeMin",
  "timeMax",
  "q",
  "singleEvents",
  "orderBy",
  "maxResults",
  "pageToken",
  "showDeleted",
  "syncToken",
];

export const listEvents: Endpoint = (call) => {
  const { calendar, fail } = call;
  const query = call.query(...known);
  const [min, max] = [bound(call, "timeMin"), bound(call, "timeMax")];
  const [single, deleted] = [flag(call, "singleEvents"), flag(call, "showDeleted")];
  const orderBy = query.get("orderBy");
  const limit = Number(query.get("maxResults") ?? 250);
  const words = query.get("q")?.toLowerCase();
  if (query.has("syncToken")) {
    fail(410, "fullSyncRequired", "Sync token is no longer valid, a full sync is required.");
  }
  if (min !== undefined && max !== undefined && min >= max) {
    fail(400, "timeRangeEmpty", "The specified time range is empty.");
  }
  if (orderBy !== null && orderBy !== "startTime" && orderBy !== "updated")
    fail(400, "badRequest", "Bad Request");
  if (orderBy === "startTime" && !single) {
    fail(400, "badRequest", "The requested ordering is not available for the particular query.");
  }
  if (!Number.isInteger(limit) || limit < 1) fail(400, "invalidParameter", "Invalid value for maxResults.");
  const from = beginning(call, query);
  const found = calendar.events
    .filter(({ status }) => deleted || status !== "cancelled")
    .filter(({ start, end }) => momentOf(end) > (min ?? -Infinity) && momentOf(start) < (max ?? Infinity))
    .filter(({ summary, description, location }) =>
      [summary, description, location]
        .join("\n")
        .toLowerCase()
        .includes(words ?? ""),
    );
  if (orderBy === "startTime") found.sort((a, b) => momentOf(a.start) - momentOf(b.start));
  if (orderBy === "updated") found.sort((a, b) => a.version - b.version);
  const to = from + Math.min(limit, 2500);
  return {
    status: 200,
    body: {
      kind: "calendar#events",
      etag: `"p${found.map(etagOf).join("").replaceAll('"', "").slice(-16)}o"`,
      summary: calendar.id,
      description: "",
      updated: "2026-07-01T10:00:00.000Z",
      timeZone: calendar.timeZone,
      accessRole: calendar.access,
      defaultReminders: [],
      items: found.slice(from, to).map((event) => shown(call, event)),
      ...(to < found.length
        ? { nextPageToken: `${to}.${signOf(query)}` }
        : { nextSyncToken: opaque(`${calendar.id} ${found.length}`) }),
    },
  };
};
