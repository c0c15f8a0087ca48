import type { RoutedRequest, SandboxReply, SandboxRequest } from "@reversi-connector/http/sandbox";
import { type Calendar, calendarIn, etagOf, type StoredEvent, type World } from "./world.ts";

/** A token of realistic length that the sandbox really checks, and nobody else accepts. */
export const token = `ya29.sandbox0NotASecret0ForNobodyElse-${"0".repeat(120)}`;

interface Problem {
  readonly reason: string;
  readonly message: string;
  readonly domain?: string;
  readonly locationType?: string;
  readonly location?: string;
}
export const problemBody = (code: number, { domain = "global", reason, message, ...where }: Problem) => ({
  error: { errors: [{ domain, reason, message, ...where }], code, message },
});

const reasons: Readonly<Record<number, string>> = {
  400: "badRequest",
  401: "authError",
  403: "forbidden",
  404: "notFound",
  409: "conflict",
  410: "deleted",
  412: "conditionNotMet",
  429: "rateLimitExceeded",
};
/** An error of which only the status is known. */
export const errorBody = (status: number, message: string) =>
  problemBody(status, { reason: reasons[status] ?? "backendError", message });

export const failure = (
  status: number,
  problem: Problem,
  headers: SandboxReply["headers"] = {},
): SandboxReply => ({ status, headers, body: problemBody(status, problem) });

/** Google's limits, mostly without a word on how long to wait. */
export const rateLimit = (
  { rateLimitStatus }: World,
  retryAfter: number | string | undefined,
): SandboxReply =>
  complete(
    failure(
      rateLimitStatus,
      { domain: "usageLimits", reason: "rateLimitExceeded", message: "Rate Limit Exceeded" },
      { "retry-after": retryAfter === undefined ? undefined : String(retryAfter) },
    ),
  );

/** The headers of every answer. */
export const complete = ({ status, headers, body }: SandboxReply): SandboxReply => ({
  status,
  body,
  headers: {
    "cache-control": "no-cache, no-store, max-age=0, must-revalidate",
    vary: "Origin, X-Origin, Referer",
    "x-content-type-options": "nosniff",
    ...headers,
  },
});

/** What Google refuses whatever the endpoint; undefined lets the request pass. */
export function gate(world: World, { method, headers, bytes }: SandboxRequest): SandboxReply | undefined {
  const unauthorized = (problem: Problem) =>
    failure(401, problem, {
      "www-authenticate": 'Bearer realm="https://accounts.google.com/", error="invalid_token"',
    });
  const at = { locationType: "header", location: "Authorization" };
  if (headers["authorization"] === undefined) {
    return unauthorized({ reason: "required", message: "Login Required.", ...at });
  }
  if (headers["authorization"] !== `Bearer ${token}`) {
    return unauthorized({ reason: "authError", message: "Invalid Credentials", ...at });
  }
  if (world.remaining <= 0) return rateLimit(world, undefined);
  world.remaining--;
  if (method !== "GET" && world.scope === "calendar.events.readonly") {
    const message = "Request had insufficient authentication scopes.";
    return failure(403, { reason: "insufficientPermissions", message });
  }
  if (bytes.length > 0 && !/^application\/json\s*(?:;|$)/i.test(headers["content-type"] ?? "")) {
    const message = "This API does not support parsing form-encoded input.";
    return failure(400, { reason: "parseError", message });
  }
  return undefined;
}

/** One request about one calendar. Its `fail` throws Google's answer. */
export interface Call {
  readonly request: RoutedRequest;
  readonly world: World;
  readonly calendar: Calendar;
  fail(status: number, reason: string, message: string): never;
  /** Query parameters that the endpoint knows; another one is refused. */
  query(...known: readonly string[]): URLSearchParams;
  /** The body: a JSON object. */
  body(): Record<string, unknown>;
  needWriter(): void;
  /** The event that the path names, one in the trash included. */
  event(): StoredEvent;
  /** Fails with 412 when the request came for another version. */
  ifMatch(event: StoredEvent): void;
  /** Mails the guests, unless the request said not to. */
  mail(event: StoredEvent): void;
}

const audiences = ["all", "externalOnly", "none"];

export function callOf(world: World, request: RoutedRequest): Call {
  const fail: Call["fail"] = (status, reason, message) => {
    throw failure(status, { reason, message });
  };
  const calendar = calendarIn(world, request.params["calendarId"] ?? "");
  if (!calendar || calendar.access === "none") return fail(404, "notFound", "Not Found");
  return {
    ...{ request, world, calendar, fail },
    query(...known) {
      const unknown = [...request.query.keys()].find((name) => !known.includes(name));
      const audience = request.query.get("sendUpdates") ?? "all";
      if (!audiences.includes(audience)) fail(400, "invalidParameter", `Invalid value: ${audience}`);
      if (unknown === undefined) return request.query;
      const message = `Invalid JSON payload received. Unknown name "${unknown}": Cannot bind query parameter.`;
      return fail(400, "badRequest", message);
    },
    body() {
      let body: unknown;
      try {
        body = JSON.parse(request.text || "{}");
      } catch {
        return fail(400, "parseError", "Parse Error");
      }
      if (typeof body === "object" && body !== null && !Array.isArray(body)) {
        return body as Record<string, unknown>;
      }
      return fail(400, "parseError", "Parse Error");
    },
    needWriter() {
      if (calendar.access === "owner") return;
      fail(403, "requiredAccessLevel", "You need to have writer access to this calendar.");
    },
    event() {
      const id = request.params["eventId"];
      return calendar.events.find((event) => event.id === id) ?? fail(404, "notFound", "Not Found");
    },
    ifMatch(event) {
      const wanted = request.headers["if-match"];
      if (wanted === undefined || wanted === "*" || wanted === etagOf(event)) return;
      const where = { locationType: "header", location: "If-Match" };
      throw failure(412, { reason: "conditionNotMet", message: "Precondition Failed", ...where });
    },
    mail({ attendees }) {
      const audience = request.query.get("sendUpdates") ?? "all";
      if (audience !== "none") world.mails += attendees.length;
    },
  };
}

export const isReply = (thrown: unknown): thrown is SandboxReply =>
  typeof (thrown as SandboxReply | null)?.status === "number";

/** What the sandbox answers at one endpoint. */
export type Endpoint = (call: Call) => SandboxReply;
