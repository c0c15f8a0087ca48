import { readFileSync } from "node:fs";
import type { Plan, Subject } from "@reversi-connector/certification-kit";
import { type Database, database, password, role } from "./certification/databases.ts";
import { type PostgresWire, postgresWire } from "./certification/wire.ts";
import { postgres } from "./index.ts";

/** A database, and the way to it on which everything can go wrong. */
interface Shop {
  readonly address: string;
  readonly database: Database;
  readonly wire: PostgresWire;
  state(): Promise<unknown>;
  close(): Promise<void>;
}

async function backend(): Promise<Shop> {
  const own = await database();
  const wire = await postgresWire(own.server, password);
  return {
    address: `127.0.0.1:${wire.port}/${own.name}`,
    database: own,
    wire,
    state: own.state,
    async close() {
      await wire.close();
      await own.giveBack();
    },
  };
}

/** Somebody else's statement; false when a lock keeps it off. */
async function edit({ database: { owner } }: Shop, sql: string, key: unknown): Promise<boolean> {
  try {
    await owner.query(sql, [key]);
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === "55P03") return false;
    throw error;
  }
}

/** What the README lists, column by column, for the calls below. */
const listed = `
GRANT SELECT, DELETE ON customers, orders TO ${role};
GRANT INSERT (name, email, tags, balance), UPDATE (name, balance) ON customers TO ${role};
GRANT INSERT (customer_id, item, amount), UPDATE (item, amount) ON orders TO ${role};`;

const ada = { table: "customers", key: 1 };

type Calls = Readonly<Record<string, Plan<Shop> | readonly Plan<Shop>[]>>;

/** Good calls in the shop: Ada, customer 1, has the orders 1 and 2; Grace, customer 2, has none. */
const calls: Calls = {
  "postgres.query": {
    args: { sql: "SELECT id, name, balance FROM customers WHERE name = $1", values: ["Ada"] },
    refused: { sql: "SELECT nothing FROM customers" },
  },
  "postgres.insert_row": [
    {
      title: "a customer",
      args: { table: "customers", values: { name: "Edsger", email: "edsger@example.com" } },
      refused: { table: "customers", values: { name: "Nobody", balance: "much" } },
      edit: (shop, { result }) =>
        edit(shop, "UPDATE customers SET name = 'Edited by a person' WHERE id = $1", result.key),
    },
    {
      title: "a customer with an array and a number",
      args: { table: "customers", values: { name: "Barbara", tags: "{new}", balance: 0.1 } },
    },
    {
      title: "an order, in a schema",
      args: { schema: "public", table: "orders", values: { customer_id: 2, item: "Compiler", amount: 1 } },
    },
  ],
  "postgres.delete_row": {
    args: { table: "orders", key: 1 },
    refused: { table: "changes", key_column: "what", key: "nothing" },
  },
  "postgres.update_row": [
    {
      title: "two columns",
      args: { ...ada, values: { name: "Ada Lovelace", balance: "20.00" } },
      refused: { ...ada, values: { email: "grace@example.com" } },
      edit: (shop) => edit(shop, "UPDATE customers SET name = 'Edited by a person' WHERE id = $1", 1),
      after: {
        "postgres.update_row": ({ args }) => ({ ...args, values: { name: "Countess of Lovelace" } }),
      },
    },
    { title: "one of the columns again", args: { ...ada, values: { name: "Countess of Lovelace" } } },
    {
      title: "a row found by another column",
      args: { table: "customers", key_column: "email", key: "grace@example.com", values: { balance: 7 } },
    },
  ],
  "postgres.restore_row": {
    async args({ call }) {
      const { key, key_column, previous, current } = await call("postgres.update_row", {
        ...ada,
        values: { name: "Ada Lovelace", balance: "20.00" },
      });
      return { table: "customers", key, key_column, previous, expected: current };
    },
    refused: { table: "customers", key: 77, previous: { name: "Nobody" } },
  },
};

type Row = Readonly<Record<string, unknown>>;
interface State {
  readonly tables: Readonly<Record<"customers" | "orders" | "changes", readonly Row[]>>;
  readonly sequences: unknown;
}

const schemaHashes: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL("../schema-hashes.json", import.meta.url), "utf8"),
);

/** What the certification needs to know about this connector. */
export const subject = {
  connector: ({ address, credential, timeoutMs }) =>
    postgres({
      url: `postgres://${role}:${encodeURIComponent(credential)}@${address}`,
      // The longest that it asks after a session which only the end of the case ends.
      timeoutMs: Math.min(timeoutMs, 5_000),
    }),
  backend,
  wire: ({ wire }) => wire,
  credential: password,
  calls,
  schemaHashes,
  residue: {
    sequence: ({ sequences }: State, after: State) => ({ ...after, sequences }),
    triggers: (before: State, after: State) => ({
      ...after,
      tables: {
        ...after.tables,
        changes: before.tables.changes,
        customers: after.tables.customers.map((row) => {
          const was = before.tables.customers.find(({ id }) => id === row["id"]);
          return was ? { ...row, updated_at: was["updated_at"] } : row;
        }),
      },
    }),
  },
  permit({ database: own, wire }, access) {
    // What was let begin needs no right to go on: only the end of the session stops it.
    const hangUp = /^(COMMIT|FETCH)/.test(wire.requests.at(-1)?.line ?? "");
    return own.permit(access === "listed" ? listed : undefined, { hangUp });
  },
} satisfies Subject<Shop>;
