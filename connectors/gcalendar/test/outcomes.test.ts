import { type Checkpoint, EffectUncertainError } from "@reversi-connector/core";
import { token } from "../src/sandbox/wire.ts";
import { editEvent, removeEvent } from "../src/sandbox.ts";
import { allDay, type Bench, bench, failure, refusal, review, timed } from "./bench.ts";

const idempotencyKey = "run 1, step 1";
type Write = readonly [tool: string, args: object];
const local = {
  start: { dateTime: "2026-07-09T09:00:00", timeZone: "America/New_York" },
  end: { dateTime: "2026-07-09T10:00:00", timeZone: "America/New_York" },
};
const forward: readonly Write[] = [
  ["create_event", { summary: "", description: "<b>x</b>", ...timed("2026-07-09") }],
  ["create_event", local],
  ["update_event", { event_id: review, summary: "New", location: "", ...allDay }],
  ["update_event", { event_id: review, ...local }],
];
const undoes: readonly Write[] = [
  ["delete_event", { event_id: review }],
  ["restore_event", { event_id: review, previous: { summary: "Old", description: null } }],
];
const all = [...forward, ...undoes];
const writing = (tool: string) => ({
  method: { create: "POST", delete: "DELETE" }[tool.split("_")[0] ?? ""] ?? "PATCH",
});

/** Calls a tool whose answer is lost and keeps what it made durable. */
async function lose({ call }: Bench, tool: string, args: object) {
  const kept: Checkpoint[] = [];
  const checkpoint = async (next: Checkpoint) => void kept.push(next);
  const error = await failure(call(tool, args, { idempotencyKey, checkpoint }));
  return { error, checkpoint: kept[0] };
}

test.each(all)("HT-01: %s %j sent once, its answer lost or useless: unknown", async (tool, args) => {
  for (const fault of [
    { kind: "cutAfter", reset: true },
    { kind: "cutBefore" },
    { kind: "cutBody" },
    { kind: "garbage" },
    { kind: "status", status: 200, body: "{}" },
  ] as const) {
    const on = await bench();
    on.backend.inject(fault, writing(tool));
    const { error } = await lose(on, tool, args);
    const isUnread = tool === "delete_event" && fault.kind === "cutBody";
    if (!isUnread) expect([fault, EffectUncertainError.is(error)]).toEqual([fault, true]);
    expect(on.writes()).toHaveLength(1);
  }
});

test.each(forward)("%s %j: landed tells the truth both ways, late delivery included", async (tool, args) => {
  const on = await bench();
  on.backend.inject({ kind: "late" }, writing(tool));
  const { error, checkpoint } = await lose(on, tool, args);
  expect(error.expectedResult).toEqual(checkpoint?.result);
  expect(await on.landed(tool, args, checkpoint)).toEqual({ landed: false });
  await on.backend.settle();
  const answer = await on.landed(tool, args, checkpoint);
  expect(answer).toMatchObject({ landed: true, result: checkpoint?.result });
  expect(await on.landed(tool, args)).toBe("unknown");
  if (answer === "unknown" || !answer?.landed) throw new Error("it landed");
  expect(await on.undo(tool, args, answer.result as object)).toMatchObject({ already: false });
  expect(on.writes()).toHaveLength(2);
});

test.each(forward)(
  "%s %j: the undo from the checkpoint alone ends in the prior state",
  async (tool, args) => {
    for (const kind of ["cutBefore", "cutAfter"] as const) {
      const on = await bench();
      const before = await on.seen();
      on.backend.inject({ kind }, writing(tool));
      const { checkpoint } = await lose(on, tool, args);
      const undone = await on.undo(tool, args, checkpoint?.result ?? {});
      expect(undone).toMatchObject({ already: kind === "cutBefore" });
      expect(await on.seen()).toEqual(before);
    }
  },
);

test.each(undoes)(
  "%s %j: after a lost answer holds tells the truth, and repeating succeeds",
  async (tool, args) => {
    for (const kind of ["cutBefore", "cutAfter"] as const) {
      const on = await bench();
      on.backend.inject({ kind }, writing(tool));
      await lose(on, tool, args);
      expect(await on.holds(tool, args)).toBe(kind === "cutAfter");
      expect(await on.call(tool, args)).toMatchObject({ already: kind === "cutAfter" });
      expect(await on.holds(tool, args)).toBe(true);
    }
  },
);

test.each(all)("%s %j answered with 503 after the effect: failed, and perhaps done", async (tool, args) => {
  const on = await bench();
  const body = refusal(503, "backendError", "Backend Error");
  on.backend.inject({ kind: "status", status: 503, effect: true, body }, writing(tool));
  const { error, checkpoint } = await lose(on, tool, args);
  expect(error).toMatchObject({ code: "FAILED", status: 503, reason: "backendError", mayHaveApplied: true });
  expect(error.expectedResult).toEqual(checkpoint?.result);
  expect(on.writes()).toHaveLength(1);
});

