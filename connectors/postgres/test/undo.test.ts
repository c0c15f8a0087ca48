import { type Bench, bench, failure, servers, untilSql } from "./bench.ts";

describe.each(servers)("on %s", (_, bin) => {
  let on: Bench;
  beforeAll(async () => {
    on = await bench(bin);
  }, 60_000);
  afterAll(() => on.close());

  const t = (values: object) => ({ table: "t", values });
  const rows = () => on.sql("select * from t order by id");
  beforeEach(async () => {
    await on.sql(`drop table if exists child, t cascade;
      create table t (id int primary key, a text, b text); insert into t values (1, 'a', 'b')`);
  });

  describe("restore_row", () => {
    const args = { table: "t", key: 1, values: { a: "A" } };

    test("keeps what somebody else wrote into a column of the step, and the operator can overwrite it", async () => {
      const done = await on.call("update_row", args);
      await on.sql("update t set a = 'theirs' where id = 1");
      const error = await failure(on.undo("update_row", args, done));
      expect(error).toMatchObject({ code: "CONFLICT" });
      expect(error.message).toContain(
        'changed since; expected the values that the undone step left, found other values in "a"',
      );
      expect(error.message).not.toContain("theirs");
      expect(await rows()).toEqual([{ id: 1, a: "theirs", b: "b" }]);
      expect(await on.undone("update_row", args, done)).toBe(false);
      await on.undo("update_row", args, done, { onConflict: "overwrite" });
      expect(await rows()).toEqual([{ id: 1, a: "a", b: "b" }]);
    });

    test("leaves other columns as others changed them", async () => {
      const done = await on.call("update_row", args);
      await on.sql("update t set b = 'theirs' where id = 1");
      expect(await on.undo("update_row", args, done)).toEqual({ table: "t", key: "1", already: false });
      expect(await rows()).toEqual([{ id: 1, a: "a", b: "theirs" }]);
    });

    test("finishes what somebody undid in part, and writes only what is left to do", async () => {
      const both = { table: "t", key: 1, values: { a: "A", b: "B" } };
      const done = await on.call("update_row", both);
      await on.sql("update t set b = 'b' where id = 1");
      const sent = await on.statements(() => on.undo("update_row", both, done));
      expect(sent.map(({ sql }) => sql)).toContain(
        'UPDATE "public"."t" SET "a" = $1 WHERE "id" = $2 RETURNING "id"::text, "a"::text',
      );
      expect(await rows()).toEqual([{ id: 1, a: "a", b: "b" }]);
    });

    test("a second time it succeeds and changes nothing, without a write", async () => {
      const done = await on.call("update_row", args);
      await on.undo("update_row", args, done);
      const sent = await on.statements(async () => {
        expect(await on.undo("update_row", args, done)).toEqual({ table: "t", key: "1", already: true });
      });
      expect(sent.map(({ sql }) => sql).filter((sql) => /^(UPDATE|COMMIT)/.test(sql))).toEqual([]);
    });

    test("without `expected` only the old values pass", async () => {
      const undo = { table: "t", key: 1, previous: { a: "x" } };
      expect(await failure(on.call("restore_row", undo))).toMatchObject({ code: "CONFLICT" });
      expect(await on.call("restore_row", { ...undo, previous: { a: "a" } })).toMatchObject({
        already: true,
      });
      expect(await on.call("restore_row", { ...undo, previous: {} })).toMatchObject({ already: true });
    });

    test("PG-26: of a row that somebody deleted it fails, and its goal is not reached", async () => {
      const done = await on.call("update_row", args);
      await on.sql("delete from t");
      const error = await failure(on.undo("update_row", args, done));
      expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
      expect(error.message).toContain("does not exist any more; nothing was restored");
      expect(await on.undone("update_row", args, done)).toBe(false);
    });

    test("two steps on one row are undone newest first, each without a conflict", async () => {
      const second = { table: "t", key: 1, values: { a: "AA", b: "BB" } };
      const first = await on.call("update_row", args);
      const next = await on.call("update_row", second);
      await on.undo("update_row", second, next);
      await on.undo("update_row", args, first);
      expect(await rows()).toEqual([{ id: 1, a: "a", b: "b" }]);
    });

    test("somebody who comes between its look and its write waits, and nothing of theirs is lost", async () => {
      const done = await on.call("update_row", args);
      await on.sql(`create function held_up() returns trigger language plpgsql as
        $$begin perform pg_advisory_xact_lock(77); return new; end$$;
        create trigger held_up before update on t for each row when (new.a = 'a') execute function held_up()`);
      // Holds the undo up until the other change waits for it.
      const theyWait = untilSql(
        "exists (select from pg_stat_activity where wait_event_type = 'Lock' and query like 'update t %')",
      );
      const holding = on.sql(`begin; select pg_advisory_xact_lock(77); ${theyWait}; commit`);
      await on.until("exists (select from pg_locks where locktype = 'advisory' and granted)");
      const undoing = on.undo("update_row", args, done);
      await on.until("exists (select from pg_locks where locktype = 'advisory' and not granted)");
      const theirs = on.sql("update t set a = a || ' and theirs' where id = 1");
      await Promise.all([holding, undoing, theirs]);
      expect(await rows()).toEqual([{ id: 1, a: "a and theirs", b: "b" }]);
      await on.sql("drop function held_up cascade");
    });
  });

  describe("delete_row", () => {
    const args = t({ id: 2, a: "x", b: null });

    test("keeps a row that somebody changed, and the operator can delete it all the same", async () => {
      const done = await on.call("insert_row", args);
      await on.sql("update t set b = 'theirs' where id = 2");
      const error = await failure(on.undo("insert_row", args, done));
      expect(error).toMatchObject({ code: "CONFLICT" });
      expect(error.message).toContain('found other values in "b"');
      expect(await rows()).toHaveLength(2);
      expect(await on.undo("insert_row", args, done, { onConflict: "overwrite" })).toMatchObject({
        row_count: 1,
      });
      expect(await rows()).toHaveLength(1);
    });

    test("PG-26: a second time it succeeds, says that nothing was there, and changes nothing", async () => {
      const done = await on.call("insert_row", args);
      expect(await on.undone("insert_row", args, done)).toBe(false);
      expect(await on.undo("insert_row", args, done)).toEqual({
        table: "t",
        key: "2",
        row_count: 1,
        already: false,
      });
      expect(await on.undo("insert_row", args, done)).toEqual({
        table: "t",
        key: "2",
        row_count: 0,
        already: true,
      });
      expect(await on.undone("insert_row", args, done)).toBe(true);
    });

    test("without `expected` it does as told", async () => {
      expect(await on.call("delete_row", { table: "t", key: 1 })).toMatchObject({ row_count: 1 });
      expect(await rows()).toEqual([]);
    });

    test("of a table that is not there it is a failure: that proves nothing about the row", async () => {
      const undo = { table: "gone", key: 1 };
      expect(await failure(on.call("delete_row", undo))).toMatchObject({ code: "FAILED", reason: "42P01" });
      const asked = on.connector.holds["postgres.delete_row"]?.(undo) ?? Promise.resolve();
      expect(await failure(asked)).toMatchObject({ code: "FAILED", reason: "42P01" });
    });

    test.each(["CASCADE", "SET NULL", "SET DEFAULT"])(
      "keeps a row that rows of others refer to, ON DELETE %s",
      async (action) => {
        const done = await on.call("insert_row", args);
        await on.sql(`create table child (id int primary key, "parent id" int default 1 references t on delete ${action});
          insert into child values (7, 2)`);
        const error = await failure(on.undo("insert_row", args, done));
        expect(error).toMatchObject({ code: "CONFLICT" });
        expect(error.message).toContain('rows of "public"."child" refer to it');
        expect(await on.sql('select "parent id" as p from child')).toEqual([{ p: 2 }]);
        await on.sql("delete from child");
        expect(await on.undo("insert_row", args, done)).toMatchObject({ row_count: 1 });
      },
    );

    test("where the server itself refuses for such a row, it is a conflict too", async () => {
      const done = await on.call("insert_row", args);
      await on.sql(
        "create table child (id int primary key, parent int references t); insert into child values (7, 2)",
      );
      expect(await failure(on.undo("insert_row", args, done))).toMatchObject({ code: "CONFLICT" });
      expect(await rows()).toHaveLength(2);
    });

    test("a row that refers to itself stands in nobody's way", async () => {
      await on.sql("alter table t add column boss int references t on delete cascade");
      const self = t({ id: 3, boss: 3 });
      const done = await on.call("insert_row", self);
      expect(await on.undo("insert_row", self, done)).toMatchObject({ row_count: 1 });
      expect(await rows()).toHaveLength(1);
    });

    test("a foreign key over two columns is followed", async () => {
      await on.sql(`alter table t add unique (a, b); create table child (x text, y text, foreign key (y, x) references t (b, a) on delete cascade);
        insert into child values ('a', 'b')`);
      const expected = { a: "a", b: "b" };
      expect(await failure(on.call("delete_row", { table: "t", key: 1, expected }))).toMatchObject({
        code: "CONFLICT",
      });
      await on.sql("delete from child");
      expect(await on.call("delete_row", { table: "t", key: 1, expected })).toMatchObject({ row_count: 1 });
    });
  });

  describe("row security", () => {
    beforeEach(() =>
      on.sql(`alter table t add column owner text default 'agent'; alter table t enable row level security;
        create policy own on t to agent using (owner = 'agent')`),
    );

    test("a row that is gone, or only out of sight, is not claimed to be gone", async () => {
      const done = await on.call("insert_row", t({ id: 2, a: "x" }));
      await on.sql("update t set owner = 'somebody' where id = 2");
      expect(await on.undone("insert_row", t({}), done)).toBe("unknown");
      await on.sql("alter table t disable row level security");
      expect(await on.undone("insert_row", t({}), done)).toBe(false);
    });

    test("a table whose rows may refer to it out of sight keeps a row from being deleted", async () => {
      await on.sql(`alter table t disable row level security;
        create table child (parent int references t on delete cascade, owner text); insert into child values (1, 'somebody');
        alter table child enable row level security; create policy own on child to agent using (owner = 'agent')`);
      const error = await failure(on.call("delete_row", { table: "t", key: 1, expected: { a: "a" } }));
      expect(error).toMatchObject({ code: "CONFLICT" });
      expect(error.message).toContain("row security may hide rows");
    });
  });

  test("the undo finds its row by the schema of the step, wherever the search path leads by then", async () => {
    await on.sql("create schema if not exists other; grant usage on schema other to agent");
    const done = await on.call("insert_row", t({ id: 5, a: "x" }));
    await on.sql(
      "drop table if exists other.t; create table other.t (id int, a text); insert into other.t values (5, 'x'); grant all on other.t to agent",
    );
    await on.sql("alter role agent set search_path = other, public");
    const fresh = on.connect();
    const { tool, args } = on.undoOf("insert_row", t({}), done);
    expect(await on.call(tool, args, {}, fresh)).toMatchObject({ row_count: 1 });
    expect(await rows()).toHaveLength(1);
    expect(await on.sql("select count(*)::int as n from other.t")).toEqual([{ n: 1 }]);
    await on.sql("alter role agent reset search_path");
  });
});
