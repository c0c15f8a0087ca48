import { type Connection, ConnectorError, type Redactor, toolsFor } from "@reversi-connector/core";
import {
  type HttpAnswer,
  type HttpClient,
  type HttpReader,
  httpConnection,
  type VendorProblem,
} from "@reversi-connector/http";

export interface TeamsOptions {
  /** Microsoft Graph access token of a signed-in user (delegated). It is not refreshed. */
  readonly token: string;
  /** `https://graph.microsoft.com/v1.0` when left out; a national cloud has a host of its own. */
  readonly baseUrl?: string | undefined;
}

/** Every tool of this package is declared through this. */
export const tool = toolsFor<HttpClient, HttpReader>("teams");

/** The shapes of Entra's access tokens, refresh tokens and client secrets. */
export const tokenPatterns: readonly RegExp[] = [
  /eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*/g,
  /EwB[A-Za-z0-9+/=]{60,}/g,
  /\b[01]\.A[A-Za-z0-9_-]{20,}(?:\.[A-Za-z0-9_-]+)*/g,
  /[A-Za-z0-9_.-]{3}[0-9]Q~[A-Za-z0-9_.~-]{20,}/g,
];

export const connect = (
  { token, baseUrl = "https://graph.microsoft.com/v1.0" }: TeamsOptions,
  { redact }: { readonly redact: Redactor },
): Connection<HttpClient, HttpReader> =>
  httpConnection({
    baseUrl,
    redact,
    problem,
    headers: {
      authorization: `Bearer ${token}`,
      accept: "application/json",
      "user-agent": "reversi-connector-teams",
    },
  });

interface ErrorBody {
  readonly error?: {
    readonly code?: unknown;
    readonly message?: unknown;
    readonly innerError?: { readonly "request-id"?: unknown };
  };
}

/** `code` and `message` may be empty. */
const words = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** What Graph says of a failure: its code is the reason. */
function problem({ status, headers, body }: HttpAnswer<unknown>): VendorProblem {
  const { code, message, innerError } = (body as ErrorBody | null | undefined)?.error ?? {};
  const reason = words(code);
  const said = [words(message) ?? reason, hintOf(status, headers, reason)].filter(Boolean);
  return {
    reason,
    requestId: headers["request-id"] ?? words(innerError?.["request-id"]),
    message: said.length === 0 ? undefined : said.join("; "),
  };
}

function hintOf(
  status: number,
  headers: HttpAnswer<unknown>["headers"],
  reason: string | undefined,
): string | undefined {
  if (status !== 401 && status !== 403) return undefined;
  if (headers["www-authenticate"]?.includes("insufficient_claims"))
    return "conditional access asks the user to sign in again (insufficient_claims)";
  if (reason === "InvalidAuthenticationToken") return "get a new token: they live for about an hour";
  return "delegated token needed, of a signed-in user who is in the channel, with the permission for this call";
}

/** Whether the backend answered with one of these statuses: Graph's codes may be empty. */
export const hasStatus = (error: unknown, ...statuses: readonly number[]): error is ConnectorError =>
  ConnectorError.is(error) && error.status !== undefined && statuses.includes(error.status);
