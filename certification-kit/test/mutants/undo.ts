import { ConflictError, ConnectorError, s } from "@reversi-connector/core";
import { path } from "@reversi-connector/http";
import { itemPath, readItem, toyTools } from "../toy/connector.ts";
import { calling, type Mutant, onLenient, withRun, withTools, wrapped } from "./mutant.ts";

const create = ["toy.create_item", "toy.delete_item"];
const title = ["toy.set_title", "toy.restore_title"];
const note = ["toy.add_note", "toy.remove_note"];
const payment = ["toy.pay", "toy.refund"];

const { deleteItem, createItem, restoreTitle, setTitle, addNote, pay } = toyTools;
const givenUp = new Set<string>();
const deleted = new Set<string>();

/** Broken on the way back. */
export const undoMutants: readonly Mutant[] = [
  withRun(
    { name: "an undo that does nothing", fails: ["compensation_success"], tools: create },
    "deleteItem",
    async (good, call) => (call.args.expected === undefined ? good(call) : { already: false }),
  ),
  withRun(
    { name: "an undo that does more than was done", fails: ["compensation_success"], tools: note },
    "removeNote",
    async (good, call) => {
      const done = await good(call);
      const { client, args } = call;
      if (args.expected === undefined) return done;
      const one = path`/items/${args.id}/notes/${1}`;
      await client.write({ method: "DELETE", path: one, as: "none" }).catch(() => {});
      return done;
    },
  ),
  withTools(
    { name: "a map that names another object", fails: ["compensation_success"], tools: note },
    {
      addNote: {
        compensation: {
          tool: addNote.compensation?.tool as never,
          argument_map: { id: "args.id", note_id: { const: 1 } },
        },
      },
    },
  ),
  withRun(
    { name: "an undo that fails the second time", fails: ["compensation_success"], tools: title },
    "restoreTitle",
    async (good, call) => {
      const done = await good(call);
      if (done.already && call.args.expected === "Changed")
        throw new ConflictError("somebody was here before");
      return done;
    },
  ),
  withTools(
    { name: "an undo that conflicts with itself", fails: ["compensation_success"], tools: title },
    {
      restoreTitle: {
        input: s.object(
          { id: s.string(), title: s.string() },
          { expected: s.string(), version: s.integer() },
        ),
        async run(call) {
          const now = await readItem(call.client, call.args.id);
          const { version } = call.args;
          if (version !== undefined && now?.version !== version && now?.title !== call.args.title) {
            throw new ConflictError("another version");
          }
          return restoreTitle.run(call as never);
        },
      },
      setTitle: {
        output: s.object({ previous: s.string(), version: s.integer() }),
        compensation: {
          tool: restoreTitle,
          argument_map: {
            id: "args.id",
            title: "result.previous",
            expected: "args.title",
            version: "result.version",
          },
        },
        async run(call) {
          const { version = 0 } = (await readItem(call.client, call.args.id)) ?? {};
          const { previous } = await setTitle.run(call as never);
          return { previous, version: version + 1 };
        },
      },
    },
  ),
  withRun(
    { name: "a redactor that rewrites a before-image", fails: ["compensation_success"], tools: title },
    "setTitle",
    async (good, call) => {
      const { previous } = await good(call);
      return { previous: previous.replace(/tok_\w{12,}/g, "[redacted]") };
    },
  ),
  withTools(
    { name: "an old value trimmed on the way", fails: ["compensation_success"], tools: title },
    {
      restoreTitle: {
        run(call) {
          const { title, expected } = call.args;
          const args = { ...call.args, title: expected === "First" ? title : title.toLowerCase() };
          return restoreTitle.run({ ...call, args } as never);
        },
      },
    },
  ),
  wrapped({ name: "a key kept for ever", fails: ["compensation_failure"], tools: payment }, (toy) => {
    const keys = new Map<string, string>();
    return calling(toy, "toy.refund", (good, args, { idempotencyKey = "", ...context } = {}) => {
      const place = JSON.stringify(args);
      keys.set(place, keys.get(place) ?? idempotencyKey);
      return good(args, { ...context, idempotencyKey: keys.get(place) });
    });
  }),
  withRun(
    { name: "an undo that gives up after one failure", fails: ["compensation_failure"], tools: create },
    "deleteItem",
    async (good, call) => {
      const { id, expected } = call.args;
      if (expected === undefined) return good(call);
      if (givenUp.has(id)) return { already: false };
      return good(call).catch((error) => {
        if (!ConflictError.is(error)) givenUp.add(id);
        throw error;
      });
    },
  ),
  withTools(
    { name: "a goal that always holds", fails: ["verification_failure"], tools: create },
    { deleteItem: { holds: async ({ client, args }) => readItem(client, args.id).then(() => true) } },
  ),
  withTools(
    { name: "a goal that holds when nobody can look", fails: ["verification_failure"], tools: create },
    {
      deleteItem: {
        holds: ({ client, args }) =>
          readItem(client, args.id).then(
            (item) => item === undefined,
            () => true,
          ),
      },
    },
  ),
  withTools(
    { name: "a goal that nobody looks at", fails: ["verification_failure"], tools: create },
    {
      deleteItem: {
        async run(call) {
          const done = await deleteItem.run(call as never);
          deleted.add(`${call.args.id}`);
          return done;
        },
        holds: async ({ args }) => deleted.has(`${args.id}`),
      },
    },
  ),
  withTools(
    { name: "a look that writes", fails: ["verification_failure"], tools: create },
    {
      deleteItem: {
        async holds({ client, args }) {
          await client.read({ method: "POST", path: path`/nowhere`, json: {} }).catch(() => {});
          return (await readItem(client, args.id)) === undefined;
        },
      },
    },
  ),
  withTools(
    { name: "a dependency on the wrong value", fails: ["dependency_block"], tools: note },
    { addNote: { requires: [{ tool: createItem, match: { id: "args.title" } }] } },
  ),
  withTools(
    { name: "evidence that always says yes", fails: ["lost_answer"], tools: create },
    {
      createItem: {
        landed: async ({ checkpoint }) => ({ landed: true, result: { id: checkpoint?.result.id ?? "x" } }),
      },
    },
  ),
  withTools(
    { name: "evidence that always says no", fails: ["lost_answer"], tools: create },
    { createItem: { landed: async () => ({ landed: false }) } },
  ),
  withTools(
    { name: "evidence that is never there", fails: ["lost_answer"], tools: create },
    { createItem: { landed: async () => "unknown" } },
  ),
  withTools(
    { name: "evidence gathered by repeating the write", fails: ["lost_answer"], tools: payment },
    {
      pay: {
        async landed({ client, args, idempotencyKey = "" }) {
          const { body } = await client.read({
            method: "POST",
            path: path`/payments`,
            headers: { "idempotency-key": idempotencyKey },
            json: { amount: args.amount, reference: idempotencyKey },
          });
          return { landed: true, result: { payment_id: body.id } };
        },
      },
    },
  ),
  withRun(
    { name: "a checkpoint after the write", fails: ["lost_answer"], tools: title },
    "setTitle",
    async (good, call) => {
      let late: unknown;
      const checkpoint = async (kept: unknown) => {
        late = kept;
      };
      const done = await good({ ...call, checkpoint });
      await call.checkpoint(late);
      return done;
    },
  ),
  withRun(
    { name: "CK-02: an undo without its guard", fails: ["guard"], tools: create },
    "deleteItem",
    (good, call) => good({ ...call, args: { id: call.args.id } }),
  ),
  withRun(
    { name: "an undo that overcomes the guard at the server", fails: ["guard"], tools: title },
    "restoreTitle",
    async (good, call) => {
      const { client, args } = call;
      const now = await readItem(client, args.id);
      if (args.expected !== undefined && now?.title !== args.expected) return good(call);
      for (;;) {
        const again = await readItem(client, args.id);
        const headers = { "if-match": `"${again?.version}"` };
        try {
          await client.write({
            method: "PATCH",
            path: itemPath(args.id),
            headers,
            json: { title: args.title },
          });
          return { already: false };
        } catch (error) {
          if (!ConnectorError.is(error) || error.status !== 412) throw error;
        }
      }
    },
  ),
  onLenient(
    { name: "CK-02: a sandbox that ignores preconditions", fails: ["guard"], tools: title },
    { ignoresIfMatch: true },
  ),
  withRun(
    { name: "a person's word that is not heard", fails: ["guard"], tools: create },
    "deleteItem",
    (good, call) => good({ ...call, onConflict: "refuse" }),
  ),
  withTools(
    { name: "undeclared residue", fails: ["residue"], tools: note },
    { addNote: { residue: (addNote.residue ?? []).filter(({ id }) => id !== "number-used") } },
  ),
  withTools(
    { name: "a stale residue claim", fails: ["residue"], tools: create },
    { createItem: { residue: [{ id: "number-used", text: "It was so once." }] } },
  ),
  withTools(
    { name: "a residue that nobody explains", fails: ["residue"], tools: payment },
    { pay: { residue: [...(pay.residue ?? []), { id: "ghost", text: "Something." }] } },
  ),
];
