import { createHash } from "node:crypto";
import type { RoutedRequest, SandboxReply, SandboxRequest } from "@reversi-connector/http/sandbox";
import type { Bucket, Permission, StoredObject, World } from "./world.ts";

/** A token of realistic length that the sandbox really checks, and nobody else accepts. */
export const token = `ya29.c.sandbox0NotASecret0ForNobodyElse-${"0".repeat(180)}`;
const account = "sandbox@reversi.iam.gserviceaccount.com";

interface Problem {
  readonly reason: string;
  readonly message: string;
  readonly domain?: string;
  readonly locationType?: string;
  readonly location?: string;
}
const problemBody = (code: number, { domain = "global", reason, message, ...where }: Problem) => ({
  error: { code, message, errors: [{ message, domain, reason, ...where }] },
});

const reasons: Readonly<Record<number, string>> = {
  400: "invalid",
  401: "authError",
  403: "forbidden",
  404: "notFound",
  409: "conflict",
  412: "conditionNotMet",
  429: "rateLimitExceeded",
};
/** An error of which only the status is known. */
export const errorBody = (status: number, message: string) =>
  problemBody(status, { reason: reasons[status] ?? "backendError", message });

export const failure = (
  status: number,
  problem: Problem,
  headers: SandboxReply["headers"] = {},
): SandboxReply => ({ status, headers, body: problemBody(status, problem) });

const usageLimits = { domain: "usageLimits", reason: "rateLimitExceeded" };
/** The limit of a project, without a word on how long to wait unless one is given. */
export const rateLimit = (retryAfter?: number | string): SandboxReply =>
  failure(
    429,
    { ...usageLimits, message: "Rate Limit Exceeded" },
    { "retry-after": retryAfter === undefined ? undefined : String(retryAfter) },
  );

/** The headers of every answer. Errors of a download are plain text. */
export function complete(request: SandboxRequest, { status, headers, body }: SandboxReply): SandboxReply {
  const isMedia = request.method === "GET" && request.query.get("alt") === "media";
  const { error } = (body ?? {}) as { readonly error?: { readonly message: string } };
  return {
    status,
    body: isMedia && status >= 400 ? error?.message : body,
    headers: {
      server: "UploadServer",
      "cache-control": "no-cache, no-store, max-age=0, must-revalidate",
      vary: "Origin, X-Origin",
      "x-guploader-uploadid": `ADPycd${createHash("sha256").update(request.path).digest("base64url").slice(0, 32)}`,
      ...headers,
    },
  };
}

/** What Google refuses whatever the endpoint; undefined lets the request pass. */
export function gate(world: World, { headers }: SandboxRequest): SandboxReply | undefined {
  const challenge = { "www-authenticate": 'Bearer realm="https://accounts.google.com/"' };
  const at = { locationType: "header", location: "Authorization" };
  const { authorization } = headers;
  if (authorization === undefined) {
    const message =
      "Anonymous caller does not have storage.objects access to the Google Cloud Storage object.";
    return failure(401, { reason: "required", message, ...at }, challenge);
  }
  if (authorization !== `Bearer ${token}` || world.token === "expired")
    return failure(401, { reason: "authError", message: "Invalid Credentials", ...at }, challenge);
  if (world.remaining-- <= 0) return rateLimit();
  return undefined;
}

/** One request about one bucket. Its `fail` throws Google's answer. */
export interface Call {
  readonly request: RoutedRequest;
  readonly world: World;
  readonly bucket: Bucket;
  fail(status: number, reason: string, message: string): never;
  need(...permissions: readonly Permission[]): void;
  /** Query parameters that the endpoint knows; another one is refused. */
  query(...known: readonly string[]): URLSearchParams;
  /** A number of 64 bits in the query. */
  number(name: string): string | undefined;
  /** The live object, or the generation that is asked for. */
  find(name: string, generation?: string): StoredObject;
}

const always = ["prettyPrint", "fields", "alt"];

export function callOf(world: World, request: RoutedRequest, bucketName: string): Call {
  const fail: Call["fail"] = (status, reason, message) => {
    throw failure(status, { reason, message });
  };
  const bucket =
    world.buckets.get(bucketName) ?? fail(404, "notFound", "The specified bucket does not exist.");
  const deny = (permission: Permission) =>
    fail(
      403,
      "forbidden",
      `${account} does not have ${permission} access to the Google Cloud Storage object. Permission '${permission}' denied on resource (or it may not exist).`,
    );
  return {
    ...{ request, world, bucket, fail },
    need(...permissions) {
      for (const permission of permissions) if (!world.allowed.has(permission)) deny(permission);
    },
    query(...known) {
      const unknown = [...request.query.keys()].find((name) => ![...always, ...known].includes(name));
      if (unknown === undefined) return request.query;
      return fail(400, "invalidParameter", `Unknown name "${unknown}": Cannot bind query parameter.`);
    },
    number(name) {
      const value = request.query.get(name) ?? undefined;
      if (value === undefined || /^\d{1,19}$/.test(value)) return value;
      return fail(400, "invalidParameter", `Invalid value for ${name}: ${value}`);
    },
    find(name, generation) {
      const live = bucket.objects.get(name);
      const old = bucket.noncurrent.find(
        (each) => each.name === name && each.object.generation === generation,
      );
      const found = generation === undefined || live?.generation === generation ? live : old?.object;
      if (found) return found;
      // Whoever may not list must not learn what there is.
      if (!world.allowed.has("storage.objects.list")) deny("storage.objects.list");
      return fail(404, "notFound", `No such object: ${bucket.name}/${name}`);
    },
  };
}

export const isReply = (thrown: unknown): thrown is SandboxReply =>
  typeof (thrown as SandboxReply | null)?.status === "number";

/** What the sandbox answers at one endpoint. */
export type Endpoint = (call: Call) => SandboxReply;
