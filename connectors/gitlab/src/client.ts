import { type Connection, type Redactor, toolsFor } from "@reversi-connector/core";
import {
  type HttpAnswer,
  type HttpClient,
  type HttpReader,
  httpConnection,
  type VendorProblem,
} from "@reversi-connector/http";

export interface GitLabOptions {
  /** Personal, project or group access token. */
  readonly token: string;
  /** Root of a self-hosted instance, with its path where it has one; `https://gitlab.com` when left out. */
  readonly baseUrl?: string | undefined;
}

/** Every tool of this package is declared through this. */
export const tool = toolsFor<HttpClient, HttpReader>("gitlab");

/** The shapes of GitLab's tokens, the routable ones with dots in them included. */
export const tokenPatterns: readonly RegExp[] = [
  /gl(?:pat|oas|dt|ptt|cbt|rt|ft|imt|agent|soat|ffct)-[A-Za-z0-9_-]{20,}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?/g,
  /_gitlab_session=[\w%-]+/g,
];

/** The address of the API of the instance at `root`, whether or not that names the API already. */
const apiOf = (root: string) => `${root.replace(/\/+$/, "").replace(/\/api\/v4$/, "")}/api/v4`;

export const connect = (
  { token, baseUrl = "https://gitlab.com" }: GitLabOptions,
  { redact }: { readonly redact: Redactor },
): Connection<HttpClient, HttpReader> =>
  httpConnection({
    baseUrl: apiOf(baseUrl),
    redact,
    problem,
    headers: {
      "private-token": token,
      accept: "application/json",
      "user-agent": "reversi-connector-gitlab",
    },
  });

interface ErrorBody {
  readonly message?: unknown;
  readonly error?: unknown;
  readonly error_description?: unknown;
  readonly scope?: unknown;
}

/** GitLab's words: text, a list, or lists by field (`{ "title": ["can't be blank"] }`); undefined when there are none. */
function wordsOf(said: unknown): string | undefined {
  if (typeof said === "string") return said;
  if (typeof said !== "object" || said === null) return undefined;
  const parts = Object.entries(said).map(([field, inner]) => {
    const words = wordsOf(inner) ?? String(inner);
    return Array.isArray(said) || field === "error" || field === "base" ? words : `${field} ${words}`;
  });
  return parts.length === 0 ? undefined : parts.join("; ");
}

/** What GitLab says of a failure: its message is the reason that tools decide by. */
function problem({ status, headers, body }: HttpAnswer<unknown>): VendorProblem {
  const { message, error, error_description, scope } = (body ?? {}) as ErrorBody;
  const reason = wordsOf(message) ?? wordsOf(error);
  if (reason === undefined) return rateLimitOf(status, headers);
  const details = [
    ...(typeof error_description === "string" ? [error_description] : []),
    ...(typeof scope === "string" ? [`the token needs the scope ${scope}`] : []),
    ...hintOf(status, message, error),
  ];
  return { reason, message: [reason, ...details].join(": "), ...rateLimitOf(status, headers) };
}

function hintOf(status: number, message: unknown, error: unknown): string[] {
  if (status === 405 && /moved projects/.test(`${message}`)) return ["use its new path, or its numeric id"];
  if (status !== 404) return [];
  return message === undefined && error === "404 Not Found"
    ? [
        "no such address: is there a proxy before GitLab that decodes %2F, or a path missing from the base URL?",
      ]
    : ["check the name, and what the token may see and do"];
}

/** `RateLimit-Reset` speaks of the limit of all requests. The others come without a word; each counts by the minute. */
function rateLimitOf(status: number, headers: Readonly<Record<string, string>>): VendorProblem {
  if (status !== 429 || headers["retry-after"] !== undefined) return {};
  const reset = headers["ratelimit-remaining"] === "0" ? Number(headers["ratelimit-reset"]) : Number.NaN;
  const seconds = Math.ceil(reset - Date.now() / 1000);
  return { rateLimited: true, retryAfterSeconds: seconds > 0 ? seconds : 60 };
}
