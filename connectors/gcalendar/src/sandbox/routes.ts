import { type Handler, route, router } from "@reversi-connector/http/sandbox";
import { deleteEvent, getEvent, insertEvent, patchEvent } from "./events.ts";
import { listEvents } from "./list.ts";
import { callOf, complete, type Endpoint, errorBody, gate, isReply } from "./wire.ts";
import type { World } from "./world.ts";

const events = "/calendar/v3/calendars/:calendarId/events";
const endpoints: Readonly<Record<string, Endpoint>> = {
  [`GET ${events}`]: listEvents,
  [`POST ${events}`]: insertEvent,
  [`GET ${events}/:eventId`]: getEvent,
  [`PATCH ${events}/:eventId`]: patchEvent,
  [`DELETE ${events}/:eventId`]: deleteEvent,
};

/** Google's part of the sandbox: every request is held to what the vendor checks. */
export function handler(world: World): Handler {
  const routes = Object.entries(endpoints).map(([pattern, endpoint]) =>
    route(pattern, (request) => endpoint(callOf(world, request))),
  );
  const routed = router(routes, () => ({ status: 404, body: errorBody(404, "Not Found") }));
  return async (request) => {
    try {
      return complete(gate(world, request) ?? (await routed(request)));
    } catch (reply) {
      if (!isReply(reply)) throw reply;
      return complete(reply);
    }
  };
}
