import type { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { ConnectorError } from "@reversi-connector/core";
import type pg from "pg";
import type { Client, ClientConfig } from "pg";
import { inWords, isAnswer, reasonOf } from "./failures.ts";

/** One connection to the server. */
export interface Connection {
  readonly client: Client;
  /** Of the cluster it leads to; null where the role may not see it. */
  readonly systemIdentifier: string | null;
  /** It was idle before: the server may have ended it without our knowing. */
  reused: boolean;
  /** Bytes of the answer to the statement that runs. */
  received: number;
  idleTimer?: NodeJS.Timeout;
}

/** Connections that calls share; each call has one for itself. */
export interface Pool {
  /** @throws ConnectorError: nothing was sent */
  acquire(signal: AbortSignal): Promise<Connection>;
  /** Whether a connection is still there. */
  has(connection: Connection): boolean;
  /** Takes a connection back that can be used again. */
  release(connection: Connection): void;
  /** Ends a connection; what the server runs for it is cancelled where asked. */
  discard(connection: Connection, options?: { readonly cancel: boolean }): void;
  close(): void;
}

const most = 8;
const idleMs = 30_000;
/** Bytes of one answer. What is larger would be held in memory before it could be cut. */
const largestAnswer = 32 * 1024 * 1024;

/** The socket, or what encrypts it. */
const streamOf = ({ connection }: Client) => connection.stream as Socket;

/** What pg's types leave out. */
interface Wire extends EventEmitter {
  readonly stream: Socket;
  connect(portOrPath: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processID: number, secretKey: number): void;
}
interface Peer {
  readonly connection: Wire;
  readonly ssl: unknown;
  readonly sslNegotiation: string;
  readonly processID: number | null;
  readonly secretKey: number | null;
}

/** Asks the server, on a connection of its own, to cancel what runs for a client. Nobody waits for it. */
function requestCancel({ Client }: typeof pg, config: ClientConfig, client: Client): void {
  const { processID, secretKey, ssl, sslNegotiation } = client as unknown as Peer;
  if (processID === null || secretKey === null) return;
  const { connection } = new Client(config) as unknown as Peer;
  const ask = () => {
    connection.cancel(processID, secretKey);
    connection.stream.end();
  };
  connection.on("connect", () => {
    if (!ssl) ask();
    else if (sslNegotiation !== "direct") connection.requestSsl();
  });
  connection.on("sslconnect", ask);
  connection.on("error", () => {});
  const { host, port } = client;
  if (host.startsWith("/")) connection.connect(`${host}/.s.PGSQL.${port}`);
  else connection.connect(port, host);
  connection.stream.unref();
  setTimeout(() => connection.stream.destroy(), 5_000).unref();
}

/** Which cluster this is: every one has an identifier of its own. Null where the role may not see it. */
async function clusterOf(client: Client): Promise<string | null> {
  try {
    const text = "SELECT system_identifier::text AS id FROM pg_catalog.pg_control_system()";
    return (await client.query<{ id: string }>(text)).rows[0]?.id ?? null;
  } catch (error) {
    if (!isAnswer(error)) throw error;
    return null;
  }
}

/** Rejects when `signal` aborts, and then ends what it stopped. */
export function unlessStopped<T>(working: Promise<T>, signal: AbortSignal, stop: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const stopped = () => {
      stop();
      reject(signal.reason);
    };
    signal.addEventListener("abort", stopped, { once: true });
    working.then(resolve, reject).finally(() => signal.removeEventListener("abort", stopped));
  });
}

export function openPool(config: ClientConfig): Pool {
  /** Every client that is not ended, those still connecting included. */
  const open = new Set<Client>();
  const idle: Connection[] = [];
  /** Calls that wait: each is handed a connection, or told with nothing to look again. */
  const waiting: ((connection?: Connection) => void)[] = [];
  let closed = false;
  let loaded: typeof pg | undefined;

  const end = (client: Client) => {
    if (!open.delete(client)) return;
    streamOf(client).destroy();
    waiting.shift()?.();
  };
  const endIdle = (connection: Connection) => {
    const index = idle.indexOf(connection);
    if (index === -1) return;
    idle.splice(index, 1);
    clearTimeout(connection.idleTimer);
    open.delete(connection.client);
    // A goodbye; the socket keeps no process alive that waits for the answer.
    void connection.client.end().catch(() => {});
  };

  async function connect({ Client }: typeof pg, signal: AbortSignal): Promise<Connection> {
    const client = new Client(config);
    // Counted at once: calls that come while it connects must not open more than there may be.
    open.add(client);
    // Without a listener the loss of an idle connection would end the process.
    client.on("error", () => {});
    try {
      const ready = client.connect().then(() => clusterOf(client));
      const systemIdentifier = await unlessStopped(ready, signal, () => end(client));
      const connection = { client, systemIdentifier, reused: false, received: 0 };
      streamOf(client).on("data", (chunk: Buffer) => {
        connection.received += chunk.length;
        if (connection.received <= largestAnswer) return;
        streamOf(client).destroy(new Error(`the answer has more than ${largestAnswer} bytes: ask for less`));
      });
      client.on("end", () => {
        endIdle(connection);
        end(client);
      });
      return connection;
    } catch (error) {
      end(client);
      throw error;
    }
  }

  const turn = (signal: AbortSignal) =>
    new Promise<Connection | undefined>((resolve) => {
      const go = (connection?: Connection) => {
        signal.removeEventListener("abort", leave);
        resolve(connection);
      };
      const leave = () => {
        waiting.splice(waiting.indexOf(go), 1);
        resolve(undefined);
      };
      signal.addEventListener("abort", leave, { once: true });
      waiting.push(go);
    });

  async function acquire(signal: AbortSignal): Promise<Connection> {
    loaded ??= (await import("pg")).default;
    for (;;) {
      if (closed) throw new ConnectorError("the connector is closed; nothing was sent");
      if (signal.aborted) throw new ConnectorError(`${inWords(signal.reason)}; nothing was sent`);
      const connection =
        idle.pop() ?? (open.size < most ? await tryConnect(loaded, signal) : await turn(signal));
      if (!connection) continue;
      clearTimeout(connection.idleTimer);
      streamOf(connection.client).ref();
      return connection;
    }
  }

  async function tryConnect(driver: typeof pg, signal: AbortSignal): Promise<Connection> {
    try {
      return await connect(driver, signal);
    } catch (error) {
      const message = `cannot connect to Postgres: ${inWords(error)}; nothing was sent`;
      throw new ConnectorError(message, { reason: reasonOf(error) });
    }
  }

  return {
    acquire,
    has: ({ client }) => open.has(client),
    release(connection) {
      const { client } = connection;
      if (!open.has(client)) return;
      connection.reused = true;
      const next = waiting.shift();
      if (next) return next(connection);
      streamOf(client).unref();
      connection.idleTimer = setTimeout(() => endIdle(connection), idleMs).unref();
      idle.push(connection);
    },
    discard({ client }, { cancel } = { cancel: false }) {
      if (cancel && loaded && open.has(client)) requestCancel(loaded, config, client);
      end(client);
    },
    close() {
      closed = true;
      for (const connection of [...idle]) endIdle(connection);
      for (const client of [...open]) end(client);
      for (const go of waiting.splice(0)) go();
    },
  };
}
