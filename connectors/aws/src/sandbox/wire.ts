import { randomBytes } from "node:crypto";
import type { SandboxReply, SandboxRequest } from "@reversi-connector/http/sandbox";
import { escapeXml } from "@reversi-connector/http/xml";
import { type Action, type Bucket, current, type StoredObject, type World } from "./world.ts";

/** Temporary credentials of realistic length that the sandbox really checks, and nobody else accepts. */
export const keys = {
  accessKeyId: "ASIASANDBOXNOTREAL00",
  secretAccessKey: "sandbox0NotASecret0OnlyForTheSandbox0+/0",
  sessionToken: `IQoJb3JpZ2luX2VjE${"sandbox+Not/A+Secret0".repeat(16)}==`,
} as const;

/** Long-lived ones, which go without a token. */
export const longLived = {
  accessKeyId: "AKIASANDBOXNOTREAL00",
  secretAccessKey: "another0NotASecret0OnlyForTheSandbox0+/1",
} as const;

export const element = (name: string, inner: string) => `<${name}>${inner}</${name}>`;
export const leaf = (name: string, text: string | number | boolean) => element(name, escapeXml(String(text)));
export const document = (root: string) => `<?xml version="1.0" encoding="UTF-8"?>\n${root}`;
export const namespaced = (name: string, inner: string) =>
  document(`<${name} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${inner}</${name}>`);

const requestId = () => randomBytes(8).toString("hex").toUpperCase();
const hostId = () => randomBytes(56).toString("base64");

/** An error as S3 writes it. */
export const errorXml = (code: string, message: string, more: Readonly<Record<string, string>> = {}) =>
  document(
    element(
      "Error",
      [
        leaf("Code", code),
        leaf("Message", message),
        ...Object.entries(more).map(([name, text]) => leaf(name, text)),
        leaf("RequestId", requestId()),
        leaf("HostId", hostId()),
      ].join(""),
    ),
  );

const codes: Readonly<Record<number, string>> = {
  401: "AccessDenied",
  403: "AccessDenied",
  404: "NoSuchKey",
  409: "OperationAborted",
  412: "PreconditionFailed",
  501: "NotImplemented",
  503: "ServiceUnavailable",
};
const codeOf = (status: number) => codes[status] ?? (status >= 500 ? "InternalError" : "InvalidRequest");
/** An error of which only the status is known. */
export const errorBody = (status: number, message: string) => errorXml(codeOf(status), message);

export const xml = (status: number, body: string, headers: SandboxReply["headers"] = {}): SandboxReply => ({
  status,
  headers: { ...headers, "content-type": "application/xml" },
  body,
});
export const failure = (
  status: number,
  code: string,
  message: string,
  more: Readonly<Record<string, string>> = {},
  headers: SandboxReply["headers"] = {},
): SandboxReply => xml(status, errorXml(code, message, more), headers);

/** What S3 answers under too much load, without a word on how long to wait. */
export const slowDown = (): SandboxReply =>
  complete(failure(503, "SlowDown", "Please reduce your request rate."));

/** The headers of every answer. */
export const complete = ({ status, headers, body }: SandboxReply): SandboxReply => ({
  status,
  headers: { "x-amz-request-id": requestId(), "x-amz-id-2": hostId(), server: "AmazonS3", ...headers },
  // Without a body an answer has no type either.
  body: body ?? (status === 204 ? undefined : Buffer.alloc(0)),
});

export const isReply = (thrown: unknown): thrown is SandboxReply =>
  typeof (thrown as SandboxReply | null)?.status === "number";

/** One request about one bucket, its signature checked. Its `fail` throws S3's answer. */
export interface Call {
  readonly request: SandboxRequest;
  readonly world: World;
  readonly bucket: Bucket;
  /** Empty for the bucket itself. */
  readonly key: string;
  fail(status: number, code: string, message: string, more?: Readonly<Record<string, string>>): never;
  need(...actions: readonly Action[]): void;
  /** Query parameters that the operation knows; another one is refused. */
  query(...known: readonly string[]): URLSearchParams;
  /** `x-amz-*` headers that the operation knows besides those of every request. */
  headers(...known: readonly (string | RegExp)[]): Readonly<Record<string, string>>;
  /** The newest version of a key. */
  object(key?: string): StoredObject | undefined;
}

const always = ["x-amz-date", "x-amz-content-sha256", "x-amz-security-token", "x-amz-user-agent"];
const fits = (name: string) => (known: string | RegExp) =>
  typeof known === "string" ? known === name : known.test(name);

export function callOf(world: World, request: SandboxRequest, bucket: Bucket, key: string): Call {
  const fail: Call["fail"] = (status, code, message, more) => {
    throw failure(status, code, message, more);
  };
  return {
    ...{ request, world, bucket, key, fail },
    need(...actions) {
      const missing = actions.find((action) => !world.allowed.has(action));
      if (missing !== undefined) fail(403, "AccessDenied", `User is not authorized to perform: ${missing}`);
    },
    query(...known) {
      // `x-id` names the operation: Amazon's own clients send it, and S3 overlooks it.
      const unknown = [...request.query.keys()].find((name) => name !== "x-id" && !known.includes(name));
      if (unknown !== undefined)
        fail(400, "InvalidArgument", "This operation does not know the parameter.", {
          ArgumentName: unknown,
        });
      return request.query;
    },
    headers(...known) {
      const unknown = Object.keys(request.headers).find(
        (name) => name.startsWith("x-amz-") && ![...always, ...known].some(fits(name)),
      );
      if (unknown !== undefined) {
        const message = "A header you provided implies functionality that is not implemented.";
        fail(501, "NotImplemented", message, { Header: unknown });
      }
      return request.headers;
    },
    object: (name = key) => current(bucket, name),
  };
}

/** What the sandbox answers to one operation. */
export type Operation = (call: Call) => SandboxReply;
