import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { auth, calendar } from "@googleapis/calendar";
import { software, witness } from "../support.js";

// The class of errors belongs to a package below the SDK.
const require = createRequire(import.meta.resolve("@googleapis/calendar"));
const { GaxiosError } = createRequire(require.resolve("googleapis-common"))("gaxios");

function clientFor({ address, options }, token = options.token) {
  const credentials = new auth.OAuth2();
  credentials.setCredentials({ access_token: token });
  return calendar({ version: "v3", auth: credentials, rootUrl: `${address}/`, retry: false });
}

const { does, raises, run } = await witness("gcalendar", software("@googleapis/calendar"), (backend) =>
  clientFor(backend),
);

const calendarId = "primary";
const review = { calendarId, eventId: "review0000000000000000000" };
const hour = {
  start: { dateTime: "2026-07-10T09:00:00+02:00", timeZone: "Europe/Zurich" },
  end: { dateTime: "2026-07-10T10:00:00+02:00", timeZone: "Europe/Zurich" },
};

does("lists events in order", async ({ sdk, call }) => {
  const { data, status } = await sdk.events.list({
    calendarId,
    singleEvents: true,
    orderBy: "startTime",
    timeMin: "2026-07-01T00:00:00Z",
    timeMax: "2026-08-01T00:00:00Z",
  });
  assert.deepEqual([status, data.kind, data.timeZone], [200, "calendar#events", "Europe/Zurich"]);
  assert.deepEqual(
    data.items.map(({ summary }) => summary),
    ["Review", "Stand-up", "Offsite"],
  );
  const ours = await call("list_events", { order_by: "startTime", time_min: "2026-07-01T00:00:00Z" });
  assert.deepEqual(
    ours.events.map(({ event_id }) => event_id),
    data.items.map((item) => item.id),
  );
});

does("pages by the token of the page before, and searches", async ({ sdk }) => {
  const seen = [];
  let pageToken;
  do {
    const { data } = await sdk.events.list({ calendarId, maxResults: 2, pageToken });
    seen.push(...data.items);
    pageToken = data.nextPageToken ?? undefined;
  } while (pageToken);
  assert.equal(seen.length, 3);
  const { data } = await sdk.events.list({ calendarId, q: "bern" });
  assert.deepEqual(
    data.items.map(({ location }) => location),
    ["Bern"],
  );
});

does("reads an event", async ({ sdk }) => {
  const { data, headers } = await sdk.events.get(review);
  assert.deepEqual([data.kind, data.summary, data.status], ["calendar#event", "Review", "confirmed"]);
  assert.equal(new Headers(headers).get("etag"), data.etag);
});

does("creates an event under an id of its own, and deletes it", async ({ sdk }) => {
  const requestBody = {
    id: "made000000000000000",
    summary: "Lunch",
    description: "<b>!</b>",
    location: "Bern",
    ...hour,
  };
  const { data } = await sdk.events.insert({ calendarId, sendUpdates: "none", requestBody });
  assert.deepEqual(
    [data.id, data.summary, data.location, data.start],
    [requestBody.id, "Lunch", "Bern", hour.start],
  );
  const gone = await sdk.events.delete({ calendarId, eventId: data.id, sendUpdates: "none" });
  assert.equal(gone.status, 204);
  const trash = await sdk.events.get({ calendarId, eventId: data.id });
  assert.equal(trash.data.status, "cancelled");
});

does("creates an all-day event, and leaves its id to Google", async ({ sdk }) => {
  const requestBody = { summary: "Holiday", start: { date: "2026-07-20" }, end: { date: "2026-07-21" } };
  const { data } = await sdk.events.insert({ calendarId, requestBody });
  assert.match(data.id, /^[a-v0-9]{5,1024}$/);
  assert.deepEqual((await sdk.events.get({ calendarId, eventId: data.id })).data, data);
});

does("changes an event, with the ETag it has", async ({ sdk }) => {
  const { data: before } = await sdk.events.get(review);
  const { data } = await sdk.events.patch(
    { ...review, sendUpdates: "none", requestBody: { summary: "Review 2", description: null } },
    { headers: { "If-Match": before.etag } },
  );
  assert.deepEqual([data.summary, data.description], ["Review 2", undefined]);
  assert.notEqual(data.etag, before.etag);
});

