import { s } from "@reversi-connector/core";
import { tool } from "./client.ts";
import { already, backupResidue, content, existed, key, overlapping, path, sha256, size } from "./schemas.ts";

export const restoreFile = tool
  .idempotent("restore_file", {
    description:
      "Put a file back as the backup holds it (bytes, mode), or remove it where there was none (`backup_key` null).",
    permission: "fs:write",
    input: s.object(
      { path, backup_key: s.nullable(key("Name of the backup in the backup directory.")) },
      {
        expected_sha256: s.nullable(sha256("Hash of what the undone step left; null when it left nothing.")),
      },
    ),
    output: s.object({
      path,
      already,
      sha256: s.nullable(sha256("Hash of what is there now; null when nothing is.")),
    }),
    target: ["path"],
    guard: { kind: "content", server_side: false },
    on_conflict: true,
  })
  .holds(({ client, args }) => client.isRestored(args))
  .run(({ client, args, ...undoing }) => client.restoreFile(args, undoing));

const restored = {
  path: "args.path",
  backup_key: "result.backup_key",
  expected_sha256: "result.sha256",
} as const;

export const writeFile = tool
  .reversible("write_file", {
    description:
      "Create or replace one file; a missing parent directory is an error. The old file is kept as a backup first.",
    permission: "fs:write",
    input: s.object(
      { path, content },
      {
        encoding: s.oneOf(
          ["text", "base64"],
          "How `content` is written: UTF-8 text, or base64 for any bytes.",
          {
            default: "text",
          },
        ),
      },
    ),
    output: s.object({
      path,
      existed,
      backup_key: s.nullable(key("Backup of the old file; null when there was none.")),
      sha256: sha256("Hash of what this call leaves at `path`."),
      size,
    }),
    compensation: { tool: restoreFile, argument_map: restored },
    checkpoint: {
      result: ["path", "existed", "backup_key", "sha256", "size"],
      guard: "expected_sha256",
    },
    requires: overlapping("path", "write_file", "delete_file", "move_file", "make_dir"),
    residue: [backupResidue],
  })
  .landed(({ client, checkpoint }) => client.writeLanded(checkpoint))
  .run(({ client, args, ...change }) => client.writeFile(args, change));

export const deleteFile = tool
  .reversible("delete_file", {
    description: "Delete one file or symbolic link by moving it into the backup directory.",
    permission: "fs:write",
    input: s.object({ path }),
    output: s.object({
      path,
      existed: s.boolean("Always true: a missing file is an error."),
      backup_key: s.nullable(key("Name of the backup in the backup directory.")),
      sha256: s.nullable(sha256("Always null: nothing is left at `path`.")),
    }),
    compensation: { tool: restoreFile, argument_map: restored },
    checkpoint: { result: ["path", "existed", "backup_key", "sha256"], guard: "expected_sha256" },
    requires: overlapping("path", "write_file", "delete_file", "move_file", "make_dir"),
    residue: [backupResidue],
  })
  .landed(({ client, checkpoint }) => client.deleteLanded(checkpoint))
  .run(({ client, args, ...change }) => client.deleteFile(args, change));

export const readFile = tool
  .readOnly("read_file", {
    description: "Read one regular file of at most 5 MiB.",
    permission: "fs:read",
    input: s.object(
      { path },
      {
        encoding: s.oneOf(
          ["text", "base64"],
          "How to return the content; `text` refuses bytes that are not UTF-8.",
          { default: "text" },
        ),
      },
    ),
    output: s.object({
      path,
      content,
      encoding: s.oneOf(["text", "base64"], "How `content` is written."),
      size,
      sha256: sha256("SHA-256 of the bytes."),
    }),
  })
  .run(({ client, args }) => client.readFile(args.path, args.encoding));
