import { randomUUID } from "node:crypto";
import type { SandboxReply, SandboxRequest } from "@reversi-connector/http/sandbox";
import { escapeXml } from "@reversi-connector/http/xml";
import type { Action, Container, StoredBlob, World } from "./world.ts";

export const account = "reversisandbox0";

/** What goes before every path: nothing at a host that names the account, as Azure's own do. */
export const rootOf = ({ headers }: SandboxRequest): string =>
  headers["host"]?.startsWith(`${account}.blob.`) ? "" : `/${account}`;

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
/** An Entra token of realistic form and length that the sandbox really checks, and nobody else accepts. */
export const token = [
  part({ typ: "JWT", alg: "RS256", x5t: "sandbox", kid: "sandbox" }),
  part({
    aud: "https://storage.azure.com/",
    iss: "https://sts.windows.net/00000000-0000-0000-0000-00000000c0de/",
    ...{ iat: 1_700_000_000, nbf: 1_700_000_000, exp: 4_102_444_800 },
    ...{ appid: "sandbox", oid: "sandbox", tid: "00000000-0000-0000-0000-00000000c0de", ver: "1.0" },
  }),
  Buffer.from("not a signature, and no secret: only for the sandbox ".repeat(5)).toString("base64url"),
].join(".");

/** Ours, and the one that the vendor's own SDK sends. */
const versions = ["2023-11-03", "2026-04-06"];

export const element = (name: string, inner: string) =>
  inner === "" ? `<${name} />` : `<${name}>${inner}</${name}>`;
export const leaf = (name: string, text: string | number | boolean) => element(name, escapeXml(String(text)));
/** Azure's documents begin with a byte order mark. */
export const document = (root: string) => `\ufeff<?xml version="1.0" encoding="utf-8"?>${root}`;

const errorXml = (code: string, message: string, requestId: string) => {
  const text = `${message}\nRequestId:${requestId}\nTime:${new Date().toISOString()}`;
  return document(element("Error", leaf("Code", code) + leaf("Message", text)));
};

const codes: Readonly<Record<number, string>> = {
  401: "InvalidAuthenticationInfo",
  403: "AuthorizationPermissionMismatch",
  404: "ResourceNotFound",
  409: "ContainerBeingDeleted",
  412: "ConditionNotMet",
};
/** An error of which only the status is known. */
export const errorBody = (status: number, message: string): string =>
  errorXml(codes[status] ?? (status >= 500 ? "InternalError" : "InvalidInput"), message, randomUUID());

export const xml = (status: number, body: string, headers: SandboxReply["headers"] = {}): SandboxReply => ({
  status,
  headers: { ...headers, "content-type": "application/xml" },
  body,
});

/** An error as Azure writes it: the code in the body, and in a header, which is all that a HEAD has. */
export function failure(
  status: number,
  code: string,
  message: string,
  headers: SandboxReply["headers"] = {},
): SandboxReply {
  const requestId = randomUUID();
  const own = { ...headers, "x-ms-error-code": code, "x-ms-request-id": requestId };
  return xml(status, errorXml(code, message, requestId), own);
}

/** What Azure answers under too much load. */
export const serverBusy = (retryAfter?: number | string): SandboxReply =>
  failure(503, "ServerBusy", "Operations per second is over the account limit.", {
    "retry-after": retryAfter === undefined ? undefined : String(retryAfter),
  });

/** What Azure answers to a token that it does not know (401), or to one without the role (403). */
export const denial = (status: number) => {
  const { body, headers } = failure(status, codes[status] ?? "", "This request is not authorized.");
  return { status, body, headers: headers as Record<string, string> };
};

/** The headers of every answer; to a HEAD they are all there is. */
export const complete = ({ status, headers, body }: SandboxReply, request: SandboxRequest): SandboxReply => ({
  status,
  headers: {
    server: "Windows-Azure-Blob/1.0 Microsoft-HTTPAPI/2.0",
    "x-ms-request-id": randomUUID(),
    "x-ms-version": request.headers["x-ms-version"],
    "x-ms-client-request-id": request.headers["x-ms-client-request-id"],
    ...headers,
  },
  body: request.method === "HEAD" ? undefined : body,
});

export const isReply = (thrown: unknown): thrown is SandboxReply =>
  typeof (thrown as SandboxReply | null)?.status === "number";

/** Whether an Authorization header, or the one for what is copied, holds the sandbox's token. */
export const isAccepted = (world: World, header: string | undefined): boolean =>
  header === `Bearer ${token}` && world.token === "good";

const challenge = {
  "www-authenticate":
    "Bearer authorization_uri=https://login.microsoftonline.com/common/oauth2/authorize resource_id=https://storage.azure.com",
};

/** What Azure refuses before it looks at what is asked; undefined lets the request pass. */
export function verify(world: World, { headers }: SandboxRequest): SandboxReply | undefined {
  const { authorization, "x-ms-version": version } = headers;
  if (authorization === undefined) {
    const message =
      "Server failed to authenticate the request. Please refer to the information in the www-authenticate header.";
    return failure(401, "NoAuthenticationInformation", message, challenge);
  }
  if (version === undefined)
    return failure(
      400,
      "MissingRequiredHeader",
      "An HTTP header that's mandatory for this request is not specified.",
    );
  if (!versions.includes(version))
    return failure(
      400,
      "InvalidHeaderValue",
      "The value for one of the HTTP headers is not in the correct format.",
    );
  if (!isAccepted(world, authorization)) {
    const message =
      "Server failed to authenticate the request. Please refer to the information in the www-authenticate header.";
    return failure(401, "InvalidAuthenticationInfo", message, challenge);
  }
  return undefined;
}

/** One request about one container, its token checked. Its `fail` throws Azure's answer. */
export interface Call {
  readonly request: SandboxRequest;
  readonly world: World;
  readonly container: Container;
  /** Empty for the container itself. */
  readonly name: string;
  fail(status: number, code: string, message: string): never;
  need(action: Action): void;
  /** Query parameters that the operation knows; another one is refused. */
  query(...known: readonly string[]): URLSearchParams;
  /** `x-ms-*` headers that the operation knows besides those of every request. */
  headers(...known: readonly (string | RegExp)[]): Readonly<Record<string, string>>;
  blob(): StoredBlob | undefined;
}

const always = ["x-ms-version", "x-ms-date", "x-ms-client-request-id"];
const fits = (name: string) => (known: string | RegExp) =>
  typeof known === "string" ? known === name : known.test(name);

export function callOf(world: World, request: SandboxRequest, container: Container, name: string): Call {
  const fail: Call["fail"] = (status, code, message) => {
    throw failure(status, code, message);
  };
  return {
    ...{ request, world, container, name, fail },
    need(action) {
      if (!world.allowed.has(action))
        fail(
          403,
          "AuthorizationPermissionMismatch",
          "This request is not authorized to perform this operation using this permission.",
        );
    },
    query(...known) {
      const unknown = [...request.query.keys()].find((key) => !known.includes(key));
      if (unknown !== undefined)
        fail(
          400,
          "UnsupportedQueryParameter",
          "One of the query parameters specified in the request URI is not supported.",
        );
      return request.query;
    },
    headers(...known) {
      const unknown = Object.keys(request.headers).find(
        (key) => key.startsWith("x-ms-") && ![...always, ...known].some(fits(key)),
      );
      if (unknown !== undefined)
        fail(400, "UnsupportedHeader", "One of the HTTP headers specified in the request is not supported.");
      return request.headers;
    },
    blob: () => container.blobs.get(name),
  };
}

/** What the sandbox answers to one operation. */
export type Operation = (call: Call) => SandboxReply;