test.each(forward)("%s %j: a checkpoint that is refused stops it before the write", async (tool, args) => {
  const on = await bench();
  const checkpoint = async () => {
    throw new Error("the disk is full");
  };
  const error = await failure(on.call(tool, args, { checkpoint }));
  expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
  expect(error.message).toMatch(/the disk is full.*nothing was written/);
  expect(on.writes()).toEqual([]);
});

describe("the id of a new event", () => {
  test("comes from the key: the same call twice makes one event", async () => {
    const on = await bench();
    const first = await on.call("create_event", allDay, { idempotencyKey });
    expect(first["event_id"]).toMatch(/^[a-v0-9]{5,1024}$/);
    expect(await on.call("create_event", allDay, { idempotencyKey })).toEqual(first);
    expect(await on.call("create_event", allDay, { idempotencyKey: "another" })).not.toMatchObject({
      event_id: first["event_id"],
    });
    const other = await on.call("create_event", { ...allDay, summary: "x" }, { idempotencyKey });
    expect(other["event_id"]).not.toBe(first["event_id"]);
  });

  test("stays taken after the event was deleted: the same key does not bring it back", async () => {
    const on = await bench();
    await on.undo("create_event", allDay, await on.call("create_event", allDay, { idempotencyKey }));
    const before = await on.state();
    const error = await failure(on.call("create_event", allDay, { idempotencyKey }));
    expect(error).toMatchObject({ code: "FAILED", status: 409, reason: "duplicate" });
    expect(await on.state()).toEqual(before);
  });

  test("is looked for by the key alone; who cannot see the calendar cannot tell", async () => {
    const on = await bench();
    expect(await on.landed("create_event", allDay, undefined, idempotencyKey)).toEqual({ landed: false });
    await on.call("create_event", allDay, { idempotencyKey });
    const found = await on.landed("create_event", allDay, undefined, idempotencyKey);
    expect(found).toMatchObject({ landed: true });
    on.own.access = "none";
    expect(await on.landed("create_event", allDay, undefined, idempotencyKey)).toBe("unknown");
    expect(on.writes()).toHaveLength(1);
  });
});

test("a lost update that somebody wrote over stays unknown, and its undo is a conflict", async () => {
  for (const change of [{ summary: "Ada's" }, undefined]) {
    const on = await bench();
    const args = { event_id: review, summary: "New" };
    on.backend.inject({ kind: "cutAfter" }, { method: "PATCH" });
    const { checkpoint } = await lose(on, "update_event", args);
    if (change) editEvent(on.world, on.eventWith(review), change);
    else removeEvent(on.world, on.eventWith(review));
    expect(await on.landed("update_event", args, checkpoint)).toBe("unknown");
    const error = await failure(on.undo("update_event", args, checkpoint?.result ?? {}));
    expect(error).toMatchObject({ code: "CONFLICT" });
  }
});

test("an update that changes nothing sends no write", async () => {
  const on = await bench();
  const args = { event_id: review, summary: "Review" };
  const result = await on.call("update_event", args);
  expect(result).toMatchObject({ previous: { summary: "Review" }, current: { summary: "Review" } });
  expect(await on.undo("update_event", args, result)).toMatchObject({ already: true });
  expect(on.writes()).toEqual([]);
});

describe("what Google refuses", () => {
  test.each([403, 429])(
    "a limit answered with %i names the waiting time, and nothing was done",
    async (status) => {
      const on = await bench();
      on.world.rateLimitStatus = status;
      on.backend.inject({ kind: "rateLimit", retryAfter: 30 });
      const error = await failure(on.call("create_event", allDay));
      expect(error).toMatchObject({ code: "FAILED", status, retryAfterSeconds: 30, mayHaveApplied: false });
      on.world.remaining = 0;
      expect(await failure(on.call("create_event", allDay))).toMatchObject({ reason: "rateLimitExceeded" });
      expect(on.own.events).toHaveLength(3);
    },
  );

  test("a token that may only read, or is not known, changes nothing", async () => {
    const on = await bench();
    on.world.scope = "calendar.events.readonly";
    const denied = await failure(on.call("delete_event", { event_id: review }));
    expect(denied).toMatchObject({ status: 403, reason: "insufficientPermissions" });
    expect(denied.message).toContain("calendar.events");
    expect(await on.call("list_events", {})).toMatchObject({ next_cursor: null });
    const stranger = await bench({ token: "ya29.not-the-token-of-this-sandbox" });
    const unknown = await failure(stranger.call("list_events", {}));
    expect(unknown).toMatchObject({ status: 401, reason: "authError" });
  });

  test.each(all)("%s %j: no form of an error repeats the token", async (tool, args) => {
    for (const as of ["json", "html", "text", "header"] as const) {
      const on = await bench();
      on.backend.inject({ kind: "echo", as }, writing(tool));
      const error = await failure(on.call(tool, args));
      expect(JSON.stringify([error.message, error])).not.toContain(token);
    }
  });
});
