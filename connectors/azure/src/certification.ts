import { readFileSync } from "node:fs";
import type { Contract, Plan, Subject } from "@reversi-connector/certification-kit";
import { azure } from "./index.ts";
import { account, denial, token } from "./sandbox/wire.ts";
import { type AzureSandbox, attach, sandbox } from "./sandbox.ts";

const todo = { container: "notes", blob: "todo.txt" };
const odd = { container: "notes", blob: "dir/ü ñ+&=%20!*'();~.bin" };
const page = { container: "notes", blob: "public/index.html" };
const plan = { container: "notes", blob: "plan.txt" };
const site = { container: "$web", blob: "index.html" };

type Calls = Readonly<Record<string, Plan<AzureSandbox> | readonly Plan<AzureSandbox>[]>>;

/** Somebody else writes the blob that a call worked on. */
const edit: NonNullable<Plan<AzureSandbox>["edit"]> = (backend, { args: { container, blob } }) =>
  backend.write(container, blob, "written by Ada");

/** Good calls on the sandbox's containers. */
const calls: Calls = {
  "azure.get_blob": [
    { title: "a text", args: todo },
    { title: "bytes under an odd name", args: { ...odd, encoding: "base64" } },
  ],
  "azure.list_blobs": [
    { title: "in small pages", args: { container: "notes", limit: 2 } },
    { title: "in groups", args: { container: "notes", delimiter: "/" } },
  ],
  "azure.put_blob": [
    { title: "over a text", args: { ...todo, content: "bread\n", content_type: "text/markdown" }, edit },
    { title: "a new blob", args: { container: "notes", blob: "new/a b.txt", content: "new" }, edit },
    { title: "bytes over bytes", args: { ...odd, content: "AP7/", encoding: "base64" }, edit },
    { title: "over a blob with tags and a tier", args: { ...page, content: "<p>Bye</p>" }, edit },
    { title: "over a blob without an MD5", args: { ...plan, content: "whole" }, edit },
  ],
  "azure.delete_blob": [
    { title: "a text", args: todo, edit },
    { title: "a blob with tags and a tier", args: page, edit },
    { title: "of the web site", args: site, edit },
  ],
  "azure.restore_blob": [
    {
      title: "a deleted blob",
      async args({ call }) {
        const { backup_key } = await call("azure.delete_blob", todo);
        return { ...todo, backup_key, expected_sha256: null };
      },
    },
    {
      title: "nothing, where something was created",
      async args({ call }) {
        const place = { container: "notes", blob: "created" };
        const { backup_key, sha256 } = await call("azure.put_blob", { ...place, content: "x" });
        return { ...place, backup_key, expected_sha256: sha256 };
      },
    },
  ],
};

interface Seen {
  readonly tags: object;
}
interface ContainerState {
  readonly blobs: Readonly<Record<string, Seen>>;
  readonly backups: readonly unknown[];
  readonly events: Readonly<Record<string, number>>;
}
type State = Readonly<Record<string, ContainerState>>;

/** The state with each container as `change` makes it. */
const each = (
  before: State,
  after: State,
  change: (was: ContainerState, is: ContainerState) => Partial<ContainerState>,
) =>
  Object.fromEntries(
    Object.entries(after).map(([name, is]) => {
      const was = before[name] ?? is;
      return [name, { ...is, ...change(was, is) }];
    }),
  );
const withTags = (is: Seen, was: Seen | undefined) => ({ ...is, tags: was?.tags ?? is.tags });

const schemaHashes: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL("../schema-hashes.json", import.meta.url), "utf8"),
);

/** Where the sandbox differs from the published description, as the vendor does. */
const deviations = {
  "GET /{containerName}/{blob}: answer 200: the media type * is not described":
    "a blob comes with the type that it was stored with",
  "*: path blob: * must match pattern *": "the description knows plain names alone, Azure takes nearly all",
};

/** Copies share method and path with uploads, and the description tells them apart by made-up queries. */
const kindOf = ({ method, path, headers }: Parameters<Contract["judge"]>[0]): string | undefined => {
  if (/[?&]comp=list(?:&|$)/.test(path)) return /[?&]delimiter=/.test(path) ? "hierarchy" : "flat";
  if (method !== "PUT") return undefined;
  if (headers["x-ms-copy-source"] === undefined) return "BlockBlob";
  return headers["x-ms-requires-sync"] === undefined ? "fromUrl" : "sync";
};

/** What the certification needs to know about this connector. */
export const subject = {
  connector: ({ address, credential, timeoutMs }) =>
    azure({ ...attach(address), token: credential, timeoutMs }),
  backend: () => sandbox(),
  wire: (backend, { http }) =>
    http(backend, {
      address: backend.address,
      inject(fault, skip, times) {
        if (fault.kind !== "deny") return false;
        // With Azure's code in a header, which is all that a HEAD has.
        const reply = denial(Number(fault.status));
        backend.inject({ kind: "status", ...reply }, { skip, times });
        return true;
      },
    }),
  credential: token,
  calls,
  schemaHashes,
  residue: {
    backup: (before: State, after: State) => each(before, after, ({ backups }) => ({ backups })),
    etag: (before: State, after: State) => each(before, after, ({ events }) => ({ events })),
    tags: (before: State, after: State) =>
      each(before, after, (was, is) => ({
        blobs: Object.fromEntries(
          Object.entries(is.blobs).map(([name, blob]) => [name, withTags(blob, was.blobs[name])]),
        ),
      })),
  },
  contract: (folder, kit) =>
    kit.openApi(`${folder}/azure.json`, {
      base: `/${account}`,
      fits: (key, exchange) => /(?<=[?&])\w+$/.exec(key)?.[0] === kindOf(exchange),
      deviations,
    }),
  permit({ world }, access) {
    // What the page lists is the role that the sandbox starts with.
    if (access === "none") world.allowed.clear();
  },
  strictness: {
    headers: ["x-ms-version"],
    accepts: {
      content_type: "Azure takes a body of any type for a blob",
      wrong_id: "every name is good for a new blob",
    },
  },
} satisfies Subject<AzureSandbox>;
