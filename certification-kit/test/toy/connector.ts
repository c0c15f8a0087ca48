import { createHash } from "node:crypto";
import {
  ConnectorError,
  defineConnector,
  type Holds,
  type PackageFacts,
  s,
  type Tool,
  threeWayRestore,
  toolsFor,
} from "@reversi-connector/core";
import { type HttpClient, type HttpReader, httpConnection, path } from "@reversi-connector/http";

export interface ToyOptions {
  readonly baseUrl: string;
  readonly token: string;
}
interface Item {
  readonly id: string;
  readonly title: string;
  readonly version: number;
}
interface Payment {
  readonly id: string;
  readonly status: string;
}

const tool = toolsFor<HttpClient, HttpReader>("toy");
const id = s.string("Id of the item.", { minLength: 1, maxLength: 40, pattern: "^[a-z0-9]+$" });
const title = s.string("Title.", { minLength: 1, maxLength: 100 });
const text = s.string("Text.", { minLength: 1, maxLength: 200 });
const noteId = s.integer("Number of the note.", { minimum: 1 });
const already = s.boolean("True when nothing had to be done.");

const isMissing = (error: unknown) => ConnectorError.is(error) && error.status === 404;

/** The thing, or undefined when it is really gone: a 404 counts only while the list can be read. */
export async function unlessGone<T>(client: HttpReader, reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (!isMissing(error)) throw error;
    await client.read({ path: path`/items`, expect: Array.isArray });
    return undefined;
  }
}

export const itemPath = (item: string) => path`/items/${item}`;
export const readItem = async (client: HttpReader, item: string): Promise<Item | undefined> =>
  (await unlessGone(client, client.read<Item>({ path: itemPath(item), expect: ["id", "title", "version"] })))
    ?.body;
const readNote = async (client: HttpReader, item: string, note: number): Promise<string | undefined> =>
  (
    await unlessGone(
      client,
      client.read<{ text: string }>({ path: path`/items/${item}/notes/${note}`, expect: ["text"] }),
    )
  )?.body.text;
const ifMatch = ({ version }: Item) => ({ "if-match": `"${version}"` });
const same = (a: unknown, b: unknown) => a === b;
const describe = (state: unknown) => (state === undefined ? "nothing" : String(state));

const getItem = tool
  .readOnly("get_item", {
    description: "Read an item.",
    permission: "toy:items:read",
    input: s.object({ id }),
    output: s.object({ id, title, version: s.integer("Version.") }),
  })
  .run(async ({ client, args }) => {
    const { body } = await client.read<Item>({ path: itemPath(args.id), expect: ["id", "title", "version"] });
    return { id: body.id, title: body.title, version: body.version };
  });

const deleteItem = tool
  .idempotent("delete_item", {
    description: "Delete an item. One that is gone already is success.",
    permission: "toy:items:write",
    input: s.object({ id }, { expected: s.string("Delete only while this is its title.") }),
    output: s.object({ already }),
    target: ["id"],
    guard: { kind: "content", server_side: true },
    on_conflict: true,
  })
  .holds(async ({ client, args }) => (await readItem(client, args.id)) === undefined)
  .run(async ({ client, args, onConflict }) => {
    const now = await readItem(client, args.id);
    const states = { before: undefined, after: args.expected ?? now?.title, now: now?.title };
    const todo = threeWayRestore(states, { what: `item ${args.id}`, same, describe, onConflict });
    if (todo === "already" || !now) return { already: true };
    await changing(client, args.id, states.after, () =>
      client.write({ method: "DELETE", path: itemPath(args.id), headers: ifMatch(now), as: "none" }),
    );
    return { already: false };
  });

/** A write under a precondition; when that fails, what is there now says whether it is a conflict. */
async function changing(
  client: HttpReader,
  item: string,
  after: string | undefined,
  write: () => Promise<unknown>,
): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!ConnectorError.is(error) || error.status !== 412) throw error;
    const now = (await readItem(client, item))?.title;
    threeWayRestore({ before: undefined, after, now }, { what: `item ${item}`, same, describe });
    throw error;
  }
}

