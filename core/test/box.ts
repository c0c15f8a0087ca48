import {
  type Call,
  type Checkpoint,
  type CheckpointingCall,
  type CommonOptions,
  type Connector,
  type Context,
  defineConnector,
  type Holds,
  type Landed,
  type LostCall,
  s,
  toolsFor,
} from "../src/index.ts";

export const token = "tok-aB3/dE5+gH7jK9mN1pQ3";

/** What there is to write to: a shelf of named texts that knows who touched it. */
export interface Shelf {
  readonly items: Map<string, string>;
  readonly log: string[];
}
export interface Reader {
  get(name: string): string | undefined;
}
export interface Writer extends Reader {
  set(name: string, text: string): void;
}

type Args = { name: string; text: string; note: string };
type Result = { name: string; old: string | null; about: string };
type Write = CheckpointingCall<Writer, Args, Pick<Result, "name" | "old">, "seen">;

/** Replaces single handlers, so that a test says in one place how its backend behaves. */
export interface Handlers {
  put?(call: Write): Promise<Result>;
  read?(call: Call<Writer, { name: string }>): Promise<{ text: string }>;
  holds?(call: Call<Reader, { name: string; old: string | null }>): Promise<Holds>;
  landed?(call: LostCall<Reader, Args, Pick<Result, "name" | "old">, "seen">): Promise<Landed<Result>>;
  connect?(): void;
  client?(): void;
  close?(): Promise<void>;
}

const named = { name: s.string("", { minLength: 1 }) };
const common = { description: "Test.", permission: "box:items:write" };

/** A connector on a shelf in memory. */
export function box(handlers: Handlers = {}, options: CommonOptions & { token?: string } = {}) {
  const shelf: Shelf = { items: new Map(), log: [] };
  const tool = toolsFor<Writer, Reader>("box");
  const restore = tool
    .idempotent("restore", {
      ...common,
      input: s.object({ ...named, old: s.nullable(s.string()) }),
      output: s.object({ already: s.boolean() }),
      target: ["name"],
      guard: { kind: "content", server_side: false },
      on_conflict: true,
    })
    .holds(async (call) =>
      handlers.holds ? handlers.holds(call) : call.client.get(call.args.name) === "old",
    )
    .run(async ({ client, args, onConflict, idempotencyKey }) => {
      shelf.log.push(`restore ${args.name} ${onConflict ?? "-"} ${idempotencyKey ?? "-"}`);
      client.set(args.name, args.old ?? "");
      return { already: false };
    });
  const put = tool
    .reversible("put", {
      ...common,
      input: s.object({ ...named, text: s.string() }, { note: s.string("", { default: "none" }) }),
      output: s.object({ ...named, old: s.nullable(s.string()), about: s.string() }),
      compensation: { tool: restore, argument_map: { name: "result.name", old: "result.old" } },
      checkpoint: { result: ["name", "old"], evidence: ["seen"] },
    })
    .landed(async (call) => (handlers.landed ? handlers.landed(call) : "unknown"))
    .run(async (call) => {
      if (handlers.put) return handlers.put(call);
      const { name, text } = call.args;
      const old = call.client.get(name) ?? null;
      await call.checkpoint({ result: { name, old } });
      call.client.set(name, text);
      return { name, old, about: text };
    });
  const read = tool
    .readOnly("read", {
      ...common,
      permission: "box:items:read",
      input: s.object(named),
      output: s.object({ text: s.string() }),
    })
    .run(async (call) =>
      handlers.read ? handlers.read(call) : { text: call.client.get(call.args.name) ?? "" },
    );
  const definition = defineConnector<{ token: string }, Writer, Reader>({
    package: {
      name: "@test/box",
      version: "1.2.3",
      reversi: {
        connector: "box",
        main: "BOX_TOKEN",
        settings: { BOX_TOKEN: { option: "token", description: "Token.", secret: true } },
      },
    },
    openWorld: false,
    tokenPatterns: [/vendor_[a-z]+/],
    connect() {
      handlers.connect?.();
      const reader = { get: (name: string) => shelf.items.get(name) };
      return {
        client: () => {
          handlers.client?.();
          shelf.log.push("client");
          return {
            ...reader,
            set(name, text) {
              shelf.log.push(`set ${name}`);
              shelf.items.set(name, text);
            },
          };
        },
        reader: () => {
          shelf.log.push("reader");
          return reader;
        },
        close: async () => handlers.close?.(),
      };
    },
    tools: [restore, put, read],
  });
  const connector = definition.create({ token, ...options });
  return { connector, definition, shelf, ...callers(connector) };
}

const callers = ({ tools, holds, landed }: Connector) => ({
  put: (args: unknown, context?: Context) => required(tools["box.put"])(args, context),
  read: (args: unknown, context?: Context) => required(tools["box.read"])(args, context),
  holds: (args: unknown, context?: Context) => required(holds["box.restore"])(args, context),
  landed: (args: unknown, checkpoint?: Checkpoint) =>
    required(landed["box.put"])(args, { since: new Date(0), checkpoint }),
});
const required = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error("no such tool");
  return value;
};

/** What a call that must fail failed with. */
export const failure = (running: Promise<unknown>): Promise<unknown> =>
  running.then(
    (result) => {
      throw new Error(`expected an error, got ${JSON.stringify(result)}`);
    },
    (error: unknown) => error,
  );
