import { type Connection, type Redactor, toolsFor } from "@reversi-connector/core";
import {
  type HttpAnswer,
  type HttpClient,
  type HttpReader,
  httpConnection,
  type VendorProblem,
} from "@reversi-connector/http";

export interface GitHubOptions {
  /** Personal access token, or the token of an app installation. */
  readonly token: string;
  /** `https://HOST/api/v3` for GitHub Enterprise Server; `https://api.github.com` when left out. */
  readonly baseUrl?: string | undefined;
}

/** Every tool of this package is declared through this. */
export const tool = toolsFor<HttpClient, HttpReader>("github");

/** The shapes of GitHub's tokens, those of 2026 with dots in them included. */
export const tokenPatterns: readonly RegExp[] = [
  /gh[pousr]_[A-Za-z0-9._-]{36,}/g,
  /github_pat_[A-Za-z0-9_]{22,}/g,
];

export const connect = (
  { token, baseUrl = "https://api.github.com" }: GitHubOptions,
  { redact }: { readonly redact: Redactor },
): Connection<HttpClient, HttpReader> =>
  httpConnection({
    baseUrl,
    redact,
    problem,
    headers: {
      authorization: `Bearer ${token}`,
      accept: "application/vnd.github+json",
      "x-github-api-version": "2022-11-28",
      "user-agent": "reversi-connector-github",
    },
  });

interface ErrorBody {
  readonly message?: unknown;
  readonly errors?: unknown;
}

/** What GitHub says of a failure: its message is the reason that tools decide by. */
function problem({ status, headers, body }: HttpAnswer<unknown>): VendorProblem {
  const { message, errors } = (body ?? {}) as ErrorBody;
  const requestId = headers["x-github-request-id"];
  if (typeof message !== "string") return { requestId, ...rateLimitOf(status, headers, "") };
  const needed = status === 403 ? headers["x-accepted-github-permissions"] : undefined;
  const details = [
    ...detailsOf(errors),
    ...(needed ? [`the token needs ${needed}`] : []),
    ...(message === "Not Found" ? ["check the name, and what the token may see and do"] : []),
  ];
  return {
    requestId,
    reason: message,
    message: details.length === 0 ? message : `${message}: ${details.join("; ")}`,
    ...rateLimitOf(status, headers, message),
  };
}

/** `errors` holds objects, or plain strings; a rejected `value` is left out, as it may be anything. */
const detailsOf = (errors: unknown): string[] =>
  (Array.isArray(errors) ? errors : []).map((error: unknown) => {
    if (typeof error === "string") return error;
    const { resource, field, code, message } = error as Record<string, unknown>;
    return message === undefined ? [resource, field, code].filter(Boolean).join(" ") : `${message}`;
  });

/** Both limits come as 403 or 429; only these signs tell them from a missing permission. */
function rateLimitOf(
  status: number,
  headers: Readonly<Record<string, string>>,
  message: string,
): VendorProblem {
  if (status !== 403 && status !== 429) return {};
  if (headers["retry-after"] !== undefined) return { rateLimited: true };
  if (headers["x-ratelimit-remaining"] === "0") {
    const seconds = Math.ceil(Number(headers["x-ratelimit-reset"]) - Date.now() / 1000);
    return { rateLimited: true, ...(seconds > 0 && { retryAfterSeconds: seconds }) };
  }
  // Without either header GitHub asks for a minute at least.
  return /rate limit/i.test(message) ? { rateLimited: true, retryAfterSeconds: 60 } : {};
}
