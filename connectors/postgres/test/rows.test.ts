import { type Bench, bench, failure, type Values } from "./bench.ts";

let on: Bench;
beforeAll(async () => {
  on = await bench();
}, 60_000);
afterAll(() => on.close());

const formats = /^BEGIN; SET LOCAL datestyle.*idle_in_transaction_session_timeout = \d+$/;
/** Without what is looked up in the catalogs: BEGIN, the statements on rows, COMMIT. */
const onRows = async (work: () => Promise<unknown>) =>
  (await on.statements(work))
    .filter(({ sql }) => !/system_identifier|pg_catalog\.(pg_index|pg_type|pg_constraint)/.test(sql))
    .map(({ sql, parameters }) => [sql.replace(formats, "BEGIN …"), ...parameters]);

describe("the exact statements and parameters", () => {
  beforeAll(() =>
    on.sql(`create table items (id serial primary key, name text, email text, profile jsonb, balance numeric(12,2));
      create table notes (id serial primary key, item_id int references items on delete cascade)`),
  );
  let key = "";
  const values = { name: "it's", profile: { a: [1, "x"] }, balance: 1.5, email: null };

  test("insert_row", async () => {
    let made: Values = {};
    const sent = await onRows(async () => {
      made = await on.call("insert_row", { table: "items", values });
    });
    key = String(made["key"]);
    expect(sent).toEqual([
      ["BEGIN …"],
      [
        'INSERT INTO "items" ("name","profile","balance","email") VALUES ($1,$2,$3,$4) RETURNING "id"::text, "name"::text, "profile"::text, "balance"::text, "email"::text',
        "'it''s'",
        `'{"a": [1, "x"]}'`,
        "'1.5'",
        "NULL",
      ],
      ["COMMIT"],
    ]);
    expect(made).toEqual({
      schema: "public",
      table: "items",
      key_column: "id",
      key: expect.stringMatching(/^\d+$/),
      current: { name: "it's", profile: '{"a": [1, "x"]}', balance: "1.50", email: null },
    });
  });

  test("insert_row without values", async () => {
    await on.sql("create table empty (id serial primary key, at timestamptz default now())");
    const sent = await onRows(() => on.call("insert_row", { schema: "public", table: "empty", values: {} }));
    expect(sent[1]).toEqual(['INSERT INTO "public"."empty" DEFAULT VALUES RETURNING "id"::text']);
  });

  test("update_row", async () => {
    const args = { schema: "public", table: "items", key, values: { name: "B", balance: "2" } };
    let changed: Values = {};
    const sent = await onRows(async () => {
      changed = await on.call("update_row", args);
    });
    expect(sent).toEqual([
      ["BEGIN …"],
      [
        'SELECT "id"::text, "name"::text, "balance"::text FROM "public"."items" WHERE "id" = $1 FOR UPDATE',
        `'${key}'`,
      ],
      [
        'UPDATE "public"."items" SET "name" = $1, "balance" = $2 WHERE "id" = $3 RETURNING "id"::text, "name"::text, "balance"::text',
        "'B'",
        "'2'",
        `'${key}'`,
      ],
      ["COMMIT"],
    ]);
    expect(changed).toEqual({
      schema: "public",
      table: "items",
      key_column: "id",
      key,
      previous: { name: "it's", balance: "1.50" },
      current: { name: "B", balance: "2.00" },
    });
  });

  test("restore_row", async () => {
    const previous = { name: "it's", balance: "1.50" };
    const args = {
      schema: "public",
      table: "items",
      key,
      previous,
      expected: { name: "B", balance: "2.00" },
    };
    expect(await onRows(() => on.call("restore_row", args))).toEqual([
      ["BEGIN …"],
      [
        'SELECT "id"::text, "name"::text, "balance"::text FROM "public"."items" WHERE "id" = $1 FOR UPDATE',
        `'${key}'`,
      ],
      [
        'UPDATE "public"."items" SET "name" = $1, "balance" = $2 WHERE "id" = $3 RETURNING "id"::text, "name"::text, "balance"::text',
        "'it''s'",
        "'1.50'",
        `'${key}'`,
      ],
      ["COMMIT"],
    ]);
  });

  test("delete_row", async () => {
    const args = { table: "items", key, expected: { name: "it's" } };
    expect(await onRows(() => on.call("delete_row", args))).toEqual([
      ["BEGIN …"],
      ['SELECT "id"::text, "name"::text FROM "items" WHERE "id" = $1 FOR UPDATE', `'${key}'`],
      [
        'SELECT 1 FROM "public"."notes" c, "items" p WHERE c."item_id" = p."id" AND p."id" = $1 LIMIT 1',
        `'${key}'`,
      ],
      ['DELETE FROM "items" WHERE "id" = $1', `'${key}'`],
      ["COMMIT"],
    ]);
    const again = await onRows(() => on.call("delete_row", args));
    expect(again.at(-1)).toEqual(["ROLLBACK; SELECT pg_catalog.pg_advisory_unlock_all()"]);
  });

  test("of a table with triggers that act after the statement the row is read once more", async () => {
    const args = { table: "customers", values: { name: "C" } };
    const sent = await onRows(() => on.call("insert_row", args));
    expect(sent.slice(1).map(([sql]) => sql)).toEqual([
      'INSERT INTO "customers" ("name") VALUES ($1) RETURNING "id"::text, "name"::text',
      'SELECT "id"::text, "name"::text FROM "customers" WHERE "id" = $1',
      "COMMIT",
    ]);
  });
});

