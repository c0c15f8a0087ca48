import { readdirSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { postgres } from "@reversi-connector/postgres";
import { attach, type PostgresSandbox, sandbox, startServer } from "@reversi-connector/postgres/sandbox";
import { failure } from "./bench.ts";

const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith("reversi-postgres-"));
const answers = (address: string) =>
  new Promise<boolean>((resolve) => {
    const { port, hostname } = new URL(address);
    const socket = connect(Number(port), hostname, () => resolve(true));
    socket.on("connect", () => socket.destroy()).on("error", () => resolve(false));
  });

describe("the sandbox", () => {
  let backend: PostgresSandbox;
  beforeAll(async () => {
    backend = await sandbox();
  }, 60_000);
  afterAll(() => backend.close());

  test("can be tried and undone by somebody who attaches to its address", async () => {
    const connector = postgres(attach(backend.address));
    const before = (await backend.state()) as { tables: Record<string, unknown[]> };
    const args = { table: "orders", values: { customer_id: 2, item: "Compiler", amount: 1 } };
    const made = (await connector.tools["postgres.insert_row"]?.(args)) as { key: string; current: object };
    expect(await backend.state()).not.toEqual(before);
    const undo = { table: "orders", key: made.key, expected: made.current };
    expect(await connector.tools["postgres.delete_row"]?.(undo)).toMatchObject({ row_count: 1 });
    const after = (await backend.state()) as typeof before;
    expect(after.tables["orders"]).toEqual(before.tables["orders"]);
    expect(after.tables["customers"]).toEqual(before.tables["customers"]);
    // The declared residue: a sequence that has moved on, and what triggers did.
    expect(after.tables["changes"]).toHaveLength(2);
    expect(after).not.toEqual(before);
    await connector.close();
  });

  test("checks the password, and gives its role rows only", async () => {
    const wrong = postgres(attach(backend.address.replace(/:[^:@]*@/, ":not-the-password@")));
    const calling = wrong.tools["postgres.query"]?.({ sql: "select 1" }) as Promise<unknown>;
    expect(await failure(calling)).toMatchObject({ code: "FAILED", reason: "28P01" });
    await wrong.close();
    const connector = postgres(backend.options);
    const into = connector.tools["postgres.insert_row"]?.({
      table: "changes",
      key_column: "what",
      values: { what: "x" },
    });
    expect(await failure(into as Promise<unknown>)).toMatchObject({ reason: "42501" });
    await connector.close();
  });
});

test("closing it ends the server and removes its folder", async () => {
  const before = folders();
  const backend = await sandbox();
  expect(await answers(backend.address)).toBe(true);
  expect(folders()).toHaveLength(before.length + 1);
  await backend.close();
  expect(await answers(backend.address)).toBe(false);
  expect(folders()).toEqual(before);
}, 60_000);

test("server programs that do not start are an error with what they said, and leave nothing behind", async () => {
  const before = folders();
  expect(await failure(startServer({ bin: "/nowhere" }))).toMatchObject({
    message: expect.stringContaining("/nowhere/initdb"),
  });
  expect(folders()).toEqual(before);
});
