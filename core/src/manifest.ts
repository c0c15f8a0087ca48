import { hashOf } from "./hash.ts";
import type { JsonSchema } from "./schema.ts";
import type { Const, Effect, Guard, Idempotency, MatchSource, Residue, Tool } from "./tool.ts";

/** Where each argument of the compensation comes from: `"args.x"`, `"result.x.y"` or a fixed value. */
export type ManifestArgumentMap = Readonly<Record<string, string | Const<unknown>>>;
/** Own argument → where the earlier step holds an equal, or an overlapping, value. */
export type ManifestMatch = Readonly<Record<string, MatchSource>>;

/** What a tool promises, as data: written by no hand, read by the engine, the gateway and people. */
export interface Manifest {
  readonly tool: string;
  readonly title: string;
  readonly description: string;
  readonly effect: Effect;
  readonly permission: string;
  readonly approval?: "always";
  readonly compensation?: { readonly tool: string; readonly argument_map: ManifestArgumentMap };
  /** Earlier steps that may be undone only after this one. */
  readonly requires?: readonly { readonly tool: string; readonly match: ManifestMatch }[];
  /** For a tool that can undo: the arguments that say what is worked on. */
  readonly target?: readonly string[];
  /** What the operator, and nobody else, may say about a conflict. The first is the default. */
  readonly on_conflict?: readonly ["refuse", "overwrite"];
  readonly input_schema: JsonSchema;
  /** SHA-256 of the input schema as canonical JSON. */
  readonly schema_hash: string;
  /** SHA-256 of input schema, description, effect and permission. */
  readonly definition_hash: string;
  readonly guarantees?: Guarantees;
}

export interface Guarantees {
  /** What keeps the undo from overwriting somebody else's change. */
  readonly guard: Guard["kind"];
  /** The backend itself refuses; otherwise a small window between reading and writing stays. */
  readonly guard_server_side: boolean;
  /** How an unknown outcome ends: looked up by evidence, or reported to a person. */
  readonly uncertain?: "landed" | "report";
  /** The undo may be sent from the checkpoint alone, though nobody knows whether the write landed … */
  readonly undo_from_checkpoint?: boolean;
  /** … because this argument of it compares first. */
  readonly checkpoint_guard?: string;
  readonly idempotency?: Idempotency;
  readonly residue?: readonly Residue[];
}

const unguarded: Guard = { kind: "none", server_side: false };

function guaranteesOf({
  effect,
  compensation,
  guard,
  checkpoint,
  landed,
  idempotency,
  residue,
}: Tool): Guarantees {
  const { kind, server_side } = (compensation ? compensation.tool.guard : guard) ?? unguarded;
  const held = { guard: kind, guard_server_side: server_side };
  if (effect === "idempotent") return { ...held, ...(idempotency && { idempotency }) };
  return {
    ...held,
    uncertain: landed ? "landed" : "report",
    undo_from_checkpoint: checkpoint?.guard !== undefined,
    ...(checkpoint?.guard !== undefined && { checkpoint_guard: checkpoint.guard }),
    ...(idempotency && { idempotency }),
    residue: residue ?? [],
  };
}

const titleOf = ({ name, title }: Tool): string => {
  const words = name.slice(name.indexOf(".") + 1).replaceAll("_", " ");
  return title ?? words.charAt(0).toUpperCase() + words.slice(1);
};
export const nameOf = (tool: { readonly name: string } | string): string =>
  typeof tool === "string" ? tool : tool.name;

/** SHA-256 of an input schema as canonical JSON: the order of keys does not matter. */
export const schemaHash = (inputSchema: JsonSchema): string => hashOf(inputSchema);

/** SHA-256 of what a person agreed to: input schema, description, effect and permission. */
export const definitionHash = ({
  input_schema,
  description,
  effect,
  permission,
}: Pick<Manifest, "input_schema" | "description" | "effect" | "permission">): string =>
  hashOf({ input_schema, description, effect, permission });

/** The manifest follows from the declaration and its handlers; nothing in it is said twice. */
export function manifestOf(tool: Tool): Manifest {
  const { name, description, effect, permission, compensation, requires, target, input } = tool;
  return {
    tool: name,
    title: titleOf(tool),
    description,
    effect,
    permission,
    ...(effect === "irreversible" && { approval: "always" }),
    ...(compensation && {
      compensation: { tool: compensation.tool.name, argument_map: compensation.argument_map },
    }),
    ...(requires && {
      requires: requires.map(({ tool: earlier, match }) => ({ tool: nameOf(earlier), match })),
    }),
    ...(target && { target }),
    ...(tool.on_conflict && { on_conflict: ["refuse", "overwrite"] as const }),
    input_schema: input,
    schema_hash: schemaHash(input),
    definition_hash: definitionHash({ input_schema: input, description, effect, permission }),
    ...(effect !== "read_only" && { guarantees: guaranteesOf(tool) }),
  };
}

/** What MCP clients see of a tool; every value follows from the declaration. */
export interface Description {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
  readonly annotations: {
    readonly title: string;
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
}

export function descriptionOf(tool: Tool, openWorld: boolean): Description {
  const { name, description, effect, input, output, additive } = tool;
  const title = titleOf(tool);
  return {
    name,
    title,
    description,
    inputSchema: input,
    outputSchema: output,
    annotations: {
      title,
      readOnlyHint: effect === "read_only",
      destructiveHint: effect !== "read_only" && additive !== true,
      idempotentHint: effect === "idempotent" || effect === "read_only",
      openWorldHint: openWorld,
    },
  };
}
