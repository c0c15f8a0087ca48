import type { Checkpoint, Connector, Context } from "@reversi-connector/core";
import { failure, undoOf as undoByManifest } from "../../../test/calls.ts";
import { gcalendar } from "../src/index.ts";
import { type GoogleCalendarSandbox, sandbox } from "../src/sandbox.ts";

export { failure };

type Values = Readonly<Record<string, unknown>>;

export const review = "review0000000000000000000";
export const offsite = "offsite000000000000000000";
export const timed = (day: string) => ({
  start: { dateTime: `${day}T09:00:00+02:00`, timeZone: "Europe/Berlin" },
  end: { dateTime: `${day}T10:00:00+02:00`, timeZone: "Europe/Berlin" },
});
export const allDay = { start: { date: "2026-07-10" }, end: { date: "2026-07-11" } };

const started: { readonly connector: Connector; readonly backend: GoogleCalendarSandbox }[] = [];
afterEach(async () => {
  for (const { connector, backend } of started.splice(0)) {
    await connector.close();
    await backend.close();
    expect(backend.errors).toEqual([]); // what the sandbox itself did wrong
  }
});

/** A connector on a sandbox of its own; both end with the test. */
export async function bench(options: { readonly timeoutMs?: number; readonly token?: string } = {}) {
  const backend: GoogleCalendarSandbox = await sandbox();
  const connector: Connector = gcalendar({ ...backend.options, ...options });
  started.push({ connector, backend });

  const call = async <Result = Values>(name: string, args: object, context: Context = {}) =>
    (await connector.tools[`gcalendar.${name}`]?.(args, context)) as Result;

  /** What an engine would send to undo a call, by the manifest. */
  const undoOf = (name: string, args: object, result: object) =>
    undoByManifest(connector, name, args, result);
  const eventWith = (id: unknown) => {
    const event = backend.world.calendars
      .flatMap(({ events }) => events)
      .find((candidate) => candidate.id === id);
    if (!event) throw new Error("there is no such event");
    return event;
  };
  return {
    backend,
    world: backend.world,
    own: backend.own,
    connector,
    call,
    undoOf,
    undo: async <Result = Values>(name: string, args: object, result: object, context: Context = {}) => {
      const { tool, args: undoArgs } = undoOf(name, args, result);
      return call<Result>(tool, undoArgs, context);
    },
    holds: (name: string, args: object) => connector.holds[`gcalendar.${name}`]?.(args),
    landed: (name: string, args: object, checkpoint?: Checkpoint, idempotencyKey?: string) =>
      connector.landed[`gcalendar.${name}`]?.(args, { since: new Date(), checkpoint, idempotencyKey }),
    eventWith,
    /** Acts as somebody else would, just before the first request of this method takes effect. */
    meanwhile: (method: string, action: () => void, times = 1) => {
      let left = times;
      const path = () => {
        if (left-- > 0) action();
        return false; // the fault itself meets nothing
      };
      backend.inject({ kind: "cutBefore" }, { method, path });
    },
    /** What people see of the calendars, without the trash and without counts of changes. */
    async seen() {
      const { mails, calendars } = (await backend.state()) as {
        mails: number;
        calendars: Record<string, { status: string; sequence: number }[]>;
      };
      const live = Object.entries(calendars).map(([id, events]) => [
        id,
        events.filter(({ status }) => status !== "cancelled").map(({ sequence: _, ...event }) => event),
      ]);
      return { mails, calendars: Object.fromEntries(live) };
    },
    state: backend.state,
    writes: () => backend.requests.filter(({ method }) => method !== "GET"),
    bodies: () =>
      backend.requests
        .filter(({ method }) => method === "PATCH" || method === "POST")
        .map((request) => request.json()),
  };
}
export type Bench = Awaited<ReturnType<typeof bench>>;

/** Google's error body. */
export const refusal = (code: number, reason: string, message: string, domain = "global") => ({
  error: { errors: [{ domain, reason, message }], code, message },
});
