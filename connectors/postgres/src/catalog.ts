import { ConnectorError } from "@reversi-connector/core";
import type { Ask } from "./session.ts";
import { quoted, quotedTable, type RowName, type TableName } from "./sql.ts";

/** What a write needs to know before it is sent. */
export interface Facts {
  readonly schema: string;
  /** Of this transaction, made for it now: whoever knows it can ask later what became of it. */
  readonly transactionId: string;
  /** At most one row has one key, by a unique index. */
  readonly keyIsUnique: boolean;
  /** After the statement a trigger or rule may change the row again, so that RETURNING does not tell the last word. */
  readonly changesAfterwards: boolean;
}

const factsSql = `SELECT
  (SELECT n.nspname FROM pg_catalog.pg_namespace n WHERE n.oid = c.relnamespace),
  pg_catalog.pg_current_xact_id()::text,
  EXISTS (SELECT FROM pg_catalog.pg_index i
    WHERE i.indrelid = c.oid AND i.indnkeyatts = 1 AND i.indisunique AND i.indimmediate AND i.indisvalid AND i.indpred IS NULL
    AND i.indkey[0] = (SELECT a.attnum FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attname = $3)),
  c.relhasrules OR c.relhastriggers AND EXISTS (SELECT FROM pg_catalog.pg_trigger t
    WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND t.tgtype & 66 = 0),
  pg_catalog.to_json(ARRAY(SELECT pg_catalog.json_build_array(a.attname, a.atttypid::int8) FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = c.oid AND a.attname = ANY ($2::name[]) AND NOT a.attisdropped))::text
FROM pg_catalog.pg_class c WHERE c.oid = pg_catalog.to_regclass($1)`;

/** bytea and bytea[]. */
const binaryTypes: readonly number[] = [17, 1001];
const firstOfUsers = 16_384;

/** Types that users made are followed through domains and arrays to what they are made of. */
const binaryPartsSql = `WITH RECURSIVE part(whole, type) AS (
  SELECT oid, oid FROM pg_catalog.pg_type WHERE oid = ANY ($1::oid[])
  UNION
  SELECT p.whole, CASE WHEN t.typbasetype <> 0 THEN t.typbasetype ELSE t.typelem END
  FROM part p JOIN pg_catalog.pg_type t ON t.oid = p.type WHERE t.typbasetype <> 0 OR t.typelem <> 0
)
SELECT whole::int8::text FROM part WHERE type = 17`;

/** An array as one parameter. */
const list = (items: readonly (string | number)[]) => `{${items.map((item) => `"${item}"`).join(",")}}`;

/** @throws ConnectorError: nothing was written */
async function refuseBinary(
  ask: Ask,
  table: TableName,
  columns: readonly (readonly [name: string, type: number])[],
): Promise<void> {
  const ofUsers = columns.map(([, type]) => type).filter((type) => type >= firstOfUsers);
  const { rows } = ofUsers.length > 0 ? await ask(binaryPartsSql, [list(ofUsers)]) : { rows: [] };
  const binary = new Set([...binaryTypes, ...rows.map(([type]) => Number(type))]);
  const found = columns.filter(([, type]) => binary.has(type)).map(([name]) => quoted(name));
  if (found.length === 0) return;
  throw new ConnectorError(
    `binary columns are not supported (${found.join(", ")} of ${quotedTable(table)}); nothing was written`,
  );
}

/** @throws ConnectorError for a table that is not there, and for binary columns: nothing was written */
export async function factsOf(
  ask: Ask,
  name: Omit<RowName, "key">,
  columns: readonly string[],
): Promise<Facts> {
  const { key_column } = name;
  const parameters = [quotedTable(name), list([key_column, ...columns]), key_column];
  const [found] = (await ask(factsSql, parameters)).rows;
  if (!found) {
    const message = `there is no table ${quotedTable(name)}, or it is not on the search path; nothing was written`;
    throw new ConnectorError(message, { reason: "42P01" });
  }
  const [schema, transactionId, unique, afterwards, types] = found;
  await refuseBinary(ask, name, JSON.parse(types ?? "[]"));
  return {
    schema: String(schema),
    transactionId: String(transactionId),
    keyIsUnique: unique === "t",
    changesAfterwards: afterwards === "t",
  };
}

/** Foreign keys whose rows a deletion would delete or change; for the others the server refuses it by itself. */
const foreignKeysSql = `SELECT k.conname, n.nspname, c.relname, pg_catalog.row_security_active(c.oid), k.conrelid = k.confrelid,
  pg_catalog.json_agg(child.attname ORDER BY u.place)::text, pg_catalog.json_agg(parent.attname ORDER BY u.place)::text
FROM pg_catalog.pg_constraint k
JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
CROSS JOIN LATERAL ROWS FROM (pg_catalog.unnest(k.conkey), pg_catalog.unnest(k.confkey))
  WITH ORDINALITY AS u(child, parent, place)
JOIN pg_catalog.pg_attribute child ON child.attrelid = k.conrelid AND child.attnum = u.child
JOIN pg_catalog.pg_attribute parent ON parent.attrelid = k.confrelid AND parent.attnum = u.parent
WHERE k.contype = 'f' AND k.confrelid = pg_catalog.to_regclass($1) AND k.confdeltype IN ('c', 'n', 'd')
GROUP BY k.oid, k.conname, n.nspname, c.relname, c.oid ORDER BY n.nspname, c.relname, k.conname`;

/**
 * The table and foreign key through which rows refer to this one, or may do so out of sight; undefined when there are
 * none that a deletion would take along. The row itself does not count.
 */
export async function referenceTo(ask: Ask, name: RowName): Promise<string | undefined> {
  for (const found of (await ask(foreignKeysSql, [quotedTable(name)])).rows) {
    const [constraint = "", schema = "", table = "", hidden, own, childColumns, parentColumns] =
      found.map(String);
    const children: string[] = JSON.parse(childColumns ?? "[]");
    const parents: string[] = JSON.parse(parentColumns ?? "[]");
    const child = quotedTable({ schema, table });
    const key = quoted(name.key_column);
    const where = [
      ...children.map((column, index) => `c.${quoted(column)} = p.${quoted(parents[index] ?? "")}`),
      `p.${key} = $1`,
      ...(own === "t" ? [`c.${key} <> p.${key}`] : []),
    ];
    const { rows } = await ask(
      `SELECT 1 FROM ${child} c, ${quotedTable(name)} p WHERE ${where.join(" AND ")} LIMIT 1`,
      [String(name.key)],
    );
    if (rows.length > 0) return `rows of ${child} refer to it (foreign key ${quoted(constraint)})`;
    if (hidden === "t") return `row security may hide rows of ${child} that refer to it`;
  }
  return undefined;
}