does("sees the event of create_event in the trash after its undo", async ({ sdk, call }) => {
  const { calendar_id, event_id, current } = await call("create_event", { summary: "Ours", ...hour });
  const { data } = await sdk.events.get({ calendarId: calendar_id, eventId: event_id });
  assert.equal(data.summary, "Ours");
  await call("delete_event", { calendar_id, event_id, expected: current });
  const after = await sdk.events.get({ calendarId: calendar_id, eventId: event_id });
  assert.equal(after.data.status, "cancelled");
});
does("sees update_event and its undo; an edit in between is a conflict", async ({ sdk, call }) => {
  const change = { event_id: review.eventId, summary: "Ours" };
  const made = await call("update_event", change);
  assert.equal((await sdk.events.get(review)).data.summary, "Ours");
  const undo = { event_id: review.eventId, previous: made.previous, expected: made.current };
  await call("restore_event", undo);
  assert.equal((await sdk.events.get(review)).data.summary, "Review");
  const again = await call("update_event", change);
  await sdk.events.patch({ ...review, requestBody: { summary: "Theirs" } });
  const late = { ...undo, previous: again.previous, expected: again.current };
  await assert.rejects(call("restore_event", late), { code: "CONFLICT" });
  assert.equal((await sdk.events.get(review)).data.summary, "Theirs");
});

const failure = (status, reason) => ({
  class: GaxiosError,
  status,
  response: ({ data }) => {
    assert.equal(data.error.code, status);
    assert.equal(data.error.errors[0].reason, reason);
    return true;
  },
});
const read = ({ sdk }) => sdk.events.get(review);
const injected = (fault) => (bench) => {
  bench.backend.inject(fault);
  return read(bench);
};

raises(
  "GaxiosError 404 notFound: no such event",
  ({ sdk }) => sdk.events.get({ calendarId, eventId: "nothing" }),
  failure(404, "notFound"),
);
raises(
  "GaxiosError 404 notFound: no such calendar",
  ({ sdk }) => sdk.events.list({ calendarId: "nobody@example.com" }),
  failure(404, "notFound"),
);
raises(
  "GaxiosError 409 duplicate: an id that is taken",
  async ({ sdk }) => {
    const requestBody = { id: "taken00000", ...hour };
    await sdk.events.insert({ calendarId, requestBody });
    return sdk.events.insert({ calendarId, requestBody });
  },
  failure(409, "duplicate"),
);
raises(
  "GaxiosError 410 deleted: deleting twice",
  async ({ sdk }) => {
    await sdk.events.delete(review);
    return sdk.events.delete(review);
  },
  failure(410, "deleted"),
);
raises(
  "GaxiosError 412 conditionNotMet: an old ETag",
  ({ sdk }) =>
    sdk.events.patch({ ...review, requestBody: { summary: "x" } }, { headers: { "If-Match": '"1"' } }),
  failure(412, "conditionNotMet"),
);
raises(
  "GaxiosError 400 timeRangeEmpty: an end before its start",
  ({ sdk }) =>
    sdk.events.insert({ calendarId, requestBody: { id: "backwards", start: hour.end, end: hour.start } }),
  failure(400, "timeRangeEmpty"),
);
raises(
  "GaxiosError 401 authError: a token that nobody knows",
  ({ backend }) => read({ sdk: clientFor(backend, "ya29.nobody") }),
  failure(401, "authError"),
);
raises(
  "GaxiosError 403 requiredAccessLevel: a calendar that may only be read",
  ({ sdk }) =>
    sdk.events.insert({
      calendarId: "en.german#holiday@group.v.calendar.google.com",
      requestBody: { id: "mine00", ...hour },
    }),
  failure(403, "requiredAccessLevel"),
);
raises(
  "GaxiosError 403 insufficientPermissions: a token that may only read",
  ({ sdk, backend }) => {
    backend.world.scope = "calendar.events.readonly";
    return sdk.events.delete(review);
  },
  failure(403, "insufficientPermissions"),
);
raises(
  "GaxiosError 403 rateLimitExceeded: too many requests",
  injected({ kind: "rateLimit" }),
  failure(403, "rateLimitExceeded"),
);
raises(
  "GaxiosError 429 rateLimitExceeded: too many requests, with a time to wait",
  (bench) => {
    bench.backend.world.rateLimitStatus = 429;
    bench.backend.inject({ kind: "rateLimit", retryAfter: 30 });
    return read(bench);
  },
  failure(429, "rateLimitExceeded"),
);
raises(
  "GaxiosError 500 backendError: a breakdown",
  injected({ kind: "status", status: 500 }),
  failure(500, "backendError"),
);
raises("GaxiosError: a connection that is cut", injected({ kind: "cutAfter" }), {
  class: GaxiosError,
  response: undefined,
});

run();
