import { readFileSync } from "node:fs";
import type { Plan, Subject } from "@reversi-connector/certification-kit";
import { smithyContract } from "./contract.ts";
import { aws } from "./index.ts";
import { keys } from "./sandbox/wire.ts";
import { listedActions } from "./sandbox/world.ts";
import { type AwsSandbox, attach, putObject, sandbox } from "./sandbox.ts";

const todo = { bucket: "notes", key: "todo.txt" };
const odd = { bucket: "notes", key: "dir/ü ñ+&=%20!*'();~.bin" };
const page = { bucket: "notes", key: "public/index.html" };
const plan = { bucket: "versioned.notes", key: "plan.txt" };

type Calls = Readonly<Record<string, Plan<AwsSandbox> | readonly Plan<AwsSandbox>[]>>;

/** Somebody else writes the object that a call worked on. */
const edit: NonNullable<Plan<AwsSandbox>["edit"]> = (backend, { args }) =>
  void putObject(backend.bucket(args.bucket), args.key, "written by Ada");

/** Good calls on the sandbox's buckets. */
const calls: Calls = {
  "aws.get_object": [
    { title: "a text", args: todo },
    { title: "bytes under an odd key", args: { ...odd, encoding: "base64" } },
  ],
  "aws.list_objects": [
    { title: "in small pages", args: { bucket: "notes", limit: 2 } },
    { title: "in groups", args: { bucket: "notes", delimiter: "/" } },
  ],
  "aws.put_object": [
    { title: "over a text", args: { ...todo, content: "bread\n", content_type: "text/markdown" }, edit },
    { title: "a new object", args: { bucket: "notes", key: "new/a b.txt", content: "new" }, edit },
    { title: "bytes over bytes", args: { ...odd, content: "AP7/", encoding: "base64" }, edit },
    { title: "over a public object with tags", args: { ...page, content: "<p>Bye</p>" }, edit },
    { title: "a new version", args: { ...plan, content: "third" }, edit },
  ],
  "aws.delete_object": [
    { title: "a text", args: todo, edit },
    { title: "a public object with tags", args: page, edit },
    { title: "a version", args: plan, edit },
  ],
  "aws.restore_object": [
    {
      title: "a deleted object",
      async args({ call }) {
        const { backup_key } = await call("aws.delete_object", todo);
        return { ...todo, backup_key, expected_sha256: null };
      },
    },
    {
      title: "nothing, where something was created",
      async args({ call }) {
        const place = { bucket: "notes", key: "created" };
        const { backup_key, sha256 } = await call("aws.put_object", { ...place, content: "x" });
        return { ...place, backup_key, expected_sha256: sha256 };
      },
    },
  ],
};

interface Seen {
  readonly acl: string;
}
interface BucketState {
  readonly objects: Readonly<Record<string, Seen>>;
  readonly backups: readonly unknown[];
  readonly versions: Readonly<Record<string, number>>;
}
type State = Readonly<Record<string, BucketState>>;

/** The state with each bucket as `change` makes it. */
const each = (
  before: State,
  after: State,
  change: (was: BucketState, is: BucketState) => Partial<BucketState>,
) =>
  Object.fromEntries(
    Object.entries(after).map(([name, is]) => {
      const was = before[name] ?? is;
      return [name, { ...is, ...change(was, is) }];
    }),
  );
const withAcl = (is: Seen, was: Seen | undefined) => ({ ...is, acl: was?.acl ?? is.acl });

const schemaHashes: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL("../schema-hashes.json", import.meta.url), "utf8"),
);

/** What the certification needs to know about this connector. */
export const subject = {
  connector: ({ address, credential, timeoutMs }) =>
    aws({ ...attach(address), secretAccessKey: credential, timeoutMs }),
  backend: () => sandbox(),
  wire: (backend, { http }) => http(backend, { address: backend.address }),
  credential: keys.secretAccessKey,
  calls,
  schemaHashes,
  contract: async (folder) => smithyContract(`${folder}/aws.smithy.json`),
  residue: {
    backup: (before: State, after: State) => each(before, after, ({ backups }) => ({ backups })),
    versions: (before: State, after: State) => each(before, after, ({ versions }) => ({ versions })),
    attributes: (before: State, after: State) =>
      each(before, after, (was, is) => ({
        objects: Object.fromEntries(
          Object.entries(is.objects).map(([key, object]) => [key, withAcl(object, was.objects[key])]),
        ),
      })),
  },
  permit({ world }, access) {
    for (const action of world.allowed)
      if (access === "none" || !listedActions.includes(action)) world.allowed.delete(action);
  },
  strictness: { headers: ["authorization", "x-amz-date", "x-amz-content-sha256", "x-amz-security-token"] },
} satisfies Subject<AwsSandbox>;
