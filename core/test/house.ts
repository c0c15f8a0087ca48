import { defineConnector, s, type Tool, toolsFor } from "../src/index.ts";

/** Tools with one of each effect, and of everything that a declaration can say. */
const tool = toolsFor<object>("house");
const id = { id: s.string("The id.") };
const common = {
  permission: "house:things:write",
  input: s.object(id),
  output: s.object({ ...id, old: s.nullable(s.string()) }),
};

export const remove = tool
  .idempotent("remove_thing", {
    ...common,
    description: "Remove a thing.",
    input: s.object(id, { expected: s.nullable(s.string()) }),
    target: ["id"],
    guard: { kind: "version", server_side: true },
    on_conflict: true,
    idempotency: { header: "Idempotency-Key", window_hours: 24, replays_errors: true },
  })
  .holds(async () => true)
  .run(async ({ args }) => ({ id: args.id, old: null }));
export const unlike = tool
  .idempotent("unlike", {
    ...common,
    title: "Take a like back",
    description: "Take a like back.",
    target: ["id"],
    additive: true,
  })
  .holds(async () => true)
  .run(async ({ args }) => ({ id: args.id, old: null }));
export const create = tool
  .reversible("create_thing", {
    ...common,
    description: "Create a thing.",
    additive: true,
    compensation: { tool: remove, argument_map: { id: "result.id", expected: { const: null } } },
    checkpoint: { result: ["id"], evidence: ["seen"], guard: "expected" },
    residue: [{ id: "thing-name", text: "The name stays taken." }],
  })
  .landed(async () => "unknown")
  .run(async ({ args }) => ({ id: args.id, old: null }));
export const move = tool
  .compensable("move_thing", {
    ...common,
    description: "Move a thing.",
    compensation: { tool: unlike, argument_map: { id: "args.id" } },
    requires: [
      { tool: create, match: { id: "result.id" } },
      { tool: "house.move_thing", match: { id: { overlaps: "args.id" } } },
    ],
  })
  .run(async ({ args }) => ({ id: args.id, old: null }));
export const burn = tool
  .irreversible("burn_thing", { ...common, description: "Burn a thing." })
  .run(async ({ args }) => ({ id: args.id, old: null }));
export const look = tool
  .readOnly("look", { ...common, permission: "house:things:read", description: "Look at a thing." })
  .run(async ({ args }) => ({ id: args.id, old: null }));

const connection = () => ({ client: () => ({}), reader: () => ({}), close: async () => {} });
export const define = (tools: readonly Tool<object>[], { name = "house", openWorld = true } = {}) =>
  defineConnector<object, object>({
    package: { name: `@test/${name}`, version: "1.2.3", reversi: { connector: name, settings: {} } },
    openWorld,
    connect: connection,
    tools,
  });
export const house = define([remove, unlike, create, move, burn, look]);
export const manifestOf = (name: string) => {
  const found = house.manifests.find(({ tool }) => tool === name);
  if (!found) throw new Error(`no manifest of ${name}`);
  return found;
};
