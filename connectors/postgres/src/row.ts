import { ConnectorError } from "@reversi-connector/core";
import type { Answer, Ask, Reading, Text } from "./session.ts";
import { quoted, quotedTable, type RowName, selectSql, type TableName, type Texts } from "./sql.ts";

/** A row as it is now: its key and some of its columns, as server text. */
export interface Row {
  readonly key: Text;
  readonly texts: Texts;
}

const rowOf = ([key = null, ...texts]: readonly Text[], columns: readonly string[]): Row => ({
  key,
  texts: Object.fromEntries(columns.map((column, index) => [column, texts[index] ?? null])),
});

/** A row in words: never its key, which is a value too. */
export const inWords = (name: Omit<RowName, "key">): string =>
  `the row of ${quotedTable(name)} with this ${quoted(name.key_column)}`;

/**
 * The one row with this key; undefined when there is none. Locked, it stays as it is until the transaction ends.
 * @throws ConnectorError when there are several
 */
export async function readRow(
  { ask }: Pick<Reading, "ask">,
  name: RowName,
  columns: readonly string[],
  options?: { readonly lock: boolean },
): Promise<Row | undefined> {
  const { rows } = await ask(selectSql(name, columns, options), [String(name.key)]);
  if (rows.length > 1) {
    throw new ConnectorError(
      `${rows.length} rows match, exactly 1 needed: ${quoted(name.key_column)} does not identify a row of ${quotedTable(name)}; nothing was changed`,
    );
  }
  return rows[0] && rowOf(rows[0], columns);
}

/** @throws ConnectorError when the statement did not act on exactly one row: triggers, rules and row security can keep it off */
export function onlyRow({ rows }: Pick<Answer, "rows">, done: string, columns: readonly string[]): Row {
  const [row] = rows;
  if (row && rows.length === 1) return rowOf(row, columns);
  throw new ConnectorError(
    `${rows.length} rows were ${done}, exactly 1 needed (a trigger, a rule or row security may have acted); nothing was changed`,
  );
}

/** Columns whose texts differ from what is wanted. */
export const differing = (wanted: Texts, now: Texts): string[] =>
  Object.keys(wanted).filter((column) => wanted[column] !== now[column]);

/** Whether row security may hide rows of the table from this role. */
export async function mayHideRows(ask: Ask, name: TableName): Promise<boolean> {
  const { rows } = await ask("SELECT pg_catalog.row_security_active(pg_catalog.to_regclass($1))", [
    quotedTable(name),
  ]);
  return rows[0]?.[0] !== "f";
}
