import {
  ConflictError,
  type Connector,
  ConnectorError,
  defineConnector,
  EffectUncertainError,
  s,
  threeWayRestore,
  toolsFor,
} from "@reversi-connector/core";
import type { Remote, Sender } from "./remote.ts";

/** The connector's way to the backend in a test: who is asking travels along, for the books. */
export interface BoxClient {
  readonly remote: Remote;
  /** Finds the sender by the key of the call. */
  senderOf(key: string | undefined): Sender;
}
const tool = toolsFor<BoxClient>("box");
const same = (a: string | null, b: string | null) => a === b;
const describe = (state: string | null) => state ?? "nothing";

const lookAt = ({ remote, senderOf }: BoxClient, key: string | undefined, name: string) => {
  const thing = remote.read(senderOf(key), name);
  return { value: thing?.value ?? null, version: thing?.version ?? null };
};

/** A precondition that failed at the server is somebody else's change. */
const guarded = <Answer>(name: string, write: () => Answer): Answer => {
  try {
    return write();
  } catch (error) {
    if (ConnectorError.is(error) && error.status === 412)
      throw new ConflictError(`${name} changed meanwhile`);
    throw error;
  }
};

interface Restore {
  readonly name: string;
  readonly before: string | null;
  readonly after: string | undefined;
}
function restoreTo(
  client: BoxClient,
  key: string,
  onConflict: "refuse" | "overwrite" | undefined,
  to: Restore,
) {
  const { name, before, after } = to;
  const now = lookAt(client, key, name);
  const states = { before, after, now: now.value };
  if (threeWayRestore<string | null>(states, { what: name, same, describe, onConflict }) === "already")
    return { already: true };
  const change = { kind: "write", name, value: before, ifVersion: now.version } as const;
  guarded(name, () => client.remote.write(client.senderOf(key), change, key));
  return { already: false };
}
const outcome = s.object({ already: s.boolean() });
const name = s.string("Which one.", { minLength: 1 });

export const restore = tool
  .idempotent("restore", {
    description: "Put an earlier value back.",
    permission: "box:write",
    input: s.object({ name, previous: s.nullable(s.string()) }, { expected: s.string() }),
    output: outcome,
    target: ["name"],
    guard: { kind: "version", server_side: true },
    on_conflict: true,
  })
  .holds(async ({ client, args, idempotencyKey }) =>
    same(lookAt(client, idempotencyKey, args.name).value, args.previous),
  )
  .run(async ({ client, args, idempotencyKey, onConflict }) => {
    const to = { name: args.name, before: args.previous, after: args.expected };
    return restoreTo(client, idempotencyKey as string, onConflict, to);
  });

const putInput = s.object({ name, value: s.string() });
const putOutput = s.object({ name, previous: s.nullable(s.string()), value: s.string() });
const kept = ["name", "previous", "value"] as const;
const undoPut = {
  tool: restore,
  argument_map: { name: "args.name", previous: "result.previous", expected: "result.value" },
} as const;

interface PutCall {
  readonly client: BoxClient;
  readonly args: { readonly name: string; readonly value: string };
  readonly idempotencyKey?: string | undefined;
  checkpoint(kept: { result: { name: string; previous: string | null; value: string } }): Promise<void>;
}
async function runPut({ client, args, idempotencyKey: key = "", checkpoint }: PutCall) {
  const now = lookAt(client, key, args.name);
  const result = { name: args.name, previous: now.value, value: args.value };
  await checkpoint({ result });
  const change = { kind: "write", name: args.name, value: args.value, ifVersion: now.version } as const;
  client.remote.write(client.senderOf(key), change, key);
  return result;
}

/** Leaves a marker: a lost answer can be looked up. */
export const put = tool
  .reversible("put", {
    description: "Set a value.",
    permission: "box:write",
    input: putInput,
    output: putOutput,
    checkpoint: { result: kept, guard: "expected" },
    compensation: undoPut,
  })
  .landed(async ({ client, idempotencyKey: key = "", checkpoint }) => {
    const landed = client.remote.evidence(client.senderOf(key), key) !== undefined;
    if (!landed) return { landed: false };
    const { name, previous = null, value } = checkpoint?.result ?? {};
    return name === undefined || value === undefined
      ? "unknown"
      : { landed: true, result: { name, previous, value } };
  })
  .run(runPut);

/** Leaves nothing to look a lost answer up by: only its checkpoint helps. */
export const set = tool
  .reversible("set", {
    description: "Set a value without a marker.",
    permission: "box:write",
    input: putInput,
    output: putOutput,
    checkpoint: { result: kept, guard: "expected" },
    compensation: undoPut,
  })
  .run(runPut);

const remover = (name: "close_thread" | "delete_note", description: string) =>
  tool
    .idempotent(name, {
      description,
      permission: "box:write",
      input: s.object({ id: s.string() }, { expected: s.string() }),
      output: outcome,
      target: ["id"],
      guard: { kind: "version", server_side: true },
      on_conflict: true,
    })
    .holds(async ({ client, args, idempotencyKey }) => lookAt(client, idempotencyKey, args.id).value === null)
    .run(async ({ client, args, idempotencyKey, onConflict }) => {
      const to = { name: args.id, before: null, after: args.expected };
      return restoreTo(client, idempotencyKey as string, onConflict, to);
    });
export const closeThread = remover("close_thread", "Remove a thread with everything in it.");
export const deleteNote = remover("delete_note", "Remove a note.");

const make = (
  { remote, senderOf }: BoxClient,
  key: string,
  prefix: string,
  value: string,
  within?: string,
) => {
  const change = { kind: "make", prefix, value, ...(within !== undefined && { within }) } as const;
  const { name } = remote.write(senderOf(key), change, key);
  if (!name) throw new EffectUncertainError("no id in the answer");
  return { id: name };
};
const made = s.object({ id: s.string() });

export const openThread = tool
  .reversible("open_thread", {
    description: "Open a thread.",
    permission: "box:write",
    input: s.object({ title: s.string() }),
    output: made,
    compensation: { tool: closeThread, argument_map: { id: "result.id", expected: "args.title" } },
  })
  .landed(async ({ client, idempotencyKey: key = "" }) => {
    const id = client.remote.evidence(client.senderOf(key), key);
    return id === undefined ? { landed: false } : { landed: true, result: { id } };
  })
  .run(async ({ client, args, idempotencyKey }) =>
    make(client, idempotencyKey as string, "thread", args.title),
  );

/** Neither evidence nor checkpoint: a lost answer stays unknown until a person looks. */
export const addNote = tool
  .reversible("add_note", {
    description: "Add a note to a thread.",
    permission: "box:write",
    input: s.object({ thread: s.string(), text: s.string() }),
    output: made,
    requires: [{ tool: openThread, match: { thread: "result.id" } }],
    compensation: { tool: deleteNote, argument_map: { id: "result.id", expected: "args.text" } },
  })
  .run(async ({ client, args, idempotencyKey }) =>
    make(client, idempotencyKey as string, "note", args.text, args.thread),
  );

let connecting: BoxClient | undefined;
const definition = defineConnector<Record<never, never>, BoxClient, BoxClient>({
  package: { name: "box", version: "1.0.0", reversi: { connector: "box", settings: {} } },
  connect: () => {
    const client = connecting as BoxClient;
    return { client: () => client, reader: () => client, close: async () => {} };
  },
  tools: [put, set, openThread, addNote, restore, closeThread, deleteNote],
});

export function box(client: BoxClient): Connector {
  connecting = client;
  return definition.create({});
}
