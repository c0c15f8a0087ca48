import { type CallScope, ConnectorError, EffectUncertainError } from "@reversi-connector/core";
import type { CustomTypesConfig, FieldDef, QueryArrayConfig } from "pg";
import { inWords, isAnswer, reasonOf, serverError } from "./failures.ts";
import { type Connection, type Pool, unlessStopped } from "./pool.ts";

/** Server text; null is SQL NULL. */
export type Text = string | null;
export interface Answer {
  readonly command: string;
  readonly rowCount: number | null;
  readonly fields: readonly FieldDef[];
  readonly rows: readonly (readonly Text[])[];
}

/** Sends one statement. With `values` (none, even) the server itself refuses a second statement in the text. */
export type Ask = (text: string, values?: readonly Text[]) => Promise<Answer>;

/** Between BEGIN READ ONLY and ROLLBACK. */
export interface Reading {
  readonly ask: Ask;
  /** Of the cluster that answers; null where the role may not see it. */
  readonly systemIdentifier: string | null;
}
/** Between BEGIN and COMMIT. */
export interface Writing extends Reading {
  /** Sends a statement that changes something. From then on a lost connection is an unknown outcome. */
  readonly write: Ask;
}

/** pg's own types lose digits, fractions of seconds and time zones: everything stays the server's text. */
export const asText: CustomTypesConfig = {
  getTypeParser: () => (text: string | Buffer) => text,
} as CustomTypesConfig;

/** What every text that is compared or written back depends on, whatever the role or the database has set. */
const formats = [
  "datestyle = 'ISO, YMD'",
  "intervalstyle = 'postgres'",
  "timezone = 'UTC'",
  "extra_float_digits = 1",
  "bytea_output = 'hex'",
  "lc_monetary = 'C'",
].map((setting) => `SET LOCAL ${setting}`);

/** The longest time that the server takes, in milliseconds. */
const longest = 2_147_483_647;

/**
 * The server gives up a little before the call does, so that it says itself that nothing happened; and it ends the
 * transaction of a process that it hears nothing of, so that no row stays locked.
 */
function limits(deadline: number): string[] {
  const left = Math.max(deadline - Date.now(), 2);
  const statement = left - Math.floor(Math.min(250, left / 4));
  return [
    `SET LOCAL statement_timeout = ${Math.min(statement, longest)}`,
    `SET LOCAL idle_in_transaction_session_timeout = ${Math.min(left + 1_000, longest)}`,
  ];
}

/** One statement and its answer. Whoever stops waiting gives the connection up. */
async function exchange(
  pool: Pool,
  connection: Connection,
  signal: AbortSignal,
  text: string,
  values?: readonly Text[],
): Promise<Answer> {
  const stop = () => pool.discard(connection, { cancel: text !== "COMMIT" });
  if (signal.aborted) throw signal.reason;
  connection.received = 0;
  const config: QueryArrayConfig & { queryMode?: "extended" } = {
    text,
    rowMode: "array",
    types: asText,
    // pg itself would send a statement with an empty list of values as a text that may hold several.
    ...(values && { values: [...values], queryMode: "extended" }),
  };
  const answer: unknown = await unlessStopped(connection.client.query(config), signal, stop);
  // A text of several statements has several answers.
  return (Array.isArray(answer) ? answer.at(-1) : answer) as Answer;
}

/** How an exchange ended that has no answer: the call was stopped, or the connection was lost. */
const lossOf = (error: unknown): string =>
  ConnectorError.is(error) ? error.message : `the connection to Postgres was lost (${inWords(error)})`;

/** A connection with a transaction open on it. @throws ConnectorError: nothing was changed */
async function begin(pool: Pool, { signal, deadline }: CallScope, how: string): Promise<Connection> {
  for (;;) {
    const connection = await pool.acquire(signal);
    try {
      const text = [how, ...formats, ...limits(deadline)].join("; ");
      await exchange(pool, connection, signal, text);
      return connection;
    } catch (error) {
      pool.discard(connection);
      // The server ended it while it was idle: what was not begun can be begun again.
      if (connection.reused && !isAnswer(error) && !signal.aborted) continue;
      if (isAnswer(error)) throw serverError(error);
      throw new ConnectorError(`${lossOf(error)}; nothing was changed`, { reason: reasonOf(error) });
    }
  }
}

/**
 * Ends a transaction without effect, and what outlives one: advisory locks of the session. A connection that cannot do
 * that is ended, which has the same effect.
 */
async function rollBack(pool: Pool, connection: Connection, signal: AbortSignal): Promise<void> {
  if (!pool.has(connection)) return;
  try {
    await exchange(pool, connection, signal, "ROLLBACK; SELECT pg_catalog.pg_advisory_unlock_all()");
    pool.release(connection);
  } catch {
    pool.discard(connection);
  }
}

/** Runs `work` on one connection in a read-only transaction that is always rolled back. */
export async function reading<T>(
  pool: Pool,
  scope: CallScope,
  work: (tx: Reading) => Promise<T>,
): Promise<T> {
  const { signal } = scope;
  const connection = await begin(pool, scope, "BEGIN READ ONLY");
  const ask: Ask = async (text, values) => {
    try {
      return await exchange(pool, connection, signal, text, values);
    } catch (error) {
      if (isAnswer(error)) throw serverError(error);
      pool.discard(connection);
      throw new ConnectorError(lossOf(error), { reason: reasonOf(error) });
    }
  };
  try {
    return await work({ ask, systemIdentifier: connection.systemIdentifier });
  } finally {
    await rollBack(pool, connection, signal);
  }
}

/**
 * Runs `work` on one connection in a transaction that is committed when something was written, and rolled back when not,
 * or when `work` throws.
 * @throws ConnectorError, ConflictError: rolled back
 * @throws EffectUncertainError when the connection is lost after a write was sent
 */
export async function writing<T>(
  pool: Pool,
  scope: CallScope,
  work: (tx: Writing) => Promise<T>,
): Promise<T> {
  const { signal } = scope;
  const connection = await begin(pool, scope, "BEGIN");
  let sent = false;
  const send = async (text: string, values?: readonly Text[]) => {
    const committing = text === "COMMIT";
    try {
      return await exchange(pool, connection, signal, text, values);
    } catch (error) {
      if (isAnswer(error, committing)) throw serverError(error);
      pool.discard(connection);
      if (!sent) {
        throw new ConnectorError(`${lossOf(error)}; nothing was written`, { reason: reasonOf(error) });
      }
      const when = committing ? "while it was being committed" : "after a write was sent";
      throw new EffectUncertainError(`${lossOf(error)} ${when}; look before you repeat it`);
    }
  };
  const write: Ask = (text, values) => {
    sent = true;
    return send(text, values);
  };
  let result: T;
  try {
    result = await work({ ask: send, write, systemIdentifier: connection.systemIdentifier });
    if (!sent) {
      await rollBack(pool, connection, signal);
      return result;
    }
    const { command } = await send("COMMIT");
    if (command !== "COMMIT") {
      throw new ConnectorError("Postgres rolled the transaction back at COMMIT; nothing was changed");
    }
  } catch (error) {
    await rollBack(pool, connection, signal);
    if (!ConnectorError.is(error) || !error.mayHaveApplied) throw error;
    throw new ConnectorError(`${error.message}; the transaction was rolled back`);
  }
  pool.release(connection);
  return result;
}
