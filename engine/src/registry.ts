import { checkValue, describeProblems, hashOf, type Manifest } from "@reversi-connector/core";

/** Manifests that fit together, by tool. */
export interface Registry {
  readonly tools: readonly string[];
  get(tool: string): Manifest | undefined;
  /** The manifest of what undoes a tool. */
  undoOf(tool: string): Manifest | undefined;
  /** SHA-256 of the tool's whole manifest: what an approval and a step refer to. */
  hash(tool: string): string;
}

type ByTool = ReadonlyMap<string, Manifest>;
const quoted = (names: Iterable<string>) => [...names].join(", ");

function* mapProblems({ tool, input_schema, compensation }: Manifest, undo: Manifest): Generator<string> {
  const map = compensation?.argument_map ?? {};
  const accepted = undo.input_schema.properties ?? {};
  const missing = (undo.input_schema.required ?? []).filter((name) => !Object.hasOwn(map, name));
  if (missing.length > 0) yield `${tool}: the map to ${undo.tool} misses ${quoted(missing)}`;
  for (const [name, source] of Object.entries(map)) {
    const target = Object.hasOwn(accepted, name) ? accepted[name] : undefined;
    if (!target && undo.input_schema.additionalProperties === false)
      yield `${tool}: the map binds ${name}, which ${undo.tool} does not take`;
    else if (typeof source !== "string") {
      const problems = checkValue(target ?? {}, source.const);
      if (problems.length > 0)
        yield `${tool}: the fixed ${name} is refused by ${undo.tool}: ${describeProblems(problems)}`;
    } else if (!/^(args|result)(\.[^.]+)+$/.test(source))
      yield `${tool}: ${name} comes from "${source}"; only args.… and result.… are known`;
    else if (source.startsWith("args.") && input_schema.additionalProperties === false) {
      const own = source.split(".")[1] ?? "";
      if (!Object.hasOwn(input_schema.properties ?? {}, own))
        yield `${tool}: ${name} comes from "${source}", which the tool does not take`;
    }
  }
}

function* problemsOf(manifest: Manifest, all: ByTool): Generator<string> {
  const { tool, effect, compensation, approval, requires = [], target = [], input_schema } = manifest;
  const needsUndo = effect === "reversible" || effect === "compensable";
  if (!/^[^.]+\.[^.]+$/.test(tool)) yield `${tool} is no name of a tool: <connector>.<tool>`;
  if (typeof input_schema !== "object") yield `${tool} has no input_schema`;
  if (needsUndo && !compensation) yield `${tool} is ${effect} and names no compensation`;
  if (!needsUndo && compensation) yield `${tool} is ${effect} and cannot have a compensation`;
  if (effect === "irreversible" && approval !== "always")
    yield `${tool} is irreversible and needs approval: always`;
  if (compensation) {
    const undo = all.get(compensation.tool);
    if (!undo) yield `${tool} names the compensation ${compensation.tool}, which has no manifest`;
    else if (undo.effect !== "idempotent")
      yield `${tool} names ${undo.tool}, which is ${undo.effect}, not idempotent`;
    else yield* mapProblems(manifest, undo);
    const guard = manifest.guarantees?.checkpoint_guard;
    if (guard !== undefined && !Object.hasOwn(compensation.argument_map, guard))
      yield `${tool}: the checkpoint guard ${guard} is not in the map`;
  }
  for (const name of target) {
    if (!Object.hasOwn(input_schema?.properties ?? {}, name))
      yield `${tool}: the target ${name} is no argument of it`;
  }
  for (const { tool: earlier, match } of requires) {
    if (!all.has(earlier)) yield `${tool} requires ${earlier}, which has no manifest`;
    if (Object.keys(match).length === 0) yield `${tool} requires ${earlier} without saying by what`;
  }
}

const hashes = new WeakMap<Manifest, string>();

const from = (manifests: Iterable<Manifest>): Registry => {
  const all = new Map<string, Manifest>();
  const problems: string[] = [];
  for (const manifest of manifests) {
    if (all.has(manifest.tool)) problems.push(`${manifest.tool} has two manifests`);
    all.set(manifest.tool, manifest);
  }
  for (const manifest of all.values()) problems.push(...problemsOf(manifest, all));
  if (problems.length > 0) throw new Error(`manifests do not fit together: ${problems.join("; ")}`);
  return {
    tools: [...all.keys()],
    get: (tool) => all.get(tool),
    undoOf: (tool) => all.get(all.get(tool)?.compensation?.tool ?? ""),
    hash: (tool) => {
      const manifest = all.get(tool);
      if (!manifest) throw new Error(`${tool} has no manifest`);
      const known = hashes.get(manifest) ?? hashOf(manifest);
      hashes.set(manifest, known);
      return known;
    },
  };
};

/** What tools promise, checked once: a map that cannot work is an error here, not in the middle of a rollback. */
export const Registry = {
  /** @throws Error listing every manifest that is double, names what is not there, or maps what does not fit */
  from,
};
