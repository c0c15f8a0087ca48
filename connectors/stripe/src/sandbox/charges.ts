import { type Endpoint, find, need, ok } from "./call.ts";
import { addRefund } from "./deeds.ts";
import { chargeOf, refundOf } from "./objects.ts";
import { integer, metadata, oneOf, read, word } from "./parameters.ts";
import { fail, refuse } from "./wire.ts";
import type { Charge, World } from "./world.ts";

export const getCharge: Endpoint = ({ world, request, sent }) => {
  need(world, "charge", "read");
  read(sent, {});
  const id = request.params["id"] ?? "";
  return ok(chargeOf(find(world, world.charges, id, { what: "charge", param: "id", inPath: true })));
};

interface Refunded {
  readonly charge?: string | undefined;
  readonly payment_intent?: string | undefined;
}
function chargeToRefund(world: World, { charge, payment_intent }: Refunded): Charge {
  if ((charge === undefined) === (payment_intent === undefined)) {
    refuse(400, {
      message:
        charge === undefined
          ? "One of the following params should be provided for this request: payment_intent or charge."
          : "You may only specify one of these parameters: payment_intent, charge.",
    });
  }
  if (charge !== undefined) {
    return find(world, world.charges, charge, { what: "charge", param: "charge" });
  }
  const named = { what: "payment_intent", param: "payment_intent" };
  const { id, latestCharge } = find(world, world.intents, payment_intent ?? "", named);
  const found = world.charges.find((candidate) => candidate.id === latestCharge);
  return (
    found ?? fail(400, { message: `This PaymentIntent (${id}) does not have a successful charge to refund.` })
  );
}

const money = (amount: number) => `$${(amount / 100).toFixed(2)}`;

export const createRefund: Endpoint = ({ world, sent, by }) => {
  need(world, "charge", "write");
  const given = read(sent, {
    charge: word,
    payment_intent: word,
    amount: integer,
    reason: oneOf(["duplicate", "fraudulent", "requested_by_customer"]),
    metadata,
  });
  const charge = chargeToRefund(world, given);
  const left = charge.amount - charge.amountRefunded;
  const { amount = left, reason = null, metadata: own = {} } = given;
  if (charge.disputed) {
    const message = `Charge ${charge.id} has been charged back; cannot issue a refund.`;
    fail(400, { code: "charge_disputed", message });
  }
  if (left === 0) {
    const message = `Charge ${charge.id} has already been refunded.`;
    fail(400, { code: "charge_already_refunded", message });
  }
  if (amount < 1) {
    const message = "This value must be greater than or equal to 1.";
    refuse(400, { code: "parameter_invalid_integer", message, param: "amount" });
  }
  if (amount > left) {
    const message = `Refund amount (${money(amount)}) is greater than unrefunded amount on charge (${money(left)})`;
    fail(400, { message, param: "amount" });
  }
  return ok(refundOf(addRefund(world, charge, { amount, reason, metadata: own }, by)));
};

export const getRefund: Endpoint = ({ world, request, sent }) => {
  need(world, "charge", "read");
  read(sent, {});
  const id = request.params["id"] ?? "";
  return ok(refundOf(find(world, world.refunds, id, { what: "refund", param: "id", inPath: true })));
};
