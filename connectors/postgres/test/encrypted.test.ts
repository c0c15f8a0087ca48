import { execFileSync } from "node:child_process";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lesserUser } from "../src/server.ts";
import { type Bench, bench, failure, ours } from "./bench.ts";

let on: Bench;
const folder = mkdtempSync(join(tmpdir(), "reversi-certificate-"));
const certificate = (name: string, key: string) =>
  execFileSync(
    "openssl",
    `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 -keyout ${join(folder, key)} -out ${join(folder, name)}`.split(
      " ",
    ),
    { stdio: "ignore" },
  );
beforeAll(async () => {
  certificate("server.pem", "server.key");
  certificate("other.pem", "other.key");
  const { uid, gid } = lesserUser();
  for (const path of uid === undefined ? [] : [folder, join(folder, "server.key")]) {
    chownSync(path, uid ?? 0, gid ?? 0);
  }
  on = await bench(undefined, {
    ssl: "on",
    ssl_cert_file: join(folder, "server.pem"),
    ssl_key_file: join(folder, "server.key"),
  });
}, 60_000);
afterAll(async () => {
  await on.close();
  rmSync(folder, { recursive: true });
});

const through = (parameters: string) => on.connect({ url: `${on.backend.address}?${parameters}` });
const trusting = () => through(`sslmode=verify-full&sslrootcert=${join(folder, "server.pem")}`);

test("a certificate that is trusted makes an encrypted connection, on which rows are changed and restored", async () => {
  const connector = trusting();
  const args = { table: "customers", key: 1, values: { name: "x".repeat(100_000) } };
  const done = await on.call("update_row", args, {}, connector);
  const undo = on.undoOf("update_row", args, done);
  expect(await on.call(undo.tool, undo.args, {}, connector)).toMatchObject({ already: false });
  expect(
    await on.sql(
      `select bool_and(ssl) as encrypted from pg_stat_ssl join pg_stat_activity using (pid) where pid in (select pid ${ours})`,
    ),
  ).toEqual([{ encrypted: true }]);
});

test.each(["sslmode=verify-full", `sslmode=verify-full&sslrootcert=${join(folder, "other.pem")}`])(
  "%s: a certificate that is not trusted ends it before anything is sent",
  async (parameters) => {
    const args = { table: "customers", values: { name: "x" } };
    const error = await failure(on.call("insert_row", args, {}, through(parameters)));
    expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
    expect(error.message).toMatch(/certificate.*nothing was sent/);
  },
);

test("a cancelled query stops on the server, and a huge answer ends with its connection, as without encryption", async () => {
  const connector = trusting();
  const controller = new AbortController();
  const { signal } = controller;
  const calling = failure(on.call("query", { sql: "select pg_sleep(30)" }, { signal }, connector));
  const runs = `exists (select ${ours} and wait_event = 'PgSleep')`;
  await on.until(runs);
  controller.abort();
  await calling;
  await on.until(`not ${runs}`);
  const sql = "select repeat('x', 1000000) from generate_series(1, 100)";
  expect((await failure(on.call("query", { sql }, {}, connector))).message).toContain("33554432 bytes");
  await connector.close();
});
