import { s } from "@reversi-connector/core";
import { path } from "@reversi-connector/http";
import { tool } from "./client.ts";
import {
  amount,
  type Charge,
  chargeId,
  created,
  currency,
  customerId,
  intentId,
  livemode,
} from "./objects.ts";

/** A charge as `retrieve_charge` shows it: its receipt link opens without a login and is left out. */
const seen = (charge: Charge) => ({
  charge: charge.id,
  amount: charge.amount,
  amount_captured: charge.amount_captured,
  amount_refunded: charge.amount_refunded,
  captured: charge.captured,
  currency: charge.currency,
  customer: charge.customer,
  description: charge.description,
  disputed: charge.disputed,
  failure_code: charge.failure_code,
  failure_message: charge.failure_message,
  livemode: charge.livemode,
  metadata: charge.metadata,
  paid: charge.paid,
  payment_intent: charge.payment_intent,
  refunded: charge.refunded,
  status: charge.status,
  created: charge.created,
});

const inSmallestUnit = (what: string) => s.integer(`${what} in the smallest unit of the currency.`);

export const retrieveCharge = tool
  .readOnly("retrieve_charge", {
    description: "Read one charge.",
    permission: "stripe:charges:read",
    input: s.object({ charge: chargeId }),
    output: s.object({
      charge: chargeId,
      amount,
      amount_captured: inSmallestUnit("Captured"),
      amount_refunded: inSmallestUnit("Refunded"),
      captured: s.boolean("Captured."),
      currency,
      customer: s.nullable(customerId),
      description: s.nullable(s.string("Description.")),
      disputed: s.boolean("Disputed."),
      failure_code: s.nullable(s.string("Failure code.")),
      failure_message: s.nullable(s.string("Failure text.")),
      livemode,
      metadata: s.map(s.string("Value."), "Own key-value pairs."),
      paid: s.boolean("Paid."),
      payment_intent: s.nullable(intentId),
      refunded: s.boolean("Refunded in full."),
      status: s.oneOf(["succeeded", "pending", "failed"], "State."),
      created,
    }),
  })
  .run(async ({ client, args }) => {
    const { body } = await client.read<Charge>({ path: path`/v1/charges/${args.charge}`, expect: ["id"] });
    return seen(body);
  });
