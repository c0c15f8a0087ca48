import { randomUUID } from "node:crypto";
import { checkValue, type JsonSchema } from "@reversi-connector/core";
import type { RoutedRequest, SandboxReply, SandboxRequest } from "@reversi-connector/http/sandbox";
import type { Base } from "./objects.ts";
import { type Access, login, type Repository, type World } from "./world.ts";

/** A token of realistic length that the sandbox really checks, and nobody else accepts. */
export const token = "ghp_sandbox0NotASecret0OnlyForTheSandbox0";
const apiVersion = "2022-11-28";
const documentation = "https://docs.github.com/rest";
const limit = 5000;

export const errorBody = (status: number, message: string, docs = "") => ({
  message,
  documentation_url: `${documentation}${docs}`,
  status: String(status),
});
const errorReply = (
  status: number,
  message: string,
  headers: SandboxReply["headers"] = {},
): SandboxReply => ({
  status,
  headers,
  body: errorBody(status, message),
});

export const baseOf = ({ headers }: SandboxRequest): Base => `http://${headers["host"]}`;

/** What GitHub refuses whatever the endpoint; undefined lets the request pass. */
export function gate(world: World, { headers, bytes }: SandboxRequest): SandboxReply | undefined {
  const { authorization, accept = "*/*", "user-agent": agent = "" } = headers;
  const version = headers["x-github-api-version"] ?? apiVersion;
  const type = headers["content-type"] ?? "";
  if (agent === "") {
    const why = "Please make sure your request has a User-Agent header";
    return errorReply(403, `Request forbidden by administrative rules. ${why}.`);
  }
  if (authorization === undefined) return errorReply(401, "Requires authentication");
  if (!["Bearer", "token"].some((scheme) => authorization === `${scheme} ${token}`)) {
    return errorReply(401, "Bad credentials");
  }
  if (version !== apiVersion) {
    return errorReply(400, `"${version}" is not a supported API version; supported: ${apiVersion}.`);
  }
  if (!/\*\/\*|application\/(?:json|vnd\.github[\w.+-]*json)/.test(accept)) {
    return errorReply(415, "Unsupported 'Accept' header. Must accept 'application/json'.");
  }
  if (world.remaining <= 0) {
    return errorReply(world.rateLimitStatus, `API rate limit exceeded for user ${login}.`);
  }
  world.remaining--;
  if (bytes.length > 0 && !/^application\/json\s*(?:;|$)/i.test(type)) {
    return errorReply(415, "Unsupported Media Type: send application/json");
  }
  return undefined;
}

/** The secondary limit, with `retry-after` only where one is given. */
export const secondaryLimit = (world: World, retryAfter: number | string | undefined): SandboxReply =>
  complete(
    world,
    errorReply(
      world.rateLimitStatus,
      "You have exceeded a secondary rate limit. Please wait a few minutes.",
      {
        "retry-after": retryAfter === undefined ? undefined : String(retryAfter),
      },
    ),
  );

/** The headers of every answer. */
export function complete({ remaining }: World, { status, headers, body }: SandboxReply): SandboxReply {
  const hour = 3600;
  const reset = (Math.floor(Date.now() / 1000 / hour) + 1) * hour;
  return {
    status,
    body,
    headers: {
      "x-ratelimit-limit": String(limit),
      "x-ratelimit-remaining": String(remaining),
      "x-ratelimit-used": String(limit - remaining),
      "x-ratelimit-reset": String(reset),
      "x-ratelimit-resource": "core",
      "x-github-request-id": randomUUID().toUpperCase(),
      "x-github-media-type": "github.v3; format=json",
      "x-github-api-version-selected": apiVersion,
      ...headers,
    },
  };
}

