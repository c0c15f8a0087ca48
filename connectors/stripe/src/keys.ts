import {
  ConnectorError,
  type Idempotency,
  InvalidArgumentsError,
  refuseArgument,
} from "@reversi-connector/core";
import { answerOf, type Expect, type HttpClient } from "@reversi-connector/http";

/** What Stripe does with a key: it repeats its first answer, a 500 included. */
export const idempotency: Idempotency = {
  header: "Idempotency-Key",
  window_hours: 24,
  replays_errors: true,
};
/** By when Stripe has forgotten a key for certain, in milliseconds: it promises a day at least. */
const forgottenAfterMs = 2 * idempotency.window_hours * 3_600_000;

/** The call's key, when it can travel in a header. @throws InvalidArgumentsError */
export function keyOf(idempotencyKey = ""): string {
  if (/^[\x21-\x7e]{1,255}$/.test(idempotencyKey)) return idempotencyKey;
  throw new InvalidArgumentsError(
    "the idempotency key must be 1 to 255 printable ASCII characters without blanks; nothing was sent",
  );
}

/** The metadata key that holds the key of the call which made an object: how a lost answer is looked up. */
export const marker = "reversi_op";

/** The caller's metadata with the marker. @throws InvalidArgumentsError when the caller sets it */
export function marked(metadata: Readonly<Record<string, string>> = {}, key: string) {
  if (!Object.hasOwn(metadata, marker)) return { ...metadata, [marker]: key };
  return refuseArgument(`metadata.${marker}`, "is reserved");
}

interface Keyed<Body, Result> {
  readonly path: string;
  readonly form: object;
  readonly expect: Expect;
  result(body: Body): Result;
  /** The result, when the goal is reached all the same. Reads only. */
  look(since: Date): Promise<Result | undefined>;
  /** Refusals that do not tell by themselves whether the goal is reached; a repeated one never does. */
  readonly unclear?: (refusal: ConnectorError) => boolean;
}

const isRepeated = (error: unknown) => answerOf(error)?.headers["idempotent-replayed"] === "true";

/**
 * Sends a POST under the call's key, once.
 * @throws ConnectorError saying that the key is spent, when Stripe repeats a failure under it and the goal is not reached
 */
export async function post<Body, Result>(
  client: HttpClient,
  key: string,
  { path, form, expect, result, look, unclear }: Keyed<Body, Result>,
): Promise<Result> {
  try {
    const headers = { "idempotency-key": key };
    const { body } = await client.write<Body>({ method: "POST", path, headers, form, expect });
    return result(body);
  } catch (error) {
    const repeated = isRepeated(error);
    if (!ConnectorError.is(error) || !(repeated || unclear?.(error))) throw error;
    // A look that fails takes nothing back of what the refusal says.
    const reached = await look(new Date(Date.now() - forgottenAfterMs)).catch(() => undefined);
    if (reached !== undefined) return reached;
    if (!repeated) throw error;
    const why = `the idempotency key is spent: Stripe repeats this answer, its first one, for at least 24 hours`;
    throw new ConnectorError(`${error.message}; ${why}. Only another key can do more`, error);
  }
}
