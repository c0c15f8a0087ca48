import { type CommonOptions, defineConnector, readPackage } from "@reversi-connector/core";
import type { HttpClient, HttpReader } from "@reversi-connector/http";
import { retrieveCharge } from "./charges.ts";
import { connect, type StripeOptions, tokenPatterns } from "./client.ts";
import { createCustomer, deleteCustomer } from "./customers.ts";
import { cancelPaymentIntent, createPaymentIntent } from "./payment-intents.ts";
import { createRefund } from "./refunds.ts";

export type { StripeOptions };

/** Stripe customers, payment intents, refunds and charges, before a key is known. */
export const definition = defineConnector<StripeOptions, HttpClient, HttpReader>({
  package: readPackage(import.meta.url),
  tokenPatterns,
  connect,
  tools: [
    retrieveCharge,
    createCustomer,
    deleteCustomer,
    createPaymentIntent,
    cancelPaymentIntent,
    createRefund,
  ],
});

/** The connector on one account. @throws InvalidArgumentsError naming the option, never its value */
export const stripe = definition.create;

declare module "@reversi-connector/core" {
  interface ConnectorOptions {
    readonly stripe?: StripeOptions & CommonOptions;
  }
}
