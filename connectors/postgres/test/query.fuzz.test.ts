import fc from "fast-check";
import { always } from "../../../test/fuzz.ts";
import { type Bench, bench } from "./bench.ts";

let on: Bench;
beforeAll(async () => {
  on = await bench(undefined, { log_statement: "none" });
  await on.sql(`CREATE SEQUENCE tickets; GRANT ALL ON SEQUENCE tickets TO agent;
    CREATE FUNCTION sneak() RETURNS int LANGUAGE plpgsql AS
      $$BEGIN UPDATE customers SET name = 'pwned'; RETURN 1; END$$;
    CREATE FUNCTION sneak_definer() RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS
      $$BEGIN INSERT INTO changes (what) VALUES ('pwned'); RETURN 1; END$$;
    GRANT CREATE ON SCHEMA public TO agent`);
}, 60_000);
afterAll(() => on.close());

/** Everything a statement could leave: rows, sequences, relations, functions, roles, settings, locks, prepared statements. */
const state = async () => ({
  rows: await on.backend.state(),
  catalog:
    await on.sql(`SELECT (SELECT array_agg(relname ORDER BY 1)::text FROM pg_class WHERE relnamespace = 'public'::regnamespace) AS c,
    (SELECT count(*)::int FROM pg_proc) AS p, (SELECT array_agg(rolname ORDER BY 1)::text FROM pg_roles) AS r,
    (SELECT count(*)::int FROM pg_db_role_setting) AS s, (SELECT count(*)::int FROM pg_largeobject_metadata) AS l,
    (SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory') AS a, (SELECT count(*)::int FROM pg_prepared_xacts) AS x,
    (SELECT count(*)::int FROM pg_namespace) AS n`),
});
/** What the connector's next queries would see of an earlier one. */
const session = async () =>
  (
    await on.call("query", {
      sql: `SELECT current_setting('transaction_read_only') AS ro, current_setting('default_transaction_read_only') AS dro,
        NULLIF(current_setting('my.secret', true), '') AS my, current_setting('search_path') AS path, current_user AS me,
        (SELECT count(*)::int FROM pg_prepared_statements) AS prepared, (SELECT count(*)::int FROM pg_cursors) AS cursors,
        (SELECT count(*)::int FROM pg_listening_channels()) AS channels`,
    })
  )["rows"];

const writes = [
  "INSERT INTO changes (what) VALUES ('pwned')",
  "INSERT INTO orders (customer_id, item, amount) VALUES (1, 'pwned', 1) RETURNING 1",
  "UPDATE customers SET name = 'pwned'",
  "UPDATE customers SET name = 'pwned' RETURNING id",
  "DELETE FROM orders",
  "DELETE FROM orders RETURNING *",
  "MERGE INTO customers USING orders ON true WHEN MATCHED THEN DELETE",
  "TRUNCATE orders",
  "DROP TABLE orders",
  "CREATE TABLE pwned (a int)",
  "CREATE TEMP TABLE pwned (a int)",
  "COPY customers TO PROGRAM 'id'",
  "COPY customers FROM STDIN",
  "COPY (SELECT 1) TO '/tmp/pwned'",
  "DO $$BEGIN UPDATE customers SET name = 'pwned'; END$$",
  "CALL sneak()",
  "LOCK TABLE customers",
  "LISTEN channel",
  "PREPARE pwned AS SELECT 1",
  "SET default_transaction_read_only = off",
  "SET TRANSACTION READ WRITE",
  "RESET ALL",
  "COMMIT",
  "ROLLBACK",
  "END",
  "BEGIN",
  "COMMIT AND CHAIN",
  "ABORT",
  "SAVEPOINT a",
  "CLOSE reversi",
  "ALTER ROLE agent SET default_transaction_read_only = off",
  "GRANT ALL ON customers TO PUBLIC",
] as const;
const effects = [
  "nextval('tickets')",
  "setval('tickets', 99)",
  "sneak()",
  "sneak_definer()",
  "set_config('transaction_read_only', 'off', true)",
  "set_config('transaction_read_only', 'off', false)",
  "set_config('default_transaction_read_only', 'off', false)",
  "set_config('session_authorization', 'owner', false)",
  "set_config('role', 'owner', false)",
  "set_config('my.secret', 'x', false)",
  "set_config('search_path', 'pg_temp', false)",
  "lo_create(0)",
  "lo_from_bytea(0, 'x')",
  "pg_advisory_lock(1)",
  "pg_notify('channel', 'x')",
  "query_to_xml('UPDATE customers SET name = ''pwned'' RETURNING 1', true, true, '')",
  "query_to_xml('COMMIT', true, true, '')",
  "cursor_to_xml('reversi', 1, true, true, '')",
  "pg_logical_emit_message(false, 'a', 'b')",
  "pg_export_snapshot()",
] as const;
/** What runs, and would outlive its transaction if nobody ended it. */
const allowed = fc.constantFrom(
  "set_config('my.secret', 'x', false)",
  "set_config('default_transaction_read_only', 'on', false)",
  "set_config('search_path', 'pg_temp', false)",
  "set_config('statement_timeout', '0', false)",
  "pg_advisory_lock(1)",
  "pg_try_advisory_lock_shared(2, 3)",
  "pg_notify('channel', 'x')",
  "current_setting('transaction_read_only')",
);
const write = fc.constantFrom(...writes);
const effect = fc.constantFrom(...effects);

