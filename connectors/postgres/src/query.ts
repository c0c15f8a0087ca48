import { ConnectorError, InvalidArgumentsError, type Json, s } from "@reversi-connector/core";
import type { FieldDef } from "pg";
import { tool } from "./client.ts";
import type { Ask, Text } from "./session.ts";
import { bound } from "./sql.ts";

/** Bytes of all values that are returned. */
const largestResult = 1024 * 1024;

/** Blanks, parentheses and comments, then the word that decides. A comment inside a comment is not understood: refused. */
const opening = /^(?:\s|\(|--[^\n]*(?:\n|$)|\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\/)*(?:select|with)\b/i;
const lastSemicolon = /;(?:\s|--[^\n]*(?:\n|$))*$/;

const refuse = (rule: string): InvalidArgumentsError =>
  new InvalidArgumentsError(`postgres.query: sql ${rule}; nothing was sent`, {
    problems: [{ at: "sql", rule }],
  });

/** @throws InvalidArgumentsError for anything but one SELECT or WITH, saying how to go on */
function checkStatement(sql: string): void {
  if (!opening.test(sql)) throw refuse("must be one statement that begins with SELECT or WITH");
  if (!sql.includes(";")) return;
  throw sql.indexOf(";") === sql.search(lastSemicolon)
    ? refuse("must not end with a semicolon: leave it out")
    : refuse("must not hold a semicolon: send one statement, and a text with a semicolon as $1 in `values`");
}

const bool = 16;
/** int2, int4, float4, float8: every value of theirs is exact as a JSON number. */
const smallNumbers: ReadonlySet<number> = new Set([21, 23, 700, 701]);

/** A value as JSON; what JSON cannot hold exactly stays the server's text. */
function jsonOf(text: Text, type: number): Json {
  if (text === null) return null;
  if (type === bool) return text === "t";
  if (!smallNumbers.has(type)) return text;
  const number = Number(text);
  return Number.isFinite(number) ? number : text;
}

/** Names of types by identifier and modifier. Those below the first identifier of a user's type never change. */
const builtIn = new Map<string, string>();
const firstOfUsers = 16_384;

async function typesOf(ask: Ask, fields: readonly FieldDef[]): Promise<string[]> {
  const keyOf = ({ dataTypeID, dataTypeModifier }: FieldDef) => `${dataTypeID} ${dataTypeModifier}`;
  const known = fields.map((field) => builtIn.get(keyOf(field)));
  if (known.every((name) => name !== undefined)) return known;
  const { rows } = await ask(
    "SELECT pg_catalog.format_type(t.type, t.modifier) FROM ROWS FROM (pg_catalog.unnest($1::oid[]), pg_catalog.unnest($2::int4[])) WITH ORDINALITY AS t(type, modifier, place) ORDER BY t.place",
    [
      `{${fields.map(({ dataTypeID }) => dataTypeID).join(",")}}`,
      `{${fields.map(({ dataTypeModifier }) => dataTypeModifier).join(",")}}`,
    ],
  );
  for (const [index, field] of fields.entries()) {
    if (field.dataTypeID < firstOfUsers) builtIn.set(keyOf(field), String(rows[index]?.[0]));
  }
  return rows.map(([name]) => String(name));
}

/** Rows of the first portion; the others are as large as what has come lets expect. */
const portion = 100;

interface Fetched {
  readonly fields: readonly FieldDef[];
  readonly rows: readonly (readonly Text[])[];
  readonly truncated: boolean;
}

/** At most `limit` rows, and no more than fit. @throws ConnectorError when not even the first does */
async function fetchRows(ask: Ask, limit: number): Promise<Fetched> {
  const rows: (readonly Text[])[] = [];
  let size = 0;
  for (let count = Math.min(portion, limit + 1); ; ) {
    const { fields, rows: more } = await ask(`FETCH FORWARD ${count} FROM reversi`);
    for (const row of more) {
      for (const text of row) size += text === null ? 0 : Buffer.byteLength(text);
      if (rows.length < limit && size <= largestResult) rows.push(row);
      else if (rows.length > 0) return { fields, rows, truncated: true };
      else throw tooLarge();
    }
    if (more.length < count) return { fields, rows, truncated: false };
    const expected = Math.floor((largestResult / Math.max(size, 1)) * rows.length) - rows.length;
    count = Math.min(Math.max(expected, 1), limit + 1 - rows.length);
  }
}

const tooLarge = () =>
  new ConnectorError(
    `the first row alone has more than ${largestResult} bytes; select fewer columns, or a part of a text with left(…)`,
  );

/** @throws ConnectorError when two columns have one name: one would hide the other */
function namesOf(fields: readonly FieldDef[]): string[] {
  const names = fields.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return names;
  throw new ConnectorError(`two columns are named ${JSON.stringify(twice)}; name them apart with AS`);
}

/** One statement behind a cursor: what follows DECLARE … FOR can be nothing but a query, whatever the text says. */
async function rowsOf(ask: Ask, sql: string, values: readonly Json[], limit: number) {
  await ask(`DECLARE reversi NO SCROLL CURSOR FOR ${sql}`, values.map(bound));
  const { fields, rows, truncated } = await fetchRows(ask, limit);
  const names = namesOf(fields);
  const types = await typesOf(ask, fields);
  return {
    columns: names.map((name, index) => ({ name, type: types[index] ?? "" })),
    rows: rows.map((row) =>
      Object.fromEntries(
        fields.map(({ name, dataTypeID }, index) => [name, jsonOf(row[index] ?? null, dataTypeID)]),
      ),
    ),
    row_count: rows.length,
    truncated,
  };
}

export const query = tool
  .readOnly("query", {
    description: "Run one SELECT or WITH, read only.",
    permission: "postgres:rows:read",
    input: s.object(
      {
        sql: s.string("One statement with `$1`, `$2`, …; without `;` (bind texts through `values`).", {
          minLength: 1,
          maxLength: 100_000,
        }),
      },
      {
        values: s.array(
          s.json(
            "JSON scalar, or an object or array for json columns; an array column takes its literal as text (`{a,b}`).",
          ),
          "Values for the placeholders.",
          { maxItems: 1000 },
        ),
        limit: s.integer("At most this many entries.", { minimum: 1, maximum: 1000, default: 1000 }),
      },
    ),
    output: s.object({
      columns: s.array(
        s.object({ name: s.string("Name."), type: s.string("Type.") }, {}, "One entry."),
        "The columns; two of one name are refused.",
      ),
      rows: s.array(
        s.map(s.json("Value; big numbers, dates and times as server text."), "One row by column name."),
        "The rows.",
      ),
      row_count: s.integer("Rows returned.", { minimum: 0, maximum: 1000 }),
      truncated: s.boolean("Whether there were more."),
    }),
  })
  .run(async ({ client, args: { sql, values = [], limit } }) => {
    checkStatement(sql);
    return client.reading(({ ask }) => rowsOf(ask, sql, values, limit));
  });
