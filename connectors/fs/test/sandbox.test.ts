import { readFileSync } from "node:fs";
import { connectorSchemaHashes } from "@reversi-connector/core";
import { definition, fs } from "@reversi-connector/fs";
import { attach, sandbox } from "@reversi-connector/fs/sandbox";
import { exists } from "./support.ts";

test("the sandbox is a folder of its own, whose state an undo restores, and which goes when it is closed", async () => {
  const one = await sandbox();
  const before = await one.state();
  expect(JSON.parse(JSON.stringify(before))).toEqual(before);
  const connector = fs(attach(one.address));
  const args = { path: "notes/today.txt", content: "Water nothing.\n" };
  const result = (await connector.tools["fs.write_file"]?.(args)) as Record<string, unknown>;
  expect(await one.state()).not.toEqual(before);
  await connector.tools["fs.restore_file"]?.({
    path: args.path,
    backup_key: result["backup_key"],
    expected_sha256: result["sha256"],
  });
  expect(await one.state()).toEqual(before);
  await connector.close();
  await one.close();
  expect(exists(one.address)).toBe(false);
});

test("the stored schema hashes are those of the tools", () => {
  const stored = JSON.parse(readFileSync(new URL("../schema-hashes.json", import.meta.url), "utf8"));
  expect(connectorSchemaHashes(definition)).toEqual(stored);
});
