import { ConnectorError } from "@reversi-connector/core";
import { answerOf, type HttpAnswer, type VendorProblem } from "@reversi-connector/http";

interface GraphQLError {
  readonly message?: unknown;
  readonly extensions?: {
    readonly type?: unknown;
    readonly code?: unknown;
    readonly statusCode?: unknown;
    readonly userPresentableMessage?: unknown;
  };
}
interface Body {
  readonly errors?: unknown;
  readonly data?: Readonly<Record<string, { readonly success?: unknown } | null>> | null;
}

const errorsOf = (body: unknown): readonly GraphQLError[] => {
  const { errors } = (body ?? {}) as Body;
  return Array.isArray(errors) ? errors.map((error: unknown) => error ?? {}) : [];
};
const payloadsOf = (body: unknown) => Object.values((body as Body | undefined)?.data ?? {});

/** GraphQL answers with 200 what it refuses, and a mutation that failed may say no more than `success: false`. */
export const failed = ({ body }: HttpAnswer<unknown>): boolean =>
  errorsOf(body).length > 0 || payloadsOf(body).some((payload) => payload?.success === false);

/** Linear's words for "not executed"; whatever else it calls an error, a write may have taken effect. */
const refusals: readonly unknown[] = [
  "authentication error",
  "forbidden",
  "feature not accessible",
  "invalid input",
  "graphql error",
  "user error",
  "usage limit exceeded",
  "INPUT_ERROR",
];

function isRefusal({ extensions = {} }: GraphQLError, status: number): boolean {
  const { type, code, statusCode = status } = extensions;
  const rejected = typeof statusCode === "number" && statusCode >= 400 && statusCode < 500;
  return refusals.includes(type ?? code) || (type === undefined && rejected && statusCode !== 408);
}

function sentence({ message, extensions }: GraphQLError): string {
  const shown = extensions?.userPresentableMessage;
  const hints = [
    ...(typeof shown === "string" && shown !== message ? [shown] : []),
    ...(`${message}`.startsWith("Entity not found") ? ["Check the id, and what the key may see."] : []),
  ];
  return hints.length === 0 ? `${message}` : `${`${message}`.replace(/\.$/, "")}: ${hints.join(" ")}`;
}

/** What Linear says of a failure: its code is the reason. */
export function problem(answer: HttpAnswer<unknown>): VendorProblem {
  const { status, headers, body } = answer;
  const errors = errorsOf(body);
  const [first] = errors;
  if (!first) return failed(answer) ? { message: "answered success: false" } : {};
  const { type, code = type } = first.extensions ?? {};
  const reported = {
    message: errors.map(sentence).join("; "),
    ...(typeof code === "string" && { reason: code }),
  };
  if (code === "RATELIMITED" || type === "ratelimited") {
    return { ...reported, rateLimited: true, ...waitOf(headers) };
  }
  // With the mutation's own data beside them, the errors speak of what was to be shown of its effect.
  const took = payloadsOf(body).some((payload) => payload !== null);
  const refused = !took && errors.every((error) => isRefusal(error, status));
  return { ...reported, ...(!refused && { mayHaveApplied: true }) };
}

/** `Retry-After` comes first; without it the bucket that is empty, or any when none says so, tells when it is full again. */
function waitOf(headers: Readonly<Record<string, string>>): VendorProblem {
  if (headers["retry-after"] !== undefined) return {};
  const buckets = ["requests", "complexity", "endpoint-requests"].map((name) => ({
    empty: headers[`x-ratelimit-${name}-remaining`] === "0",
    seconds: Math.ceil((Number(headers[`x-ratelimit-${name}-reset`]) - Date.now()) / 1000),
  }));
  const told = buckets.filter(({ seconds }) => seconds > 0);
  const empty = told.filter((bucket) => bucket.empty);
  const seconds = Math.max(...(empty.length > 0 ? empty : told).map((bucket) => bucket.seconds));
  return Number.isFinite(seconds) ? { retryAfterSeconds: seconds } : {};
}

export type Entity = "Issue" | "Comment" | "Team";

const says = (error: unknown, test: (error: GraphQLError) => boolean): error is ConnectorError =>
  ConnectorError.is(error) && (error.status ?? 500) < 500 && errorsOf(answerOf(error)?.body).some(test);

/** Whether Linear knows no such thing, or none that the key may see: it says the same of both. */
export const saysNotFound = (error: unknown, entity: Entity): error is ConnectorError =>
  says(error, ({ message }) => new RegExp(`^Entity not found: ${entity}\\b`).test(`${message}`));

/** Whether Linear says that this very id has been used before. */
export const saysTaken = (error: unknown, entity: Entity, id: string): error is ConnectorError =>
  says(
    error,
    ({ message, extensions }) =>
      `${message}`.startsWith(`conflict on insert of ${entity}`) &&
      `${extensions?.userPresentableMessage}`.includes(id),
  );
