import { type Checkpoint, EffectUncertainError } from "@reversi-connector/core";
import { type Bench, bench, failure, lose, ours, servers, untilSql } from "./bench.ts";
import { type Fault, type LossyProxy, proxyTo } from "./proxy.ts";

describe.each(servers)("on %s", (_, bin) => {
  let on: Bench;
  let proxy: LossyProxy;
  beforeAll(async () => {
    on = await bench(bin);
    proxy = await proxyTo(on.backend.address);
  }, 60_000);
  afterAll(async () => {
    await proxy.close();
    await on.close();
  });
  beforeEach(() =>
    on.sql(
      "drop table if exists t; create table t (id int primary key, a text); insert into t values (1, 'a')",
    ),
  );

  const throughProxy = (timeoutMs = 10_000) => on.connect({ url: proxy.url, timeoutMs });
  const rows = () => on.sql("select * from t order by id");
  const works = async (connector = on.connector) =>
    expect(await on.call("query", { sql: "select 1 as x" }, {}, connector)).toMatchObject({
      rows: [{ x: 1 }],
    });

  const forward = [
    ["insert_row", "INSERT", { table: "t", values: { id: 2, a: "x" } }],
    ["update_row", "UPDATE", { table: "t", key: 1, values: { a: "x" } }],
  ] as const;
  const undoes = [
    ["delete_row", "DELETE", { table: "t", key: 1 }],
    ["restore_row", "UPDATE", { table: "t", key: 1, previous: { a: "x" }, expected: { a: "a" } }],
  ] as const;
  const all = [...forward, ...undoes];
  /** A statement of the write itself: the catalogs are looked up with other words. */
  const wordOf = (verb: string) =>
    verb === "UPDATE" ? 'UPDATE "' : verb === "DELETE" ? "DELETE FROM" : "INSERT INTO";

  describe("PG-18: a connection that is lost", () => {
    test.each(all)(
      "%s, before its %s arrives: unknown, nothing happened, and the pool works on",
      async (tool, verb, args) => {
        const connector = throughProxy();
        const before = await rows();
        proxy.inject("before", wordOf(verb));
        const { error } = await lose(on, tool, args, connector);
        expect(EffectUncertainError.is(error)).toBe(true);
        await works(connector);
        expect(await rows()).toEqual(before);
      },
    );

    test.each(all)("%s, with the answer to COMMIT: unknown, and it happened", async (tool, _verb, args) => {
      const connector = throughProxy();
      const before = await rows();
      proxy.inject("after", "COMMIT");
      const { error } = await lose(on, tool, args, connector);
      expect(EffectUncertainError.is(error)).toBe(true);
      expect(error.message).toContain("while it was being committed");
      await works(connector);
      expect(await rows()).not.toEqual(before);
    });

    test.each(all)("%s, before COMMIT arrives: unknown, and it did not happen", async (tool, _verb, args) => {
      const connector = throughProxy();
      const before = await rows();
      proxy.inject("before", "COMMIT");
      expect(EffectUncertainError.is((await lose(on, tool, args, connector)).error)).toBe(true);
      await works(connector);
      expect(await rows()).toEqual(before);
    });

    test.each(all)("%s, at BEGIN or at a read before the write: a plain error", async (tool, _verb, args) => {
      for (const word of ["BEGIN", "SELECT"]) {
        const connector = throughProxy();
        await works(connector);
        const before = await rows();
        // A connection that was idle is replaced once; the second loss at BEGIN is on a new one.
        proxy.inject("before", word);
        const outcome = on.call(tool, args, {}, connector).then(
          () => "done",
          (error: unknown) => error,
        );
        if (word === "BEGIN") expect(await outcome).toBe("done");
        else expect(await outcome).toMatchObject({ code: "FAILED", mayHaveApplied: false });
        if (word === "SELECT") expect(await rows()).toEqual(before);
        await on.sql(
          "drop table t; create table t (id int primary key, a text); insert into t values (1, 'a')",
        );
      }
    });

    test.each(["hang", "mute"] as const)(
      "%s at COMMIT ends when the call's time is over",
      async (fault: Fault) => {
        const connector = throughProxy(700);
        proxy.inject(fault, "COMMIT");
        const { error, kept } = await lose(on, "update_row", forward[1][2], connector);
        expect(EffectUncertainError.is(error)).toBe(true);
        expect(error.message).toContain("no answer within 700 ms");
        expect(kept).toHaveLength(2);
        await works(connector);
      },
    );

    test("a server that is not there, or that does not answer, was sent nothing", async () => {
      const gone = on.connect({ url: "postgres://agent:not-the-password@127.0.0.1:1/postgres" });
      const refused = await failure(on.call("insert_row", forward[0][2], {}, gone));
      expect(refused).toMatchObject({ code: "FAILED", mayHaveApplied: false });
      expect(refused.message).toMatch(/cannot connect to Postgres: .*ECONNREFUSED.*nothing was sent/);
      const silent = throughProxy(400);
      proxy.inject("hang", "agent");
      const error = await failure(on.call("insert_row", forward[0][2], {}, silent));
      expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
      expect(error.message).toContain("no answer within 400 ms; nothing was sent");
    });
  });

  describe("landed", () => {
    const ask = (tool: string, args: object, checkpoint?: Checkpoint) => on.landed(tool, args, checkpoint);

    test.each(forward)(
      "%s: it tells the truth both ways, by the status of the transaction",
      async (...[tool, verb, args]) => {
        for (const [fault, word, happened] of [
          ["after", "COMMIT", true],
          ["before", "COMMIT", false],
          ["before", wordOf(verb), false],
          ["after", wordOf(verb), false],
        ] as const) {
          const before = await rows();
          proxy.inject(fault, word);
          const { error, checkpoint } = await lose(on, tool, args, throughProxy());
          expect(error.expectedResult).toEqual(checkpoint?.result);
          const answer = await ask(tool, args, checkpoint);
          expect(answer).toEqual(happened ? { landed: true, result: checkpoint?.result } : { landed: false });
          if (!happened) expect(await rows()).toEqual(before);
          else await on.undo(tool, args, checkpoint?.result ?? {});
          expect(await rows()).toEqual([{ id: 1, a: "a" }]);
        }
      },
    );

    test.each(forward)("%s: a transaction that is still open is waited for", async (tool, _verb, args) => {
      proxy.inject("mute", "COMMIT");
      // The server is to be slow over COMMIT, and done with it only after the first look.
      await on.sql(`create or replace function slow() returns trigger language plpgsql as $$begin perform pg_sleep(1); return null; end$$;
        create constraint trigger slow after insert or update on t deferrable initially deferred for each row execute function slow()`);
      const { error, checkpoint } = await lose(on, tool, args, throughProxy(500));
      expect(EffectUncertainError.is(error)).toBe(true);
      expect(
        await on.sql("select pg_xact_status($1::xid8) as now", [
          checkpoint?.evidence?.["transaction_id" as never],
        ]),
      ).toEqual([{ now: "in progress" }]);
      expect(await ask(tool, args, checkpoint)).toEqual({ landed: true, result: checkpoint?.result });
      expect((await rows()).some(({ a }) => a === "x")).toBe(true);
    });

    test.each(forward)(
      "%s: on another cluster, or of an unknown transaction, the row decides",
      async (tool, _verb, args) => {
        const kept: Checkpoint[] = [];
        await on.call(tool, args, { checkpoint: async (one) => void kept.push(one) });
        const checkpoint = kept.at(-1) as Checkpoint;
        for (const evidence of [
          { transaction_id: "1", system_identifier: "1" },
          {
            transaction_id: "999999999999",
            system_identifier: (checkpoint.evidence as { system_identifier: string }).system_identifier,
          },
          { transaction_id: "700", system_identifier: null },
          undefined,
        ]) {
          const other = { result: checkpoint.result, ...(evidence && { evidence }) };
          expect(await ask(tool, args, other)).toEqual({ landed: true, result: checkpoint.result });
          await on.sql("update t set a = 'theirs' where a = 'x'");
          expect(await ask(tool, args, other)).toBe("unknown");
          await on.sql("update t set a = 'x' where a = 'theirs'");
        }
        await on.undo(tool, args, checkpoint.result);
        const foreign = {
          result: checkpoint.result,
          evidence: { transaction_id: "1", system_identifier: "1" },
        };
        expect(await ask(tool, args, foreign)).toEqual({ landed: false });
      },
    );

    test.each(forward)(
      "%s: without what was kept, or with half of it, nothing is claimed",
      async (tool, _verb, args) => {
        const { schema, table, key_column } = { schema: "public", table: "t", key_column: "id" };
        expect(await ask(tool, args)).toBe("unknown");
        expect(await ask(tool, args, { result: {} })).toBe("unknown");
        expect(await ask(tool, args, { result: { schema, table, key_column } })).toBe("unknown");
      },
    );

    test("holds and landed change nothing and stay in read-only transactions", async () => {
      const result = {
        schema: "public",
        table: "t",
        key_column: "id",
        key: "1",
        previous: { a: "b" },
        current: { a: "a" },
      };
      const sent = await on.statements(async () => {
        for (const [tool, , args] of undoes) await on.connector.holds[`postgres.${tool}`]?.(args);
        for (const [tool, , args] of forward) await ask(tool, args, { result });
      });
      expect(sent.filter(({ sql }) => sql.startsWith("BEGIN")).length).toBeGreaterThanOrEqual(4);
      for (const { sql } of sent) expect(sql).toMatch(/^(BEGIN READ ONLY|SELECT|ROLLBACK)/);
      for (const { sql } of sent) expect(sql).not.toContain("FOR UPDATE");
    });
  });

  describe("checkpoints", () => {
    test.each(forward)(
      "%s: the transaction before the first write, the whole result before COMMIT",
      async (tool, verb, args) => {
        const seen: { readonly sent: readonly string[]; readonly fields: readonly string[] }[] = [];
        const from = (await on.logged()).length;
        await on.call(tool, args, {
          checkpoint: async ({ result, evidence }) => {
            expect(evidence).toEqual({
              transaction_id: expect.stringMatching(/^\d+$/),
              system_identifier: expect.stringMatching(/^\d+$/),
            });
            const log = (await on.logged()).slice(from);
            seen.push({
              sent: [wordOf(verb), "COMMIT"].filter((word) => log.includes(word)),
              fields: Object.keys(result),
            });
          },
        });
        const previous = tool === "update_row" ? ["key", "previous"] : [];
        const rest = tool === "update_row" ? [] : ["key"];
        expect(seen).toEqual([
          { sent: [], fields: ["schema", "table", "key_column", ...previous] },
          {
            sent: [wordOf(verb)],
            fields: ["schema", "table", "key_column", ...previous, ...rest, "current"],
          },
        ]);
      },
    );

    test.each(forward)(
      "%s: one that is refused, the first or the second, ends the call with nothing written",
      async (tool, _verb, args) => {
        for (const refused of [1, 2]) {
          const before = await rows();
          let count = 0;
          const checkpoint = async () => {
            if (++count === refused) throw new Error("disk full");
          };
          const error = await failure(on.call(tool, args, { checkpoint }));
          expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
          expect(error.message).toContain("disk full");
          expect(await rows()).toEqual(before);
        }
        await works();
      },
    );

    test("one that takes longer than the call has, likewise", async () => {
      const connector = on.connect({ timeoutMs: 300 });
      const checkpoint = () => new Promise<never>(() => {});
      const error = await failure(on.call("insert_row", forward[0][2], { checkpoint }, connector));
      expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
      expect(await rows()).toHaveLength(1);
      await on.until(`not exists (select ${ours} and state like 'idle in transaction%')`);
    });
  });

  describe("time", () => {
    const runs = `exists (select ${ours} and state = 'active' and wait_event = 'PgSleep')`;

    test("a query gets the call's time and no more: the server itself ends it", async () => {
      const connector = on.connect({ timeoutMs: 600 });
      const error = await failure(on.call("query", { sql: "select pg_sleep(30)" }, {}, connector));
      expect(error).toMatchObject({ code: "FAILED", reason: "57014" });
      await on.until(`not ${runs}`);
      await works(connector);
    });

    test("a row that somebody else holds locked is a definite failure, and nothing was written", async () => {
      const connector = on.connect({ timeoutMs: 600 });
      const weWait = `exists (select ${ours} and wait_event_type = 'Lock')`;
      const holding = on.sql(
        `begin; update t set a = 'theirs' where id = 1; ${untilSql(weWait)}; ${untilSql(`not ${weWait}`)}; commit`,
      );
      await on.until(
        "exists (select from pg_stat_activity where state = 'active' and query like 'begin; update t %')",
      );
      const error = await failure(on.call("update_row", forward[1][2], {}, connector));
      expect(error).toMatchObject({ code: "FAILED", reason: "57014", mayHaveApplied: false });
      await holding;
      expect(await rows()).toEqual([{ id: 1, a: "theirs" }]);
    });

    test("a cancelled query stops on the server too", async () => {
      const controller = new AbortController();
      const calling = failure(
        on.call("query", { sql: "select pg_sleep(30)" }, { signal: controller.signal }),
      );
      await on.until(runs);
      controller.abort();
      expect(await calling).toMatchObject({ code: "FAILED", message: expect.stringContaining("cancelled") });
      await on.until(`not ${runs}`);
      await works();
    });

    test("a write that is cancelled after it was sent is unknown, and landed finds that it did not happen", async () => {
      await on.sql(`create or replace function slow() returns trigger language plpgsql as $$begin perform pg_sleep(30); return new; end$$;
        create trigger slow before update on t for each row execute function slow()`);
      const controller = new AbortController();
      const kept: Checkpoint[] = [];
      const calling = failure(
        on.call("update_row", forward[1][2], {
          signal: controller.signal,
          checkpoint: async (one) => void kept.push(one),
        }),
      );
      await on.until(runs);
      controller.abort();
      expect(EffectUncertainError.is(await calling)).toBe(true);
      expect(await on.landed("update_row", forward[1][2], kept.at(-1))).toEqual({ landed: false });
      expect(await rows()).toEqual([{ id: 1, a: "a" }]);
    });
  });

  describe("connections", () => {
    const endOurs = `select pg_terminate_backend(pid) ${ours}`;

    test("PG-17: a connection that the server ended while it was idle is replaced", async () => {
      for (const signalled of [true, false]) {
        await works();
        await on.sql(endOurs);
        // Known already, or found out by the next call itself.
        if (signalled) await on.until(`not exists (select ${ours})`);
        await works();
      }
    });

    test("one that the server ends while a write is under way is an unknown outcome", async () => {
      for (const at of [1, 2]) {
        let count = 0;
        const checkpoint = async () => {
          if (++count === at) await on.sql(endOurs);
        };
        const error = await failure(on.call("insert_row", forward[0][2], { checkpoint }));
        expect(error).toMatchObject({ code: "EFFECT_UNCERTAIN" });
        expect(await rows()).toHaveLength(1);
      }
    });

    test("a server that was started again is used like before", async () => {
      await works();
      await on.backend.restart();
      await works();
    });

    test("a restart while a write is under way is an unknown outcome, and landed finds that it did not happen", async () => {
      for (const [tool, , args] of forward) {
        const kept: Checkpoint[] = [];
        const checkpoint = async (next: Checkpoint) => {
          kept.push(next);
          await on.backend.restart();
        };
        const error = await failure(on.call(tool, args, { checkpoint }));
        expect(error).toMatchObject({ code: "EFFECT_UNCERTAIN" });
        expect(await rows()).toEqual([{ id: 1, a: "a" }]);
        expect(await on.landed(tool, args, kept.at(-1))).toEqual({ landed: false });
      }
    });

    test("a COMMIT whose answer was lost is found by its transaction's status after a restart, too", async () => {
      const connector = throughProxy();
      proxy.inject("after", "COMMIT");
      const { error, checkpoint } = await lose(on, "update_row", forward[1][2], connector);
      expect(EffectUncertainError.is(error)).toBe(true);
      await on.backend.restart();
      expect(await on.landed("update_row", forward[1][2], checkpoint)).toMatchObject({ landed: true });
    });

    test("16 in flight all succeed, on no more than eight connections", async () => {
      const connector = on.connect();
      await on.sql(endOurs);
      const calls = Array.from({ length: 64 }, (_item, index) => index);
      const worker = async () => {
        for (let index = calls.pop(); index !== undefined; index = calls.pop()) {
          const id = index + 1000;
          const args = { table: "t", values: { id, a: `${id}` } };
          const made = await on.call("insert_row", args, {}, connector);
          const update = { table: "t", key: id, values: { a: "x" } };
          const changed = await on.call("update_row", update, {}, connector);
          const { tool, args: undo } = on.undoOf("update_row", update, changed);
          await on.call(tool, undo, {}, connector);
          await on.call("query", { sql: "select a from t where id = $1", values: [id] }, {}, connector);
          const { tool: remove, args: gone } = on.undoOf("insert_row", args, made);
          await on.call(remove, gone, {}, connector);
        }
      };
      await Promise.all(Array.from({ length: 16 }, worker));
      expect(await rows()).toEqual([{ id: 1, a: "a" }]);
      const [used] = await on.sql(`select count(*)::int as n ${ours}`);
      expect(used?.["n"]).toBeGreaterThan(1);
      expect(used?.["n"]).toBeLessThanOrEqual(8);
      await connector.close();
    });

    test("16 that change one row wait for each other, and none is lost", async () => {
      const update = (value: number) =>
        on.call("update_row", { table: "t", key: 1, values: { a: `${value}` } });
      const done = await Promise.all(Array.from({ length: 16 }, (_item, index) => update(index)));
      const previous = done.map((one) => (one as { previous: { a: string } }).previous.a);
      expect(new Set(previous).size).toBe(16);
    });

    test("a call that waits for a connection is told when its time is over", async () => {
      const connector = on.connect({ timeoutMs: 1_500 });
      const controller = new AbortController();
      const busy = Array.from({ length: 8 }, () =>
        failure(on.call("query", { sql: "select pg_sleep(30)" }, { signal: controller.signal }, connector)),
      );
      const waiting = await failure(
        on.call("insert_row", forward[0][2], { signal: AbortSignal.timeout(300) }, connector),
      );
      expect(waiting).toMatchObject({ code: "FAILED", mayHaveApplied: false });
      expect(waiting.message).toContain("nothing was sent");
      controller.abort();
      await Promise.all(busy);
      await works(connector);
    });

    test("close ends everything at once: idle, running and waiting", async () => {
      const connector = on.connect();
      const running = Array.from({ length: 10 }, () =>
        failure(on.call("query", { sql: "select pg_sleep(30)" }, {}, connector)),
      );
      await on.until(`(select count(*) ${ours} and wait_event = 'PgSleep') >= 8`);
      const from = performance.now();
      await connector.close();
      for (const error of await Promise.all(running)) expect(error).toMatchObject({ code: "FAILED" });
      expect(performance.now() - from).toBeLessThan(1_000);
      expect((await failure(on.call("query", { sql: "select 1" }, {}, connector))).message).toContain(
        "the connector is closed",
      );
      await connector.close();
    });
  });
});
