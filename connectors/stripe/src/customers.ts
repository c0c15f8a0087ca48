import { ConflictError, ConnectorError, type OnConflict, s } from "@reversi-connector/core";
import { answerOf, type HttpClient, type HttpReader, path } from "@reversi-connector/http";
import { tool } from "./client.ts";
import { landedResult, lookFor, readAllowed, type Search } from "./evidence.ts";
import { idempotency, keyOf, marked, post } from "./keys.ts";
import {
  already,
  type Customer,
  created,
  customerId,
  livemode,
  type Made,
  metadata,
  type Subscription,
} from "./objects.ts";

/** Whether Stripe says that this very customer does not exist, and not merely that the key is of the other mode. */
function saysMissing(error: unknown, customer: string): boolean {
  if (!ConnectorError.is(error) || error.status !== 404 || error.reason !== "resource_missing") return false;
  const body = answerOf(error)?.body as { readonly error?: { readonly message?: unknown } } | undefined;
  const message = String(body?.error?.message);
  return message.includes(`'${customer}'`) && !/similar object exists in/i.test(message);
}

async function isGone(client: HttpReader, customer: string): Promise<boolean> {
  try {
    const { body } = await client.read<Customer>({ path: path`/v1/customers/${customer}`, expect: ["id"] });
    return body.deleted === true;
  } catch (error) {
    if (saysMissing(error, customer)) return true;
    throw error;
  }
}

/** @throws ConflictError when the customer has a subscription: deleting the one would cancel the other */
async function checkSubscriptions(client: HttpReader, customer: string, onConflict: OnConflict | undefined) {
  if (onConflict === "overwrite") return;
  const all = await readAllowed<Subscription>(client, "/v1/subscriptions", { customer });
  const live = all.find(({ status }) => status !== "canceled" && status !== "incomplete_expired");
  if (!live) return;
  const [expected, found] = ["no subscription", `subscription ${live.id} (${live.status})`];
  throw new ConflictError(
    `customer ${customer}: changed since; expected ${expected}, found ${found}. Nothing was deleted: that would cancel it.`,
    { expected, found },
  );
}

/** Deletes a customer; false when somebody else did so meanwhile. */
async function erase(client: HttpClient, customer: string, key: string): Promise<boolean> {
  try {
    await client.write<Customer>({
      method: "DELETE",
      path: path`/v1/customers/${customer}`,
      headers: { "idempotency-key": key },
      expect: ({ deleted }: Customer) => deleted === true,
    });
    return true;
  } catch (error) {
    if (saysMissing(error, customer)) return false;
    throw error;
  }
}

export const deleteCustomer = tool
  .idempotent("delete_customer", {
    description: "Delete a customer for good. A deleted customer is success.",
    permission: "stripe:customers:write",
    input: s.object({ customer: customerId }),
    output: s.object({ customer: customerId, already }),
    target: ["customer"],
    guard: { kind: "content", server_side: false },
    on_conflict: true,
  })
  .holds(async ({ client, args }) => isGone(client, args.customer))
  .run(async ({ client, args: { customer }, idempotencyKey, onConflict }) => {
    const key = keyOf(idempotencyKey);
    if (await isGone(client, customer)) return { customer, already: true };
    await checkSubscriptions(client, customer, onConflict);
    return { customer, already: !(await erase(client, customer, key)) };
  });

const seen = (made: Made) => ({ customer: made.id, livemode: made.livemode, created: made.created });

const lookForCustomer = (search: Search) =>
  lookFor(search, { path: "/v1/customers", event: "customer.created" }, seen);

export const createCustomer = tool
  .reversible("create_customer", {
    description: "Create a customer.",
    permission: "stripe:customers:write",
    input: s.object(
      {},
      {
        name: s.string("Name.", { maxLength: 256 }),
        email: s.string("E-mail address.", { maxLength: 512 }),
        description: s.string("Description.", { maxLength: 350 }),
        phone: s.string("Telephone.", { maxLength: 20 }),
        metadata,
      },
    ),
    output: s.object({ customer: customerId, livemode, created }),
    additive: true,
    compensation: { tool: deleteCustomer, argument_map: { customer: "result.customer" } },
    idempotency,
    residue: [
      {
        id: "deleted-record",
        text: "The customer stays readable by id as deleted; events and webhooks stay.",
      },
    ],
  })
  .landed(lookForCustomer)
  .run(async ({ client, args, idempotencyKey }) => {
    const key = keyOf(idempotencyKey);
    return post<Made, ReturnType<typeof seen>>(client, key, {
      path: "/v1/customers",
      form: { ...args, metadata: marked(args.metadata, key) },
      expect: ["id", "livemode", "created"],
      result: seen,
      look: async (since) => landedResult(await lookForCustomer({ client, idempotencyKey, since })),
    });
  });
