import { InvalidArgumentsError } from "./errors.ts";
import { hashOf } from "./hash.ts";

/**
 * What the same call under the same key comes to again, also after a crash: SHA-256 in hex, of the key and of `what`
 * tells things apart. Another key, or other facts, come to something else: ids and marks of what a call makes are made
 * from it.
 * @throws InvalidArgumentsError without a key: two deliberate calls would be taken for one
 */
export function callHash(idempotencyKey: string | undefined, what: object): string {
  if (idempotencyKey) return hashOf({ ...what, idempotencyKey });
  throw new InvalidArgumentsError("the idempotency key must not be empty; nothing was sent");
}

/** The same in the form of a UUID. */
export const callUuid = (idempotencyKey: string | undefined, what: object): string =>
  callHash(idempotencyKey, what)
    .slice(0, 32)
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
