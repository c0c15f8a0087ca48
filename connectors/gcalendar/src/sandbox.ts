import type { Sandbox } from "@reversi-connector/core";
import { type Sandbox as Server, startSandbox } from "@reversi-connector/http/sandbox";
import type { GoogleCalendarOptions } from "./client.ts";
import { handler } from "./sandbox/routes.ts";
import { errorBody, rateLimit, token } from "./sandbox/wire.ts";
import { type Calendar, newWorld, visibleState, type World } from "./sandbox/world.ts";

export { addEvent, editEvent, removeEvent } from "./sandbox/world.ts";
export type { Calendar, World };

/** A Google Calendar on 127.0.0.1 with a calendar of one's own and two others. Faults are injected on its wire. */
export interface GoogleCalendarSandbox extends Sandbox<GoogleCalendarOptions>, Omit<Server, "url"> {
  /** All it knows; to be changed as other people would. */
  readonly world: World;
  /** The calendar `primary`. */
  readonly own: Calendar;
}

/** Options for a sandbox that runs already, in whichever process. */
export const attach = (address: string): GoogleCalendarOptions => ({
  token,
  baseUrl: `${address}/calendar/v3`,
});

/** Starts a sandbox. */
export async function sandbox(): Promise<GoogleCalendarSandbox> {
  const world = newWorld();
  const server = await startSandbox({
    handle: handler(world),
    errorBody,
    rateLimit: (retryAfter) => rateLimit(world, retryAfter),
  });
  const [own] = world.calendars;
  if (!own) throw new Error("the sandbox starts with a calendar");
  const { url: address, ...wire } = server;
  return { ...wire, address, options: attach(address), world, own, state: async () => visibleState(world) };
}
