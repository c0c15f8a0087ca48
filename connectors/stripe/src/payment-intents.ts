import { ConnectorError, type OnConflict, s, threeWayRestore } from "@reversi-connector/core";
import { type HttpReader, path } from "@reversi-connector/http";
import { tool } from "./client.ts";
import { createCustomer } from "./customers.ts";
import { landedResult, lookFor, type Search } from "./evidence.ts";
import { idempotency, keyOf, marked, post } from "./keys.ts";
import {
  already,
  amount,
  amountLimits,
  created,
  currency,
  customerId,
  ids,
  intentId,
  livemode,
  metadata,
  type PaymentIntent,
} from "./objects.ts";

const intentPath = (id: string) => path`/v1/payment_intents/${id}`;

async function readIntent(client: HttpReader, id: string): Promise<PaymentIntent> {
  const { body } = await client.read<PaymentIntent>({ path: intentPath(id), expect: ["id", "status"] });
  return body;
}

interface Compared {
  readonly id: string;
  readonly now: string;
  /** What the undone step left. Without it the intent is canceled as told. */
  readonly expected: string | undefined;
  readonly onConflict: OnConflict | undefined;
}

/**
 * Whether there is anything to cancel.
 * @throws ConflictError when somebody went on with the payment; ConnectorError when the money is on its way
 */
function isToCancel({ id, now, expected, onConflict }: Compared): boolean {
  if (now === "succeeded" || (now === "processing" && expected !== undefined && expected !== now)) {
    throw new ConnectorError(
      `payment intent ${id} is ${now}: the payment went on and cannot be canceled; nothing was sent`,
    );
  }
  const same = (a: string, b: string) => a === b;
  const states = { before: "canceled", after: expected ?? now, now };
  const what = `status of payment intent ${id}`;
  return threeWayRestore(states, { what, same, describe: String, onConflict }) === "restore";
}

const canceled = (payment_intent: string, already: boolean) =>
  ({ payment_intent, status: "canceled", already }) as const;

export const cancelPaymentIntent = tool
  .idempotent("cancel_payment_intent", {
    description: "Cancel a payment intent that has not succeeded. A canceled one is success.",
    permission: "stripe:payments:write",
    input: s.object(
      { payment_intent: intentId },
      {
        cancellation_reason: s.oneOf(
          ["duplicate", "fraudulent", "requested_by_customer", "abandoned"],
          "Why.",
        ),
        expected_status: s.string("Cancel only in this state.", { maxLength: 64 }),
      },
    ),
    output: s.object({ payment_intent: intentId, status: s.oneOf(["canceled"], "State."), already }),
    target: ["payment_intent"],
    guard: { kind: "version", server_side: false },
    on_conflict: true,
    idempotency,
  })
  .holds(async ({ client, args }) => (await readIntent(client, args.payment_intent)).status === "canceled")
  .run(async ({ client, args, idempotencyKey, onConflict }) => {
    const { payment_intent: id, cancellation_reason, expected_status: expected } = args;
    const key = keyOf(idempotencyKey);
    const { status: now } = await readIntent(client, id);
    if (!isToCancel({ id, now, expected, onConflict })) return canceled(id, true);
    return post<PaymentIntent, ReturnType<typeof canceled>>(client, key, {
      path: `${intentPath(id)}/cancel`,
      form: { cancellation_reason },
      expect: ({ status }: PaymentIntent) => status === "canceled",
      result: () => canceled(id, false),
      // Stripe refuses to cancel a canceled intent in the same words as one that succeeded.
      unclear: ({ reason }) => reason === "payment_intent_unexpected_state",
      look: async () =>
        (await readIntent(client, id)).status === "canceled" ? canceled(id, true) : undefined,
    });
  });

const seen = (intent: PaymentIntent) => ({
  payment_intent: intent.id,
  status: intent.status,
  amount: intent.amount,
  currency: intent.currency,
  customer: intent.customer,
  livemode: intent.livemode,
  created: intent.created,
});

/**
 * The intent as it was made: in the state that an unconfirmed one begins in, so that its undo takes any other state for
 * somebody else's work.
 */
const lookForIntent = (
  search: Search & { readonly args: { readonly payment_method?: string | undefined } },
) =>
  lookFor(search, { path: "/v1/payment_intents", event: "payment_intent.created" }, async ({ id }) => ({
    ...seen(await readIntent(search.client, id)),
    status: search.args.payment_method === undefined ? "requires_payment_method" : "requires_confirmation",
  }));

export const createPaymentIntent = tool
  .reversible("create_payment_intent", {
    description: "Create an unconfirmed payment intent; it is confirmed outside the agent.",
    permission: "stripe:payments:write",
    input: s.object(
      { amount: s.integer("Amount in the smallest unit of the currency.", amountLimits), currency },
      {
        customer: customerId,
        description: s.string("Description.", { maxLength: 1000 }),
        payment_method: s.string("Payment method id; it is attached, not charged.", ids.paymentMethod),
        receipt_email: s.string("Where Stripe sends the receipt once paid.", { maxLength: 512 }),
        statement_descriptor_suffix: s.string("Text on the statement.", { maxLength: 22 }),
        capture_method: s.oneOf(["automatic", "automatic_async", "manual"], "When the money is taken."),
        allowed_payment_method_types: s.array(
          s.string("Type, such as `card`.", { pattern: "^[a-z0-9_]{1,64}$" }),
          "Types to allow.",
          { maxItems: 50 },
        ),
        metadata,
      },
    ),
    output: s.object({
      payment_intent: intentId,
      status: s.string("State, unconfirmed.", { maxLength: 64 }),
      amount,
      currency,
      customer: s.nullable(customerId),
      livemode,
      created,
    }),
    additive: true,
    compensation: {
      tool: cancelPaymentIntent,
      argument_map: { payment_intent: "result.payment_intent", expected_status: "result.status" },
    },
    requires: [{ tool: createCustomer, match: { customer: "result.customer" } }],
    idempotency,
    residue: [{ id: "canceled-record", text: "The intent stays, canceled." }],
  })
  .landed(lookForIntent)
  .run(async ({ client, args, idempotencyKey }) => {
    const key = keyOf(idempotencyKey);
    return post<PaymentIntent, ReturnType<typeof seen>>(client, key, {
      path: "/v1/payment_intents",
      form: { ...args, metadata: marked(args.metadata, key) },
      expect: ["id", "status", "amount", "currency", "livemode", "created"],
      result: seen,
      look: async (since) => landedResult(await lookForIntent({ client, args, idempotencyKey, since })),
    });
  });
