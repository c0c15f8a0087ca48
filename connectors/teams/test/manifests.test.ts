import { readFileSync } from "node:fs";
import { connectorSchemaHashes } from "@reversi-connector/core";
import { definition, teams } from "@reversi-connector/teams";

const baseline = JSON.parse(readFileSync(new URL("../schema-hashes.json", import.meta.url), "utf8"));

test("the input schemas are those that were published", () => {
  expect(connectorSchemaHashes(definition)).toEqual(baseline);
});

test("a lost post is reported, for Graph leaves no evidence; a deletion is looked up", async () => {
  const connector = teams({ token: "not-a-real-token" });
  expect(Object.keys(connector.landed)).toEqual([]);
  expect(Object.keys(connector.holds)).toEqual(["teams.delete_message"]);
  await connector.close();
});

test("a base address that holds user info or no scheme is refused without being repeated", () => {
  for (const baseUrl of ["https://me:secret-word@host", "graph.microsoft.com/v1.0", "ftp://host"]) {
    expect(() => teams({ token: "not-a-real-token", baseUrl })).toThrow(/baseUrl/);
    expect(() => teams({ token: "not-a-real-token", baseUrl })).not.toThrow(/secret-word/);
  }
});
