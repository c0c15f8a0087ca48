import { randomBytes } from "node:crypto";
import type { RoutedRequest, SandboxReply, SandboxRequest } from "@reversi-connector/http/sandbox";
import { me, type Project, type StoredIssue, type World } from "./world.ts";

export const email = "agent@example.com";
/** A token of realistic length that the sandbox really checks, and nobody else accepts. */
export const token = `ATATT3xSandbox0NotASecret0ForNobodyElse_${"0".repeat(143)}=1A2B3C4D`;
const credential = `Basic ${Buffer.from(`${email}:${token}`).toString("base64")}`;

export const errorBody = (_: number, ...errorMessages: readonly string[]) => ({ errorMessages, errors: {} });

/** Too many requests. */
export const limited = (retryAfter: number | string | undefined): SandboxReply => ({
  status: 429,
  headers: {
    "retry-after": retryAfter === undefined ? undefined : String(retryAfter),
    "x-ratelimit-limit": "100",
    "x-ratelimit-remaining": "0",
    "x-ratelimit-reset": new Date(Date.now() + 1000).toISOString(),
    "ratelimit-reason": "jira-burst-based",
  },
  body: errorBody(429, "Rate limit exceeded."),
});

const notShown = "Issue does not exist or you do not have permission to see it.";

/** One request to one endpoint. What it fails with is thrown: Jira's answer. */
export interface Call {
  readonly request: RoutedRequest;
  readonly world: World;
  fail(status: number, ...sentences: readonly string[]): never;
  failFields(errors: Readonly<Record<string, string>>): never;
  /** Fails with all the sentences; passes when there is none. */
  checkFields(problems: Readonly<Record<string, string | undefined>>): void;
  /** Query parameters that the endpoint knows: Jira overlooks others, here they show. */
  query(...known: readonly string[]): URLSearchParams;
  /** A list of words in the query, all of them known. */
  words(name: string, known: readonly string[]): readonly string[];
  /** A number in the query. */
  number(name: string, otherwise: number): number;
  /** The body: a JSON object with none but these members. */
  body(...known: readonly string[]): Record<string, unknown>;
  /** The project under an id or a key; undefined where the account does not see it. */
  project(name: string): Project | undefined;
  /** The issue that the path names, by its id, its key, or a key from before a move. */
  issue(): StoredIssue;
  may(permission: string): boolean;
}

/** What the sandbox answers at one endpoint. */
export type Endpoint = (call: Call) => SandboxReply;
export const ok = (body: unknown, status = 200): SandboxReply => ({ status, body });
export const noContent: SandboxReply = { status: 204 };

export function callOf(world: World, request: RoutedRequest): Call {
  const fail: Call["fail"] = (status, ...sentences) => {
    throw { status, body: errorBody(status, ...sentences) } satisfies SandboxReply;
  };
  const failFields: Call["failFields"] = (errors) => {
    throw { status: 400, body: { errorMessages: [], errors } } satisfies SandboxReply;
  };
  const sees = ({ visible }: Project) => visible && world.permissions.has("BROWSE_PROJECTS");
  const words: Call["words"] = (name, known) => {
    const given = request.query.get(name)?.split(",") ?? [];
    const unknown = given.find((word) => !known.includes(word));
    return unknown === undefined ? given : fail(400, `The value '${unknown}' of '${name}' is not known.`);
  };
  return {
    ...{ request, world, fail, words },
    failFields,
    checkFields(problems) {
      const found = Object.entries(problems).flatMap(([field, why]) => (why ? [[field, why] as const] : []));
      if (found.length > 0) failFields(Object.fromEntries(found));
    },
    query(...known) {
      const unknown = [...request.query.keys()].find((name) => !known.includes(name));
      return unknown === undefined ? request.query : fail(400, `The parameter '${unknown}' is not known.`);
    },
    number(name, otherwise) {
      const given = request.query.get(name);
      if (given === null) return otherwise;
      return /^\d{1,9}$/.test(given) ? Number(given) : fail(400, `The value of '${name}' is not a number.`);
    },
    body(...known) {
      const unparsable = "There was an error parsing JSON. Check that your request body is valid.";
      let body: unknown;
      try {
        body = JSON.parse(request.text);
      } catch {
        return fail(400, unparsable);
      }
      if (typeof body !== "object" || body === null || Array.isArray(body)) return fail(400, unparsable);
      const unknown = Object.keys(body).find((name) => !known.includes(name));
      return unknown === undefined
        ? (body as Record<string, unknown>)
        : fail(400, `Unrecognized field "${unknown}".`);
    },
    project: (name) => world.projects.find((each) => (each.id === name || each.key === name) && sees(each)),
    issue() {
      const name = request.params["issue"] ?? "";
      const found =
        world.issues.find(({ id, key }) => id === name || key === name) ?? world.oldKeys.get(name);
      return found && world.issues.includes(found) && sees(found.project) ? found : fail(404, notShown);
    },
    may: (permission) => world.permissions.has(permission),
  };
}

/** What strangers are answered: they may ask everything that a public site shows, and change nothing. */
function stranger(world: World, { method, pathname }: SandboxRequest): SandboxReply | undefined {
  if (method === "GET" && !pathname.endsWith("/myself")) {
    if (world.isPublic) return undefined;
    if (/\/issue\/[^/]+/.test(pathname)) return { status: 404, body: errorBody(404, notShown) };
  }
  return { status: 401, body: errorBody(401, "Client must be authenticated to access this resource.") };
}

const isReply = (thrown: unknown): thrown is SandboxReply =>
  typeof (thrown as SandboxReply | null)?.status === "number";

/** Jira's answer to a request, with the headers that all have. */
export async function answered(
  world: World,
  request: SandboxRequest,
  endpoint: () => SandboxReply | Promise<SandboxReply>,
): Promise<SandboxReply> {
  const { authorization, "content-type": type = "" } = request.headers;
  const known = authorization === credential && world.loginWorks;
  const login = known
    ? { "x-aaccountid": me.accountId }
    : authorization !== undefined && { "x-seraph-loginreason": "AUTHENTICATED_FAILED" };
  const complete = ({ status, headers, body }: SandboxReply): SandboxReply => ({
    status,
    body,
    headers: {
      "cache-control": "no-cache, no-store, no-transform",
      "atl-traceid": randomBytes(16).toString("hex"),
      ...login,
      ...headers,
    },
  });
  try {
    const refused = known ? undefined : stranger(world, request);
    if (refused) return complete(refused);
    const isJson = /^application\/json\s*(?:;|$)/i.test(type);
    if (request.bytes.length > 0 && !isJson) return complete({ status: 415 });
    return complete(await endpoint());
  } catch (reply) {
    if (!isReply(reply)) throw reply;
    return complete(reply);
  }
}