const blank = fc.constantFrom(
  " ",
  "\n",
  "\t",
  "\r",
  "\f",
  "\u00a0",
  "\ufeff",
  "/**/",
  "/* ; */",
  "/* /* */",
  "/* /* */ */",
  "*/",
  "-- \n",
  "--\r",
  "-- select\n",
  "--",
  "(",
  ")",
);
const glue = fc.constantFrom(
  ";",
  " ; ",
  ";--\n",
  "\u037e",
  "$$",
  "$a$",
  "'",
  '"',
  "E'\\'",
  "U&'",
  " UNION ",
  " UNION ALL ",
  ", ",
  " WHERE ",
  " FOR UPDATE ",
  " INTO pwned ",
  " AS x ",
  "\\;",
  "\\g",
  " OFFSET ",
  " LIMIT 1 ",
);
const piece = fc.oneof(
  write,
  effect,
  blank,
  glue,
  fc.constantFrom(
    "SELECT 1",
    "SELECT",
    "WITH",
    "select * from customers",
    "VALUES (1)",
    "TABLE customers",
    "EXPLAIN ANALYZE",
    "w AS (",
    "1",
    "$1",
    "::text",
    "'a;b'",
    "from customers",
  ),
);
const statement = fc.oneof(
  fc.tuple(allowed, allowed).map(([a, b]) => `SELECT ${a}::text AS a, ${b}::text AS b FROM customers`),
  fc
    .tuple(allowed, effect, blank)
    .map(
      ([a, b, between]) =>
        `WITH w AS MATERIALIZED (SELECT ${a}::text AS a)${between}SELECT a, (${b})::text FROM w`,
    ),
  fc.array(piece, { minLength: 1, maxLength: 7 }).map((pieces) => pieces.join(" ")),
  fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => `SELECT ${pieces.join("")}`),
  fc.tuple(effect, effect).map(([a, b]) => `SELECT ${a} AS a, ${b} AS b`),
  fc
    .tuple(effect, effect)
    .map(([a, b]) => `SELECT (SELECT ${a})::text FROM customers WHERE (${b})::text <> 'x'`),
  fc
    .tuple(write, fc.constantFrom("", "MATERIALIZED ", "NOT MATERIALIZED "))
    .map(([inner, how]) => `WITH w AS ${how}(${inner}) SELECT * FROM w`),
  fc.tuple(write, effect).map(([last, first]) => `WITH w AS (SELECT ${first} AS a) ${last}`),
  fc.tuple(blank, blank, write).map(([a, b, last]) => `${a}SELECT 1${b}${last}`),
  fc.tuple(blank, blank, write).map(([a, b, last]) => `/* SELECT */${a}${last}${b}`),
  fc.tuple(glue, write, glue).map(([a, inner, b]) => `SELECT 1${a}${inner}${b}`),
  fc.tuple(write, fc.constantFrom("SELECT", "WITH")).map(([inner, word]) => `${word}$$${inner}$$`),
  fc.tuple(blank, write).map(([a, inner]) => `SELECT ${a} * FROM (${inner}) AS x`),
);
const values = fc.oneof(
  fc.constant({}),
  fc
    .array(
      fc.oneof(fc.constantFrom<unknown>("1'; COMMIT; --", null, 1, true, [], { a: ";" }), write, effect),
      { maxLength: 3 },
    )
    .map((all) => ({ values: all })),
);

const codes = new Map<string, number>();
always(
  "no statement leaves anything behind: not in a table, not in the catalog, not for the next query",
  80,
  fc.asyncProperty(fc.array(fc.tuple(statement, values), { minLength: 1, maxLength: 3 }), async (tries) => {
    const before = await state();
    const clean = await session();
    for (const [sql, more] of tries) {
      const code = await on.call("query", { sql, ...more, limit: 5 }).then(
        () => "done",
        (error: { readonly code?: string }) => String(error.code),
      );
      expect({ sql, code }).toEqual({
        sql,
        code: expect.stringMatching(/^(done|FAILED|INVALID_ARGUMENTS)$/),
      });
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
    expect(await session()).toEqual(clean);
    expect(await state()).toEqual(before);
  }),
);
test("(statements were run, refused by the server, and refused beforehand)", () => {
  expect(Math.min(...codes.values())).toBeGreaterThan(5);
  expect(codes.size).toBe(3);
});

always(
  "a value is a value, whatever it says",
  40,
  fc.asyncProperty(
    fc.array(fc.oneof(write, effect, glue, blank, fc.string({ unit: "binary" })), { maxLength: 5 }),
    async (pieces) => {
      const text = pieces.join(" ").toWellFormed().replaceAll("\u0000", "");
      expect((await on.call("query", { sql: "SELECT $1::text AS x", values: [text] }))["rows"]).toEqual([
        { x: text },
      ]);
    },
  ),
);
