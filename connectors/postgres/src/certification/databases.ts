import type { Pool } from "pg";
import { embeddedBin, type Server, startServer } from "../server.ts";
import { grants, rows, stateOf, tables } from "../shop.ts";

/** The role that the connector is, in every database of the server. */
export const role = "agent";
export const password = "sandbox0NotASecret0OnlyForTheSandbox0";

/** A database with the shop in it as on its first day, and nobody else's until it is given back. */
export interface Database {
  readonly name: string;
  readonly server: { readonly host: string; readonly port: number };
  /** Of its owner, who may do everything; it waits a moment for locks, and no longer. */
  readonly owner: Pool;
  state(): Promise<unknown>;
  /** Leaves the role nothing, or the given rights alone. Where asked, nobody is connected with others any more. */
  permit(rights: string | undefined, options: { readonly hangUp: boolean }): Promise<void>;
  giveBack(): Promise<void>;
}
interface Running {
  readonly server: Server;
  readonly admin: Pool;
  readonly free: { readonly name: string; readonly owner: Pool }[];
  readonly owners: Pool[];
}

/** The longest that the owner waits for a lock, and that a server is kept which nobody uses, in milliseconds. */
const [lockMs, idleMs] = [300, 300];

let running: Promise<Running> | undefined;
let used = 0;
let made = 0;
let stopping: NodeJS.Timeout | undefined;

async function poolOf(url: string): Promise<Pool> {
  const { default: pg } = await import("pg");
  const pool = new pg.Pool({ connectionString: url, options: `-c lock_timeout=${lockMs}` });
  return pool.on("error", () => {});
}

/** A case makes a few connections and asks each for little. */
const settings = { scram_iterations: "1", shared_buffers: "16MB", autovacuum: "off", jit: "off" };

async function start(): Promise<Running> {
  const server = await startServer({ bin: embeddedBin(), settings });
  const admin = await poolOf(server.url);
  await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD '${password}'`);
  return { server, admin, free: [], owners: [admin] };
}

/** The one that runs, or one that is started now. */
function theServer(): Promise<Running> {
  running ??= start().catch((error: unknown) => {
    running = undefined;
    throw error;
  });
  return running;
}

async function stop(): Promise<void> {
  const now = await running;
  running = undefined;
  await Promise.all(now?.owners.map((owner) => owner.end()) ?? []);
  await now?.server.stop();
}

const ours = `FROM pg_stat_activity WHERE datname = current_database() AND usename = '${role}'`;
/** pg_terminate_backend's own wait looks every tenth of a second only. */
const endSessions = `DO $$ BEGIN
  PERFORM pg_terminate_backend(pid) ${ours};
  WHILE EXISTS (SELECT ${ours}) LOOP PERFORM pg_sleep(0.002), pg_stat_clear_snapshot(); END LOOP;
END $$`;

type Place = Pick<Database, "name" | "owner">;

const revoke = ({ name, owner }: Place) =>
  owner.query(
    `REVOKE CONNECT ON DATABASE ${name} FROM PUBLIC; REVOKE ALL ON customers, orders, changes FROM ${role}`,
  );
const grant = ({ name, owner }: Place, rights: string) =>
  owner.query(`GRANT CONNECT ON DATABASE ${name} TO PUBLIC; ${rights}`);

async function make({ server, admin, owners }: Running) {
  const name = `shop_${++made}`;
  await admin.query(`CREATE DATABASE ${name}`);
  const url = new URL(server.url);
  url.pathname = name;
  const owner = await poolOf(url.href);
  owners.push(owner);
  await owner.query(`${tables} ${grants(role)}`);
  return { name, owner };
}

const empty = `DELETE FROM orders; DELETE FROM customers; DELETE FROM changes;
  SELECT setval('customers_id_seq', 1, false), setval('orders_id_seq', 1, false)`;

/** The moment of the first day: all that is later is told by that alone, as times differ between cases. */
async function firstDay({ owner }: Place): Promise<string> {
  await owner.query(endSessions);
  await owner.query(`${empty}; ${rows}`);
  const seeded = await owner.query<{ at: string }>("SELECT updated_at::text AS at FROM customers LIMIT 1");
  return seeded.rows[0]?.at ?? "";
}

const isTime = (value: unknown) => typeof value === "string" && /^\d{4}-\d\d-\d\d \d\d:\d\d/.test(value);

/**
 * A database of the one server that all cases of a certification share; started with the first, and stopped when
 * nobody has needed one for a moment.
 * @throws ConnectorError with the install command when the server's package is missing
 */
export async function database(): Promise<Database> {
  used++;
  clearTimeout(stopping);
  const release = () => {
    if (--used === 0) stopping = setTimeout(() => void stop(), idleMs);
  };
  try {
    const now = await theServer();
    const own = now.free.pop() ?? (await make(now));
    const firstAt = await firstDay(own);
    const { hostname: host, port } = new URL(now.server.url);
    let permitted = true;
    return {
      ...own,
      server: { host, port: Number(port) },
      state: async () =>
        JSON.parse(JSON.stringify(await stateOf(own.owner)), (_, value) =>
          isTime(value) ? (value === firstAt ? "the first day" : "later") : value,
        ),
      async permit(rights, { hangUp }) {
        permitted = false;
        await revoke(own);
        if (hangUp) await own.owner.query(endSessions);
        if (rights !== undefined) await grant(own, rights);
      },
      async giveBack() {
        if (!permitted) await grant(own, grants(role));
        now.free.push(own);
        release();
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}
