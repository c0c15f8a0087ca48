import { setTimeout as pause } from "node:timers/promises";
import { ConnectorError, type Landed } from "@reversi-connector/core";
import type { Inserted, Updated } from "./changes.ts";
import type { PostgresReader } from "./client.ts";
import { differing, mayHideRows, type Row, readRow } from "./row.ts";
import type { Reading } from "./session.ts";
import type { Texts } from "./sql.ts";

/** What was durable before the write. */
interface Kept<Result> {
  readonly result: Partial<Result>;
  readonly evidence?: { readonly transaction_id?: unknown; readonly system_identifier?: unknown };
}
interface Asking {
  readonly client: PostgresReader;
  readonly signal: AbortSignal;
}

type Outcome = "committed" | "aborted" | "in progress" | undefined;

/** What the server knows of a transaction; undefined when it does not, or is not the server that ran it. */
async function outcomeOf(
  { ask, systemIdentifier }: Reading,
  evidence: Kept<unknown>["evidence"],
): Promise<Outcome> {
  const { transaction_id: id, system_identifier: cluster } = evidence ?? {};
  if (typeof id !== "string" || typeof cluster !== "string" || cluster !== systemIdentifier) return undefined;
  const { rows } = await ask("SELECT pg_catalog.pg_xact_status($1::pg_catalog.xid8)", [id]);
  return (rows[0]?.[0] ?? undefined) as Outcome;
}

/** Asks until the server has noticed that the lost connection is gone, or the call's time is over. */
async function settledOutcome(
  { client, signal }: Asking,
  evidence: Kept<unknown>["evidence"],
): Promise<Outcome> {
  for (let waitMs = 20; ; waitMs = Math.min(waitMs * 2, 500)) {
    const outcome = await client
      .reading((tx) => outcomeOf(tx, evidence))
      .catch((error: unknown) => {
        // A transaction of the future: this is another cluster, or a backup restored since.
        if (ConnectorError.is(error) && error.reason === "22023") return undefined;
        throw error;
      });
    if (outcome !== "in progress" || signal.aborted) return outcome;
    await pause(waitMs, undefined, { signal }).catch(() => {});
  }
}

/** The row as the second witness. */
type Witness = (row: Row | undefined, hidden: boolean) => boolean | "unknown";

async function landed<Result extends Inserted>(
  asking: Asking,
  kept: Kept<Result> | undefined,
  witness: (texts: { readonly current: Texts; readonly previous?: Texts }) => Witness,
): Promise<Landed<Result>> {
  if (!kept) return "unknown";
  // Before COMMIT was sent the whole result was kept: of a committed transaction it is known.
  const result = kept.result as Result;
  const outcome = await settledOutcome(asking, kept.evidence);
  if (outcome === "aborted") return { landed: false };
  if (outcome === "committed") return { landed: true, result };
  if (outcome === "in progress" || result.current === undefined || result.key === undefined) return "unknown";
  const seen = await asking.client.reading(async (tx) => {
    const row = await readRow(tx, result, Object.keys(result.current));
    return witness(result)(row, row === undefined && (await mayHideRows(tx.ask, result)));
  });
  return seen === "unknown" ? seen : seen ? { landed: true, result } : { landed: false };
}

export const insertLanded = (asking: Asking, kept: Kept<Inserted> | undefined): Promise<Landed<Inserted>> =>
  landed(asking, kept, ({ current }) => (row, hidden) => {
    if (!row) return hidden ? "unknown" : false;
    return differing(current, row.texts).length === 0 ? true : "unknown";
  });

export const updateLanded = (asking: Asking, kept: Kept<Updated> | undefined): Promise<Landed<Updated>> =>
  landed(asking, kept, ({ current, previous }) => (row) => {
    if (!row || !previous) return "unknown";
    if (differing(current, row.texts).length === 0) return true;
    return differing(previous, row.texts).length === 0 ? false : "unknown";
  });
