import { s } from "@reversi-connector/core";
import { tool } from "./client.ts";
import { already, key, overlapping, path, pathOf, sha256 } from "./schemas.ts";

const hash = s.nullable(sha256("Hash of the moved file; null for a directory."));
const moveId = key("Record of the move in the backup directory.");

export const unmoveFile = tool
  .idempotent("unmove_file", {
    description: "Move what was moved from `from` to `to` back to `from`. Never replaces anything at `from`.",
    permission: "fs:write",
    input: s.object(
      { from: pathOf("Where it was before the move."), to: pathOf("Where the move put it.") },
      { move_id: moveId, expected_sha256: hash },
    ),
    output: s.object({ from: path, to: path, already }),
    target: ["from", "to"],
    guard: { kind: "version", server_side: false },
    on_conflict: true,
  })
  .holds(({ client, args }) => client.isUnmoved(args))
  .run(({ client, args, ...undoing }) => client.unmoveFile(args, undoing));

export const moveFile = tool
  .reversible("move_file", {
    description: "Move or rename a file or directory. Never replaces anything at `to`.",
    permission: "fs:write",
    input: s.object({
      from: pathOf("What to move."),
      to: pathOf("The new path, free, in an existing directory."),
    }),
    output: s.object({
      from: path,
      to: path,
      type: s.oneOf(["file", "directory", "symlink"], "What was moved."),
      move_id: moveId,
      sha256: hash,
    }),
    compensation: {
      tool: unmoveFile,
      argument_map: {
        from: "args.from",
        to: "args.to",
        move_id: "result.move_id",
        expected_sha256: "result.sha256",
      },
    },
    checkpoint: { result: ["from", "to", "type", "move_id", "sha256"], guard: "expected_sha256" },
    requires: [
      ...overlapping("from", "write_file", "delete_file", "move_file", "make_dir"),
      ...overlapping("to", "write_file", "delete_file", "move_file", "make_dir"),
    ],
    residue: [{ id: "fs-record", text: "The backup directory keeps a record of the move." }],
  })
  .landed(({ client, checkpoint }) => client.moveLanded(checkpoint))
  .run(({ client, args, ...change }) => client.moveFile(args, change));
