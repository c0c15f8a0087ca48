import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Plan, Subject } from "@reversi-connector/certification-kit";
import { fs } from "./index.ts";
import { sandbox } from "./sandbox.ts";

const backups = ".reversi-backups";

/** What the backup directory keeps: copies of old files, and records of changes and moves. */
function kept(root: string) {
  const folder = join(root, backups);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const operations = names
    .filter((name) => name.endsWith(".json"))
    .map((name) => (JSON.parse(readFileSync(join(folder, name), "utf8")) as { readonly op: string }).op);
  return {
    copies: names.filter((name) => /^[0-9a-f-]{36}$/.test(name)).length,
    changes: operations.filter((op) => op !== "move").length,
    moves: operations.filter((op) => op === "move").length,
  };
}

/** A fresh folder; its state is what a user sees in it, and what the backup directory keeps. */
async function backend() {
  const { address, state, close } = await sandbox();
  const at = (path: string) => join(address, path);
  return {
    address,
    close,
    state: async () => ({ files: await state(), kept: kept(address) }),
    write: (path: string, content = "Somebody else's\n") => writeFileSync(at(path), content),
    remove: (path: string) => rmSync(at(path)),
    /** As editors save: another file takes the name. */
    replace(path: string) {
      writeFileSync(at(`${path}.new`), "Somebody else's\n");
      renameSync(at(`${path}.new`), at(path));
    },
    /** Takes a backup away and gives what puts it back. */
    hide(key: string) {
      const [there, away] = [at(join(backups, key)), `${address}.hidden`];
      renameSync(there, away);
      return () => renameSync(away, there);
    },
  };
}
type Folder = Awaited<ReturnType<typeof backend>>;
interface State {
  readonly kept: { readonly copies: number; readonly changes: number; readonly moves: number };
}

const nothingThere = "after that step there is nothing to work on, and a third step would have to make it";
const occupied = "after that step the place is occupied, and nothing is ever replaced";

type Calls = Readonly<Record<string, Plan<Folder> | readonly Plan<Folder>[]>>;

const calls: Calls = {
  "fs.read_file": { args: { path: "README.md" }, refused: { path: "missing.txt" } },
  "fs.list_dir": { args: {}, refused: { path: "missing" } },
  "fs.write_file": [
    {
      title: "another content",
      args: { path: "README.md", content: "Changed\n" },
      refused: { path: "missing/file.txt", content: "" },
      edit: (folder) => folder.write("README.md"),
      obstruct: (folder, { result }) => folder.hide(result.backup_key),
      after: {
        "fs.make_dir": ({ result }) => ({ path: `${result.created[0]}/file.txt`, content: "Below\n" }),
      },
    },
    { title: "another content once more", args: { path: "README.md", content: "Changed again\n" } },
    { title: "a new file", args: { path: "new.txt", content: "ghp_LooksLikeATokenButIsOnlyText0000000" } },
    { title: "bytes over a script", args: { path: "run.sh", content: "/wD+", encoding: "base64" } },
  ],
  "fs.delete_file": {
    args: { path: "notes/today.txt" },
    refused: { path: "missing.txt" },
    edit: (folder) => folder.write("notes/today.txt"),
    obstruct: (folder, { result }) => folder.hide(result.backup_key),
    after: {
      "fs.delete_file": nothingThere,
      "fs.make_dir": nothingThere,
      "fs.move_file: path = args.from": nothingThere,
    },
  },
  "fs.make_dir": [
    {
      title: "a directory and its parent",
      args: { path: "made/inside" },
      refused: { path: "README.md/below" },
      edit: (folder) => folder.write("made/inside/theirs.txt"),
      obstruct(folder) {
        folder.write("made/inside/theirs.txt");
        return () => folder.remove("made/inside/theirs.txt");
      },
      after: { "fs.make_dir": ({ result }) => ({ path: `${result.created[0]}/deeper` }) },
    },
    { title: "a directory in one that is there", args: { path: "notes/archive" } },
  ],
  "fs.move_file": [
    {
      title: "a file",
      args: { from: "README.md", to: "notes/README.md" },
      refused: { from: "missing.txt", to: "found.txt" },
      edit: (folder) => folder.replace("notes/README.md"),
      obstruct(folder) {
        folder.write("README.md");
        return () => folder.remove("README.md");
      },
      after: {
        "fs.write_file: to = args.path": occupied,
        "fs.delete_file: from = args.path": nothingThere,
        "fs.move_file: from = args.from": nothingThere,
        "fs.move_file: from = args.to": ({ args }) => ({ from: args.to, to: "again.md" }),
        "fs.move_file: to = args.from": ({ args }) => ({ from: "run.sh", to: args.from }),
        "fs.move_file: to = args.to": occupied,
        "fs.make_dir: from = result.created": ({ result }) => ({ from: result.created[0], to: "elsewhere" }),
        "fs.make_dir: to = result.created": ({ result }) => ({
          from: "README.md",
          to: `${result.created[0]}/README.md`,
        }),
      },
    },
    { title: "a directory", args: { from: "notes", to: "papers" } },
  ],
  "fs.restore_file": {
    async args({ call }) {
      const path = "README.md";
      const { backup_key, sha256 } = await call("fs.write_file", { path, content: "Changed\n" });
      return { path, backup_key, expected_sha256: sha256 };
    },
    refused: { path: "README.md", backup_key: "00000000-0000-4000-8000-000000000000" },
  },
  "fs.remove_dir": {
    async args({ call }) {
      const { created } = await call("fs.make_dir", { path: "made/inside" });
      return { path: "made/inside", created };
    },
    refused: { path: "notes" },
  },
  "fs.unmove_file": {
    async args({ call }) {
      const [from, to] = ["README.md", "moved.md"];
      const { move_id, sha256 } = await call("fs.move_file", { from, to });
      return { from, to, move_id, expected_sha256: sha256 };
    },
    refused: { from: "README.md", to: "run.sh" },
  },
};

const schemaHashes: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL("../schema-hashes.json", import.meta.url), "utf8"),
);

/** What the certification needs to know about this connector. */
export const subject = {
  connector: ({ address, timeoutMs }) => fs({ root: address, timeoutMs }),
  backend,
  calls,
  schemaHashes,
  residue: {
    "fs-backup": (before: State, { kept, ...after }: State) => {
      const { copies, changes } = before.kept;
      return { ...after, kept: { ...kept, copies, changes } };
    },
    "fs-record": (before: State, { kept, ...after }: State) => ({
      ...after,
      kept: { ...kept, moves: before.kept.moves },
    }),
  },
} satisfies Subject<Folder>;
