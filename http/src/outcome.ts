import { STATUS_CODES } from "node:http";
import {
  ConnectorError,
  EffectUncertainError,
  InvalidArgumentsError,
  type Redactor,
} from "@reversi-connector/core";
import type { HttpAnswer } from "./answer.ts";
import type { Exchange } from "./exchange.ts";

/** What a vendor's answer says about a failure, in the vendor's own terms. Nothing else of its body is ever repeated. */
export interface VendorProblem {
  /** The vendor's code, for decisions. */
  readonly reason?: string | undefined;
  /** The vendor's sentence, for people. */
  readonly message?: string | undefined;
  readonly requestId?: string | undefined;
  /** Where it is not in `Retry-After`. */
  readonly retryAfterSeconds?: number | undefined;
  /** True for the vendor's own form of 429: it was not executed. */
  readonly rateLimited?: boolean | undefined;
  /** For a write: whether it may have taken effect, where the status (408, 5xx) says otherwise. */
  readonly mayHaveApplied?: boolean | undefined;
}

/** One request, as its errors speak of it. */
export interface Attempt {
  readonly writes: boolean;
  readonly method: string;
  /** Without the query, which may hold signatures. */
  readonly path: string;
  readonly host: string;
  readonly redact: Redactor;
}

const messageLimit = 600;
const wordLimit = 200;
const cut = (text: string, limit: number) => (text.length <= limit ? text : `${text.slice(0, limit - 1)}…`);
/** Redacted before it is cut: half a secret matches nothing. */
const clean = (redact: Redactor, text: string, limit: number) => cut(redact.text(text), limit).toWellFormed();
const word = (redact: Redactor, text: string | undefined) =>
  text === undefined ? undefined : clean(redact, text, wordLimit);

const tried = ({ method, path, redact }: Attempt) => `${method} ${clean(redact, path, wordLimit)}`;
const say = (attempt: Attempt, text: string) =>
  clean(attempt.redact, `${tried(attempt)}: ${text}`, messageLimit);
const sayStatus = (attempt: Attempt, status: number, text: string) =>
  clean(attempt.redact, `HTTP ${status}: ${tried(attempt)}: ${text}`, messageLimit);

const uncertain = "whether it took effect is unknown: look before repeating it";

const tlsCode = /CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/;
const reached: Record<string, string> = {
  ENOTFOUND: "name not found",
  EAI_AGAIN: "the name could not be looked up",
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection closed while it was being made",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no network",
  ETIMEDOUT: "no connection in time",
  UND_ERR_CONNECT_TIMEOUT: "no connection in time",
  UND_ERR_CLOSED: "the connector is closed",
  UND_ERR_DESTROYED: "the connector is closed",
};

/** Why a call's signal was aborted. */
export const whyAborted = ({ reason }: AbortSignal): string => {
  if (ConnectorError.is(reason)) return reason.message;
  return (reason as { name?: unknown } | undefined)?.name === "TimeoutError"
    ? "no answer in time"
    : "cancelled";
};

/** Not one byte of the request left. */
export function notSent(
  attempt: Attempt,
  { kind, code, detail }: NonNullable<Exchange["failure"]>,
  signal: AbortSignal,
): ConnectorError | InvalidArgumentsError {
  if (kind === "aborted") return new ConnectorError(say(attempt, `${whyAborted(signal)}; nothing was sent`));
  if (code === "UND_ERR_INVALID_ARG")
    return new InvalidArgumentsError(say(attempt, `${detail}; nothing was sent`));
  const hint = "give the authority's certificate, for instance in NODE_EXTRA_CA_CERTS";
  const why = tlsCode.test(code) ? `TLS failed: ${detail} (${hint})` : (reached[code] ?? detail);
  return new ConnectorError(say(attempt, `cannot reach ${attempt.host}: ${why} (${code}); nothing was sent`));
}

const lost: Record<FailureKind, string> = {
  aborted: "",
  connection: "the connection was lost",
  stalled: "the answer stopped half way",
  oversize: "the answer is larger than this connector takes",
  protocol: "the answer is not HTTP",
};
type FailureKind = NonNullable<Exchange["failure"]>["kind"];

/** Sent, and no usable answer: an unknown outcome for a write. */
export function unanswered(
  attempt: Attempt,
  { kind, code }: NonNullable<Exchange["failure"]>,
  status: number | undefined,
  signal: AbortSignal,
): ConnectorError | EffectUncertainError {
  const why = kind === "aborted" ? whyAborted(signal) : `${lost[kind]} (${code})`;
  const when = status === undefined ? "sent, but" : "answered, but the body did not arrive whole:";
  return useless(attempt, status, `${when} ${why}`);
}

/** A 2xx that proves nothing: an unknown outcome for a write. */
export function useless(
  attempt: Attempt,
  status: number | undefined,
  why: string,
): ConnectorError | EffectUncertainError {
  const text = attempt.writes ? `${why}; ${uncertain}` : why;
  const message = status === undefined ? say(attempt, text) : sayStatus(attempt, status, text);
  return attempt.writes ? new EffectUncertainError(message) : new ConnectorError(message, { status });
}

const requestIdOf = (headers: Readonly<Record<string, string>>) =>
  headers["x-request-id"] ?? headers["request-id"];

/** Failed answers stay with their errors, out of sight of whatever prints them. */
const answers = new WeakMap<object, HttpAnswer<unknown>>();

/**
 * The answer behind an error of this package's client, for decisions that need more of the vendor's body than its reason;
 * undefined for an error without an answer. Never put it into a message: it is not redacted.
 */
export const answerOf = (error: unknown): HttpAnswer<unknown> | undefined =>
  typeof error === "object" && error !== null ? answers.get(error) : undefined;

/** The backend answered: not done, or for a 408 or 5xx on a write perhaps done. */
export function refused(
  attempt: Attempt,
  answer: HttpAnswer<unknown>,
  vendor: VendorProblem,
  limited: boolean,
  retryAfterSeconds: number | undefined,
): ConnectorError {
  const { status, headers } = answer;
  const { redact, writes } = attempt;
  const { reason, message = STATUS_CODES[status] ?? "failed", requestId = requestIdOf(headers) } = vendor;
  const wait =
    retryAfterSeconds === undefined
      ? "rate limit, without a word on how long to wait"
      : `rate limit, try again in ${retryAfterSeconds} s`;
  const coded = reason === undefined || message.includes(reason) ? message : `${message} (${reason})`;
  const mayHaveApplied = writes && !limited && (vendor.mayHaveApplied ?? (status === 408 || status >= 500));
  const what = limited ? `${wait}: ${coded}` : coded;
  const error = new ConnectorError(
    sayStatus(attempt, status, mayHaveApplied ? `${what}; it may have taken effect all the same` : what),
    {
      status,
      reason: word(redact, reason),
      requestId: word(redact, requestId),
      retryAfterSeconds,
      mayHaveApplied,
    },
  );
  answers.set(error, answer);
  return error;
}

/** A redirect that is not followed. Names the target's host and nothing else of it. */
export function moved(
  attempt: Attempt,
  answer: HttpAnswer<unknown>,
  host: string | undefined,
): ConnectorError {
  const { status, headers } = answer;
  const where = host === undefined ? "without a usable address" : `to ${host}`;
  const error = new ConnectorError(
    sayStatus(attempt, status, `moved ${where}; not followed: use the new address`),
    {
      status,
      requestId: word(attempt.redact, requestIdOf(headers)),
      // "See other" is how a server answers what it has done.
      mayHaveApplied: attempt.writes && status === 303,
    },
  );
  answers.set(error, answer);
  return error;
}