describe("PG-08: values of json columns", () => {
  beforeAll(() => on.sql("create table j (id serial primary key, tags jsonb, o json)"));
  test.each([
    [["a", { b: 1 }], '["a", {"b": 1}]', "array"],
    [[], "[]", "array"],
    [{ x: null }, '{"x": null}', "object"],
    [5, "5", "number"],
    [true, "true", "boolean"],
    ['"text"', '"text"', "string"],
    ["null", "null", "null"],
    [null, null, null],
  ])("%j is stored as %s", async (value, text, kind) => {
    const args = { table: "j", values: { tags: value, o: value } };
    const made = await on.call<{ key: string; current: Values }>("insert_row", args);
    expect(made.current["tags"]).toBe(text);
    expect(
      await on.sql("select jsonb_typeof(tags) as a, json_typeof(o) as b from j where id = $1", [made.key]),
    ).toEqual([{ a: kind, b: kind }]);
    expect(await on.undo("insert_row", args, made)).toMatchObject({ row_count: 1 });
  });

  test("a bare text is no JSON text: refused, with the reason", async () => {
    const error = await failure(on.call("insert_row", { table: "j", values: { tags: "text" } }));
    expect(error).toMatchObject({ code: "FAILED", reason: "22P02", mayHaveApplied: false });
    expect(error.message).toContain("a json column takes JSON text");
    expect(await on.sql("select count(*)::int as n from j")).toEqual([{ n: 0 }]);
  });
});

describe("PG-15: generated and identity columns", () => {
  beforeAll(() =>
    on.sql(`create table g (id bigint generated always as identity primary key, n int, g int generated always as (n * 2) stored);
      insert into g (n) values (1)`),
  );
  test.each([
    ["update_row", { table: "g", key: 1, values: { g: 5 } }],
    ["insert_row", { table: "g", values: { id: 7, n: 1 } }],
    ["update_row", { table: "g", key_column: "n", key: 1, values: { id: 7 } }],
  ])("%s of one is Postgres error 428C9, and nothing changes", async (tool, args) => {
    const error = await failure(on.call(tool, args));
    expect(error).toMatchObject({ code: "FAILED", reason: "428C9", mayHaveApplied: false });
    expect(error.message).toContain("Postgres error 428C9");
    expect(await on.sql("select * from g")).toEqual([{ id: "1", n: 1, g: 2 }]);
  });

  test("a restore writes the plain column, and the generated one follows", async () => {
    const args = { table: "g", key: 1, values: { n: 9 } };
    const done = await on.call("update_row", args);
    expect(await on.sql("select g from g")).toEqual([{ g: 18 }]);
    expect(await on.undo("update_row", args, done)).toMatchObject({ already: false });
    expect(await on.sql("select * from g")).toEqual([{ id: "1", n: 1, g: 2 }]);
  });
});

