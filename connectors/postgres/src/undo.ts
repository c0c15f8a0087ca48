import {
  ConflictError,
  ConnectorError,
  type Holds,
  type OnConflict,
  threeWayRestore,
} from "@reversi-connector/core";
import { referenceTo } from "./catalog.ts";
import type { PostgresClient, PostgresReader } from "./client.ts";
import { differing, inWords, mayHideRows, onlyRow, readRow } from "./row.ts";
import type { Writing } from "./session.ts";
import { deleteSql, quoted, type RowName, selectSql, type Texts, updateSql } from "./sql.ts";

interface Undoing {
  readonly onConflict?: OnConflict | undefined;
}

const listed = (columns: readonly string[]) => columns.map(quoted).join(", ");
/** States in words: which columns, and no value of any. */
const describing = (now: Texts | undefined, expected: Texts | undefined) => (state: Texts | undefined) =>
  state === now && now
    ? `other values in ${listed(differing(expected ?? {}, now)) || "it"}`
    : "the values that the undone step left";

/** @throws ConflictError when the deletion would take rows of others along, or may do so out of sight */
async function refuseReferences(tx: Writing, name: RowName): Promise<void> {
  const reference = await referenceTo(tx.ask, name);
  if (reference === undefined) return;
  throw new ConflictError(`${inWords(name)}: ${reference}; nothing was deleted`, {
    expected: "no row that refers to it",
    found: reference,
  });
}

/** Deletes the row, and says so when rows of others forbid it. */
async function remove(tx: Writing, name: RowName): Promise<void> {
  try {
    const { rowCount } = await tx.write(deleteSql(name), [String(name.key)]);
    if (rowCount === 1) return;
  } catch (error) {
    if (!ConnectorError.is(error) || error.reason !== "23503") throw error;
    throw new ConflictError(`${inWords(name)} is still referred to: ${error.message}; nothing was deleted`);
  }
  throw new ConnectorError(`${inWords(name)} was kept by a trigger, a rule or row security`);
}

export interface Deleted {
  readonly table: string;
  readonly key: string;
  readonly row_count: number;
  readonly already: boolean;
}

/** Deletes one row; with `expected` only while these are its texts and no other rows would go with it. */
export async function deleteRow(
  client: PostgresClient,
  args: RowName & { readonly expected?: Texts },
  { onConflict }: Undoing,
): Promise<Deleted> {
  const { table, expected } = args;
  return client.writing(async (tx) => {
    const row = await readRow(tx, args, Object.keys(expected ?? {}), { lock: true });
    if (!row) return { table, key: String(args.key), row_count: 0, already: true };
    if (expected && onConflict !== "overwrite") {
      threeWayRestore<Texts | undefined>(
        { before: undefined, after: expected, now: row.texts },
        {
          what: inWords(args),
          same: (a, b) => a !== undefined && b !== undefined && differing(a, b).length === 0,
          describe: describing(row.texts, expected),
        },
      );
      await refuseReferences(tx, args);
    }
    await remove(tx, args);
    return { table, key: String(row.key), row_count: 1, already: false };
  });
}

/** Whether no row has this key, as far as this role can see. */
export const isDeleted = (client: PostgresReader, args: RowName): Promise<Holds> =>
  client.reading(async (tx) => {
    const { rows } = await tx.ask(selectSql(args, []), [String(args.key)]);
    if (rows.length > 0) return false;
    return (await mayHideRows(tx.ask, args)) ? "unknown" : true;
  });

export interface Restored {
  readonly table: string;
  readonly key: string;
  readonly already: boolean;
}

/** Writes old texts back, those columns that differ, where every one of these still is what the undone step left. */
export async function restoreRow(
  client: PostgresClient,
  args: RowName & { readonly previous: Texts; readonly expected?: Texts },
  { onConflict }: Undoing,
): Promise<Restored> {
  const { table, previous, expected } = args;
  return client.writing(async (tx) => {
    const row = await readRow(tx, args, Object.keys(previous), { lock: true });
    if (!row) throw new ConnectorError(`${inWords(args)} does not exist any more; nothing was restored`);
    const columns = differing(previous, row.texts);
    const only = (texts: Texts): Texts =>
      Object.fromEntries(columns.map((column) => [column, texts[column] ?? null]));
    const now = only(row.texts);
    const after =
      expected && columns.every((column) => Object.hasOwn(expected, column)) ? only(expected) : undefined;
    const decision = threeWayRestore(
      { before: only(previous), after, now },
      {
        what: inWords(args),
        same: (a, b) => differing(a, b).length === 0,
        describe: describing(now, after ?? previous),
        onConflict,
      },
    );
    if (decision === "restore") await putBack(tx, args, only(previous));
    return { table, key: String(row.key), already: decision === "already" };
  });
}

/** @throws ConnectorError when the row does not take the old texts: half a restore is none */
async function putBack(tx: Writing, name: RowName, previous: Texts): Promise<void> {
  const columns = Object.keys(previous);
  const answer = await tx.write(updateSql(name, columns), [...Object.values(previous), String(name.key)]);
  const kept = differing(previous, onlyRow(answer, "restored", columns).texts);
  if (kept.length === 0) return;
  throw new ConnectorError(
    `${inWords(name)} does not take its old values in ${listed(kept)} (a trigger or a rule changes them); nothing was restored`,
  );
}

/** Whether the row exists and its columns have the old texts. */
export const isRestored = (
  client: PostgresReader,
  args: RowName & { readonly previous: Texts },
): Promise<Holds> =>
  client.reading(async (tx) => {
    const row = await readRow(tx, args, Object.keys(args.previous));
    if (row) return differing(args.previous, row.texts).length === 0;
    return (await mayHideRows(tx.ask, args)) ? "unknown" : false;
  });
