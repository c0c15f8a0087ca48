import { type Connection, ConnectorError, type Redactor, toolsFor } from "@reversi-connector/core";
import {
  type HttpAnswer,
  type HttpClient,
  type HttpReader,
  httpConnection,
  type VendorProblem,
} from "@reversi-connector/http";

export interface GoogleCalendarOptions {
  /** OAuth access token. It lives about an hour; nothing here renews it. */
  readonly token: string;
  /** `https://www.googleapis.com/calendar/v3` when left out. */
  readonly baseUrl?: string | undefined;
}

/** Every tool of this package is declared through this. */
export const tool = toolsFor<HttpClient, HttpReader>("gcalendar");

/** The shapes of Google's access tokens, refresh tokens, API keys and client secrets. */
export const tokenPatterns: readonly RegExp[] = [
  /ya29\.[A-Za-z0-9._-]+/g,
  /1\/\/[A-Za-z0-9_-]{20,}/g,
  /AIza[A-Za-z0-9_-]{35}/g,
  /GOCSPX-[A-Za-z0-9_-]{20,}/g,
];

export const connect = (
  { token, baseUrl = "https://www.googleapis.com/calendar/v3" }: GoogleCalendarOptions,
  { redact }: { readonly redact: Redactor },
): Connection<HttpClient, HttpReader> =>
  httpConnection({
    baseUrl,
    redact,
    problem,
    headers: { authorization: `Bearer ${token}`, accept: "application/json" },
  });

/** On every write: Google mails nobody. */
export const quietly = { sendUpdates: "none" } as const;

interface ErrorBody {
  readonly error?: {
    readonly message?: unknown;
    readonly status?: unknown;
    readonly errors?: readonly { readonly reason?: unknown; readonly domain?: unknown }[];
  };
}

const limits = [
  "rateLimitExceeded",
  "userRateLimitExceeded",
  "quotaExceeded",
  "calendarUsageLimitsExceeded",
  "dailyLimitExceeded",
];
const hints: Readonly<Record<string, string>> = {
  notFound: "check the ids, and what the token may see",
  authError: "access tokens end after about an hour",
  insufficientPermissions: "the token needs the scope https://www.googleapis.com/auth/calendar.events",
};

/** What Google says of a failure: the first reason is what tools decide by. Its limits come as 403 or 429. */
function problem({ status, body }: HttpAnswer<unknown>): VendorProblem {
  const { message, status: name, errors } = (body as ErrorBody | undefined)?.error ?? {};
  const first = Array.isArray(errors) ? (errors as NonNullable<typeof errors>)[0] : undefined;
  const reason = [first?.reason, name].find((word) => typeof word === "string");
  if (typeof message !== "string" || typeof reason !== "string") return {};
  const isLimit = status === 403 && (first?.domain === "usageLimits" || limits.includes(reason));
  // An API that is switched off is reported among the limits, but no waiting helps.
  const rateLimited = isLimit && reason !== "accessNotConfigured";
  const hint = hints[reason];
  return {
    reason,
    message: hint === undefined ? message : `${message}: ${hint}`,
    ...(rateLimited && { rateLimited }),
  };
}

/** Whether Google refused with this status, and for this reason where one is given. */
export const saysSo = (error: unknown, status: number, reason?: string): error is ConnectorError =>
  ConnectorError.is(error) && error.status === status && (reason === undefined || error.reason === reason);
