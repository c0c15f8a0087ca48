import { ConnectorError } from "@reversi-connector/core";

/** An error as the server words it. Its `detail` holds row values and is never read. */
interface ServerError {
  readonly code: string;
  readonly message: string;
  readonly severity: string;
}

/** The server's own errors have a severity; those of sockets have codes too (`EPIPE`), but none. */
const isServerError = (error: unknown): error is ServerError =>
  typeof (error as Partial<ServerError> | null)?.severity === "string" &&
  typeof (error as Partial<ServerError>).code === "string";

/** Its SQLSTATE, where the server said anything. */
export const reasonOf = (error: unknown): string | undefined =>
  isServerError(error) ? error.code : undefined;

/** Connection failures, shutdown, crash, idle limits: after these the server says nothing more on this connection. */
const endOfConnection = /^(08(?!P01)|57P0|25P0[34])/;
/** Answers to COMMIT that do not tell whether it happened. */
const unknownCommit = /^(40003|57014)$/;

/** The server refused, the transaction is aborted, and the connection is still there: nothing happened. */
export const isAnswer = (error: unknown, committing = false): error is ServerError =>
  isServerError(error) &&
  !endOfConnection.test(error.code) &&
  !(committing && unknownCommit.test(error.code));

/** Messages about data (class 22) quote the value, in the quotation marks of the server's language. */
const withoutValues = (code: string, message: string) =>
  code.startsWith("22") ? message.replace(/["'„“”‚«»‹›].*["'“”‘’«»‹›]/su, '"…"') : message;

const hints: Readonly<Record<string, string>> = {
  "22P02": "an array column takes its literal as text, {a,b}; a json column takes JSON text",
  "42501": "grant the role of the connection string what it needs",
};

/** What the server said, as an error: SQLSTATE and message, and no value of any row. */
export function serverError({ code, message }: ServerError): ConnectorError {
  const hint = hints[code];
  return new ConnectorError(
    `Postgres error ${code}: ${withoutValues(code, message)}${hint === undefined ? "" : ` (${hint})`}`,
    { reason: code },
  );
}

/** How a connection ended, in words. Several addresses that all failed make an error without a message. */
export function inWords(error: unknown): string {
  if (isServerError(error)) return `Postgres error ${error.code}: ${error.message}`;
  const { message, code } = (error ?? {}) as { readonly message?: string; readonly code?: string };
  return message || code || "no reason given";
}
