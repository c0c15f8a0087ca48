import { type Connection, InvalidArgumentsError, toolsFor } from "@reversi-connector/core";
import { openPool } from "./pool.ts";
import { type Reading, reading, type Writing, writing } from "./session.ts";

export interface PostgresOptions {
  /** Connection string: `postgres://user:password@host:port/database`, with libpq's parameters after `?`. */
  readonly url: string;
}

export interface PostgresReader {
  /** Runs `work` in a transaction that is read-only and always rolled back. */
  reading<T>(work: (tx: Reading) => Promise<T>): Promise<T>;
}
export interface PostgresClient extends PostgresReader {
  /** Runs `work` in a transaction that is committed when it wrote something, and else rolled back. */
  writing<T>(work: (tx: Writing) => Promise<T>): Promise<T>;
}

/** Every tool of this package is declared through this. */
export const tool = toolsFor<PostgresClient, PostgresReader>("postgres");

/** An address without a host is allowed: a socket's folder stands in `?host=`. */
const parsed = (url: string) => new URL(url.replace("@/", "@localhost/"));

const orAsItIs = (text: string) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** The password of a connection string, as it stands there and as it is sent. */
export function secretsIn({ url }: PostgresOptions): string[] {
  const raw = /^[a-z]+:\/\/[^:@/?#]*:([^@]*)@/i.exec(url)?.[1] ?? "";
  const parameter = URL.canParse(url) ? (parsed(url).searchParams.get("password") ?? "") : "";
  const found = [raw, orAsItIs(raw), parameter, process.env["PGPASSWORD"] ?? ""];
  return [...new Set(found)].filter((secret) => secret !== "");
}

/** @throws InvalidArgumentsError which repeats nothing of it */
function checkUrl(url: string): void {
  const fits =
    URL.canParse(url.replace("@/", "@localhost/")) && /^postgres(ql)?:$/.test(parsed(url).protocol);
  if (fits) return;
  throw new InvalidArgumentsError(
    "postgres: url (POSTGRES_URL) must be postgres://user:password@host:port/database; in user and password write @ : / # ? % as %40 %3A %2F %23 %3F %25",
  );
}

export function connect({ url }: PostgresOptions): Connection<PostgresClient, PostgresReader> {
  checkUrl(url);
  const pool = openPool({
    connectionString: url,
    fallback_application_name: "reversi-connectors",
    keepAlive: true,
  });
  return {
    reader: (scope) => ({ reading: (work) => reading(pool, scope, work) }),
    client: (scope) => ({
      reading: (work) => reading(pool, scope, work),
      writing: (work) => writing(pool, scope, work),
    }),
    close: async () => pool.close(),
  };
}
