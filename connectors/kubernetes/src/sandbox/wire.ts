import { randomUUID } from "node:crypto";
import type { RoutedRequest, SandboxReply, SandboxRequest } from "@reversi-connector/http/sandbox";
import type { World } from "./world.ts";

/** A service account's token of realistic length that the sandbox really checks, and nobody else accepts. */
export const token = `eyJhbGciOiJSUzI1NiIsImtpZCI6InNhbmRib3gifQ.${"c2FuZGJveDBub3RBU2VjcmV0".repeat(12)}.${"MDAw".repeat(80)}`;
const account = "system:serviceaccount:default:agent";
const anonymous = "system:anonymous";

export interface Details {
  readonly name?: string;
  readonly kind?: string;
  readonly group?: string;
  readonly uid?: string;
  readonly retryAfterSeconds?: number;
  readonly causes?: readonly { readonly reason: string; readonly message: string; readonly field: string }[];
}
const statusBody = (code: number, reason: string, message: string, details?: Details) => ({
  ...{ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure" },
  ...{ message, reason, ...(details && { details }), code },
});

const reasons: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  410: "Expired",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};
/** An error of which only the status is known. */
export const errorBody = (status: number, message: string) =>
  statusBody(status, reasons[status] ?? "InternalError", message);

export const failure = (code: number, reason: string, message: string, details?: Details): SandboxReply => ({
  status: code,
  body: statusBody(code, reason, message, details),
});

/** The API server says how long to wait; what stands before it may not. */
export function rateLimit(retryAfter: number | string | undefined): SandboxReply {
  const message = "the server has received too many requests and has asked us to try again later";
  const details = retryAfter === undefined ? {} : { retryAfterSeconds: Number(retryAfter) };
  const headers = { "retry-after": retryAfter === undefined ? undefined : String(retryAfter) };
  return complete({ ...failure(429, "TooManyRequests", message, details), headers });
}

/** The headers of every answer. */
export const complete = ({ status, headers, body }: SandboxReply): SandboxReply => ({
  ...{ status, body },
  headers: {
    "audit-id": randomUUID(),
    "cache-control": "no-cache, private",
    "content-type": typeof body === "string" ? "text/plain; charset=utf-8" : "application/json",
    "x-kubernetes-pf-flowschema-uid": "4f2c1a9e-0000-4000-8000-000000000001",
    "x-kubernetes-pf-prioritylevel-uid": "4f2c1a9e-0000-4000-8000-000000000002",
    ...headers,
  },
});

/** Who may not even ask; undefined lets the request pass. Without a token one is anonymous, and has no rights. */
export function gate({ tokenWorks }: World, { headers, pathname }: SandboxRequest): SandboxReply | undefined {
  const given = headers["authorization"];
  if (given === undefined) {
    if (pathname.includes("/namespaces/")) return undefined;
    const message = `forbidden: User "${anonymous}" cannot get path "${pathname}"`;
    return failure(403, "Forbidden", message, {});
  }
  return given === `Bearer ${token}` && tokenWorks ? undefined : failure(401, "Unauthorized", "Unauthorized");
}

const patchTypes = [
  "application/merge-patch+json",
  "application/json-patch+json",
  "application/strategic-merge-patch+json",
];

/** One request about one namespace. Its `fail` throws the API server's answer. */
export interface Call {
  readonly request: RoutedRequest;
  readonly world: World;
  readonly namespace: string;
  readonly name: string;
  fail(code: number, reason: string, message: string, details?: Details): never;
  /** Fails with 403 unless the token may. */
  need(verb: string, resource: string): void;
  /** The body as JSON; {} when there is none. Fails with 415 for another media type. */
  body(...types: readonly string[]): unknown;
  /** The media type of a patch. */
  patchType(): string;
  /** Whether fields that nobody knows are refused. */
  readonly strict: boolean;
  readonly manager: string;
}

const groupOf = (resource: string) => (resource.startsWith("deployments") ? "apps" : "");

export function callOf(world: World, request: RoutedRequest): Call {
  const { namespace = "", name = "" } = request.params;
  const fail: Call["fail"] = (code, reason, message, details) => {
    throw failure(code, reason, message, details);
  };
  const user = request.headers["authorization"] === undefined ? anonymous : account;
  const typeOf = () => (request.headers["content-type"] ?? "").split(";")[0]?.trim() ?? "";
  return {
    ...{ request, world, namespace, name, fail },
    strict: request.query.get("fieldValidation") === "Strict",
    manager: request.query.get("fieldManager") ?? "unknown",
    need(verb, resource) {
      if (user === account && world.rights.has(`${verb} ${resource}`)) return;
      const [group, kind = ""] = [groupOf(resource), resource.split("/")[0]];
      const full = group === "" ? kind : `${kind}.${group}`;
      const what = name === "" ? full : `${full} "${name}"`;
      const message = `${what} is forbidden: User "${user}" cannot ${verb} resource "${resource}" in API group "${group}" in the namespace "${namespace}"`;
      fail(403, "Forbidden", message, { ...(name !== "" && { name }), kind });
    },
    patchType() {
      const type = typeOf();
      if (patchTypes.includes(type)) return type;
      return fail(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});
    },
    body(...types) {
      if (request.bytes.length === 0) return {};
      if (!types.includes(typeOf())) {
        const message = `the body of the request was in an unknown format - accepted media types include: ${types.join(", ")}`;
        fail(415, "UnsupportedMediaType", message, {});
      }
      try {
        return JSON.parse(request.text);
      } catch {
        return fail(400, "BadRequest", "couldn't get version/kind; json parse error: invalid character");
      }
    },
  };
}

/** Fails with 400 where a body has a field that nobody knows, and that was to be refused. */
export function checkFields(
  { strict, fail }: Call,
  what: string,
  body: object,
  known: readonly string[],
): void {
  const unknown = Object.keys(body).find((field) => !known.includes(field));
  if (!strict || unknown === undefined) return;
  fail(
    400,
    "BadRequest",
    `${what} cannot be handled as a ${what.split(" ")[0]}: strict decoding error: unknown field "${unknown}"`,
  );
}

/** What the sandbox answers at one endpoint. */
export type Endpoint = (call: Call) => SandboxReply;
export const ok = (body: unknown, status = 200): SandboxReply => ({ status, body });

export const isReply = (thrown: unknown): thrown is SandboxReply =>
  typeof (thrown as SandboxReply | null)?.status === "number";
