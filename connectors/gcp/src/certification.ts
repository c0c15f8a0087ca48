import { readFileSync } from "node:fs";
import type { Plan, Subject } from "@reversi-connector/certification-kit";
import { gcp } from "./index.ts";
import { token } from "./sandbox/wire.ts";
import { attach, type GcpSandbox, putObject, sandbox } from "./sandbox.ts";

const todo = { bucket: "notes", object: "todo.txt" };
const odd = { bucket: "notes", object: "dir/ü ñ+&=%20!*'();~.bin" };
const page = { bucket: "notes", object: "public/index.html" };
const composed = { bucket: "notes", object: "composed.txt" };
const film = { bucket: "notes", object: "film.bin" };
const plan = { bucket: "versioned.notes", object: "plan.txt" };

type Calls = Readonly<Record<string, Plan<GcpSandbox> | readonly Plan<GcpSandbox>[]>>;

/** Somebody else writes the object that a call worked on. */
const edit: NonNullable<Plan<GcpSandbox>["edit"]> = (backend, { args }) =>
  void putObject(backend.world, backend.bucket(args.bucket), args.object, "written by Ada");

/** Good calls on the sandbox's buckets. */
const calls: Calls = {
  "gcp.get_object": [
    { title: "a text", args: todo },
    { title: "bytes under an odd name", args: { ...odd, encoding: "base64" } },
  ],
  "gcp.list_objects": [
    { title: "in small pages", args: { bucket: "notes", limit: 2 } },
    { title: "in groups", args: { bucket: "notes", delimiter: "/" } },
  ],
  "gcp.put_object": [
    { title: "over a text", args: { ...todo, content: "bread\n", content_type: "text/markdown" }, edit },
    { title: "a new object", args: { bucket: "notes", object: "new/a b.txt", content: "new" }, edit },
    { title: "bytes over bytes", args: { ...odd, content: "AP7/", encoding: "base64" }, edit },
    { title: "over an object without an MD5", args: { ...composed, content: "whole" }, edit },
    { title: "a new version", args: { ...plan, content: "third" }, edit },
  ],
  "gcp.delete_object": [
    { title: "a page of another storage class", args: page, edit },
    { title: "a film, copied in several requests", args: film, edit },
    { title: "a version", args: plan, edit },
  ],
  "gcp.restore_object": [
    {
      title: "a deleted object",
      async args({ call }) {
        const { backup_key } = await call("gcp.delete_object", todo);
        return { ...todo, backup_key, expected_sha256: null };
      },
    },
    {
      title: "nothing, where something was created",
      async args({ call }) {
        const place = { bucket: "notes", object: "created" };
        const { backup_key, sha256 } = await call("gcp.put_object", { ...place, content: "x" });
        return { ...place, backup_key, expected_sha256: sha256 };
      },
    },
  ],
};

interface BucketState {
  readonly backups: readonly unknown[];
  readonly history: object;
}
type State = Readonly<Record<string, BucketState>>;

/** The state with this part of each bucket as it was. */
const without = (part: keyof BucketState) => (before: State, after: State) =>
  Object.fromEntries(
    Object.entries(after).map(([name, is]) => [name, { ...is, [part]: before[name]?.[part] }]),
  );

const schemaHashes: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL("../schema-hashes.json", import.meta.url), "utf8"),
);

/** Where the sandbox differs from the published description, as the vendor does. */
const deviations = {
  "*: the media type text/plain is not described": "a download that fails is answered with plain text",
};

/** What the certification needs to know about this connector. */
export const subject = {
  connector: ({ address, credential, timeoutMs }) =>
    gcp({ ...attach(address), token: credential, timeoutMs }),
  backend: () => sandbox(),
  wire: (backend, { http }) => http(backend, { address: backend.address }),
  credential: token,
  calls,
  schemaHashes,
  residue: { backup: without("backups"), generation: without("history") },
  contract: (folder, kit) => kit.openApi(`${folder}/gcp.json`, { deviations }),
  permit({ world }, access) {
    // What the page lists is what the sandbox starts with.
    if (access === "none") world.allowed.clear();
  },
  strictness: { accepts: { wrong_id: "every name is good for a new object" } },
} satisfies Subject<GcpSandbox>;
