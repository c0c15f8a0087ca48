import { postgres } from "@reversi-connector/postgres";

test("the server holds the guard of every write, and a lost answer of it is looked up", async () => {
  const connector = postgres({ url: "postgres://agent:not-a-password@localhost/db" });
  for (const { tool, effect, guarantees } of connector.manifests) {
    if (effect === "read_only") continue;
    expect(guarantees).toMatchObject({ guard: "content", guard_server_side: true });
    expect(Object.hasOwn(connector.landed, tool)).toBe(effect === "reversible");
  }
  await connector.close();
});
