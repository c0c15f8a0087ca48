import type { Handler, SandboxReply, SandboxRequest } from "@reversi-connector/http/sandbox";
import { bodyOf, Failure, failure, graphqlError } from "./errors.ts";
import { execute, type Request } from "./execute.ts";
import type { World } from "./world.ts";

/** Credentials of realistic length that the sandbox really checks, and nobody else accepts. */
export const apiKey = "lin_api_sandbox0NotASecret0OnlyForTheSandbox0abc";
export const oauthToken = "lin_oauth_sandbox0NotASecret0OnlyForTheSandbox0abcdef0123456789";

const limit = 5000;
const complexityLimit = 3_000_000;
const hour = 3_600_000;

function authenticate({ headers }: SandboxRequest): void {
  const { authorization } = headers;
  if (authorization === apiKey || authorization === `Bearer ${oauthToken}`) return;
  if (authorization?.startsWith("Bearer lin_api_")) {
    throw failure(
      "input",
      "It looks like you're trying to use an API key as a Bearer token. Remove the Bearer prefix from the Authorization header.",
    );
  }
  throw failure(
    "authentication",
    "Authentication required, not authenticated",
    "You need to authenticate to access this operation.",
  );
}

const limited = ({ rateLimitStatus }: World): Failure => {
  const message = `Rate limit exceeded. Only ${limit} requests are allowed per 1 hour.`;
  const { error } = failure("rateLimited", message, "Rate limit exceeded.");
  const rateLimitResult = { allowed: false, requested: 1, remaining: 0, duration: hour, limit };
  return new Failure(
    { ...error, extensions: { ...error.extensions, meta: { rateLimitResult } } },
    rateLimitStatus,
  );
};

const bad = (message: string) => graphqlError(message, "BAD_REQUEST");
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const members = ["query", "variables", "operationName"];

function requestOf({ text, headers, query: search }: SandboxRequest): Request {
  if (!/^application\/json\s*(?:;|$)/i.test(headers["content-type"] ?? "")) {
    throw bad("This operation has been blocked as a potential Cross-Site Request Forgery (CSRF).");
  }
  // Linear's own server may look away here; a client that sends these is wrong all the same.
  if (search.size > 0) throw bad("The address takes no query parameters.");
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw bad("The request body is not JSON.");
  }
  if (!isObject(body)) throw bad("POST body must be a JSON object.");
  const unknown = Object.keys(body).find((name) => !members.includes(name));
  if (unknown !== undefined) throw bad(`Unknown member "${unknown}" in the request body.`);
  const { query, variables, operationName } = body;
  if (typeof query !== "string" || query === "")
    throw bad("GraphQL operations must contain a non-empty `query`.");
  if ((variables ?? null) !== null && !isObject(variables)) throw bad("`variables` must be an object.");
  return {
    query,
    variables: isObject(variables) ? variables : {},
    operationName: typeof operationName === "string" ? operationName : undefined,
  };
}

/** The headers of every answer. */
function complete({ remaining }: World, { headers, ...reply }: SandboxReply): SandboxReply {
  const reset = String((Math.floor(Date.now() / hour) + 1) * hour);
  return {
    ...reply,
    headers: {
      "x-ratelimit-requests-limit": String(limit),
      "x-ratelimit-requests-remaining": String(remaining),
      "x-ratelimit-requests-reset": reset,
      "x-ratelimit-complexity-limit": String(complexityLimit),
      "x-ratelimit-complexity-remaining": String(complexityLimit),
      "x-ratelimit-complexity-reset": reset,
      ...headers,
    },
  };
}

/** Linear's form of 429, with `Retry-After` only where one is given. */
export const rateLimit = (world: World, retryAfter: number | string | undefined): SandboxReply => {
  const { error, status } = limited(world);
  const headers = { "retry-after": retryAfter === undefined ? undefined : String(retryAfter) };
  return complete(world, { status, headers, body: bodyOf(error) });
};

/** Linear's part of the sandbox: every request is held to what the vendor checks. */
export const handler =
  (world: World): Handler =>
  (request) => {
    if (request.pathname !== "/graphql") return request.error(404, "Not Found");
    if (request.method !== "POST") return request.error(405, "GraphQL only supports POST requests.");
    try {
      authenticate(request);
      if (world.remaining <= 0) throw limited(world);
      world.remaining--;
      return complete(world, { status: 200, body: { data: execute(world, requestOf(request)) } });
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown;
      return complete(world, { status: thrown.status, body: bodyOf(thrown.error) });
    }
  };
