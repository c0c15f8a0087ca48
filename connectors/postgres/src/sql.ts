import type { Json } from "@reversi-connector/core";
import type { Text } from "./session.ts";

/** A table as a call names it; the search path finds it when no schema is given. */
export interface TableName {
  readonly schema?: string | undefined;
  readonly table: string;
}
/** One row of it. */
export interface RowName extends TableName {
  readonly key_column: string;
  readonly key: string | number;
}
/** Column → text, as the server writes it; null is SQL NULL. */
export type Texts = Record<string, Text>;

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

export const quotedTable = ({ schema, table }: TableName): string =>
  schema === undefined ? quoted(table) : `${quoted(schema)}.${quoted(table)}`;

/** The columns as the server writes them, the key first. */
const texts = (names: readonly string[]): string => names.map((name) => `${quoted(name)}::text`).join(", ");

/** A JSON value as the text of a parameter; the server reads it as the type of its column. */
export function bound(value: Json): Text {
  if (value === null) return null;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

export const selectSql = (
  name: Omit<RowName, "key">,
  columns: readonly string[],
  { lock = false } = {},
): string =>
  `SELECT ${texts([name.key_column, ...columns])} FROM ${quotedTable(name)} WHERE ${quoted(name.key_column)} = $1${lock ? " FOR UPDATE" : ""}`;

export function insertSql(name: Omit<RowName, "key">, columns: readonly string[]): string {
  const returning = `RETURNING ${texts([name.key_column, ...columns])}`;
  const into = `INSERT INTO ${quotedTable(name)}`;
  if (columns.length === 0) return `${into} DEFAULT VALUES ${returning}`;
  const values = columns.map((_, index) => `$${index + 1}`).join(",");
  return `${into} (${columns.map(quoted).join(",")}) VALUES (${values}) ${returning}`;
}

export const updateSql = (name: Omit<RowName, "key">, columns: readonly string[]): string =>
  [
    `UPDATE ${quotedTable(name)} SET ${columns.map((column, index) => `${quoted(column)} = $${index + 1}`).join(", ")}`,
    `WHERE ${quoted(name.key_column)} = $${columns.length + 1}`,
    `RETURNING ${texts([name.key_column, ...columns])}`,
  ].join(" ");

export const deleteSql = (name: Omit<RowName, "key">): string =>
  `DELETE FROM ${quotedTable(name)} WHERE ${quoted(name.key_column)} = $1`;
