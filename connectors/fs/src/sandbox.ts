import { createHash } from "node:crypto";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Sandbox } from "@reversi-connector/core";
import type { FsOptions } from "./client.ts";

const backups = ".reversi-backups";

type Seen = { readonly mode: string } & (
  | { readonly sha256: string }
  | { readonly link: string }
  | { readonly entries: Readonly<Record<string, Seen>> }
);

function look(path: string): Seen {
  const stats = lstatSync(path);
  const mode = (stats.mode & 0o7777).toString(8);
  if (stats.isSymbolicLink()) return { mode, link: readlinkSync(path) };
  if (!stats.isDirectory())
    return { mode, sha256: createHash("sha256").update(readFileSync(path)).digest("hex") };
  const names = readdirSync(path).filter((name) => name !== backups);
  return { mode, entries: Object.fromEntries(names.sort().map((name) => [name, look(join(path, name))])) };
}

/** Options for a folder that is there already. */
export const attach = (address: string): FsOptions => ({ root: address });

/** A folder of its own with a few files; its state is every name, mode and hash but the backups'. */
export async function sandbox(): Promise<Sandbox<FsOptions>> {
  const root = mkdtempSync(join(tmpdir(), "reversi-fs-"));
  mkdirSync(join(root, "notes"));
  writeFileSync(join(root, "README.md"), "# Sandbox\n\nTry something, then undo it.\n");
  writeFileSync(join(root, "notes", "today.txt"), "Water the plants.\n");
  writeFileSync(join(root, "run.sh"), "#!/bin/sh\necho hello\n", { mode: 0o755 });
  return {
    options: attach(root),
    address: root,
    state: async () => look(root),
    close: async () => rmSync(root, { recursive: true, force: true }),
  };
}
