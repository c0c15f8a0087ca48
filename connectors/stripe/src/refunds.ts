import { InvalidArgumentsError, s } from "@reversi-connector/core";
import { path } from "@reversi-connector/http";
import { tool } from "./client.ts";
import { landedResult, lookFor, type Search } from "./evidence.ts";
import { idempotency, keyOf, marked, post } from "./keys.ts";
import {
  amount,
  amountLimits,
  chargeId,
  created,
  currency,
  ids,
  intentId,
  metadata,
  type Refund,
  refundStates,
} from "./objects.ts";

const seen = (refund: Refund) => ({
  refund: refund.id,
  status: refund.status,
  amount: refund.amount,
  currency: refund.currency,
  charge: refund.charge,
  payment_intent: refund.payment_intent,
  reason: refund.reason,
  failure_reason: refund.failure_reason ?? null,
  created: refund.created,
});

interface Refunded {
  readonly charge?: string;
  readonly payment_intent?: string;
}

/** @throws InvalidArgumentsError */
function checkRefunded({ charge, payment_intent }: Refunded): void {
  if ((charge === undefined) !== (payment_intent === undefined)) return;
  const rule = "must be exactly one of the two";
  const at = "charge, payment_intent";
  throw new InvalidArgumentsError(`${at}: ${rule}; nothing was sent`, { problems: [{ at, rule }] });
}

const lookForRefund = (search: Search & { readonly args: Refunded }) => {
  const { client, args } = search;
  checkRefunded(args);
  const query = { charge: args.charge, payment_intent: args.payment_intent };
  return lookFor(search, { path: "/v1/refunds", query, event: "refund.created" }, async ({ id }) => {
    const { body } = await client.read<Refund>({ path: path`/v1/refunds/${id}`, expect: ["id", "status"] });
    return seen(body);
  });
};

const oneOfTwo = "give exactly one of charge and payment_intent.";
const refundId = s.string("Refund id.", ids.refund);

export const createRefund = tool
  .irreversible("create_refund", {
    description: "Refund a charge. Money moves and cannot be recalled.",
    permission: "stripe:refund:write",
    input: s.object(
      {},
      {
        charge: s.string(`The charge; ${oneOfTwo}`, ids.charge),
        payment_intent: s.string(`The payment intent; ${oneOfTwo}`, ids.intent),
        amount: s.integer(
          "How much; all that is left when left out in the smallest unit of the currency.",
          amountLimits,
        ),
        reason: s.oneOf(
          ["duplicate", "fraudulent", "requested_by_customer"],
          "Why; `fraudulent` also blocks the card.",
        ),
        metadata,
      },
    ),
    output: s.object({
      refund: refundId,
      status: s.oneOf(refundStates, "State; `pending` may still fail."),
      amount,
      currency,
      charge: s.nullable(chargeId),
      payment_intent: s.nullable(intentId),
      reason: s.nullable(s.string("Why.")),
      failure_reason: s.nullable(s.string("Why it failed.")),
      created,
    }),
    idempotency,
    residue: [{ id: "refunded", text: "The money has moved." }],
  })
  .landed(lookForRefund)
  .run(async ({ client, args, idempotencyKey }) => {
    checkRefunded(args);
    const key = keyOf(idempotencyKey);
    return post<Refund, ReturnType<typeof seen>>(client, key, {
      path: "/v1/refunds",
      form: { ...args, metadata: marked(args.metadata, key) },
      expect: ["id", "status", "amount", "currency", "created"],
      result: seen,
      look: async (since) => landedResult(await lookForRefund({ client, args, idempotencyKey, since })),
    });
  });