/** One request to one endpoint of a repository. Its `fail` and `invalid` throw GitHub's answer. */
export interface Call {
  readonly request: RoutedRequest;
  readonly repository: Repository;
  readonly base: Base;
  fail(status: number, message: string, headers?: SandboxReply["headers"]): never;
  /** 422 "Validation Failed" with `errors`. */
  invalid(resource: string, field: string, code: string, message?: string): never;
  /** The body, held to its schema. */
  json<Body>(schema: JsonSchema): Body;
  /** What the token must be allowed; a write also needs a repository that is not archived. */
  need(area: keyof Repository["permissions"], access: Exclude<Access, "none">): void;
  /** What the token's owner must be allowed. */
  needPush(): void;
}

export function callOf(world: World, repository: Repository, request: RoutedRequest, docs: string): Call {
  const fail: Call["fail"] = (status, message, headers = {}) => {
    throw { status, headers, body: errorBody(status, message, docs) } satisfies SandboxReply;
  };
  const refuse = (area?: string) => {
    if (world.refusal === 404) fail(404, "Not Found");
    fail(403, "Resource not accessible by personal access token", {
      "x-accepted-github-permissions": area,
    });
  };
  return {
    request,
    repository,
    base: baseOf(request),
    fail,
    invalid(resource, field, code, message) {
      const errors = [{ resource, field, code, ...(message !== undefined && { message }) }];
      const body = { ...errorBody(422, "Validation Failed", docs), errors };
      throw { status: 422, body } satisfies SandboxReply;
    },
    json<Body>(schema: JsonSchema): Body {
      let body: unknown;
      try {
        body = JSON.parse(request.text || "{}");
      } catch {
        fail(400, "Problems parsing JSON");
      }
      if (typeof body !== "object" || body === null) fail(400, "Body should be a JSON object");
      const [problem] = checkValue(schema, body);
      if (!problem) return body as Body;
      const { at, rule } = problem;
      if (rule === "is required") fail(422, `Invalid request.\n\n"${at}" wasn't supplied.`);
      if (rule.startsWith("is not a known")) fail(422, `Invalid request.\n\n"${at}" is not a permitted key.`);
      return fail(422, `Invalid request.\n\nFor 'properties/${at}', the value ${rule}.`);
    },
    need(area, access) {
      const has = repository.permissions[area];
      if (has === "none" || (access === "write" && has === "read")) refuse(`${area}=${access}`);
      if (access === "write" && repository.archived) {
        fail(403, "Repository was archived so is read-only.");
      }
    },
    needPush() {
      if (!repository.push) refuse();
    },
  };
}

export const isReply = (thrown: unknown): thrown is SandboxReply =>
  typeof (thrown as SandboxReply | null)?.status === "number";

/** What the sandbox answers at one endpoint. */
export type Endpoint = (call: Call, world: World) => SandboxReply;

/** Throws GitHub's redirect to `path`. */
export const moved = (request: SandboxRequest, path: string): never => {
  const [status, message] =
    request.method === "GET" ? [301, "Moved Permanently"] : [307, "Temporary Redirect"];
  const url = baseOf(request) + path;
  throw {
    status,
    headers: { location: url },
    body: { ...errorBody(status, message, "/guides/best-practices#follow-redirects"), url },
  } satisfies SandboxReply;
};

/** One page of a list, with GitHub's `Link` header. */
export function page<Item>({ request, repository, base }: Call, rest: string, items: readonly Item[]) {
  const number = (name: string, otherwise: number) => {
    const text = request.query.get(name) ?? "";
    return /^[1-9]\d*$/.test(text) ? Number(text) : otherwise;
  };
  const size = Math.min(number("per_page", 30), 100);
  const at = number("page", 1);
  const last = Math.max(1, Math.ceil(items.length / size));
  const to = (target: number, rel: string) =>
    `<${base}/repositories/${repository.id}${rest}?per_page=${size}&page=${target}>; rel="${rel}"`;
  const links = [
    ...(at > 1 ? [to(at - 1, "prev")] : []),
    ...(at < last ? [to(at + 1, "next"), to(last, "last")] : []),
    ...(at > 1 ? [to(1, "first")] : []),
  ];
  return {
    items: items.slice((at - 1) * size, at * size),
    headers: { link: links.length === 0 ? undefined : links.join(", ") },
  };
}
