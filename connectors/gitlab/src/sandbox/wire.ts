import { randomUUID } from "node:crypto";
import type { RoutedRequest, SandboxReply, SandboxRequest } from "@reversi-connector/http/sandbox";
import { type Project, type Role, roles, type Time, type World } from "./world.ts";

/** A token of realistic length, in the routable form, that the sandbox really checks and nobody else accepts. */
export const token = "glpat-sandbox0NotASecret0ForNobodyElse.01.0sandbox0";
const limit = 2000;

/** Most of GitLab's errors; what its API framework refuses comes as `{ "error": … }`. */
export const errorBody = (_: number, message: string) => ({ message });
const errorReply = (status: number, message: string): SandboxReply => ({ status, body: { message } });
const refusal = (status: number, error: string, more: object = {}): SandboxReply => ({
  status,
  body: { error, ...more },
});

export const apiOf = ({ headers }: SandboxRequest) => `http://${headers["host"]}/api/v4`;
const isRead = ({ method }: SandboxRequest) => method === "GET" || method === "HEAD";

/** What GitLab refuses whatever the endpoint; undefined lets the request pass. */
export function gate(world: World, request: SandboxRequest): SandboxReply | undefined {
  const { headers, bytes } = request;
  const given = headers["private-token"] ?? /^Bearer (.+)$/i.exec(headers["authorization"] ?? "")?.[1];
  if (world.remaining <= 0) return rateLimit(world, undefined);
  world.remaining--;
  if (given !== token) return errorReply(401, "401 Unauthorized");
  if (world.scope === "read_api" && !isRead(request)) {
    const why = "The request requires higher privileges than provided by the access token.";
    return refusal(403, "insufficient_scope", { error_description: why, scope: "api" });
  }
  const type = headers["content-type"] ?? "";
  if (bytes.length > 0 && !/^application\/json\s*(?:;|$)/i.test(type)) {
    return refusal(415, `The provided content-type '${type}' is not supported.`);
  }
  return undefined;
}

const limitHeaders = (remaining: number) => {
  const minute = 60;
  const reset = (Math.floor(Date.now() / 1000 / minute) + 1) * minute;
  return {
    "ratelimit-limit": String(limit),
    "ratelimit-remaining": String(remaining),
    "ratelimit-observed": String(limit - remaining),
    "ratelimit-reset": String(reset),
    "ratelimit-resettime": new Date(reset * 1000).toUTCString(),
    "ratelimit-name": "throttle_authenticated_api",
  };
};

/** The limit of all requests: plain text. `Retry-After` only where one is given. */
export const rateLimit = (world: World, retryAfter: number | string | undefined): SandboxReply =>
  complete(world, {
    status: 429,
    headers: { "retry-after": retryAfter === undefined ? undefined : String(retryAfter) },
    body: "Retry later\n",
  });

/** The headers of every answer. */
export const complete = ({ remaining }: World, { status, headers, body }: SandboxReply): SandboxReply => ({
  status,
  body,
  headers: { ...limitHeaders(remaining), "x-request-id": randomUUID(), ...headers },
});

type Kind = "string" | "integer" | "boolean" | "names";
const fits: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string" || typeof value === "number",
  integer: (value) => /^-?\d+$/.test(`${value}`),
  boolean: (value) => [true, false, "true", "false", "0", "1", 0, 1].includes(value as string),
  names: (value) => typeof value === "string" || (Array.isArray(value) && value.every(fits.string)),
};

/** One request to one endpoint of a project. Its `fail` and `invalid` throw GitLab's answer. */
export interface Call {
  readonly request: RoutedRequest;
  readonly project: Project;
  readonly world: World;
  readonly api: string;
  fail(status: number, message: string): never;
  /** 400, as GitLab's API framework words it. */
  invalid(error: string): never;
  /** 400, as GitLab words what a field must not be. */
  invalidField(field: string, ...reasons: readonly string[]): never;
  /** A number in the path. */
  id(name: string): number;
  /** Known fields of the body, each of its kind; others are ignored. */
  fields(kinds: Readonly<Record<string, Kind>>, required: readonly string[]): Record<string, unknown>;
  need(role: Role): void;
  /** Fails with 412 when the request came with an earlier `If-Unmodified-Since`. */
  unmodifiedSince(time: Time): void;
}

const throwReply = (reply: SandboxReply): never => {
  throw reply;
};

/** A time as Ruby reads it: an HTTP date, or RFC 3339 with a fraction. Undefined when it is neither. */
function timeIn(text: string | undefined): Time | undefined {
  const milliseconds = Date.parse(text ?? "");
  const micro =
    /\.(\d{1,6})/
      .exec(text ?? "")?.[1]
      ?.padEnd(6, "0")
      .slice(3) ?? "0";
  return Number.isNaN(milliseconds) ? undefined : milliseconds * 1000 + Number(micro);
}

export function callOf(world: World, project: Project, request: RoutedRequest): Call {
  const fail: Call["fail"] = (status, message) => throwReply(errorReply(status, message));
  const invalid: Call["invalid"] = (error) => throwReply(refusal(400, error));
  return {
    ...{ request, project, world, fail, invalid },
    api: apiOf(request),
    invalidField: (field, ...reasons) => throwReply({ status: 400, body: { message: { [field]: reasons } } }),
    id(name) {
      const text = request.params[name] ?? "";
      return fits.integer(text) ? Number(text) : invalid(`${name} is invalid`);
    },
    fields(kinds, required) {
      let body: unknown;
      try {
        body = JSON.parse(request.text || "{}");
      } catch {
        return invalid("message body does not match declared format");
      }
      const given = Object.entries((body ?? {}) as object).filter(([, value]) => value !== null);
      const known = Object.fromEntries(given.filter(([name]) => kinds[name] !== undefined));
      const missing = required.filter((name) => known[name] === undefined);
      if (missing.length > 0) invalid(missing.map((name) => `${name} is missing`).join(", "));
      for (const [name, value] of Object.entries(known)) {
        const kind = kinds[name];
        if (kind && !fits[kind](value)) invalid(`${name} is invalid`);
      }
      return known;
    },
    need(role) {
      if (roles[project.role] < roles[role]) fail(403, "403 Forbidden");
    },
    unmodifiedSince(time) {
      const since = timeIn(request.headers["if-unmodified-since"]);
      if (since !== undefined && time > since) fail(412, "412 Precondition Failed");
    },
  };
}

export const isReply = (thrown: unknown): thrown is SandboxReply =>
  typeof (thrown as SandboxReply | null)?.status === "number";

/** What the sandbox answers at one endpoint. */
export type Endpoint = (call: Call) => SandboxReply;
