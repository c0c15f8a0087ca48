import type { Sandbox } from "@reversi-connector/core";
import { type Sandbox as Server, startSandbox } from "@reversi-connector/http/sandbox";
import type { StripeOptions } from "./client.ts";
import { seededWorld } from "./sandbox/deeds.ts";
import { visibleState } from "./sandbox/objects.ts";
import { handler } from "./sandbox/routes.ts";
import { errorBody, rateLimit, secretKey } from "./sandbox/wire.ts";
import type { Charge, Customer, World } from "./sandbox/world.ts";

export {
  addCustomer,
  addIntent,
  addPayment,
  addRefund,
  moveIntent,
  removeCustomer,
  subscribe,
} from "./sandbox/deeds.ts";
export { age } from "./sandbox/world.ts";
export type { Charge, Customer, World };

/** A Stripe account on 127.0.0.1. Faults are injected on its wire; a 500 is kept under the request's key. */
export interface StripeSandbox extends Sandbox<StripeOptions>, Omit<Server, "url"> {
  /** All it knows; to be changed as other people would. */
  readonly world: World;
  /** A customer without a subscription. */
  readonly ada: Customer;
  /** A customer with one. */
  readonly grace: Customer;
  /** Ada's payment of 20 dollars. */
  readonly charge: Charge;
  readonly paymentMethod: string;
  state(): Promise<ReturnType<typeof visibleState>>;
}

/** Options for a sandbox that runs already, in whichever process. */
export const attach = (address: string): StripeOptions => ({ secretKey, baseUrl: address });

/** Starts a sandbox. */
export async function sandbox(): Promise<StripeSandbox> {
  const { world, ...seeds } = seededWorld();
  const server: Server = await startSandbox({
    handle: handler(world, () => server.requests),
    errorBody,
    rateLimit,
  });
  const { url: address, ...wire } = server;
  return {
    ...wire,
    ...seeds,
    address,
    options: attach(address),
    world,
    state: async () => visibleState(world),
  };
}
