import { inspect } from "node:util";
import type { Connector, ConnectorError } from "@reversi-connector/core";
import { postgres } from "@reversi-connector/postgres";
import { type Bench, bench, failure } from "./bench.ts";

let on: Bench;
const password = "pa#ss w@rd/100%:ü";
const encoded = encodeURIComponent(password);
beforeAll(async () => {
  on = await bench();
  await on.sql(`create role secretive login password '${password}'`);
}, 60_000);
afterAll(() => on.close());

/** Everything that an error shows to anybody. */
const allOf = (error: unknown) => {
  const { message, stack, cause } = error as ConnectorError;
  return [
    message,
    stack,
    inspect(error, { depth: 9, showHidden: true }),
    JSON.stringify(error),
    inspect(cause),
  ].join("\n");
};
const thrown = (make: () => Connector): unknown => {
  try {
    void make().close();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
};
const host = () => new URL(on.backend.address).host;
const query = async (url: string) => {
  const connector = postgres({ url, timeoutMs: 5_000 });
  try {
    return await connector.tools["postgres.query"]?.({ sql: "select current_user as me" });
  } finally {
    await connector.close();
  }
};

describe("SE-03: the password of a connection string", () => {
  test("works percent-encoded, and as a parameter", async () => {
    for (const url of [
      `postgres://secretive:${encoded}@${host()}/postgres`,
      `postgresql://secretive@${host()}/postgres?password=${encoded}`,
    ]) {
      expect(await query(url)).toMatchObject({ rows: [{ me: "secretive" }] });
    }
  });

  test.each([
    ["a raw # in it", "postgres://u:pa#ssword-x@h/db"],
    ["a raw / in it", "postgres://u:pa/ssword-x@h/db"],
    ["a port that is none", "postgres://u:pa-ssword-x@127.0.0.1:54x/db"],
    ["another scheme", "mysql://u:pa-ssword-x@h/db"],
    ["no scheme", "u:pa-ssword-x@h/db"],
    ["a folder", "/var/run/pa-ssword-x"],
  ])("%s: refused when it is set, naming the setting and what to write", (_, url) => {
    const error = thrown(() => postgres({ url }));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENTS" });
    expect((error as Error).message).toContain("url (POSTGRES_URL) must be postgres://");
    expect(allOf(error)).not.toMatch(/ssword-x/);
  });

  test.each([
    ["a wrong password", () => `postgres://agent:${encoded}@${host()}/postgres`],
    ["a wrong password as a parameter", () => `postgres://agent@${host()}/postgres?password=${encoded}`],
    ["a wrong role", () => `postgres://nobody:${encoded}@${host()}/postgres`],
    ["a wrong database", () => `postgres://secretive:${encoded}@${host()}/nowhere`],
    ["a wrong port", () => `postgres://secretive:${encoded}@127.0.0.1:1/postgres`],
    ["a wrong host", () => `postgres://secretive:${encoded}@nowhere.invalid/postgres`],
    [
      "no encryption on the server",
      () => `postgres://secretive:${encoded}@${host()}/postgres?sslmode=verify-full`,
    ],
    [
      "a certificate that is not there",
      () => `postgres://secretive:${encoded}@${host()}/postgres?sslrootcert=/nowhere.pem`,
    ],
    ["a broken escape in it", () => `postgres://secretive:100%-${encoded}@${host()}/postgres`],
  ])("%s: an error that says what is wrong and shows no form of it", async (_, url) => {
    const error = await failure(query(url()));
    expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
    expect(error.message).toMatch(/cannot connect to Postgres: .{10}/);
    const shown = allOf(error);
    for (const form of [
      password,
      encoded,
      "pa#ss",
      "pa%23ss",
      "w@rd",
      "w%40rd",
      Buffer.from(password).toString("base64"),
    ]) {
      expect(shown).not.toContain(form);
    }
  });

  test("an error of the server that repeats it is redacted", async () => {
    const connector = postgres({ url: `postgres://secretive:${encoded}@${host()}/postgres` });
    await on.sql(`create table secretive_rows (id serial primary key, v text); grant all on secretive_rows to secretive;
      grant usage on sequence secretive_rows_id_seq to secretive;
      create function tell() returns trigger language plpgsql as $$begin raise exception 'no % and no %', '${password}', '${encoded.replaceAll("%", "%%")}'; end$$;
      create trigger tell before insert on secretive_rows for each row execute function tell()`);
    const calling = connector.tools["postgres.insert_row"]?.({ table: "secretive_rows", values: { v: "x" } });
    const error = await failure(calling as Promise<unknown>);
    expect(error).toMatchObject({ code: "FAILED", reason: "P0001" });
    expect(error.message).toContain("[redacted]");
    for (const form of [password, "pa#ss", "pa%23ss"]) expect(allOf(error)).not.toContain(form);
    await connector.close();
  });

  test("a value that holds it is refused before anything is sent", async () => {
    const connector = postgres({ url: `postgres://secretive:${encoded}@${host()}/postgres` });
    const calling = connector.tools["postgres.query"]?.({
      sql: "select $1::text",
      values: [`my ${password}`],
    });
    const error = await failure(calling as Promise<unknown>);
    expect(error).toMatchObject({ code: "INVALID_ARGUMENTS" });
    expect(allOf(error)).not.toContain("pa#ss");
    await connector.close();
  });

  test("an old value that holds it ends the call before the write: it could not be kept for the undo", async () => {
    const connector = postgres({ url: `postgres://secretive:${encoded}@${host()}/postgres` });
    await on.sql(`create table holder (id int primary key, v text); insert into holder values (1, 'my ${password}');
      grant all on holder to secretive`);
    const calling = connector.tools["postgres.update_row"]?.({ table: "holder", key: 1, values: { v: "x" } });
    expect(await failure(calling as Promise<unknown>)).toMatchObject({
      code: "FAILED",
      mayHaveApplied: false,
    });
    expect(await on.sql("select v from holder")).toEqual([{ v: `my ${password}` }]);
    await connector.close();
  });
});