describe("PG-16: exactly one row", () => {
  beforeAll(() =>
    on.sql("create table many (grp int, v text); insert into many values (1,'a'),(1,'b'),(1,'c'),(2,'d')"),
  );
  const all = () => on.sql("select v from many order by v");
  test.each([
    ["update_row", { values: { v: "x" } }],
    ["delete_row", {}],
    ["restore_row", { previous: { v: "x" } }],
  ])("%s of a key that three rows have is refused", async (tool, more) => {
    const before = await all();
    const error = await failure(on.call(tool, { table: "many", key_column: "grp", key: 1, ...more }));
    expect(error.message).toContain("3 rows match, exactly 1 needed");
    expect(await all()).toEqual(before);
  });

  test("a row whose key is there already in a column that is not unique is not inserted", async () => {
    const args = { table: "many", key_column: "grp", values: { grp: 2, v: "e" } };
    expect((await failure(on.call("insert_row", args))).message).toContain("2 rows match, exactly 1 needed");
    expect(await all()).toHaveLength(4);
  });

  test("a row without a key is not inserted: nobody could find it again", async () => {
    const args = { table: "many", key_column: "grp", values: { v: "e" } };
    expect((await failure(on.call("insert_row", args))).message).toContain('no "grp"');
    expect(await all()).toHaveLength(4);
  });

  test("a row that does not exist is not updated", async () => {
    const args = { table: "many", key_column: "grp", key: 3, values: { v: "x" } };
    expect(await failure(on.call("update_row", args))).toMatchObject({
      code: "FAILED",
      mayHaveApplied: false,
    });
  });

  test("the key column itself is not set", async () => {
    const args = { table: "many", key_column: "grp", key: 2, values: { grp: 3 } };
    const sent = await on.statements(async () => {
      expect(await failure(on.call("update_row", args))).toMatchObject({ code: "INVALID_ARGUMENTS" });
    });
    expect(sent).toEqual([]);
  });
});

describe("PG-23: names", () => {
  beforeAll(() =>
    on.sql(`create schema "Shop"; grant usage on schema "Shop" to agent;
      create table "Shop"."Order" ("Id" text primary key, "MixedCase" int, "user" text, "select" text);
      grant all on "Shop"."Order" to agent`),
  );
  test("mixed case and reserved words work, written as they are", async () => {
    const table = { schema: "Shop", table: "Order", key_column: "Id" };
    const insert = { ...table, values: { Id: "a\"b'c", MixedCase: 1, user: "u", select: "s" } };
    const made = await on.call<{ key: string }>("insert_row", insert);
    expect(made.key).toBe("a\"b'c");
    const update = { ...table, key: made.key, values: { MixedCase: 2, user: "v" } };
    const changed = await on.call("update_row", update);
    expect(changed).toMatchObject({ previous: { MixedCase: "1", user: "u" } });
    await on.undo("update_row", update, changed);
    expect(await on.undone("update_row", update, changed)).toBe(true);
    await on.undo("insert_row", insert, made);
    expect(await on.sql('select * from "Shop"."Order"')).toEqual([]);
  });

  test.each(['t"; drop table x --', "ta.ble", "täble", "x".repeat(64), "", "id\n", "1a", "a b"])(
    "%j is refused before anything is sent, wherever it stands",
    async (name) => {
      const calls: readonly (readonly [string, object])[] = [
        ["insert_row", { table: name, values: {} }],
        ["insert_row", { table: "t", schema: name, values: {} }],
        ["insert_row", { table: "t", key_column: name, values: {} }],
        ["insert_row", { table: "t", values: { [name]: 1 } }],
        ["update_row", { table: "t", key: 1, values: { [name]: 1 } }],
        ["restore_row", { table: "t", key: 1, previous: { [name]: "1" } }],
        ["restore_row", { table: "t", key: 1, previous: {}, expected: { [name]: "1" } }],
        ["delete_row", { table: "t", key: 1, expected: { [name]: "1" } }],
        ["delete_row", { table: name, key: 1 }],
      ];
      const sent = await on.statements(async () => {
        for (const [tool, args] of calls) {
          expect(await failure(on.call(tool, args))).toMatchObject({ code: "INVALID_ARGUMENTS" });
        }
      });
      expect(sent).toEqual([]);
    },
  );

  test("a name of 63 characters, one with the words of a statement, and Object's own are names like any other", async () => {
    for (const column of ["x".repeat(63), "from_where", "__proto__", "constructor"]) {
      await on.sql(`drop table if exists odd; create table odd (id int primary key, "${column}" text)`);
      await on.sql("insert into odd values (1, 'old')");
      const args = { table: "odd", key: 1, values: Object.fromEntries([[column, "new"]]) };
      const done = await on.call("update_row", args);
      await on.undo("update_row", args, done);
      expect(await on.sql("select * from odd")).toEqual([
        Object.fromEntries([
          ["id", 1],
          [column, "old"],
        ]),
      ]);
    }
  });
});

