import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { ConflictError, ConnectorError, compensatorFor } from "@reversi-connector/core";
import { shelf } from "reversi-connector-shelf";
import { first, sandbox } from "reversi-connector-shelf/sandbox";

const bookmark = { url: "https://example.org/", title: "Another example" };
let backend;
let connector;
beforeEach(async () => {
  backend = await sandbox();
  connector = shelf(backend.options);
});
afterEach(async () => {
  await connector.close();
  await backend.close();
});

/** What the gateway would ask for, from the manifest's argument map. */
async function update() {
  const { previous } = await connector.tools["shelf.update_bookmark"]({ id: first, bookmark });
  return { tool: "shelf.restore_bookmark", args: { id: first, previous, expected: bookmark } };
}

test("an update that is undone leaves what was there, also when the undo is asked for twice", async () => {
  const undo = await update();
  const compensate = compensatorFor([connector]);
  assert.deepEqual(await compensate(undo), { id: first, already: false });
  assert.deepEqual(await compensate(undo), { id: first, already: true });
  assert.equal(await compensate.holds(undo), true);
  assert.equal(backend.bookmarks.get(first).title, "An example");
});

test("an undo overwrites nothing that somebody else wrote", async () => {
  const undo = await update();
  const edited = { ...bookmark, title: "Edited by a person", version: 3 };
  backend.bookmarks.set(first, edited);
  await assert.rejects(compensatorFor([connector])(undo), (error) => ConflictError.is(error));
  assert.deepEqual(backend.bookmarks.get(first), edited);
});

test("a create that is asked for twice under one key makes one bookmark", async () => {
  const create = () => connector.tools["shelf.create_bookmark"]({ bookmark }, { idempotencyKey: "one" });
  assert.deepEqual(await create(), await create());
  assert.equal(backend.bookmarks.size, 2);
});

test("a 404 that is not Shelf's own word passes for nothing that is gone", async () => {
  const astray = shelf({ ...backend.options, baseUrl: `${backend.address}/elsewhere` });
  const undo = { tool: "shelf.delete_bookmark", args: { id: first, expected: bookmark } };
  await assert.rejects(compensatorFor([astray])(undo), (error) => ConnectorError.is(error));
  await astray.close();
});
