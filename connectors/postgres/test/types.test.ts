import { type Bench, bench, failure, servers } from "./bench.ts";

/** Type, an old value and a new one, as SQL literals without their quotes. */
const types: readonly (readonly [type: string, before: string, after: string])[] = [
  ["smallint", "-32768", "7"],
  ["integer", "2147483647", "0"],
  ["bigint", "9223372036854775807", "-9223372036854775808"],
  ["numeric", "12345678901234567890.123456789", "NaN"],
  ["numeric(12,4)", "1.10", "99999999.9999"],
  ["real", "0.1", "-Infinity"],
  ["double precision", "0.30000000000000004", "NaN"],
  ["money", "1234.56", "-0.01"],
  ["boolean", "true", "false"],
  ["text", 'it\'s \\n "quoted" $1 ü 🙂', ""],
  ["varchar(20)", "  blanks  ", "null"],
  ["char(5)", "ab", "abcde"],
  ['"char"', "x", "y"],
  ["name", "Some Name", "x"],
  ["uuid", "00000000-0000-0000-0000-00000000000f", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
  ["date", "2026-03-29", "infinity"],
  ["date", "0044-03-15 BC", "2024-02-29"],
  ["time", "02:30:00.123456", "24:00:00"],
  ["timetz", "02:30:00.123456+05:30", "00:00:00-12"],
  ["timestamp", "2024-03-31 02:30:00.123456", "-infinity"],
  ["timestamp(0)", "2026-10-25 02:30:00", "0001-01-01 00:00:00 BC"],
  ["timestamptz", "2024-03-31 02:30:00.123456+02", "2026-10-25 02:30:00.000001+01"],
  ["interval", "1 year 2 mons -3 days 04:05:06.789012", "-00:00:00.000001"],
  ["json", '{"a": 1.10, "a":  12345678901234567890}', "null"],
  ["jsonb", '{"a": 12345678901234567890, "b": [null, 1.10]}', '"null"'],
  ["xml", "<a>b &amp; c</a>", "text"],
  ["inet", "192.168.0.1/24", "::1"],
  ["cidr", "10.0.0.0/8", "2001:db8::/32"],
  ["macaddr", "08:00:2b:01:02:03", "ff:ff:ff:ff:ff:ff"],
  ["bit(3)", "101", "000"],
  ["varbit", "10101", ""],
  ["point", "(1.5,-2.25)", "(0.1,1e+300)"],
  ["line", "{1,-1,0}", "{0,1,2}"],
  ["lseg", "[(0,0),(1,1.5)]", "[(1,1),(2,2)]"],
  ["box", "(2,2),(0.5,0)", "(1,1),(0,0)"],
  ["path", "((0,0),(1,1),(2,0))", "[(0,0),(1,1)]"],
  ["polygon", "((0,0),(1,1),(2,0))", "((0,0),(1,0),(1,1))"],
  ["circle", "<(0.1,0.2),3>", "<(0,0),1>"],
  ["int4range", "[1,10)", "empty"],
  ["numrange", "(,1.10]", "[1,2)"],
  ["tstzrange", '["2024-03-31 00:30:00.123456+00",)', "empty"],
  ["int4multirange", "{[1,3),[5,8)}", "{}"],
  ["tsvector", "'a':1A 'cat''s':2", "'b'"],
  ["tsquery", "'a' & !'b'", "'c' <-> 'd'"],
  ["jsonpath", '$."a"[*]?(@ > 1)', "$"],
  ["pg_lsn", "16/B374D848", "0/0"],
  ["oid", "4294967295", "1"],
  ["xid8", "18446744073709551615", "3"],
  ["regclass", "customers", "orders"],
  // PG-09
  ["text[]", '{x,"y,\\"z",NULL,"NULL",""}', "{n}"],
  ["int[]", "{1,NULL}", "[0:1]={5,6}"],
  ["int[][]", "{{1,2},{3,4}}", "{}"],
  ["numeric[]", "{1.10,12345678901234567890.5}", "{NaN}"],
  ["timestamptz[]", '{"2024-03-31 00:30:00.123456+00",infinity}', "{}"],
  ["jsonb[]", '{"{\\"a\\": 1.10}",NULL}', '{"[1]"}'],
  ["mood", "so so", "it's"],
  ["mood[]", '{"so so",it\'s}', "{}"],
  ["pair", '(1,"a,""b")', "(,)"],
  ["positive", "3", "4"],
  ["positive[]", "{1,2}", "{3}"],
];

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;

const zone = process.env["TZ"];
const inAnotherZone = zone !== undefined && zone !== "UTC";
if (inAnotherZone) {
  test("the process is in the zone it was given", () => {
    expect(Intl.DateTimeFormat().resolvedOptions().timeZone).toBe(zone);
  });
}

describe.each(inAnotherZone ? servers.slice(0, 1) : servers)("on %s", (_, bin) => {
  let on: Bench;
  beforeAll(async () => {
    on = await bench(bin);
    await on.sql(`create type mood as enum ('so so', 'it''s'); create type pair as (a int, b text);
      create domain positive as int check (value > 0)`);
    // Whatever a role has set must make no difference.
    await on.sql(`alter role agent set datestyle = 'German, DMY'; alter role agent set timezone = 'America/New_York';
      alter role agent set intervalstyle = 'iso_8601'; alter role agent set extra_float_digits = 0;
      alter role agent set bytea_output = 'escape'`);
  }, 60_000);
  afterAll(() => on.close());

  const texts = () => on.sql("select id, v::text from t order by id");
  const fresh = async (type: string, before: string) => {
    await on.sql(`drop table if exists t; create table t (id bigint primary key, v ${type})`);
    await on.sql(`insert into t values (1, ${literal(before)}), (2, null)`);
  };

  test.each(types)("%s %s: an update is undone to the byte, and to NULL", async (type, before, after) => {
    await fresh(type, before);
    const old = await texts();
    for (const [key, value] of [
      [1, after],
      [1, null],
      [2, after],
    ] as const) {
      const args = { table: "t", key, values: { v: value } };
      const done = await on.call("update_row", args);
      expect(await texts()).not.toEqual(old);
      expect(await on.undone("update_row", args, done)).toBe(false);
      expect(await on.undo("update_row", args, done)).toMatchObject({ already: false });
      expect(await texts()).toEqual(old);
      expect(await on.undone("update_row", args, done)).toBe(true);
      expect(await on.undo("update_row", args, done)).toMatchObject({ already: true });
    }
  });

  test.each(types)(
    "%s %s: what is inserted is stored as SQL would, and undone",
    async (type, before, after) => {
      await fresh(type, before);
      const old = await texts();
      await on.sql(`insert into t values (3, ${literal(after)})`);
      const args = { table: "t", values: { id: "9007199254740993", v: after } };
      const made = await on.call<{ key: string }>("insert_row", args);
      expect(made.key).toBe("9007199254740993");
      expect(
        await on.sql("select count(*)::int as n from (select distinct v::text from t where id >= 3) s"),
      ).toEqual([{ n: 1 }]);
      await on.sql("delete from t where id = 3");
      expect(await on.undo("insert_row", args, made)).toMatchObject({ row_count: 1, already: false });
      expect(await texts()).toEqual(old);
      expect(await on.undone("insert_row", args, made)).toBe(true);
    },
  );

  test("PG-10: a whole row of big numbers comes back digit by digit", async () => {
    await on.sql(`create table big (id bigserial primary key, big bigint, n numeric, jb jsonb, j json);
      alter sequence big_id_seq restart with 9007199254740993; 
      insert into big (big, n, jb, j) values (9223372036854775807, 12345678901234567890.123456789,
        '{"a":12345678901234567890}', '{"a": 1.10, "a": 1.10}')`);
    const all = "select id::text, big::text, n::text, jb::text, j::text from big";
    const old = await on.sql(all);
    const values = { big: 1, n: "2", jb: { a: 1 }, j: [] };
    const args = { table: "big", key: "9007199254740993", values };
    const done = await on.call("update_row", args);
    await on.undo("update_row", args, done);
    expect(await on.sql(all)).toEqual(old);
    const made = await on.call<{ key: string }>("insert_row", { table: "big", values });
    expect(made.key).toBe("9007199254740994");
    await on.undo("insert_row", { table: "big", values }, made);
    expect(await on.sql(all)).toEqual(old);
  });

  test.each(["bytea", "bytea[]", "blob", "blob[]"])(
    "PG-13: a column of %s is refused before anything is written",
    async (type) => {
      await on.sql(`do $$begin create domain blob as bytea; exception when duplicate_object then null; end$$;
        drop table if exists b; create table b (id int primary key, b ${type}, v text)`);
      await on.sql(
        `insert into b values (1, ${type.endsWith("[]") ? "array['\\xdeadbeef'::bytea]" : "'\\xdeadbeef'"})`,
      );
      const old = await on.sql("select * from b");
      for (const [tool, args] of [
        ["update_row", { key: 1, values: { b: "\\xcafe", v: "x" } }],
        ["insert_row", { values: { id: 2, b: "\\xcafe" } }],
        ["insert_row", { key_column: "b", values: { id: 2 } }],
      ] as const) {
        const error = await failure(on.call(tool, { table: "b", ...args }));
        expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
        expect(error.message).toContain('binary columns are not supported ("b" of');
      }
      const other = { table: "b", key: 1, values: { v: "x" } };
      await on.undo("update_row", other, await on.call("update_row", other));
      expect(await on.sql("select * from b")).toEqual(old);
    },
  );
});
