import { ConflictError, ConnectorError } from "@reversi-connector/core";
import { addEvent, editEvent, removeEvent } from "../src/sandbox.ts";
import { allDay, bench, failure, offsite, refusal, review, timed } from "./bench.ts";

describe("the whole way round", () => {
  test.each([
    ["create_event", { summary: "Sync", description: "<i>x</i>", ...timed("2026-07-09") }],
    ["create_event", { summary: "", location: "Bern", ...allDay }],
    ["create_event", { calendar_id: "team@group.calendar.google.com", ...allDay }],
    ["update_event", { event_id: review, summary: "New", description: null }],
    ["update_event", { event_id: offsite, location: "", summary: null }],
    ["update_event", { event_id: review, ...timed("2026-08-01") }],
  ])("%s %j: do, undo, undo again, and nothing but the declared residue is left", async (tool, args) => {
    const on = await bench();
    const before = await on.seen();
    const result = await on.call(tool, args);
    expect(await on.seen()).not.toEqual(before);
    expect(result).toMatchObject({
      calendar_id: (args as { calendar_id?: string }).calendar_id ?? "primary",
    });
    expect(await on.undo(tool, args, result)).toMatchObject({ already: false });
    expect(await on.seen()).toEqual(before);
    expect(await on.undo(tool, args, result)).toMatchObject({ already: true });
    expect(on.writes()).toHaveLength(2);
    const { tool: undo, args: undoArgs } = on.undoOf(tool, args, result);
    expect(await on.holds(undo, undoArgs)).toBe(true);
  });

  test("GC-10: every write and every undo keeps Google quiet, so that no guest gets a mail", async () => {
    const on = await bench();
    on.eventWith(review).attendees.push({ email: "ada@example.com", responseStatus: "accepted" });
    const args = { event_id: review, summary: "New" };
    await on.undo("update_event", args, await on.call("update_event", args));
    await on.undo("create_event", allDay, await on.call("create_event", allDay));
    await on.call("delete_event", { event_id: review });
    expect(on.writes().map(({ method, query }) => [method, String(query)])).toEqual(
      ["PATCH", "PATCH", "POST", "DELETE", "DELETE"].map((method) => [method, "sendUpdates=none"]),
    );
    expect(on.world.mails).toBe(0);
  });

  test("every write to an event that is there carries the ETag that was read", async () => {
    const on = await bench();
    const args = { event_id: review, summary: "New" };
    await on.undo("update_event", args, await on.call("update_event", args));
    await on.call("delete_event", { event_id: review });
    for (const { headers } of on.writes()) expect(headers["if-match"]).toMatch(/^"\d+"$/);
  });
});

describe("GC-01: all-day and timed", () => {
  test.each([
    [review, allDay],
    [offsite, timed("2026-07-06")],
  ])("%s becomes the other kind and comes back as it was", async (event_id, times) => {
    const on = await bench();
    const before = await on.seen();
    const args = { event_id, ...times };
    const result = await on.call("update_event", args);
    await on.undo("update_event", args, result);
    const none = { dateTime: null, timeZone: null };
    const [there, back] = on.bodies() as { start: object; end: object }[];
    const [toTimed, toAllDay] = event_id === offsite ? [there, back] : [back, there];
    expect(toAllDay).toMatchObject({ start: none, end: none });
    expect(toTimed).toMatchObject({ start: { date: null }, end: { date: null } });
    expect(await on.seen()).toEqual(before);
  });
});

test("GC-09: a field that was empty is cleared again with an explicit null", async () => {
  const on = await bench();
  const args = { event_id: review, location: "x" };
  const result = await on.call("update_event", args);
  expect(result).toMatchObject({ previous: { location: null }, current: { location: "x" } });
  await on.undo("update_event", args, result);
  await on.call("update_event", { event_id: review, summary: "" });
  expect(on.bodies()).toEqual([{ location: "x" }, { location: null }, { summary: "" }]);
  expect(on.eventWith(review).location).toBeUndefined();
});

describe("GC-08: times go out as they came", () => {
  test.each([
    ["a local time", { dateTime: "2025-03-30T02:30:00", timeZone: "Europe/Berlin" }],
    ["UTC", { dateTime: "2025-03-30T02:30:00Z" }],
    ["an offset", { dateTime: "2025-03-30T02:30:00+02:00", timeZone: "America/New_York" }],
  ])("%s", async (_, start) => {
    const on = await bench();
    const end = { ...start, dateTime: start.dateTime.replace("02:30", "04:30") };
    const before = await on.seen();
    const [created, updated] = [
      { start, end },
      { event_id: review, start, end },
    ];
    const [made, changed] = [await on.call("create_event", created), await on.call("update_event", updated)];
    expect(on.bodies()).toEqual([
      { ...created, id: made["event_id"] },
      { start: { ...start, date: null }, end: { ...end, date: null } },
    ]);
    expect(changed).toMatchObject({ previous: { start: { timeZone: "Europe/Zurich" } } });
    await on.undo("update_event", updated, changed);
    await on.undo("create_event", created, made);
    expect(await on.seen()).toEqual(before);
  });

  test("a time without offset and without zone is Google's to refuse", async () => {
    const { call } = await bench();
    const local = { start: { dateTime: "2025-03-30T02:30:00" }, end: { dateTime: "2025-03-30T03:30:00" } };
    expect(await failure(call("create_event", local))).toMatchObject({ status: 400, reason: "required" });
  });
});

