import { type Connection, ConnectorError, type Redactor, toolsFor } from "@reversi-connector/core";
import {
  type HttpAnswer,
  type HttpClient,
  type HttpReader,
  httpConnection,
  type Query,
  type VendorProblem,
} from "@reversi-connector/http";

export interface SlackOptions {
  /** Bot token (`xoxb-…`) of an app installed in the workspace. */
  readonly token: string;
  /** `https://slack.com/api` when left out. */
  readonly baseUrl?: string | undefined;
}

/** Every tool of this package is declared through this. */
export const tool = toolsFor<HttpClient, HttpReader>("slack");

/** The shapes of Slack's tokens, and webhook addresses, which need no token. */
export const tokenPatterns: readonly RegExp[] = [
  /xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}/g,
  /xapp-[A-Za-z0-9-]{10,}/g,
  /https:\/\/hooks\.slack\.com\/(?:services|workflows|triggers)\/[^\s"'<>]+/g,
];

export const connect = (
  { token, baseUrl = "https://slack.com/api" }: SlackOptions,
  { redact }: { readonly redact: Redactor },
): Connection<HttpClient, HttpReader> =>
  httpConnection({
    baseUrl,
    redact,
    // Slack refuses with HTTP 200.
    failed: ({ body }) => (body as Answered | null | undefined)?.ok === false,
    problem,
    headers: { authorization: `Bearer ${token}`, "user-agent": "reversi-connector-slack" },
  });

/** What every answer has. */
interface Answered {
  readonly ok?: unknown;
  readonly error?: unknown;
  /** With `missing_scope`: the scopes that are needed, and those the token has. */
  readonly needed?: unknown;
  readonly provided?: unknown;
}

const rateLimits: readonly string[] = ["ratelimited", "rate_limited"];
/** Slack's own breakdowns: part of the work may be done. */
const undecided: readonly string[] = [
  "fatal_error",
  "internal_error",
  "service_unavailable",
  "request_timeout",
];
const hints: Readonly<Record<string, string>> = {
  channel_not_found: "check the id, and that the bot may see the channel",
  not_in_channel: "invite the bot to the channel",
  cant_delete_message: "a bot deletes only its own messages, and only while the workspace allows it",
};

/** Codes and scopes, and nothing else that an answer may hold, are repeated. */
const words = (value: unknown): string | undefined =>
  typeof value === "string" && /^[\w:.-]+(?:, ?[\w:.-]+)*$/.test(value) ? value : undefined;

/** What Slack says of a failure: its code is the reason that tools decide by. */
function problem({ headers, body }: HttpAnswer<unknown>): VendorProblem {
  const { ok, error, needed, provided } = (body ?? {}) as Answered;
  const requestId = headers["x-slack-req-id"];
  const reason = words(error);
  if (reason === undefined) return { requestId, ...(ok === false && { message: "refused without a code" }) };
  const scopes = `the token needs ${words(needed)}, and has ${words(provided) ?? "none"}`;
  const hint = words(needed) === undefined ? hints[reason] : scopes;
  return {
    requestId,
    reason,
    message: hint === undefined ? reason : `${reason}: ${hint}`,
    rateLimited: rateLimits.includes(reason),
    ...(undecided.includes(reason) && { mayHaveApplied: true }),
  };
}

/** Only a boolean `ok: true` with what is needed is success. */
const succeeded =
  <Body>(holds: (body: Partial<Body>) => boolean) =>
  (body: (Partial<Body> & Answered) | null) =>
    body?.ok === true && holds(body);

/** Calls a method that reads. */
export const get = <Body>(
  client: HttpReader,
  method: string,
  query: Query,
  holds: (body: Partial<Body>) => boolean,
): Promise<HttpAnswer<Body>> => client.read<Body>({ path: `/${method}`, query, expect: succeeded(holds) });

/** Calls a method that writes. */
export async function post<Body>(
  client: HttpClient,
  method: string,
  json: object,
  holds: (body: Partial<Body>) => boolean,
): Promise<Body> {
  const { body } = await client.write<Body>({
    method: "POST",
    path: `/${method}`,
    json,
    headers: { "content-type": "application/json; charset=utf-8" },
    expect: succeeded(holds),
  });
  return body;
}

/** Whether Slack itself refused with one of these codes: a proxy's error with the same word proves nothing. */
export const saysOneOf = (error: unknown, ...codes: readonly string[]): boolean =>
  ConnectorError.is(error) && error.status === 200 && codes.includes(error.reason ?? "");

/** What `request` brings, or undefined when Slack refuses it with one of these codes. */
export async function unlessSays<T>(
  request: Promise<T>,
  ...codes: readonly string[]
): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (saysOneOf(error, ...codes)) return undefined;
    throw error;
  }
}

/** What `reading` brings, or undefined when the bot may not read that. */
export const unlessHidden = <T>(reading: Promise<T>): Promise<T | undefined> =>
  unlessSays(reading, "missing_scope", "no_permission", "not_in_channel");
