import { createHash } from "node:crypto";
import type { SandboxReply, SandboxRequest } from "@reversi-connector/http/sandbox";

export type Metadata = Readonly<Record<string, string>>;
interface Thing {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
}

export interface Customer extends Thing {
  readonly name: string | null;
  readonly email: string | null;
  readonly description: string | null;
  readonly phone: string | null;
  metadata: Metadata;
  deleted: boolean;
}
export interface Subscription extends Thing {
  readonly customer: string;
  status: string;
}
export const intentStates = [
  ...(["requires_payment_method", "requires_confirmation", "requires_action"] as const),
  ...(["requires_capture", "processing", "succeeded", "canceled"] as const),
] as const;
export type IntentState = (typeof intentStates)[number];
export interface Intent extends Thing {
  readonly amount: number;
  readonly currency: string;
  readonly customer: string | null;
  readonly description: string | null;
  readonly paymentMethod: string | null;
  readonly receiptEmail: string | null;
  readonly suffix: string | null;
  readonly captureMethod: string;
  readonly allowedTypes: readonly string[] | null;
  metadata: Metadata;
  status: IntentState;
  canceledAt: number | null;
  cancellationReason: string | null;
  latestCharge: string | null;
}
export interface Charge extends Thing {
  readonly amount: number;
  readonly currency: string;
  readonly customer: string | null;
  readonly intent: string | null;
  readonly paymentMethod: string;
  status: "succeeded" | "pending" | "failed";
  amountRefunded: number;
  disputed: boolean;
}
export interface Refund extends Thing {
  readonly charge: string;
  readonly intent: string | null;
  readonly amount: number;
  readonly currency: string;
  readonly reason: string | null;
  metadata: Metadata;
  status: string;
  failureReason?: string;
}
export interface Event extends Thing {
  readonly type: string;
  /** The object as it was then. */
  readonly object: object;
  readonly request: { readonly id: string; readonly idempotency_key: string | null } | null;
}

/** What Stripe keeps under a key. */
export interface Kept {
  /** The first request with the key. */
  readonly first: SandboxRequest;
  readonly requestId: string;
  /** Milliseconds since 1970. */
  at: number;
  /** Undefined while the request runs. */
  reply: SandboxReply | undefined;
}

/** Everything the sandbox knows; tests change it as other people would. */
export interface World {
  readonly customers: Customer[];
  readonly subscriptions: Subscription[];
  readonly intents: Intent[];
  readonly charges: Charge[];
  readonly refunds: Refund[];
  readonly events: Event[];
  readonly paymentMethods: Set<string>;
  readonly keys: Map<string, Kept>;
  /** Rights that the key lacks: `subscription_read`, `charge_write`. */
  readonly denied: Set<string>;
  /** Ids that exist in the other mode only. */
  readonly otherMode: Set<string>;
  /** While true no event shows yet. */
  eventsLate: boolean;
  /** How a new refund stands at first. */
  refundStatus: string;
  /** Whether a payment under way can still be called back; it rarely can. */
  processingCancelable: boolean;
  /** Requests with a key wait for it, in flight. */
  hold: Promise<unknown> | undefined;
  /**
   * Whether a 500 that a fault puts on the wire is Stripe's own, and so kept under the request's key; otherwise something
   * in front of Stripe answered.
   */
  keepsBreakdowns: boolean;
  /** Its clock, in seconds since 1970. */
  now: () => number;
  nextId: number;
}

export const nowInSeconds = () => Math.floor(Date.now() / 1000);

/** A code that looks random and is the same in every run. */
export const codeOf = (seed: string, length: number): string =>
  createHash("sha512").update(seed).digest("base64").replace(/[+/=]/g, "").slice(0, length);

export const newId = (world: World, prefix: string, length = 24): string =>
  `${prefix}_${codeOf(`${prefix} ${world.nextId++}`, length)}`;

export const emptyWorld = (now: World["now"]): World => ({
  customers: [],
  subscriptions: [],
  intents: [],
  charges: [],
  refunds: [],
  events: [],
  paymentMethods: new Set(),
  keys: new Map(),
  denied: new Set(),
  otherMode: new Set(),
  eventsLate: false,
  refundStatus: "succeeded",
  processingCancelable: false,
  hold: undefined,
  keepsBreakdowns: true,
  now,
  nextId: 1,
});

/** Makes all keys older; Stripe forgets them after a day. */
export function age({ keys }: World, hours: number): void {
  for (const kept of keys.values()) kept.at -= hours * 3_600_000;
}
