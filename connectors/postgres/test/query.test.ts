import { type Bench, bench, failure } from "./bench.ts";

let on: Bench;
beforeAll(async () => {
  on = await bench();
}, 60_000);
afterAll(() => on.close());

const query = (sql: string, more: object = {}) => on.call("query", { sql, ...more });
const rows = async (sql: string, ...values: readonly unknown[]) => (await query(sql, { values }))["rows"];

test("the server gets exactly one guarded transaction, and every value as a parameter", async () => {
  const sql = "SELECT name FROM customers WHERE email = $1 AND id < $2";
  const sent = await on.statements(() => query(sql, { values: ["ada@example.com", 5], limit: 10 }));
  const formats =
    "SET LOCAL datestyle = 'ISO, YMD'; SET LOCAL intervalstyle = 'postgres'; SET LOCAL timezone = 'UTC'; SET LOCAL extra_float_digits = 1; SET LOCAL bytea_output = 'hex'; SET LOCAL lc_monetary = 'C'";
  const [begin, ...rest] = sent.filter(({ sql: text }) => !/system_identifier|format_type/.test(text));
  expect(begin?.sql.replace(/\d+(?=;|$)/g, "N").replace("digits = N", "digits = 1")).toBe(
    `BEGIN READ ONLY; ${formats}; SET LOCAL statement_timeout = N; SET LOCAL idle_in_transaction_session_timeout = N`,
  );
  expect(rest).toEqual([
    { sql: `DECLARE reversi NO SCROLL CURSOR FOR ${sql}`, parameters: ["'ada@example.com'", "'5'"] },
    { sql: "FETCH FORWARD 11 FROM reversi", parameters: [] },
    { sql: "ROLLBACK; SELECT pg_catalog.pg_advisory_unlock_all()", parameters: [] },
  ]);
});

describe("PG-01: no way out of the read-only transaction", () => {
  test.each([
    ["COMMIT; create table pwn(a int); select 1", { values: [] }],
    ["COMMIT; create table pwn(a int); select 1", {}],
    ["select 1; COMMIT; create table pwn(a int)", { values: [] }],
    ["COMMIT", {}],
    ["ROLLBACK", {}],
    ["END", {}],
    ["/* select */ COMMIT", {}],
    ["-- select\nCOMMIT", {}],
    ["SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE", {}],
    ["insert into orders (customer_id, item, amount) values (1, 'x', 1)", {}],
    ["copy customers to program 'id'", {}],
    ["do $$ begin end $$", {}],
    ["selection", {}],
    ["", {}],
  ])("%s is refused before anything is sent", async (sql, more) => {
    const sent = await on.statements(async () => {
      expect(await failure(query(sql, more))).toMatchObject({ code: "INVALID_ARGUMENTS" });
    });
    expect(sent).toEqual([]);
    expect(await on.sql("select to_regclass('pwn') as pwn")).toEqual([{ pwn: null }]);
  });

  test.each([
    ["/* /* */ select */ commit", "42601"],
    ["/* /* */ select */ COMMIT */ commit", "42601"],
    ["select 1 into pwn", "42601"],
    [
      "with w as (insert into orders (customer_id, item, amount) values (1, 'x', 1) returning 1) select 1",
      "0A000",
    ],
    ["select * from orders for update", "25006"],
    ["select set_config('transaction_read_only', 'off', true)", "25001"],
    ["with x as (select 1) update orders set amount = 9", "42601"],
    ["select 1 where", "42601"],
  ])("%s is refused by the server", async (sql, reason) => {
    const before = await on.backend.state();
    expect(await failure(query(sql))).toMatchObject({ code: "FAILED", reason });
    expect(await on.backend.state()).toEqual(before);
  });

  test("a comment, a parenthesis or a WITH may come first", async () => {
    expect(await rows("/* why */ -- really\n (select 1 as x)")).toEqual([{ x: 1 }]);
    expect(await rows("WITH a AS (select 2 as x) select x from a -- done")).toEqual([{ x: 2 }]);
  });

  test("what is done in one query is not there for the next one", async () => {
    await rows(
      "select set_config('default_transaction_read_only', 'off', false) as a, set_config('my.secret', 'x', false) as b",
    );
    expect(
      await rows(
        "select current_setting('my.secret', true) as x, current_setting('transaction_read_only') as r",
      ),
    ).toEqual([{ x: "", r: "on" }]);
  });
});

