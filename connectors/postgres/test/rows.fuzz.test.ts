import fc from "fast-check";
import { always } from "../../../test/fuzz.ts";
import { type Bench, bench, failure } from "./bench.ts";

/** Every kind of column that a row tool takes, and texts of values that the server reads for it. */
const number = fc.oneof(fc.integer(), fc.constantFrom(0, -1, 2 ** 31 - 1, -(2 ** 31)));
const hostile = [
  "'",
  "''",
  '"',
  '""',
  "\\",
  "\\'",
  ";",
  "--",
  "/*",
  "$1",
  "$$",
  "%s",
  "E'",
  "\n",
  "NULL",
  "null",
  "{}",
  "é",
  "😀",
  "\u202e",
  "'); DROP TABLE things; --",
];
const text = fc
  .string({
    unit: fc.oneof(fc.string({ unit: "binary", minLength: 1, maxLength: 1 }), fc.constantFrom(...hostile)),
    maxLength: 12,
  })
  .filter((value) => value.isWellFormed() && !value.includes("\u0000"));
/** A text in a JSON column is JSON text. */
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => {
  const inside = (inner: unknown): unknown =>
    typeof inner === "string" ? inner.toWellFormed().replaceAll("\u0000", "") : inner;
  const clean: unknown = JSON.parse(JSON.stringify(value, (_, inner) => inside(inner)));
  const named = JSON.stringify(clean).toWellFormed();
  return /\\u(?:0000|d[89a-f])/i.test(named) ? {} : typeof clean === "string" ? JSON.stringify(clean) : clean;
});
const two = (value: number) => String(value).padStart(2, "0");
const stamp = fc
  .tuple(
    fc.integer({ min: 1, max: 9999 }),
    fc.integer({ min: 1, max: 12 }),
    fc.integer({ min: 1, max: 28 }),
    fc.nat({ max: 23 }),
    fc.nat({ max: 59 }),
    fc.nat({ max: 999_999 }),
  )
  .map(
    ([year, month, day, hour, minute, micro]) =>
      `${String(year).padStart(4, "0")}-${two(month)}-${two(day)} ${two(hour)}:${two(minute)}:00.${String(micro).padStart(6, "0")}`,
  );
const columns = {
  t: text,
  v: text.map((value) => [...value].slice(0, 6).join("")),
  i: number,
  l: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
  n: fc
    .tuple(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), fc.nat({ max: 999_999 }))
    .map(([a, b]) => `${a}.${b}`),
  f: fc.double({ noDefaultInfinity: true, noNaN: true }).map((value) => (Object.is(value, -0) ? 0 : value)),
  b: fc.boolean(),
  j: json,
  jb: json,
  a: fc
    .array(text, { maxLength: 3 })
    .map((items) => `{${items.map((item) => `"${item.replace(/[\\"]/g, "\\$&")}"`).join(",")}}`),
  ts: stamp,
  tz: stamp.map((value) => `${value}+02`),
  iv: fc
    .tuple(fc.integer({ min: -99, max: 99 }), fc.integer({ min: -99, max: 99 }))
    .map(([months, days]) => `${months} mon ${days} days 00:00:01.5`),
  u: fc.uuid(),
} as const;
/** JSON null in a JSON column is SQL NULL for these tools. */
const row = fc.record(
  Object.fromEntries(
    Object.entries(columns).map(([name, values]) => [
      name,
      fc.option(values as fc.Arbitrary<unknown>, { freq: 6 }),
    ]),
  ),
  { requiredKeys: [], noNullPrototype: true },
);

let on: Bench;
beforeAll(async () => {
  on = await bench();
  await on.sql(`CREATE TABLE things (id text PRIMARY KEY, t text, v varchar(6), i int, l bigint, n numeric, f float8, b boolean,
    j json, jb jsonb, a text[], ts timestamp, tz timestamptz, iv interval, u uuid);
    CREATE TABLE log (at timestamptz DEFAULT now());`);
}, 60_000);
afterAll(() => on.close());

const state = () => on.sql('SELECT t.*::text FROM things t ORDER BY id COLLATE "C"');
const key = text;