describe("errors", () => {
  const insert = (table: string, values: object) => failure(on.call("insert_row", { table, values }));
  beforeAll(() => on.sql("create table closed (id int, v text); revoke all on closed from agent"));

  test.each([
    ["no such table", "nowhere", {}, "42P01"],
    ["no such column", "customers", { nothing: 1 }, "42703"],
    ["a row with this value exists", "customers", { name: "x", email: "ada@example.com" }, "23505"],
    ["a check fails", "orders", { customer_id: 1, item: "x", amount: -77123 }, "23514"],
    ["nothing to refer to", "orders", { customer_id: 99_881, item: "x", amount: 1 }, "23503"],
    ["a value is missing", "customers", { email: "secret@example.com" }, "23502"],
    ["the type is wrong", "orders", { customer_id: "number-77123", item: "x", amount: 1 }, "22P02"],
    ["a number is too large", "orders", { customer_id: 1, item: "x", amount: 77_123_000_000 }, "22003"],
    ["a NUL", "customers", { name: "a\u0000b" }, "22021"],
    ["no right to write", "closed", { v: "x" }, "42501"],
  ])("%s: its SQLSTATE, no value of the row, and nothing changed", async (_, table, values, reason) => {
    const before = await on.sql(
      "select (select count(*) from customers) as c, (select count(*) from orders) as o",
    );
    const error = await insert(table, values);
    expect(error).toMatchObject({ code: "FAILED", reason, mayHaveApplied: false });
    expect(error.message).not.toMatch(/example\.com|77_?123|99_?881|Failing row/);
    expect(
      await on.sql("select (select count(*) from customers) as c, (select count(*) from orders) as o"),
    ).toEqual(before);
  });

  test("a deferred constraint that fails at COMMIT is a definite failure", async () => {
    await on.sql(`create table parent (id int primary key);
      create table child (id int primary key, parent int references parent deferrable initially deferred)`);
    const error = await insert("child", { id: 1, parent: 5 });
    expect(error).toMatchObject({ code: "FAILED", reason: "23503", mayHaveApplied: false });
    expect(await on.sql("select * from child")).toEqual([]);
  });

  test("a deadlock is a definite failure of one of the two", async () => {
    await on.sql(
      "create table lockable (id int primary key, v int); insert into lockable values (1,0),(2,0)",
    );
    await on.sql(`create function cross_update() returns trigger language plpgsql as $$
      begin perform pg_sleep(0.2); update lockable set v = v + 1 where id <> new.id and pg_trigger_depth() = 1; return new; end$$;
      create trigger cross_update before update on lockable for each row when (pg_trigger_depth() = 0) execute function cross_update()`);
    const update = (key: number) => on.call("update_row", { table: "lockable", key, values: { v: 10 } });
    const ended = await Promise.allSettled([update(1), update(2)]);
    const failed = ended.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    expect(failed).toHaveLength(1);
    expect(failed[0]).toMatchObject({ code: "FAILED", reason: "40P01", mayHaveApplied: false });
  });
});

