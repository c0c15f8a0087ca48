import { readFileSync } from "node:fs";
import type { Plan, Subject } from "@reversi-connector/certification-kit";
import { shelf } from "./index.ts";
import { attach, first, type ShelfSandbox, sandbox, token } from "./sandbox.ts";

const bookmark = { url: "https://example.org/", title: "Another example" };

/** Somebody else gives a bookmark another title. */
const retitle = ({ bookmarks }: ShelfSandbox, id: string) => {
  const found = bookmarks.get(id);
  if (found) bookmarks.set(id, { ...found, title: "Edited by a person", version: found.version + 1 });
};

/** Good calls of every tool, on a sandbox that starts with one bookmark. */
const calls: Readonly<Record<string, Plan<ShelfSandbox>>> = {
  "shelf.get_bookmark": { args: { id: first } },
  "shelf.create_bookmark": {
    args: { bookmark },
    edit: (backend, { result }) => retitle(backend, result.id),
  },
  "shelf.update_bookmark": {
    args: { id: first, bookmark },
    edit: (backend) => retitle(backend, first),
  },
  "shelf.delete_bookmark": {
    args: async ({ call }) => ({
      ...(await call("shelf.create_bookmark", { bookmark })),
      expected: bookmark,
    }),
  },
  "shelf.restore_bookmark": {
    args: async ({ call }) => ({
      ...(await call("shelf.update_bookmark", { id: first, bookmark })),
      ...{ id: first, expected: bookmark },
    }),
  },
};

const { schema_hashes: schemaHashes } = JSON.parse(
  readFileSync(new URL("../reversi.lock.json", import.meta.url), "utf8"),
);

type State = readonly { readonly version: number }[];

/** What the certification needs to know about this connector. */
export const subject = {
  connector: ({ address, credential, timeoutMs }) =>
    shelf({ ...attach(address), token: credential, timeoutMs }),
  backend: () => sandbox(),
  wire: (backend, { http }) => http(backend, { address: backend.address }),
  credential: token,
  calls,
  schemaHashes,
  residue: {
    version: (before: State, after: State) =>
      after.map((each, index) => ({ ...each, version: before[index]?.version ?? each.version })),
  },
  strictness: { headers: ["if-match", "if-none-match"] },
  permit(backend, access) {
    backend.allowed = access !== "none";
  },
} satisfies Subject<ShelfSandbox>;
