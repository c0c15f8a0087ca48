import { s } from "@reversi-connector/core";
import { insert, update } from "./changes.ts";
import { tool } from "./client.ts";
import { insertLanded, updateLanded } from "./evidence.ts";
import { isDeleted, isRestored, deleteRow as remove, restoreRow as restore } from "./undo.ts";

const pattern = "^[A-Za-z_][A-Za-z0-9_]{0,62}$";
const table = s.string("Table.", { pattern });
const schema = { schema: s.string("Schema; the search path decides when left out.", { pattern }) };
const keyColumn = {
  key_column: s.string("Column that identifies exactly one row.", { pattern, default: "id" }),
};
const key = s.stringOrInteger("Value of the key column; as text when it is no small number.");
const already = s.boolean("True when nothing had to be done.");
const keyText = s.string("Value of the key column, as server text.");

const values = (minProperties?: number) =>
  s.map(
    s.json(
      "JSON scalar, or an object or array for json columns; an array column takes its literal as text (`{a,b}`).",
    ),
    "Column values by column name; each is bound as a parameter.",
    { keys: pattern, maxProperties: 1600, ...(minProperties !== undefined && { minProperties }) },
  );
const texts = (description: string) =>
  s.map(s.nullable(s.string("Server text; null is SQL NULL.")), description, {
    keys: pattern,
    maxProperties: 1600,
  });

const written = {
  schema: s.string("Schema the table is in.", { pattern }),
  table,
  key_column: s.string("Key column used.", { pattern }),
  key: keyText,
};
const undone = {
  schema: "result.schema",
  table: "args.table",
  key_column: "result.key_column",
  key: "result.key",
  expected: "result.current",
} as const;
const evidence = ["transaction_id", "system_identifier"] as const;

export const deleteRow = tool
  .idempotent("delete_row", {
    description: "Delete the one row with this key. A row that is gone already is success.",
    permission: "postgres:rows:delete",
    input: s.object(
      { table, key },
      {
        ...schema,
        ...keyColumn,
        expected: texts("Column texts the undone step left; other texts are a conflict."),
      },
    ),
    output: s.object({ table, key: keyText, row_count: s.integer("Rows deleted.", { maximum: 1 }), already }),
    target: ["schema", "table", "key_column", "key"],
    guard: { kind: "content", server_side: true },
    on_conflict: true,
  })
  .holds(({ client, args }) => isDeleted(client, args))
  .run(({ client, args, ...undoing }) => remove(client, args, undoing));

export const insertRow = tool
  .reversible("insert_row", {
    description: "Insert one row and return its key.",
    permission: "postgres:rows:write",
    input: s.object({ table, values: values() }, { ...schema, ...keyColumn }),
    output: s.object({ ...written, current: texts("Texts of the inserted columns as stored.") }),
    additive: true,
    compensation: { tool: deleteRow, argument_map: undone },
    checkpoint: { result: ["schema", "table", "key_column", "key", "current"], evidence, guard: "expected" },
    residue: [
      { id: "sequence", text: "Sequences stay advanced." },
      { id: "triggers", text: "Triggers ran on insert and on delete." },
    ],
  })
  .landed(({ checkpoint, ...asking }) => insertLanded(asking, checkpoint))
  .run(({ client, args, checkpoint }) => insert(client, args, checkpoint));

export const restoreRow = tool
  .idempotent("restore_row", {
    description: "Write old column values back to the one row with this key. A missing row is a failure.",
    permission: "postgres:rows:write",
    input: s.object(
      { table, key, previous: texts("Column texts to put back.") },
      { ...schema, ...keyColumn, expected: texts("Column texts the undone step left.") },
    ),
    output: s.object({ table, key: keyText, already }),
    target: ["schema", "table", "key_column", "key"],
    guard: { kind: "content", server_side: true },
    on_conflict: true,
  })
  .holds(({ client, args }) => isRestored(client, args))
  .run(({ client, args, ...undoing }) => restore(client, args, undoing));

export const updateRow = tool
  .reversible("update_row", {
    description: "Change columns of the one row with this key; not the key itself.",
    permission: "postgres:rows:write",
    input: s.object({ table, key, values: values(1) }, { ...schema, ...keyColumn }),
    output: s.object({
      ...written,
      previous: texts("Texts of the changed columns before."),
      current: texts("Texts of the changed columns after."),
    }),
    compensation: { tool: restoreRow, argument_map: { ...undone, previous: "result.previous" } },
    checkpoint: {
      result: ["schema", "table", "key_column", "key", "previous", "current"],
      evidence,
      guard: "expected",
    },
    requires: [
      { tool: insertRow, match: { table: "args.table", key: "result.key" } },
      { tool: "postgres.update_row", match: { table: "args.table", key: "result.key" } },
    ],
    residue: [{ id: "triggers", text: "Triggers (`updated_at` and the like) ran twice." }],
  })
  .landed(({ checkpoint, ...asking }) => updateLanded(asking, checkpoint))
  .run(({ client, args, checkpoint }) => update(client, args, checkpoint));