always(
  "whatever its values, a row is inserted as data, changed, and undone step by step to the same states",
  30,
  fc.asyncProperty(key, row, row, async (id, first, second) => {
    await on.sql("DELETE FROM things");
    const empty = await state();
    const insertion = { table: "things", key_column: "id", values: { id, ...first } };
    const inserted = await on.call<{ readonly key: string; readonly current: Record<string, unknown> }>(
      "insert_row",
      insertion,
    );
    expect(inserted.key).toBe(id);
    for (const name of ["t", "u", "l"] as const)
      if (name in first) expect(inserted.current[name]).toBe(first[name]);
    const one = await state();
    expect(one).toHaveLength(1);
    if (Object.keys(second).length > 0) {
      const change = { table: "things", key_column: "id", key: id, values: second };
      const updated = await on.call<object>("update_row", change);
      await on.undo("update_row", change, updated);
      expect(await on.undone("update_row", change, updated)).toBe(true);
      expect(await state()).toEqual(one);
    }
    await on.undo("insert_row", insertion, inserted);
    expect(await on.undone("insert_row", insertion, inserted)).toBe(true);
    expect(await state()).toEqual(empty);
  }),
);

always(
  "an undo writes nothing over a value that somebody changed since",
  20,
  fc.asyncProperty(key, text, text, text, async (id, before, ours, theirs) => {
    fc.pre(new Set([before, ours, theirs]).size === 3);
    await on.sql("DELETE FROM things");
    await on.sql("INSERT INTO things (id, t) VALUES ($1, $2)", [id, before]);
    const change = { table: "things", key: id, values: { t: ours } };
    const updated = await on.call<object>("update_row", change);
    await on.sql("UPDATE things SET t = $1", [theirs]);
    const after = await state();
    const undo = on.undoOf("update_row", change, updated);
    expect(await failure(on.call(undo.tool, undo.args))).toMatchObject({ code: "CONFLICT" });
    expect(await state()).toEqual(after);
  }),
);

const words = [
  "select",
  "table",
  "user",
  "Order",
  "UPDATE",
  "null",
  "public",
  "pg_catalog",
  "_",
  "A",
  "aA",
  "values",
  "oid",
  "ctid",
];
const identifier = fc.oneof(
  fc.constantFrom(...words),
  fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,20}$/),
  fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{62}$/),
);
const system = new Set(["ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"]);
const column = identifier.filter((name) => !system.has(name));
const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

always(
  "a table and columns of any name that is taken are just these, whatever the case or the word",
  20,
  fc.asyncProperty(
    identifier.filter((name) => !["things", "log", "customers", "orders", "changes"].includes(name)),
    fc.uniqueArray(column, { minLength: 2, maxLength: 4 }),
    text,
    async (table, names, value) => {
      const [id = "", ...others] = names;
      await on.sql(
        `CREATE TABLE ${quoted(table)} (${names.map((name) => `${quoted(name)} text`).join(",")}, UNIQUE (${quoted(id)}))`,
      );
      try {
        await on.sql(`GRANT ALL ON ${quoted(table)} TO agent`);
        const all = () => on.sql(`SELECT * FROM ${quoted(table)}`);
        const values = Object.fromEntries([[id, value], ...others.map((name) => [name, `${value}${name}`])]);
        const insertion = { schema: "public", table, key_column: id, values };
        const inserted = await on.call<object>("insert_row", insertion);
        expect(await all()).toEqual([values]);
        const change = {
          schema: "public",
          table,
          key_column: id,
          key: value,
          values: { [others[0] as string]: "'; --" },
        };
        const updated = await on.call<object>("update_row", change);
        expect(await all()).toEqual([{ ...values, [others[0] as string]: "'; --" }]);
        await on.undo("update_row", change, updated);
        expect(await all()).toEqual([values]);
        await on.undo("insert_row", insertion, inserted);
        expect(await all()).toEqual([]);
      } finally {
        await on.sql(`DROP TABLE ${quoted(table)}`);
      }
    },
  ),
);

const anyName = fc
  .oneof(
    fc.string({
      unit: fc.constantFrom(...hostile, "a", "things", " ", ".", "t"),
      minLength: 1,
      maxLength: 6,
    }),
    fc.string({ unit: "binary", minLength: 1, maxLength: 80 }),
    fc.stringMatching(/^[a-z]{64,70}$/),
  )
  .filter((name) => !/^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(name));
always(
  "a name that needs more than letters, digits and _ is refused, by its argument, before anything is sent",
  40,
  fc.asyncProperty(
    anyName,
    fc.constantFrom("table", "schema", "key_column", "values"),
    async (name, where) => {
      const good = { table: "things", schema: "public", key_column: "id", key: "1", values: { t: "x" } };
      const args = { ...good, [where]: where === "values" ? { [name]: "x" } : name };
      const sent = await on.statements(async () => {
        const error = await failure(on.call("update_row", args));
        expect(error).toMatchObject({
          code: "INVALID_ARGUMENTS",
          problems: [{ at: expect.stringContaining(where) }],
        });
      });
      expect(sent).toEqual([]);
    },
  ),
);