describe("GC-04: calendar ids", () => {
  test("stay in one segment, # and @ and / included", async () => {
    const { call, backend } = await bench();
    const holidays = "en.german#holiday@group.v.calendar.google.com";
    expect(await call("list_events", { calendar_id: holidays })).toMatchObject({
      calendar_id: holidays,
      events: [{ summary: "Day of German Unity" }],
    });
    await failure(call("list_events", { calendar_id: "a/b@x" }));
    const [first, second] = backend.requests.map(({ pathname }) => pathname);
    expect(first).toBe("/calendar/v3/calendars/en.german%23holiday%40group.v.calendar.google.com/events");
    expect(second).toBe("/calendar/v3/calendars/a%2Fb%40x/events");
  });

  test.each(["..", ".", ""])("%j is refused, and nothing goes to primary instead", async (calendar_id) => {
    const on = await bench();
    for (const [tool, args] of [
      ["list_events", {}],
      ["create_event", allDay],
      ["update_event", { event_id: review, summary: "x" }],
      ["delete_event", { event_id: review }],
    ] as const) {
      const error = await failure(on.call(tool, { ...args, calendar_id }));
      expect(error).toMatchObject({ code: "INVALID_ARGUMENTS" });
    }
    expect(on.backend.requests).toEqual([]);
  });
});

describe("GC-03: what counts as gone", () => {
  test("410 deleted is success, also when somebody deletes between the read and the write", async () => {
    const on = await bench();
    on.meanwhile("DELETE", () => removeEvent(on.world, on.eventWith(review)));
    expect(await on.call("delete_event", { event_id: review })).toMatchObject({ already: true });
    expect(on.writes().map(({ status }) => status)).toEqual([410]);
    expect(await on.call("delete_event", { event_id: review })).toMatchObject({ already: true });
  });

  test("404 counts only when the calendar itself answers", async () => {
    const on = await bench();
    const args = { event_id: "never00000" };
    expect(await on.call("delete_event", args)).toMatchObject({ already: true });
    expect(await on.holds("delete_event", args)).toBe(true);
    on.own.access = "none";
    const error = await failure(on.call("delete_event", args));
    expect(error).toMatchObject({ code: "FAILED", status: 404 });
    expect(error.message).toContain("calendar primary cannot be read");
    expect(await failure(on.holds("delete_event", args))).toMatchObject({ status: 404 });
    expect(on.writes()).toEqual([]);
  });

  test("lost access between the read and the delete is a failure", async () => {
    const on = await bench();
    on.meanwhile("DELETE", () => {
      on.own.access = "none";
    });
    expect(await failure(on.call("delete_event", { event_id: review }))).toMatchObject({ status: 404 });
    on.own.access = "reader";
    expect(await failure(on.call("delete_event", { event_id: review }))).toMatchObject({ status: 403 });
    expect(on.eventWith(review).status).toBe("confirmed");
  });

  test("410 fullSyncRequired of a list is an error, and no proof of anything", async () => {
    const on = await bench();
    const body = refusal(410, "fullSyncRequired", "Sync token is no longer valid.");
    on.backend.inject({ kind: "status", status: 410, body }, { times: 3 });
    expect(await failure(on.call("list_events", {}))).toMatchObject({ status: 410 });
    const error = await failure(on.call("delete_event", { event_id: review }));
    expect(error).toMatchObject({ status: 410, reason: "fullSyncRequired" });
  });
});