test("PG-03: a semicolon in a text is refused, and the message tells how to go on", async () => {
  const error = await failure(query("select 'a;b' as x"));
  expect(error.message).toContain("send one statement, and a text with a semicolon as $1 in `values`");
  expect(await rows("select $1::text as x", "a;b")).toEqual([{ x: "a;b" }]);
});

test.each(["select 1;", "select 1 ; -- done", "select 1;\n"])(
  "PG-04: %s is refused with the advice to leave the semicolon out",
  async (sql) => {
    const error = await failure(query(sql));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENTS" });
    expect(error.message).toContain("must not end with a semicolon: leave it out");
  },
);

describe("PG-06: functions with effects outside of tables", () => {
  beforeAll(() => on.sql("create sequence s"));

  test.each([
    ["select nextval('s')", "25006"],
    ["select setval('s', 100)", "25006"],
    ["select lo_create(0)", "25006"],
    ["select pg_stat_reset()", "42501"],
    ["select pg_read_file('/etc/passwd')", "42501"],
    ["select pg_terminate_backend(pid) from pg_stat_activity where usename = 'owner' limit 1", "42501"],
  ])("%s is refused: %s", async (sql, reason) => {
    expect(await failure(query(sql))).toMatchObject({ reason });
  });

  test("an advisory lock and a notification run, and neither outlives the call", async () => {
    await rows("select pg_advisory_lock(42)");
    await rows("select pg_notify('channel', 'text')");
    expect(await on.sql("select count(*)::int as held from pg_locks where locktype = 'advisory'")).toEqual([
      { held: 0 },
    ]);
    expect(await on.sql("select pg_try_advisory_lock(42) as free")).toEqual([{ free: true }]);
  });

  test("neither does one that a failing query took", async () => {
    await failure(query("select pg_advisory_lock(43), 1 / 0"));
    expect(await on.sql("select pg_try_advisory_lock(43) as free")).toEqual([{ free: true }]);
  });
});

