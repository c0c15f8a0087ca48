import type { SandboxReply, SandboxRequest } from "@reversi-connector/http/sandbox";
import { apiVersion } from "./objects.ts";

/** A key of realistic length that the sandbox really checks, and nobody else accepts. */
export const secretKey = `sk_${"test"}_51${"NotASecretOnlyForTheSandbox0".repeat(4).slice(0, 97)}`;
const account = "acct_1SandboxNotAnAccount";

export interface StripeError {
  readonly type: string;
  readonly code?: string;
  readonly message: string;
  readonly param?: string;
  readonly payment_intent?: object;
}

/** A reply; one that was given before the endpoint began to execute is kept under no key. */
export interface Reply extends SandboxReply {
  readonly executed?: boolean;
}

const docs = "https://stripe.com/docs/error-codes";
const errorReply = (status: number, error: StripeError): Reply => ({
  status,
  body: {
    error: {
      ...error,
      ...(error.code !== undefined && { doc_url: `${docs}/${error.code.replaceAll("_", "-")}` }),
      request_log_url: "https://dashboard.stripe.com/test/logs",
    },
  },
});

const invalidRequest = "invalid_request_error";
export const errorBody = (status: number, message: string) =>
  errorReply(status, { type: status >= 500 ? "api_error" : invalidRequest, message }).body;

/** Throws what the endpoint answers when it cannot do what it was asked. */
export const fail = (status: number, error: Omit<StripeError, "type">): never => {
  throw errorReply(status, { type: invalidRequest, ...error });
};

/** Throws what Stripe answers before an endpoint begins to execute. */
export const refuse = (
  status: number,
  error: Omit<StripeError, "type"> & { readonly type?: string },
): never => {
  throw { ...errorReply(status, { type: invalidRequest, ...error }), executed: false } satisfies Reply;
};

export const isReply = (thrown: unknown): thrown is Reply =>
  typeof (thrown as Reply | null)?.status === "number";

const masked = (key: string) => `${key.slice(0, 8)}${"*".repeat(16)}${key.slice(-4)}`;

/** Throws the refusal of a key that lacks a right. */
export const lacks = (right: string): never =>
  refuse(403, {
    message: `The provided key '${masked(secretKey)}' does not have the required permissions for this endpoint on account '${account}'. Having the 'rak_${right}' permission would allow this request to continue.`,
  });

function keyIn(authorization: string): string {
  const [scheme = "", value = ""] = authorization.split(" ");
  if (/^bearer$/i.test(scheme)) return value;
  if (!/^basic$/i.test(scheme)) return "";
  return Buffer.from(value, "base64").toString().replace(/:$/, "");
}

/** Throws what Stripe refuses whatever the endpoint. */
export function gate({ method, headers, bytes }: SandboxRequest): void {
  const key = keyIn(headers["authorization"] ?? "");
  const version = headers["stripe-version"];
  const type = headers["content-type"] ?? "";
  if (key === "") {
    refuse(401, {
      message:
        "You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY').",
    });
  }
  if (key !== secretKey) refuse(401, { message: `Invalid API Key provided: ${masked(key)}` });
  if (version === undefined) {
    refuse(400, {
      message: `Without a Stripe-Version header the account's default version would apply; this sandbox knows ${apiVersion} alone.`,
    });
  }
  if (version !== apiVersion) refuse(400, { message: `Invalid Stripe API version: ${version}` });
  if (method === "POST" && bytes.length > 0 && !/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)) {
    refuse(400, {
      message:
        "Invalid request (check that your POST content type is application/x-www-form-urlencoded). If you have any questions, we can help at https://support.stripe.com/.",
    });
  }
}

/** Stripe's form of 429; it rarely says how long to wait. */
export const rateLimit = (retryAfter: number | string | undefined): SandboxReply => ({
  ...errorReply(429, {
    type: invalidRequest,
    code: "rate_limit",
    message:
      "Request rate limit exceeded. Learn more about rate limits here https://stripe.com/docs/rate-limits.",
  }),
  headers: {
    "stripe-rate-limited-reason": "global-rate",
    "retry-after": retryAfter === undefined ? undefined : String(retryAfter),
  },
});

/** The headers of every answer. */
export const complete = (
  { status, headers, body }: Reply,
  request: SandboxRequest,
  requestId: string,
): SandboxReply => ({
  status,
  body,
  headers: {
    "request-id": requestId,
    "stripe-version": apiVersion,
    "idempotency-key": request.method === "POST" ? request.headers["idempotency-key"] : undefined,
    ...(status >= 400 && { "stripe-should-retry": String(status === 409 || status === 429) }),
    ...headers,
  },
});
