import { readFileSync } from "node:fs";
import type { Plan, Subject } from "@reversi-connector/certification-kit";
import { stripe } from "./index.ts";
import { secretKey } from "./sandbox/wire.ts";
import { addIntent, moveIntent, type StripeSandbox, sandbox, subscribe } from "./sandbox.ts";

type Calls = Readonly<Record<string, Plan<StripeSandbox> | readonly Plan<StripeSandbox>[]>>;

/** Somebody subscribes the customer that a call made. */
const subscribed: Plan<StripeSandbox>["edit"] = ({ world }, { result }) => {
  const customer = world.customers.find(({ id }) => id === result.customer);
  if (customer) subscribe(world, customer);
};
/** Somebody confirms and authorizes the payment that a call made. */
const authorized: Plan<StripeSandbox>["edit"] = ({ world }, { result }) => {
  const intent = world.intents.find(({ id }) => id === result.payment_intent);
  if (intent) moveIntent(world, intent, "requires_capture");
};

/** Good calls on the seeded account. */
const calls: Calls = {
  "stripe.retrieve_charge": { args: ({ backend }) => ({ charge: backend.charge.id }) },
  "stripe.create_customer": [
    { title: "an empty customer", args: {}, edit: subscribed },
    {
      title: "a customer with metadata",
      args: { name: "Alan Turing", email: "alan@example.com", metadata: { order: "7" } },
      edit: subscribed,
    },
  ],
  "stripe.delete_customer": { args: ({ backend }) => ({ customer: backend.ada.id }) },
  "stripe.create_payment_intent": [
    {
      title: "without a payment method",
      args: { amount: 1000, currency: "eur" },
      edit: authorized,
    },
    {
      title: "for a customer, with a payment method",
      args: ({ backend: { ada, paymentMethod } }) => ({
        ...{ amount: 500, currency: "jpy", customer: ada.id, payment_method: paymentMethod },
        ...{ capture_method: "manual", allowed_payment_method_types: ["card"], metadata: { "a b": "c&d" } },
      }),
      edit: authorized,
    },
  ],
  "stripe.cancel_payment_intent": {
    args: ({ backend: { world } }) => ({
      payment_intent: addIntent(world, { amount: 700, currency: "usd" }).id,
      cancellation_reason: "abandoned",
    }),
  },
  "stripe.create_refund": [
    {
      title: "a part, by its charge",
      args: ({ backend }) => ({ charge: backend.charge.id, amount: 500, reason: "duplicate" }),
    },
    { title: "all of it, by its intent", args: ({ backend }) => ({ payment_intent: backend.charge.intent }) },
  ],
};

type Things = Readonly<Record<string, Readonly<Record<string, unknown>>>>;
type State = Readonly<Record<"customers" | "payment_intents" | "charges" | "refunds", Things>>;

/** The things that are not new, or that are not what a residue leaves of a new one. */
const without = (before: Things, after: Things, isLeft: (thing: Things[string]) => boolean): Things =>
  Object.fromEntries(Object.entries(after).filter(([id, thing]) => id in before || !isLeft(thing)));

const schemaHashes: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL("../schema-hashes.json", import.meta.url), "utf8"),
);

/** What a restricted key may be allowed to read and to write. */
const areas = ["customer", "payment_intent", "charge", "subscription", "event"];

/** Where the sandbox differs from the published description, as the vendor does. */
const deviations = {
  "GET /v1/subscriptions: it is not described":
    "asked before a customer is deleted, whose subscriptions would end; left out of the excerpt",
};

/** What the certification needs to know about this connector. */
export const subject = {
  connector: ({ address, credential, timeoutMs }) =>
    stripe({ secretKey: credential, baseUrl: address, timeoutMs }),
  backend: () => sandbox(),
  wire: (backend, { http }) =>
    http(backend, {
      address: backend.address,
      inject(fault) {
        if (fault.kind === "serverError") backend.world.keepsBreakdowns = fault.stored === true;
        return false;
      },
    }),
  credential: secretKey,
  schemaHashes,
  calls,
  residue: {
    "deleted-record": (before: State, after: State) => ({
      ...after,
      customers: without(before.customers, after.customers, ({ deleted }) => deleted === true),
    }),
    "canceled-record": (before: State, after: State) => ({
      ...after,
      payment_intents: without(
        before.payment_intents,
        after.payment_intents,
        ({ status }) => status === "canceled",
      ),
    }),
    refunded: (before: State, after: State) => ({
      ...after,
      charges: before.charges,
      refunds: without(before.refunds, after.refunds, () => true),
    }),
  },
  contract: (folder, kit) => kit.openApi(`${folder}/stripe.json`, { deviations }),
  permit({ world }, access) {
    const lacking = access === "none" ? areas : ["subscription", "event"];
    for (const area of lacking) world.denied.add(`${area}_read`).add(`${area}_write`);
  },
  strictness: { headers: ["stripe-version"] },
} satisfies Subject<StripeSandbox>;
