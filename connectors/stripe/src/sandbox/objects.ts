import {
  type Charge,
  type Customer,
  codeOf,
  type Event,
  type Intent,
  type Refund,
  type Subscription,
  type World,
} from "./world.ts";

/** The API version whose objects these are. */
export const apiVersion = "2026-10-28.endive";
const nulls = <Name extends string>(...names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, null])) as Record<Name, null>;

export const customerOf = ({ deleted, ...customer }: Customer) => ({
  object: "customer",
  ...customer,
  ...nulls("address", "currency", "default_source", "discount", "shipping", "test_clock", "customer_account"),
  balance: 0,
  delinquent: false,
  invoice_prefix: codeOf(customer.id, 8).toUpperCase(),
  invoice_settings: nulls("custom_fields", "default_payment_method", "footer", "rendering_options"),
  livemode: false,
  next_invoice_sequence: 1,
  preferred_locales: [],
  tax_exempt: "none",
});

export const deletedCustomerOf = ({ id }: Customer) => ({ id, object: "customer", deleted: true });

export const subscriptionOf = ({ id, created, customer, status }: Subscription) => ({
  ...{ id, object: "subscription", created, customer, status, livemode: false, metadata: {} },
  ...{ cancel_at_period_end: false, collection_method: "charge_automatically", currency: "usd" },
});

const hasFinished = (status: string) => status === "succeeded";

export const intentOf = (intent: Intent) => ({
  ...{ id: intent.id, object: "payment_intent", created: intent.created, livemode: false },
  ...{ amount: intent.amount, currency: intent.currency, status: intent.status },
  amount_capturable: intent.status === "requires_capture" ? intent.amount : 0,
  amount_details: { tip: {} },
  amount_received: hasFinished(intent.status) ? intent.amount : 0,
  allowed_payment_method_types: intent.allowedTypes,
  automatic_payment_methods: { allow_redirects: "always", enabled: true },
  canceled_at: intent.canceledAt,
  cancellation_reason: intent.cancellationReason,
  capture_method: intent.captureMethod,
  client_secret: `${intent.id}_secret_${codeOf(intent.id, 25)}`,
  confirmation_method: "automatic",
  customer: intent.customer,
  description: intent.description,
  latest_charge: intent.latestCharge,
  metadata: intent.metadata,
  payment_method: intent.paymentMethod,
  payment_method_options: {},
  payment_method_types: intent.allowedTypes ?? ["card", "link"],
  receipt_email: intent.receiptEmail,
  statement_descriptor_suffix: intent.suffix,
  ...nulls("application", "application_fee_amount", "customer_account", "excluded_payment_method_types"),
  ...nulls("last_payment_error", "managed_payments", "next_action", "on_behalf_of", "payment_record"),
  ...nulls("payment_method_configuration_details", "processing", "review", "setup_future_usage", "shipping"),
  ...nulls("source", "statement_descriptor", "transfer_data", "transfer_group"),
});

const person = {
  address: nulls("city", "country", "line1", "line2", "postal_code", "state"),
  ...nulls("email", "name", "phone", "tax_id"),
};

export const chargeOf = (charge: Charge) => ({
  ...{ id: charge.id, object: "charge", created: charge.created, livemode: false },
  ...{ amount: charge.amount, currency: charge.currency, status: charge.status },
  amount_captured: hasFinished(charge.status) ? charge.amount : 0,
  amount_refunded: charge.amountRefunded,
  billing_details: person,
  calculated_statement_descriptor: "ACME",
  captured: hasFinished(charge.status),
  customer: charge.customer,
  disputed: charge.disputed,
  fraud_details: {},
  metadata: {},
  outcome: {
    ...nulls("advice_code", "network_advice_code", "network_decline_code", "reason"),
    ...{ network_status: "approved_by_network", seller_message: "Payment complete.", type: "authorized" },
  },
  paid: hasFinished(charge.status),
  payment_intent: charge.intent,
  payment_method: charge.paymentMethod,
  payment_method_details: { type: "card" },
  receipt_url: `https://pay.stripe.com/receipts/payment/${codeOf(charge.id, 64)}`,
  refunded: charge.amountRefunded === charge.amount,
  ...nulls("application", "application_fee", "application_fee_amount", "balance_transaction", "description"),
  ...nulls("failure_balance_transaction", "failure_code", "failure_message", "on_behalf_of", "receipt_email"),
  ...nulls("receipt_number", "review", "shipping", "source", "source_transfer", "statement_descriptor"),
  ...nulls("statement_descriptor_suffix", "transfer_data", "transfer_group"),
});

export const refundOf = (refund: Refund) => ({
  ...{ id: refund.id, object: "refund", created: refund.created, amount: refund.amount },
  ...{ charge: refund.charge, currency: refund.currency, metadata: refund.metadata, status: refund.status },
  payment_intent: refund.intent,
  reason: refund.reason,
  ...(refund.status === "pending" && { pending_reason: "processing" }),
  ...(refund.failureReason !== undefined && { failure_reason: refund.failureReason }),
  destination_details: { card: { type: "refund" }, type: "card" },
  ...nulls("balance_transaction", "customer", "customer_account", "payment_method", "receipt_number"),
  ...nulls("source_transfer_reversal", "transfer_reversal"),
});

export const eventOf = ({ id, created, type, object, request }: Event) => ({
  ...{ id, object: "event", created, type, request, livemode: false, pending_webhooks: 0 },
  api_version: apiVersion,
  data: { object },
});

/** Times differ from run to run, and the rest opens a payment or a receipt. */
const hidden = new Set(["created", "canceled_at", "client_secret", "receipt_url"]);
const byId = <Item extends { readonly id: string }>(
  items: readonly Item[],
  shown: (item: Item) => object,
): Record<string, Record<string, unknown>> =>
  Object.fromEntries(
    items.map((item) => [
      item.id,
      Object.fromEntries(Object.entries(shown(item)).filter(([name]) => !hidden.has(name))),
    ]),
  );

/** What a user could see. */
export const visibleState = ({ customers, subscriptions, intents, charges, refunds }: World) => ({
  customers: byId(customers, (customer) =>
    customer.deleted ? deletedCustomerOf(customer) : customerOf(customer),
  ),
  subscriptions: byId(subscriptions, subscriptionOf),
  payment_intents: byId(intents, intentOf),
  charges: byId(charges, chargeOf),
  refunds: byId(refunds, refundOf),
});
