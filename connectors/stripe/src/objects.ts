import { s } from "@reversi-connector/core";

/** Stripe's objects, as far as the tools read them. */
export interface Made {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly livemode: boolean;
  readonly metadata?: Readonly<Record<string, string>> | null;
}
export interface Customer extends Made {
  /** All that is left of a deleted customer, besides its id. */
  readonly deleted?: true;
}
export interface Subscription extends Made {
  readonly status: string;
}
export interface PaymentIntent extends Made {
  readonly status: string;
  readonly amount: number;
  readonly currency: string;
  readonly customer: string | null;
}
export interface Charge extends Made {
  readonly amount: number;
  readonly amount_captured: number;
  readonly amount_refunded: number;
  readonly captured: boolean;
  readonly currency: string;
  readonly customer: string | null;
  readonly description: string | null;
  readonly disputed: boolean;
  readonly failure_code: string | null;
  readonly failure_message: string | null;
  readonly metadata: Record<string, string>;
  readonly paid: boolean;
  readonly payment_intent: string | null;
  readonly refunded: boolean;
  readonly status: "succeeded" | "pending" | "failed";
}
export const refundStates = ["pending", "requires_action", "succeeded", "failed", "canceled"] as const;
export interface Refund extends Omit<Made, "livemode"> {
  readonly status: (typeof refundStates)[number];
  readonly amount: number;
  readonly currency: string;
  readonly charge: string | null;
  readonly payment_intent: string | null;
  readonly reason: string | null;
  readonly failure_reason?: string;
}

const id = (prefixes: string) => ({ pattern: `^(${prefixes})_[A-Za-z0-9]{1,250}$` });

/** Schemas of values that several tools share. */
export const ids = {
  customer: id("cus"),
  charge: id("ch|py"),
  intent: id("pi"),
  refund: id("re|pyr"),
  paymentMethod: id("pm|card|src"),
};
export const customerId = s.string("Customer id.", ids.customer);
export const chargeId = s.string("Charge id.", ids.charge);
export const intentId = s.string("Payment intent id.", ids.intent);

/** The largest amount that Stripe takes has eight digits. */
export const amountLimits = { minimum: 1, maximum: 99_999_999 };
export const amount = s.integer("Amount in the smallest unit of the currency.");
export const currency = s.string("Currency, three lower-case letters.", { pattern: "^[a-z]{3}$" });
export const livemode = s.boolean("Live, not sandbox.");
export const created = s.integer("Created, seconds since 1970.");
export const already = s.boolean("True when nothing had to be done.");

export const metadata = s.map(
  s.string("Value.", { maxLength: 500 }),
  "Own key-value pairs; the key `reversi_op` is reserved.",
  { keys: "^[^\\[\\]]{1,40}$", maxProperties: 49 },
);