describe("values", () => {
  test("PG-10, PG-11: what JSON cannot hold exactly comes as the server's text", async () => {
    expect(
      await rows(`select 9223372036854775807::bigint as big, 12345678901234567890.123456789::numeric as n,
        '{"a":12345678901234567890}'::jsonb as jb, '{"a": 1.10, "a": 2}'::json as j,
        timestamp '2024-03-31 02:30:00.123456' as ts, timestamptz '2024-03-31 02:30:00.123456+02' as tz,
        date '2024-03-31' as d, time '02:30:00.000001' as t, interval '1 mon 2 days' as i, '\\xdead'::bytea as b,
        '{1,NULL}'::int[] as a, 'NaN'::float8 as nan, '-Infinity'::float4 as inf`),
    ).toEqual([
      {
        big: "9223372036854775807",
        n: "12345678901234567890.123456789",
        jb: '{"a": 12345678901234567890}',
        j: '{"a": 1.10, "a": 2}',
        ts: "2024-03-31 02:30:00.123456",
        tz: "2024-03-31 00:30:00.123456+00",
        d: "2024-03-31",
        t: "02:30:00.000001",
        i: "1 mon 2 days",
        b: "\\xdead",
        a: "{1,NULL}",
        nan: "NaN",
        inf: "-Infinity",
      },
    ]);
  });

  test("small numbers and booleans are JSON", async () => {
    expect(
      await rows("select 1::int2 as a, -7 as b, 0.5::float4 as c, 1e300::float8 as d, true as e, null as f"),
    ).toEqual([{ a: 1, b: -7, c: 0.5, d: 1e300, e: true, f: null }]);
  });

  test("columns come with the names of their types, those of users and lengths included", async () => {
    await on.sql("create type mood as enum ('sad', 'ok')");
    const { columns } = await query(
      "select 'ok'::mood as m, 'x'::varchar(7) as v, array[1] as a, 1.5::numeric(4,2) as n",
    );
    expect(columns).toEqual([
      { name: "m", type: "mood" },
      { name: "v", type: "character varying(7)" },
      { name: "a", type: "integer[]" },
      { name: "n", type: "numeric(4,2)" },
    ]);
  });

  test("parameters are JSON scalars, JSON for json, and literals for arrays", async () => {
    expect(
      await rows(
        "select $1::jsonb->>'a' as a, $2::int + 1 as b, $3::bool as c, $4::text as d, ($5::text[])[2] as e, $6::jsonb->>1 as f",
        { a: "x" },
        41,
        true,
        null,
        '{1,"b,c"}',
        [1, "two"],
      ),
    ).toEqual([{ a: "x", b: 42, c: true, d: null, e: "b,c", f: "two" }]);
  });

  test("a wrong number of values is the server's error, and the connection stays", async () => {
    expect(await failure(query("select $1::int", { values: [] }))).toMatchObject({ reason: "08P01" });
    expect(await failure(query("select 1", { values: [1] }))).toMatchObject({ code: "FAILED" });
    expect(await rows("select 1 as x")).toEqual([{ x: 1 }]);
  });

  test("two columns of one name are refused, and a column may have any name", async () => {
    expect((await failure(query("select 1 as a, 2 as a"))).message).toContain('two columns are named "a"');
    const answer = await query('select 1 as "__proto__", 2 as "x y"');
    expect(Object.entries((answer["rows"] as object[])[0] ?? {})).toEqual([
      ["__proto__", 1],
      ["x y", 2],
    ]);
  });

  test("a message does not repeat a value that a row holds", async () => {
    const error = await failure(query("select email::int from customers"));
    expect(error).toMatchObject({ reason: "22P02" });
    expect(error.message).not.toContain("example.com");
  });
});

describe("MC-09: large answers", () => {
  test("at most `limit` rows come, and truncated says whether there were more", async () => {
    const count = async (sql: string, more?: object) => {
      const { row_count, truncated } = await query(sql, more);
      return { row_count, truncated };
    };
    expect(await count("select * from generate_series(1, 1000)")).toEqual({
      row_count: 1000,
      truncated: false,
    });
    expect(await count("select * from generate_series(1, 1001)")).toEqual({
      row_count: 1000,
      truncated: true,
    });
    expect(await count("select * from generate_series(1, 3)", { limit: 2 })).toEqual({
      row_count: 2,
      truncated: true,
    });
    expect(await count("select 1 where false")).toEqual({ row_count: 0, truncated: false });
    expect(await failure(query("select 1", { limit: 1001 }))).toMatchObject({ code: "INVALID_ARGUMENTS" });
  });

  test("wide rows stop before a mebibyte", async () => {
    const {
      row_count,
      truncated,
      rows: shown,
    } = await query("select repeat('x', 100000) as x from generate_series(1, 1000)");
    expect({ row_count, truncated }).toEqual({ row_count: 10, truncated: true });
    expect(shown).toHaveLength(10);
  });

  test("a row that alone is too large is an error that says what to do", async () => {
    const error = await failure(query("select repeat('x', 2000000) as x"));
    expect(error.message).toContain("select fewer columns, or a part of a text with left(…)");
  });

  test("an answer of a hundred megabytes ends with its connection, not with the process", async () => {
    const error = await failure(query("select repeat('x', 1000000) as x from generate_series(1, 100)"));
    expect(error).toMatchObject({ code: "FAILED" });
    expect(error.message).toContain("33554432 bytes");
    expect(await rows("select 1 as x")).toEqual([{ x: 1 }]);
  });
});
