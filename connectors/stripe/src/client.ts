import { type Connection, type Redactor, toolsFor } from "@reversi-connector/core";
import {
  type HttpAnswer,
  type HttpClient,
  type HttpReader,
  httpConnection,
  type VendorProblem,
} from "@reversi-connector/http";

export interface StripeOptions {
  /** Secret key (`sk_…`), or a restricted key (`rk_…`). */
  readonly secretKey: string;
  /** `https://api.stripe.com` when left out. */
  readonly baseUrl?: string | undefined;
}

/** Every tool of this package is declared through this. */
export const tool = toolsFor<HttpClient, HttpReader>("stripe");

/** Keys, masked ones included, client secrets, and receipt links, which need no login. */
export const tokenPatterns: readonly RegExp[] = [
  /\b[sru]k_(?:live|test|org)_[A-Za-z0-9_*]+/g,
  /\b(?:whsec|ephkey)_[A-Za-z0-9_*]+/g,
  /\b(?:pi|seti|src|cs)_[A-Za-z0-9_]+_secret_[A-Za-z0-9_]+/g,
  /https:\/\/pay\.stripe\.com\/receipts\/[^\s"'<>]+/g,
];

export const connect = (
  { secretKey, baseUrl = "https://api.stripe.com" }: StripeOptions,
  { redact }: { readonly redact: Redactor },
): Connection<HttpClient, HttpReader> =>
  httpConnection({
    baseUrl,
    redact,
    problem,
    headers: {
      authorization: `Bearer ${secretKey}`,
      // Without it each account's own default decides about the shape of answers.
      "stripe-version": "2026-10-28.endive",
      "user-agent": "reversi-connector-stripe",
    },
  });

const textOf = (value: unknown) => (typeof value === "string" ? value : undefined);

/** What Stripe says of a failure: its code, or else its type, is the reason that tools decide by. */
function problem({ status, headers, body }: HttpAnswer<unknown>): VendorProblem {
  const { error } = (body ?? {}) as { readonly error?: Readonly<Record<string, unknown>> };
  const code = textOf(error?.["code"]);
  const message = textOf(error?.["message"]);
  const declined = textOf(error?.["decline_code"]);
  // The first request under this key still runs; or a third party that Stripe depends on failed half way.
  const undecided = code === "idempotency_key_in_use" || status === 424;
  return {
    requestId: headers["request-id"],
    reason: code ?? textOf(error?.["type"]),
    message: message !== undefined && declined !== undefined ? `${message} (${declined})` : message,
    ...(undecided && { mayHaveApplied: true }),
  };
}
