import { s } from "@reversi-connector/core";
import { tool } from "./client.ts";
import { already, directoryPath, existed, path } from "./schemas.ts";

export const removeDir = tool
  .idempotent("remove_dir", {
    description: "Remove empty directories. Never removes anything that holds an entry.",
    permission: "fs:write",
    input: s.object(
      { path },
      {
        created: s.array(
          path,
          "The directories to remove, topmost first; only `path` itself when left out.",
          {
            maxItems: 256,
          },
        ),
      },
    ),
    output: s.object({ path, already, removed: s.array(path, "What was removed, deepest first.") }),
    target: ["path"],
    guard: { kind: "content", server_side: true },
  })
  .holds(({ client, args }) => client.isRemoved(args))
  .run(({ client, args, ...undoing }) => client.removeDir(args, undoing));

export const makeDir = tool
  .reversible("make_dir", {
    description: "Make a directory and the parents it lacks. An existing directory is left as it is.",
    permission: "fs:write",
    additive: true,
    input: s.object({ path }),
    output: s.object({
      path,
      existed,
      created: s.array(path, "The directories this call made, topmost first; empty when it existed.", {
        maxItems: 256,
      }),
    }),
    compensation: { tool: removeDir, argument_map: { path: "args.path", created: "result.created" } },
    checkpoint: { result: ["path", "existed", "created"], guard: "created" },
    requires: [
      { tool: "fs.delete_file", match: { path: { overlaps: "args.path" } } },
      { tool: "fs.move_file", match: { path: { overlaps: "args.from" } } },
      { tool: "fs.make_dir", match: { path: { overlaps: "result.created" } } },
    ],
  })
  .landed(({ client, checkpoint }) => client.makeLanded(checkpoint))
  .run(({ client, args, ...change }) => client.makeDir(args, change));

const entry = s.object(
  {
    name: s.string("File name."),
    type: s.oneOf(["file", "directory", "symlink", "other"], "Kind of entry."),
    size: s.nullable(s.integer("Size in bytes.")),
  },
  {},
  "One entry.",
);

export const listDir = tool
  .readOnly("list_dir", {
    description: "List a directory, sorted by name; the backup directory is hidden.",
    permission: "fs:read",
    input: s.object(
      {},
      {
        path: directoryPath,
        limit: s.integer("At most this many entries.", { minimum: 1, maximum: 1000, default: 1000 }),
        cursor: s.string("`next_cursor` of the previous page.", { minLength: 1, maxLength: 4096 }),
      },
    ),
    output: s.object({
      path,
      entries: s.array(entry, "The entries."),
      next_cursor: s.nullable(s.string("Pass as `cursor` for the next page; null at the end.")),
    }),
  })
  .run(({ client, args }) => client.listDir(args));
