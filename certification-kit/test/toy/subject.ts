import { type Connector, connectorSchemaHashes } from "@reversi-connector/core";
import type { Connect, HttpWireOptions, Plan, Subject } from "../../src/index.ts";
import { toyOf } from "./connector.ts";
import { type ToySandbox, token, toySandbox } from "./sandbox.ts";

type Calls = Readonly<Record<string, Plan<ToySandbox> | readonly Plan<ToySandbox>[]>>;
interface State {
  items: { id: string; nextNote: number }[];
  payments: { id: string; status: string }[];
}

const itemOf = ({ world }: ToySandbox, id: string) => {
  const item = world.items.get(id);
  if (!item) throw new Error(`there is no item ${id}`);
  return item;
};
const edit = (backend: ToySandbox, id: string) => {
  const item = itemOf(backend, id);
  Object.assign(item, { title: "Somebody else's", version: item.version + 1 });
};

const calls: Calls = {
  "toy.get_item": { args: { id: "one" } },
  "toy.create_item": {
    args: { title: "New" },
    edit: (backend, { result }) => edit(backend, result.id),
  },
  "toy.delete_item": { args: { id: "two" } },
  "toy.set_title": [
    { title: "a title", args: { id: "one", title: "Changed" }, edit: (backend) => edit(backend, "one") },
    { title: "a second title", args: { id: "one", title: "Changed again" } },
    {
      title: "an old title that looks like a token",
      args: ({ backend }) => {
        itemOf(backend, "two").title = "tok_Looks0Like0A0Token00";
        return { id: "two", title: "Harmless" };
      },
    },
  ],
  "toy.restore_title": { args: { id: "one", title: "Older", expected: "First" } },
  "toy.add_note": {
    args: { id: "one", text: "Hello" },
    edit(backend, { args, result }) {
      const note = itemOf(backend, args.id).notes.find((each) => each.id === result.note_id);
      if (note) note.text = "Edited";
    },
  },
  "toy.remove_note": { args: { id: "one", note_id: 1 } },
  "toy.pay": { args: { amount: 500 } },
  "toy.refund": {
    args: async ({ call }) => ({ payment_id: (await call("toy.pay", { amount: 700 }))["payment_id"] }),
  },
  "toy.notify": { args: { text: "Attention" } },
};

/** The toy's wire: it stores what it answers under a key, breakdowns included. */
const wireOptions = (backend: ToySandbox): HttpWireOptions => ({
  address: backend.address,
  inject(fault, _, times) {
    if (fault.kind !== "serverError" || !fault.stored) return false;
    backend.world.breakdowns.push({ skip: 0, status: Number(fault.status) });
    return times === 1;
  },
});

/** The subject of a toy: the healthy one, or any other made like it. */
export const subjectOf = (
  connector: (connect: Connect<ToySandbox>) => Connector,
  hashes: Readonly<Record<string, string>>,
  changes: Partial<Subject<ToySandbox>> = {},
): Subject<ToySandbox> => ({
  connector,
  backend: () => toySandbox(),
  wire: (backend, kit) => kit.http(backend, wireOptions(backend)),
  credential: token,
  calls,
  residue: {
    "number-used": (before: State, after: State) => ({
      ...after,
      items: after.items.map((item) => ({
        ...item,
        nextNote: before.items.find(({ id }) => id === item.id)?.nextNote ?? item.nextNote,
      })),
    }),
    mailed: "the sandbox sends no mail",
    refunded: (before: State, after: State) => ({
      ...after,
      payments: after.payments.filter(
        ({ id, status }) => status !== "refunded" || before.payments.some((each) => each.id === id),
      ),
    }),
  },
  permit: (backend, access) => {
    backend.world.access = access;
  },
  schemaHashes: hashes,
  strictness: { headers: ["toy-version"] },
  ...changes,
});

export const connectToy =
  (definition = toyOf()) =>
  ({ address, credential, timeoutMs }: Connect<ToySandbox>) =>
    definition.create({ baseUrl: address, token: credential, timeoutMs });

export const healthyHashes = connectorSchemaHashes(toyOf());
export const healthy = subjectOf(connectToy(), healthyHashes);
