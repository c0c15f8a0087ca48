import { randomUUID } from "node:crypto";
import { checkValue, type JsonSchema } from "@reversi-connector/core";
import type { RoutedRequest, SandboxReply, SandboxRequest } from "@reversi-connector/http/sandbox";
import { type Channel, type Message, type Scope, user, type World } from "./world.ts";

/** A token of realistic length that the sandbox really checks, and nobody else accepts. */
export const token = [
  Buffer.from(JSON.stringify({ typ: "JWT", alg: "none" })).toString("base64url"),
  Buffer.from(JSON.stringify({ aud: "sandbox", name: "Robin Kline", note: "no secret" })).toString(
    "base64url",
  ),
  "NotASecret0OnlyForTheSandbox0",
].join(".");

const codes: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "InvalidAuthenticationToken",
  403: "Forbidden",
  404: "NotFound",
  411: "LengthRequired",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  429: "TooManyRequests",
  500: "InternalServerError",
  503: "ServiceUnavailable",
  504: "GatewayTimeout",
};

export function errorBody(status: number, message: string, code = codes[status] ?? "UnknownError") {
  const id = randomUUID();
  const date = new Date().toISOString().slice(0, 19);
  return {
    error: { code, message, innerError: { date, "request-id": id, "client-request-id": id } },
  };
}

export function fail(status: number, message: string, code?: string): never {
  throw { status, body: errorBody(status, message, code) } satisfies SandboxReply;
}
export const isReply = (thrown: unknown): thrown is SandboxReply =>
  typeof (thrown as SandboxReply | null)?.status === "number";

export const limited = (retryAfter: number | string | undefined): SandboxReply => ({
  status: 429,
  headers: { "retry-after": retryAfter === undefined ? undefined : String(retryAfter) },
  body: errorBody(429, "Too many requests"),
});

/** What Graph refuses whatever the endpoint. */
export function gate({ tokenWorks }: World, { headers }: SandboxRequest): void {
  const { authorization } = headers;
  if (authorization === undefined) fail(401, "Access token is empty.");
  if (authorization !== `Bearer ${token}`) {
    fail(401, "JWT is not well formed, there are no dots (.), or its signature is wrong.");
  }
  if (!tokenWorks) fail(401, "Lifetime validation failed, the token is expired.");
}

/** The headers of every answer. */
export function complete({ headers }: SandboxRequest, reply: SandboxReply): SandboxReply {
  const { error } = (reply.body ?? {}) as Partial<ReturnType<typeof errorBody>>;
  const id = error?.innerError["request-id"] ?? randomUUID();
  return {
    ...reply,
    headers: {
      "request-id": id,
      "client-request-id": headers["client-request-id"] ?? id,
      "cache-control": "private",
      ...reply.headers,
    },
  };
}

const guid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** One request to one endpoint. What it finds wrong it throws as Graph's answer. */
export interface Call {
  readonly request: RoutedRequest;
  readonly world: World;
  /** What the token must be allowed. */
  need(scope: Scope): void;
  /** The team is the only one; the user must be in it. */
  team(): World["team"];
  channel(): Channel;
  message(): Message;
  /** Only these of the options that begin with `$`; others Graph ignores. */
  options(...known: readonly string[]): URLSearchParams;
  json<Body>(schema: JsonSchema): Body;
  /** That no body was sent. */
  empty(): void;
}

export type Endpoint = (call: Call) => SandboxReply;

export function callOf(world: World, request: RoutedRequest): Call {
  const { params, headers, query, bytes } = request;
  const need = (scope: Scope) => {
    if (world.scopes.has(scope)) return;
    const provided = [...world.scopes].join(",");
    const why = `API requires one of '${scope}'. Scopes on the request '${provided}'`;
    fail(403, `Missing scope permissions on the request. ${why}`);
  };
  const team = () => {
    const { team: id = "" } = params;
    if (!guid.test(id)) fail(400, "teamId needs to be a valid GUID.");
    if (id.toLowerCase() !== world.team.id) fail(404, `No team found with Group Id ${id}`);
    // Graph answers so for lost access, too.
    if (!world.member) fail(404, "NotFound");
    return world.team;
  };
  const channel = () => {
    const { channels } = team();
    const { channel: id = "" } = params;
    if (!/^19:[\w-]+@thread\.\w+$/.test(id)) fail(400, "Invalid channel id.");
    return channels.find((candidate) => candidate.id === id) ?? fail(404, "NotFound");
  };
  return {
    ...{ request, world, need, team, channel },
    message() {
      const { messages } = channel();
      const { message: id = "" } = params;
      if (!/^[0-9]+$/.test(id)) fail(400, "Invalid message id.");
      return messages.find((candidate) => candidate.id === id) ?? fail(404, "NotFound");
    },
    options(...known) {
      for (const name of query.keys()) {
        if (name.startsWith("$") && !known.includes(name)) {
          fail(400, `Query option '${name}' is not allowed.`);
        }
      }
      return query;
    },
    json<Body>(schema: JsonSchema) {
      if (!/^application\/json\s*(?:;|$)/i.test(headers["content-type"] ?? "")) {
        fail(415, "A request's body is application/json.");
      }
      const body = request.json();
      const [problem] = checkValue(schema, body, 1, "the body");
      if (problem) fail(400, `Invalid request body was sent: ${problem.at} ${problem.rule}`);
      return body as Body;
    },
    empty() {
      if (headers["content-length"] !== "0") fail(411, "Length Required");
      if (bytes.length > 0) fail(400, "This action takes no body.");
    },
  };
}

/** Whether a message is the signed-in user's own. */
export const isOwn = (message: Message) => message.user === user;
