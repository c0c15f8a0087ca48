import { ConnectorError, InvalidArgumentsError, type Json } from "@reversi-connector/core";
import { type Facts, factsOf } from "./catalog.ts";
import type { PostgresClient } from "./client.ts";
import { inWords, onlyRow, type Row, readRow } from "./row.ts";
import type { Writing } from "./session.ts";
import { bound, insertSql, quoted, type RowName, type Texts, updateSql } from "./sql.ts";

type Values = Readonly<Record<string, Json>>;
export interface Inserted {
  readonly schema: string;
  readonly table: string;
  readonly key_column: string;
  readonly key: string;
  /** Texts of the written columns as stored. */
  readonly current: Texts;
}
export interface Updated extends Inserted {
  /** Texts of the same columns before. */
  readonly previous: Texts;
}

/** What tells later whether a transaction was committed. */
interface Evidence {
  readonly transaction_id: string;
  readonly system_identifier: string | null;
}
type Keep<Result> = (kept: {
  readonly result: Partial<Result>;
  readonly evidence: Evidence;
}) => Promise<void>;

/** What the transaction is going to leave: triggers after the statement have had their turn. */
async function settled(tx: Writing, name: RowName, facts: Facts, row: Row): Promise<Row> {
  const columns = Object.keys(row.texts);
  const now = facts.changesAfterwards || !facts.keyIsUnique ? await readRow(tx, name, columns) : row;
  if (now) return now;
  throw new ConnectorError(`${inWords(name)} is gone again (a trigger or a rule); nothing was changed`);
}

/**
 * Inserts one row. Two checkpoints: the transaction's identity before the first write is sent, so that a loss from then
 * on can be looked up; key and texts before COMMIT, for only then they are known.
 */
export async function insert(
  client: PostgresClient,
  args: Omit<RowName, "key"> & { readonly values: Values },
  keep: Keep<Inserted>,
): Promise<Inserted> {
  const { table, key_column, values } = args;
  const columns = Object.keys(values);
  return client.writing(async (tx) => {
    const facts = await factsOf(tx.ask, args, columns);
    const evidence = { transaction_id: facts.transactionId, system_identifier: tx.systemIdentifier };
    const where = { schema: facts.schema, table, key_column };
    await keep({ result: where, evidence });
    const answer = await tx.write(insertSql(args, columns), Object.values(values).map(bound));
    const made = onlyRow(answer, "inserted", columns);
    if (made.key === null) {
      throw new ConnectorError(
        `the new row has no ${quoted(key_column)}, so nobody could find it again: give another key_column; nothing was inserted`,
      );
    }
    const { texts } = await settled(tx, { ...args, key: made.key }, facts, made);
    const result = { ...where, key: made.key, current: texts };
    await keep({ result, evidence });
    return result;
  });
}

/** Changes columns of one row; checkpoints as in `insert`, the first one with the old texts. */
export async function update(
  client: PostgresClient,
  args: RowName & { readonly values: Values },
  keep: Keep<Updated>,
): Promise<Updated> {
  const { table, key_column, values } = args;
  if (Object.hasOwn(values, key_column)) {
    const rule = "must not hold the key column: the row could not be found again";
    throw new InvalidArgumentsError(`postgres.update_row: values ${rule}; nothing was sent`, {
      problems: [{ at: `values.${key_column}`, rule }],
    });
  }
  const columns = Object.keys(values);
  return client.writing(async (tx) => {
    const facts = await factsOf(tx.ask, args, columns);
    const evidence = { transaction_id: facts.transactionId, system_identifier: tx.systemIdentifier };
    const before = await readRow(tx, args, columns, { lock: true });
    if (!before || before.key === null) {
      throw new ConnectorError(`there is no row: ${inWords(args)} was not found; nothing was changed`);
    }
    const where = { schema: facts.schema, table, key_column, key: before.key, previous: before.texts };
    await keep({ result: where, evidence });
    const parameters = [...Object.values(values).map(bound), String(args.key)];
    const after = onlyRow(await tx.write(updateSql(args, columns), parameters), "updated", columns);
    const { texts } = await settled(tx, args, facts, after);
    const result = { ...where, current: texts };
    await keep({ result, evidence });
    return result;
  });
}
