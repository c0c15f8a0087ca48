import { allDay, bench, offsite, review, timed } from "./bench.ts";

/** Speaks to the sandbox without the connector. */
async function vendor() {
  const on = await bench();
  const { token, baseUrl } = on.backend.options;
  const good = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    changes: Record<string, string | undefined> = {},
  ) => {
    const headers = Object.entries({ ...good, ...changes }).filter(([, value]) => value !== undefined);
    const response = await fetch(`${baseUrl}/calendars/primary/events${path}`, {
      method,
      headers: headers as [string, string][],
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
  };
  return { ...on, ask };
}

const refused = (code: number, reason: string) => ({
  status: code,
  body: { error: { code, message: expect.any(String), errors: [expect.objectContaining({ reason })] } },
});

describe("a request that Google refuses", () => {
  const { start, end } = timed("2026-07-09");
  const id = "abcde12345";
  test.each<[string, Parameters<Awaited<ReturnType<typeof vendor>>["ask"]>, number, string]>([
    ["no credential", ["GET", "", undefined, { authorization: undefined }], 401, "required"],
    ["another credential", ["GET", "", undefined, { authorization: "Bearer ya29.x" }], 401, "authError"],
    [
      "a form",
      ["POST", "", "a=b", { "content-type": "application/x-www-form-urlencoded" }],
      400,
      "parseError",
    ],
    ["a broken body", ["POST", "", "{"], 400, "parseError"],
    ["an unknown query", ["GET", "?time_min=x"], 400, "badRequest"],
    ["an unknown field", ["POST", "", { id, start, end, title: "x" }], 400, "badRequest"],
    ["no end", ["POST", "", { id, start }], 400, "required"],
    ["an end before the start", ["POST", "", { id, start: end, end: start }], 400, "timeRangeEmpty"],
    ["a start of another kind", ["POST", "", { id, start: allDay.start, end }], 400, "invalid"],
    ["an unknown zone", ["POST", "", { id, start: { ...start, timeZone: "Bern" }, end }], 400, "invalid"],
    ["no date", ["POST", "", { id, start: { date: "2026-02-31x" }, end: allDay.end }], 400, "invalid"],
    ["an id with a w in it", ["POST", "", { id: "wwwww", start, end }], 400, "invalid"],
    ["an id that is too short", ["POST", "", { id: "abcd", start, end }], 400, "invalid"],
    ["another audience", ["POST", "?sendUpdates=nobody", { id, start, end }], 400, "invalidParameter"],
    ["an id with a w in it, though it is taken", ["POST", "", { id: review, start, end }], 400, "invalid"],
    ["both kinds at once", ["PATCH", `/${review}`, { start: allDay.start, end: allDay.end }], 400, "invalid"],
    ["a start alone", ["PATCH", `/${review}`, { start: timed("2027-01-01").start }], 400, "timeRangeEmpty"],
    [
      "another version",
      ["PATCH", `/${review}`, { summary: "x" }, { "if-match": '"1"' }],
      412,
      "conditionNotMet",
    ],
    ["another version", ["DELETE", `/${review}`, undefined, { "if-match": '"1"' }], 412, "conditionNotMet"],
    ["an event that never was", ["GET", "/never00000"], 404, "notFound"],
    ["an order that is not to be had", ["GET", "?orderBy=startTime"], 400, "badRequest"],
    ["a bound without offset", ["GET", "?timeMin=2026-07-01T00:00:00"], 400, "badRequest"],
    [
      "an empty range",
      ["GET", "?timeMin=2026-07-02T00:00:00Z&timeMax=2026-07-01T00:00:00Z"],
      400,
      "timeRangeEmpty",
    ],
    ["another page", ["GET", "?pageToken=3.x"], 400, "invalid"],
    ["an old sync token", ["GET", "?syncToken=x"], 410, "fullSyncRequired"],
  ])("%s (%j): %i %s", async (_, request, status, reason) => {
    const { ask, state } = await vendor();
    const before = await state();
    expect(await ask(...request)).toEqual(refused(status, reason));
    expect(await state()).toEqual(before);
  });
});

test("a deleted event answers 200 cancelled, hides from the list, and keeps its id", async () => {
  const { ask } = await vendor();
  const made = { id: "abcde12345", ...allDay };
  expect(await ask("POST", "", made)).toMatchObject({ status: 200, body: { id: made.id, sequence: 0 } });
  expect(await ask("DELETE", `/${made.id}`)).toEqual({ status: 204, body: undefined });
  expect(await ask("DELETE", `/${made.id}`)).toEqual(refused(410, "deleted"));
  expect(await ask("GET", `/${made.id}`)).toMatchObject({ status: 200, body: { status: "cancelled" } });
  expect(await ask("POST", "", made)).toEqual(refused(409, "duplicate"));
  const ids = async (query: string) =>
    (await ask("GET", query)).body.items.map((item: { id: string }) => item.id);
  expect(await ids("")).not.toContain(made.id);
  expect(await ids("?showDeleted=true")).toContain(made.id);
  expect(await ask("PATCH", `/${made.id}`, { status: "confirmed" })).toMatchObject({ status: 200 });
  expect(await ids("")).toContain(made.id);
});

test("an event without an id gets one", async () => {
  const { ask } = await vendor();
  const { status, body } = await ask("POST", "", allDay);
  expect(status).toBe(200);
  expect(body.id).toMatch(/^[a-v0-9]{26}$/);
  expect(await ask("GET", `/${body.id}`)).toMatchObject({ status: 200, body: { id: body.id } });
});

test("a patch merges deeply, null clears, and every write makes a new ETag", async () => {
  const { ask } = await vendor();
  const { body: before } = await ask("GET", `/${offsite}`);
  const { body: after } = await ask("PATCH", `/${offsite}`, { location: null, end: { date: "2026-07-09" } });
  expect(after).toMatchObject({ summary: "Offsite", start: before.start, end: { date: "2026-07-09" } });
  expect(Object.keys(after)).not.toContain("location");
  expect(after.etag).toMatch(/^"\d+"$/);
  expect(after.etag).not.toBe(before.etag);
});

test("guests are mailed unless the request says not to", async () => {
  const { ask, eventWith, world } = await vendor();
  eventWith(review).attendees.push({ email: "ada@example.com", responseStatus: "accepted" });
  await ask("PATCH", `/${review}?sendUpdates=none`, { summary: "x" });
  expect(world.mails).toBe(0);
  await ask("PATCH", `/${review}`, { summary: "y" });
  expect(world.mails).toBe(1);
});

test("a time comes back as the same moment in the calendar's own text", async () => {
  const { ask } = await vendor();
  const start = { dateTime: "2026-01-09T03:00:00", timeZone: "America/New_York" };
  const { body } = await ask("POST", "", { id: "abcde12345", start, end: start });
  expect(body.start).toEqual({ dateTime: "2026-01-09T09:00:00+01:00", timeZone: "America/New_York" });
});
