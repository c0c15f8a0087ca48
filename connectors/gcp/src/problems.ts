import { ConnectorError } from "@reversi-connector/core";
import { answerOf, type HttpAnswer, type VendorProblem } from "@reversi-connector/http";
import type { Place } from "./names.ts";

interface ErrorBody {
  readonly error?: {
    readonly message?: unknown;
    readonly errors?: readonly { readonly reason?: unknown }[];
  };
}

/** Google's sentence, and its first reason; nothing where the answer is text or HTML. */
function said(body: unknown): { readonly message?: string; readonly reason?: string } {
  const { message, errors } = (body as ErrorBody | null | undefined)?.error ?? {};
  const reason = Array.isArray(errors) ? (errors as NonNullable<typeof errors>)[0]?.reason : undefined;
  return typeof message === "string" && typeof reason === "string" ? { message, reason } : {};
}

const limits = ["rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "dailyLimitExceeded"];
const hints: Readonly<Record<string, string>> = {
  authError: "access tokens end after about an hour",
  forbidden:
    "needed are storage.objects.get, list, create and delete; without list Google says this of a missing object too",
  objectUnderActiveHold: "release the hold first",
  retentionPolicyNotMet: "it stays until its time is over",
};

/** About one change a second of one object is allowed: a put followed at once by its undo meets this. */
const oneObjectASecond = /rate limit for object mutation/;

/** What Google says of a failure. Its limits come as 429 or 403, without a word on how long to wait. */
export function problem({ status, headers, body }: HttpAnswer<unknown>): VendorProblem {
  const requestId = headers["x-guploader-uploadid"];
  const { message, reason } = said(body);
  if (message === undefined || reason === undefined) return { requestId };
  const hint = hints[reason];
  const rateLimited = (status === 429 || status === 403) && limits.includes(reason);
  const waits = rateLimited && headers["retry-after"] === undefined && oneObjectASecond.test(message);
  return {
    ...{ reason, requestId, rateLimited },
    message: hint === undefined ? message : `${message}: ${hint}`,
    ...(waits && { retryAfterSeconds: 1 }),
  };
}

/** Whether Google refused with this status. */
export const saysSo = (error: unknown, status: number): error is ConnectorError =>
  ConnectorError.is(error) && error.status === status;

/** Whether Google says of this very object that it is not there: of a missing bucket it says something else. */
export const isAbsence = (error: unknown, { bucket, object }: Place): boolean =>
  saysSo(error, 404) && said(answerOf(error)?.body).message === `No such object: ${bucket}/${object}`;

/** Somebody else was there between the look and the write, and Google did nothing. */
export const isStale = (error: unknown, ...places: readonly Place[]): error is ConnectorError =>
  saysSo(error, 412) || places.some((place) => isAbsence(error, place));