const createItem = tool
  .reversible("create_item", {
    description: "Create an item.",
    permission: "toy:items:write",
    input: s.object({ title }),
    output: s.object({ id }),
    additive: true,
    compensation: { tool: deleteItem, argument_map: { id: "result.id", expected: "args.title" } },
    checkpoint: { result: ["id"] },
  })
  .landed(async ({ client, checkpoint }) => {
    const made = checkpoint?.result.id;
    if (!made) return "unknown";
    return (await readItem(client, made)) ? { landed: true, result: { id: made } } : { landed: false };
  })
  .run(async ({ client, args, idempotencyKey = "", checkpoint }) => {
    const made = createHash("sha256").update(idempotencyKey).digest("hex").slice(0, 12);
    await checkpoint({ result: { id: made } });
    await client.write<Item>({
      method: "PUT",
      path: itemPath(made),
      json: { title: args.title },
      expect: ({ id }: Item) => id === made,
    });
    return { id: made };
  });

const restoreTitle = tool
  .idempotent("restore_title", {
    description: "Put a title back.",
    permission: "toy:items:write",
    input: s.object({ id, title }, { expected: s.string("Title that the undone step left.") }),
    output: s.object({ already }),
    target: ["id"],
    guard: { kind: "content", server_side: true },
    on_conflict: true,
  })
  .holds(async ({ client, args }) => (await readItem(client, args.id))?.title === args.title)
  .run(async ({ client, args, onConflict }) => {
    const now = await readItem(client, args.id);
    if (!now) throw new ConnectorError(`item ${args.id} is gone`);
    const states = { before: args.title, after: args.expected, now: now.title };
    const todo = threeWayRestore(states, { what: `item ${args.id}`, same, describe, onConflict });
    if (todo === "already") return { already: true };
    await changing(client, args.id, args.expected, () =>
      client.write({
        method: "PATCH",
        path: itemPath(args.id),
        headers: ifMatch(now),
        json: { title: args.title },
        expect: ["version"],
      }),
    );
    return { already: false };
  });

const setTitle = tool
  .reversible("set_title", {
    description: "Change a title.",
    permission: "toy:items:write",
    input: s.object({ id, title }),
    output: s.object({ previous: s.string("Title before.") }),
    compensation: {
      tool: restoreTitle,
      argument_map: { id: "args.id", title: "result.previous", expected: "args.title" },
    },
    checkpoint: { result: ["previous"], evidence: ["version"], guard: "expected" },
    requires: [{ tool: createItem, match: { id: "result.id" } }],
  })
  .landed(async ({ client, args, checkpoint }) => {
    const { result, evidence } = checkpoint ?? {};
    const now = await readItem(client, args.id);
    if (!now || result?.previous === undefined) return "unknown";
    if (now.version === evidence?.version) return { landed: false };
    return now.title === args.title ? { landed: true, result: { previous: result.previous } } : "unknown";
  })
  .run(async ({ client, args, checkpoint }) => {
    const { body: now } = await client.read<Item>({ path: itemPath(args.id), expect: ["title", "version"] });
    await checkpoint({ result: { previous: now.title }, evidence: { version: now.version } });
    await client.write<Item>({
      method: "PATCH",
      path: itemPath(args.id),
      headers: ifMatch(now),
      json: { title: args.title },
      expect: ["version"],
    });
    return { previous: now.title };
  });

const removeNote = tool
  .idempotent("remove_note", {
    description: "Remove a note. One that is gone already is success.",
    permission: "toy:notes:write",
    input: s.object({ id, note_id: noteId }, { expected: s.string("Remove only while this is its text.") }),
    output: s.object({ already }),
    target: ["id", "note_id"],
    guard: { kind: "content", server_side: false },
  })
  .holds(async ({ client, args }) => (await readNote(client, args.id, args.note_id)) === undefined)
  .run(async ({ client, args }) => {
    const now = await readNote(client, args.id, args.note_id);
    const states = { before: undefined, after: args.expected ?? now, now };
    if (threeWayRestore(states, { what: "note", same, describe }) === "already") return { already: true };
    const removing = client.write({
      method: "DELETE",
      path: path`/items/${args.id}/notes/${args.note_id}`,
      as: "none",
    });
    return { already: (await unlessGone(client, removing)) === undefined };
  });

