import {
  type Handler,
  type RecordedRequest,
  type RoutedRequest,
  route,
  router,
  type SandboxReply,
} from "@reversi-connector/http/sandbox";
import { callOf, type Endpoint } from "./call.ts";
import * as charges from "./charges.ts";
import * as customers from "./customers.ts";
import * as intents from "./intents.ts";
import { keeper, underKey } from "./keys.ts";
import * as lists from "./lists.ts";
import { complete, gate, isReply, type Reply, refuse } from "./wire.ts";
import { newId, type World } from "./world.ts";

const endpoints: Readonly<Record<string, Endpoint>> = {
  "POST /v1/customers": customers.createCustomer,
  "GET /v1/customers": lists.listCustomers,
  "GET /v1/customers/:id": customers.getCustomer,
  "DELETE /v1/customers/:id": customers.deleteCustomer,
  "GET /v1/subscriptions": lists.listSubscriptions,
  "POST /v1/payment_intents": intents.createIntent,
  "GET /v1/payment_intents": lists.listIntents,
  "GET /v1/payment_intents/:id": intents.getIntent,
  "POST /v1/payment_intents/:id/cancel": intents.cancelIntent,
  "GET /v1/charges/:id": charges.getCharge,
  "POST /v1/refunds": charges.createRefund,
  "GET /v1/refunds": lists.listRefunds,
  "GET /v1/refunds/:id": charges.getRefund,
  "GET /v1/events": lists.listEvents,
};

/** Stripe's part of the sandbox: every request is held to what the vendor checks. */
export function handler(world: World, arrived: () => readonly RecordedRequest[]): Handler {
  const keep = keeper(world);
  const unknown = ({ method, pathname }: { readonly method: string; readonly pathname: string }) =>
    refuse(404, { message: `Unrecognized request URL (${method}: ${pathname}).` });

  async function answer(request: Parameters<Handler>[0], requestId: string): Promise<Reply> {
    gate(request);
    keep(arrived());
    const by = { id: requestId, idempotency_key: request.headers["idempotency-key"] ?? null };
    const routed = Object.entries(endpoints).map(([pattern, endpoint]) =>
      route(pattern, (found: RoutedRequest) =>
        underKey(world, request, requestId, () => endpoint(callOf(world, found, by))),
      ),
    );
    return router(routed, unknown)(request);
  }
  return async (request): Promise<SandboxReply> => {
    const requestId = newId(world, "req", 14);
    try {
      return complete(await answer(request, requestId), request, requestId);
    } catch (reply) {
      if (!isReply(reply)) throw reply;
      return complete(reply, request, requestId);
    }
  };
}
