import { chargeOf, customerOf, deletedCustomerOf, intentOf, refundOf } from "./objects.ts";
import {
  type Charge,
  type Customer,
  type Event,
  emptyWorld,
  type Intent,
  type IntentState,
  newId,
  nowInSeconds,
  type Refund,
  type Subscription,
  type World,
} from "./world.ts";

/** The API request behind a deed; left out for what people do in the dashboard. */
export type By = Event["request"];

function tell(world: World, type: string, object: object, by: By = null): void {
  const id = newId(world, "evt");
  world.events.push({ id, created: world.now(), type, object: structuredClone(object), request: by });
}

const fresh = (world: World, prefix: string, length?: number) => ({
  id: newId(world, prefix, length),
  created: world.now(),
});

export function addCustomer(
  world: World,
  given: Partial<Omit<Customer, "id" | "created" | "deleted">>,
  by?: By,
): Customer {
  const nothing = { name: null, email: null, description: null, phone: null, metadata: {} };
  const customer = { ...fresh(world, "cus", 14), ...nothing, ...given, deleted: false };
  world.customers.push(customer);
  tell(world, "customer.created", customerOf(customer), by);
  return customer;
}

/** Deletes a customer for good, and cancels its subscriptions at once. */
export function removeCustomer(world: World, customer: Customer, by?: By): void {
  for (const subscription of world.subscriptions) {
    if (subscription.customer === customer.id) subscription.status = "canceled";
  }
  customer.deleted = true;
  tell(world, "customer.deleted", deletedCustomerOf(customer), by);
}

export function subscribe(world: World, customer: Customer, status = "active"): Subscription {
  const subscription = { ...fresh(world, "sub"), customer: customer.id, status };
  world.subscriptions.push(subscription);
  return subscription;
}

export function addIntent(
  world: World,
  given: Pick<Intent, "amount" | "currency"> & Partial<Omit<Intent, "id" | "created">>,
  by?: By,
): Intent {
  const intent: Intent = {
    ...fresh(world, "pi"),
    customer: null,
    description: null,
    paymentMethod: null,
    receiptEmail: null,
    suffix: null,
    captureMethod: "automatic_async",
    allowedTypes: null,
    metadata: {},
    status: given.paymentMethod ? "requires_confirmation" : "requires_payment_method",
    canceledAt: null,
    cancellationReason: null,
    latestCharge: null,
    ...given,
  };
  world.intents.push(intent);
  tell(world, "payment_intent.created", intentOf(intent), by);
  return intent;
}

/** Moves a payment on, or cancels it. */
export function moveIntent(
  world: World,
  intent: Intent,
  status: IntentState,
  reason: string | null = null,
  by?: By,
): void {
  intent.status = status;
  if (status !== "canceled") return;
  intent.canceledAt = world.now();
  intent.cancellationReason = reason;
  tell(world, "payment_intent.canceled", intentOf(intent), by);
}

/** A payment that succeeded: its intent and its charge. */
export function addPayment(
  world: World,
  given: Pick<Charge, "amount" | "currency" | "customer" | "paymentMethod">,
): Charge {
  const intent = addIntent(world, given);
  moveIntent(world, intent, "succeeded");
  const first = { status: "succeeded", amountRefunded: 0, disputed: false } as const;
  const charge: Charge = { ...fresh(world, "ch"), ...given, ...first, intent: intent.id };
  world.charges.push(charge);
  intent.latestCharge = charge.id;
  tell(world, "charge.succeeded", chargeOf(charge));
  return charge;
}

export function addRefund(
  world: World,
  charge: Charge,
  given: Pick<Refund, "amount"> & Partial<Pick<Refund, "reason" | "metadata">>,
  by?: By,
): Refund {
  const { id, intent, currency } = charge;
  const refund: Refund = {
    ...fresh(world, "re"),
    ...{ charge: id, intent, currency, reason: null, metadata: {}, status: world.refundStatus },
    ...given,
  };
  world.refunds.push(refund);
  charge.amountRefunded += refund.amount;
  tell(world, "refund.created", refundOf(refund), by);
  return refund;
}

/** Two customers, one of them with a subscription, and a charge of 20 dollars that can be refunded. */
export function seededWorld() {
  const longAgo = () => 1_764_500_000;
  const world = emptyWorld(longAgo);
  const paymentMethod = newId(world, "pm");
  world.paymentMethods.add(paymentMethod);
  const ada = addCustomer(world, { name: "Ada Lovelace", email: "ada@example.com" });
  const grace = addCustomer(world, { name: "Grace Hopper", email: "grace@example.com" });
  subscribe(world, grace);
  const charge = addPayment(world, { amount: 2000, currency: "usd", customer: ada.id, paymentMethod });
  world.now = nowInSeconds;
  return { world, ada, grace, charge, paymentMethod };
}