const addNote = tool
  .reversible("add_note", {
    description: "Add a note to an item.",
    permission: "toy:notes:write",
    input: s.object({ id, text }),
    output: s.object({ note_id: noteId }),
    additive: true,
    compensation: {
      tool: removeNote,
      argument_map: { id: "args.id", note_id: "result.note_id", expected: "args.text" },
    },
    requires: [{ tool: createItem, match: { id: "result.id" } }],
    residue: [
      { id: "number-used", text: "The note's number is not used again." },
      { id: "mailed", text: "Whoever follows the item was told by mail." },
    ],
  })
  .run(async ({ client, args }) => {
    const { body: made } = await client.write<{ id: number }>({
      method: "POST",
      path: path`/items/${args.id}/notes`,
      json: { text: args.text },
      expect: ["id"],
    });
    return { note_id: made.id };
  });

const keyed = { header: "Idempotency-Key", window_hours: 24, replays_errors: true };

/** Refunded, or not, or not to be seen with these rights. */
async function isRefunded(client: HttpReader, payment: string): Promise<Holds> {
  try {
    const { body } = await client.read<Payment>({ path: path`/payments/${payment}`, expect: ["status"] });
    return body.status === "refunded";
  } catch (error) {
    if (ConnectorError.is(error) && error.status === 403) return "unknown";
    throw error;
  }
}

const refund = tool
  .idempotent("refund", {
    description: "Give a payment back.",
    permission: "toy:payments:write",
    input: s.object({ payment_id: id }),
    output: s.object({ status: s.string("Status.") }),
    target: ["payment_id"],
    idempotency: keyed,
  })
  .holds(({ client, args }) => isRefunded(client, args.payment_id))
  .run(async ({ client, args, idempotencyKey }) => {
    const { body } = await client.write<Payment>({
      method: "POST",
      path: path`/payments/${args.payment_id}/refund`,
      headers: { "idempotency-key": idempotencyKey },
      expect: ({ status }: Payment) => status === "refunded",
    });
    return { status: body.status };
  });

const pay = tool
  .reversible("pay", {
    description: "Make a payment.",
    permission: "toy:payments:write",
    input: s.object({ amount: s.integer("Cents.", { minimum: 1 }) }),
    output: s.object({ payment_id: id }),
    compensation: { tool: refund, argument_map: { payment_id: "result.payment_id" } },
    idempotency: keyed,
    residue: [{ id: "refunded", text: "The payment stays in the books, refunded." }],
  })
  .landed(async ({ client, idempotencyKey }) => {
    const query = { reference: idempotencyKey };
    const { body } = await client.read<Payment[]>({ path: path`/payments`, query, expect: Array.isArray });
    const [made] = body;
    return made ? { landed: true, result: { payment_id: made.id } } : { landed: false };
  })
  .run(async ({ client, args, idempotencyKey }) => {
    const { body } = await client.write<Payment>({
      method: "POST",
      path: path`/payments`,
      headers: { "idempotency-key": idempotencyKey },
      json: { amount: args.amount, reference: idempotencyKey },
      expect: ["id"],
    });
    return { payment_id: body.id };
  });

const notify = tool
  .irreversible("notify", {
    description: "Send a notice. It cannot be called back.",
    permission: "toy:notices:write",
    input: s.object({ text }),
    output: s.object({ notice: s.integer("Number of the notice.") }),
  })
  .run(async ({ client, args }) => {
    const { body } = await client.write<{ notice: number }>({
      method: "POST",
      path: path`/notices`,
      json: { text: args.text },
      expect: ["notice"],
    });
    return { notice: body.notice };
  });

export const toyTools = {
  ...{ getItem, deleteItem, createItem, restoreTitle, setTitle },
  ...{ removeNote, addNote, refund, pay, notify },
};

export const facts: PackageFacts = {
  name: "reversi-connector-toy",
  version: "1.0.0",
  reversi: {
    connector: "toy",
    main: "TOY_TOKEN",
    settings: {
      TOY_TOKEN: { option: "token", secret: true, description: "The token." },
      TOY_BASE_URL: { option: "baseUrl", description: "Where it is." },
    },
  },
};

/** The toy, of these tools and these facts about its package. */
export const toyOf = (tools: readonly Tool[] = Object.values(toyTools), about: PackageFacts = facts) =>
  defineConnector<ToyOptions, HttpClient, HttpReader>({
    package: about,
    tools,
    connect: ({ baseUrl, token }, { redact }) =>
      httpConnection({
        baseUrl,
        redact,
        headers: { authorization: `Bearer ${token}`, "toy-version": "2026-01-01" },
        problem: ({ body }) => {
          const { code, message } = (body ?? {}) as { code?: string; message?: string };
          return { reason: code, message };
        },
      }),
  });