describe("what somebody else did survives", () => {
  test.each([
    ["another title", { summary: "Ada's" }],
    ["a place added", { location: "Room 9" }],
    ["another time", { start: { date: "2026-07-20" }, end: { date: "2026-07-21" } }],
    ["a guest", { attendees: [{ email: "ada@example.com", responseStatus: "needsAction" }] }],
  ])("a new event with %s is not deleted, unless the operator says so", async (_, change) => {
    const on = await bench();
    const result = await on.call("create_event", allDay);
    editEvent(on.world, on.eventWith(result["event_id"]), change);
    expect(ConflictError.is(await failure(on.undo("create_event", allDay, result)))).toBe(true);
    expect(on.eventWith(result["event_id"])).toMatchObject({ ...change, status: "confirmed" });
    const onConflict = "overwrite";
    const forced = await on.undo("create_event", allDay, result, { onConflict });
    expect(forced).toMatchObject({ already: false });
  });

  test("a field that was changed again is not restored; another field may differ", async () => {
    const on = await bench();
    const args = { event_id: review, summary: "New" };
    const result = await on.call("update_event", args);
    editEvent(on.world, on.eventWith(review), { location: "Room 9" });
    await on.undo("update_event", args, result);
    expect(on.eventWith(review)).toMatchObject({ summary: "Review", location: "Room 9" });
    const again = await on.call("update_event", args);
    editEvent(on.world, on.eventWith(review), { summary: "Ada's" });
    expect(ConflictError.is(await failure(on.undo("update_event", args, again)))).toBe(true);
    expect(on.eventWith(review).summary).toBe("Ada's");
    await on.undo("update_event", args, again, { onConflict: "overwrite" });
    expect(on.eventWith(review).summary).toBe("Review");
  });

  test("an edit between read and write is seen: read again once, then a conflict", async () => {
    const on = await bench();
    const args = { event_id: review, summary: "New" };
    const result = await on.call("update_event", args);
    on.meanwhile("PATCH", () => editEvent(on.world, on.eventWith(review), { location: "Room 9" }));
    expect(await on.undo("update_event", args, result)).toMatchObject({ already: false });
    expect(on.eventWith(review)).toMatchObject({ summary: "Review", location: "Room 9" });

    let count = 0;
    const busy = () => editEvent(on.world, on.eventWith(review), { location: `Room ${++count}` });
    on.meanwhile("DELETE", busy, 2);
    const context = { onConflict: "overwrite" } as const;
    const error = await failure(on.call("delete_event", { event_id: review }, context));
    expect(ConflictError.is(error)).toBe(true);
    expect(on.eventWith(review)).toMatchObject({ status: "confirmed", location: "Room 2" });

    on.meanwhile("PATCH", busy);
    expect(ConflictError.is(await failure(on.call("update_event", args)))).toBe(true);
    expect(on.eventWith(review).summary).toBe("Review");
  });

  test("a deleted event is neither updated nor restored, whatever the operator says", async () => {
    const on = await bench();
    const args = { event_id: review, summary: "New" };
    const result = await on.call("update_event", args);
    removeEvent(on.world, on.eventWith(review));
    const writes = on.writes().length;
    for (const onConflict of ["refuse", "overwrite"] as const) {
      expect(ConflictError.is(await failure(on.undo("update_event", args, result, { onConflict })))).toBe(
        true,
      );
    }
    expect(ConnectorError.is(await failure(on.call("update_event", args)))).toBe(true);
    expect(await on.holds("restore_event", { event_id: review, previous: { summary: "New" } })).toBe(false);
    expect(on.writes()).toHaveLength(writes);
  });
});

describe("arguments that Google would merge into something else", () => {
  test.each([
    ["update_event", { event_id: review }],
    ["update_event", { event_id: review, start: allDay.start }],
    ["update_event", { event_id: review, end: allDay.end }],
    ["update_event", { event_id: review, start: { date: "2026-07-01" }, end: timed("2026-07-02").end }],
    ["create_event", { start: { ...allDay.start, ...timed("2026-07-02").start }, end: allDay.end }],
    ["create_event", { start: {}, end: {} }],
    ["restore_event", { event_id: review, previous: { start: allDay.start } }],
    ["list_events", { order_by: "startTime", single_events: false }],
  ])("%s %j is refused before anything is sent", async (tool, args) => {
    const on = await bench();
    expect(await failure(on.call(tool, args))).toMatchObject({ code: "INVALID_ARGUMENTS" });
    expect(on.backend.requests).toEqual([]);
  });
});

test("list_events pages through all events with their cursor, without attendees", async () => {
  const on = await bench();
  for (let day = 10; day < 15; day++) {
    addEvent(on.world, on.own, { id: `day${day}00`, ...timed(`2026-09-${day}`) }).attendees.push({
      email: "ada@example.com",
      responseStatus: "accepted",
    });
  }
  const ids: string[] = [];
  let cursor: string | null | undefined;
  do {
    const page: { events: { event_id: string }[]; next_cursor: string | null } = await on.call(
      "list_events",
      { limit: 3, order_by: "startTime", ...(cursor && { cursor }) },
    );
    expect(JSON.stringify(page)).not.toContain("ada@");
    ids.push(...page.events.map(({ event_id }) => event_id));
    cursor = page.next_cursor;
  } while (cursor);
  expect(ids.sort()).toEqual(on.own.events.map(({ id }) => id).sort());
  const found = await on.call("list_events", { q: "stand-up", time_min: "2026-07-01T00:00:00Z" });
  expect(found).toMatchObject({
    time_zone: "Europe/Zurich",
    events: [{ recurring_event_id: "standup000000000000000000", location: null, status: "confirmed" }],
    next_cursor: null,
  });
});
