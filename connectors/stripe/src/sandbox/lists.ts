import { type Call, type Endpoint, need, ok } from "./call.ts";
import { customerOf, eventOf, intentOf, refundOf, subscriptionOf } from "./objects.ts";
import { integer, list, read, times, word } from "./parameters.ts";
import { fail, refuse } from "./wire.ts";

interface Thing {
  readonly id: string;
  readonly created: number;
}
interface Page {
  readonly limit?: number | undefined;
  readonly starting_after?: string | undefined;
  readonly created?: ((created: number) => boolean) | undefined;
}
const paging = { limit: integer, starting_after: word, created: times };

/** One page of a list, newest first. */
function page<Item extends Thing>(
  { request }: Call,
  { limit = 10, starting_after: after, created = () => true }: Page,
  items: readonly Item[],
  shown: (item: Item) => object,
) {
  if (limit < 1 || limit > 100) {
    refuse(400, { code: "parameter_invalid_integer", message: `Invalid limit: ${limit}`, param: "limit" });
  }
  const fitting = items.filter((item) => created(item.created)).reverse();
  const start = after === undefined ? 0 : fitting.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && start === 0) {
    fail(400, { code: "resource_missing", message: `No such object: '${after}'`, param: "starting_after" });
  }
  const end = start + limit;
  const data = fitting.slice(start, end).map(shown);
  return ok({ object: "list", data, has_more: end < fitting.length, url: request.pathname });
}

/** Whether a filter lets a value pass: one that is left out lets everything. */
const isOrAny = <Value>(wanted: Value | undefined, value: Value) => wanted === undefined || wanted === value;

export const listCustomers: Endpoint = (call) => {
  const { world, sent } = call;
  need(world, "customer", "read");
  const given = read(sent, { ...paging, email: word });
  const fitting = world.customers.filter(({ deleted, email }) => !deleted && isOrAny(given.email, email));
  return page(call, given, fitting, customerOf);
};

export const listIntents: Endpoint = (call) => {
  const { world, sent } = call;
  need(world, "payment_intent", "read");
  const given = read(sent, { ...paging, customer: word });
  const fitting = world.intents.filter(({ customer }) => isOrAny<string | null>(given.customer, customer));
  return page(call, given, fitting, intentOf);
};

export const listRefunds: Endpoint = (call) => {
  const { world, sent } = call;
  need(world, "charge", "read");
  const given = read(sent, { ...paging, charge: word, payment_intent: word });
  const fitting = world.refunds.filter(
    ({ charge, intent }) =>
      isOrAny(given.charge, charge) && isOrAny<string | null>(given.payment_intent, intent),
  );
  return page(call, given, fitting, refundOf);
};

export const listSubscriptions: Endpoint = (call) => {
  const { world, sent } = call;
  need(world, "subscription", "read");
  const given = read(sent, { ...paging, customer: word });
  const fitting = world.subscriptions.filter(
    ({ customer, status }) => status !== "canceled" && isOrAny(given.customer, customer),
  );
  return page(call, given, fitting, subscriptionOf);
};

export const listEvents: Endpoint = (call) => {
  const { world, sent } = call;
  need(world, "event", "read");
  const given = read(sent, { ...paging, type: word, types: list(word) });
  const { types } = given;
  const fitting = world.events.filter(
    ({ type }) => !world.eventsLate && isOrAny(given.type, type) && (types?.includes(type) ?? true),
  );
  return page(call, given, fitting, eventOf);
};