describe("triggers and rules", () => {
  test("a row that a trigger keeps out is not reported as inserted", async () => {
    await on.sql(`create table shy (id serial primary key, v text);
      create function nothing() returns trigger language plpgsql as $$begin return null; end$$;
      insert into shy (v) values ('a');
      create trigger keep_out before insert or update or delete on shy for each row execute function nothing()`);
    for (const [tool, args] of [
      ["insert_row", { values: { v: "b" } }],
      ["update_row", { key: 1, values: { v: "b" } }],
      ["delete_row", { key: 1 }],
    ] as const) {
      expect(await failure(on.call(tool, { table: "shy", ...args }))).toMatchObject({ code: "FAILED" });
    }
    expect(await on.sql("select v from shy")).toEqual([{ v: "a" }]);
  });

  test("what a trigger makes of a value, before or after the statement, is what the undo expects", async () => {
    await on.sql(`create table loud (id serial primary key, v text, w text);
      create function upper_v() returns trigger language plpgsql as $$begin new.v := upper(new.v); return new; end$$;
      create trigger before_it before insert or update on loud for each row execute function upper_v();
      create function set_w() returns trigger language plpgsql as
        $$begin update loud set w = w || '!' where id = new.id and w not like '%!'; return null; end$$;
      create trigger after_it after insert or update on loud for each row execute function set_w()`);
    const insert = { table: "loud", values: { v: "a", w: "x" } };
    const made = await on.call<{ key: string }>("insert_row", insert);
    expect(made).toMatchObject({ current: { v: "A", w: "x!" } });
    const update = { table: "loud", key: made.key, values: { v: "b", w: "y" } };
    const changed = await on.call("update_row", update);
    expect(changed).toMatchObject({ previous: { v: "A", w: "x!" }, current: { v: "B", w: "y!" } });
    expect(await on.undo("update_row", update, changed)).toMatchObject({ already: false });
    expect(await on.sql("select v, w from loud")).toEqual([{ v: "A", w: "x!" }]);
    expect(await on.undo("insert_row", insert, made)).toMatchObject({ row_count: 1 });
  });

  test("a restore that a trigger spoils is undone as a whole, and says which column", async () => {
    await on.sql(`create table stamped (id int primary key, v text, updated_at timestamptz default '2020-01-01');
      insert into stamped values (1, 'a');
      create trigger touch before update on stamped for each row execute function touch()`);
    const args = { table: "stamped", key: 1, values: { v: "b", updated_at: "2021-01-01T00:00:00Z" } };
    const done = await on.call("update_row", args);
    const before = await on.sql("select * from stamped");
    const error = await failure(on.undo("update_row", args, done));
    expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
    expect(error.message).toContain('does not take its old values in "updated_at"');
    expect(await on.sql("select * from stamped")).toEqual(before);
  });
});

describe("privileges", () => {
  const insert = { table: "guarded", values: { a: "x" } };
  const update = { table: "guarded", key: 1, values: { a: "y" } };
  const as = async (grants: string) => {
    await on.sql(`drop table if exists referring, guarded; drop role if exists limited; create role limited login password 'limited-password';
      create table guarded (id bigint generated always as identity primary key, a text, secret text);
      create table referring (id int, parent bigint references guarded on delete cascade);
      insert into guarded (a) values ('old'); ${grants}`);
    return on.connect({
      url: on.backend.address.replace(/\/\/[^@]*@/, "//limited:limited-password@"),
    });
  };

  test("those that the README names are enough for every step and its verified undo", async () => {
    const connector = await as(`grant select (id, a), insert (a), update (a), delete on guarded to limited;
      grant select on referring to limited`);
    for (const [tool, args] of [
      ["insert_row", insert],
      ["update_row", update],
    ] as const) {
      const undo = on.undoOf(tool, args, await on.call(tool, args, {}, connector));
      expect(await on.call(undo.tool, undo.args, {}, connector)).toMatchObject({ already: false });
      expect(await connector.holds[`postgres.${undo.tool}`]?.(undo.args)).toBe(true);
    }
    expect(await on.sql("select a from guarded")).toEqual([{ a: "old" }]);
  });

  test("without SELECT nothing is written at all", async () => {
    const connector = await as("grant insert, update, delete on guarded to limited");
    for (const [tool, args] of [
      ["insert_row", insert],
      ["update_row", update],
    ] as const) {
      expect(await failure(on.call(tool, args, {}, connector))).toMatchObject({
        code: "FAILED",
        reason: "42501",
      });
    }
    expect(await on.sql("select a from guarded")).toEqual([{ a: "old" }]);
  });

  test("a role that may not see which cluster it is on still works, and says so in its evidence", async () => {
    const connector = await as("grant select, insert, update, delete on guarded to limited");
    await on.sql("revoke execute on function pg_control_system() from public");
    const seen: unknown[] = [];
    await on.call(
      "insert_row",
      insert,
      { checkpoint: async ({ evidence }) => void seen.push(evidence) },
      connector,
    );
    expect(seen[1]).toEqual({ transaction_id: expect.any(String), system_identifier: null });
    await on.sql("grant execute on function pg_control_system() to public");
  });
});
