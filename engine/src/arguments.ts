import { canonicalJson, checkValue, describeProblems, type Manifest } from "@reversi-connector/core";
import type { UndoCall } from "./keys.ts";
import type { Settlement } from "./records.ts";

/** What a step is known to have been given and to have answered. */
export interface Known {
  readonly args: Readonly<Record<string, unknown>>;
  /** The result, or the part of it that a checkpoint kept. */
  readonly result: unknown;
}

/** The value at a dotted path such as `result.previous.title`; undefined where something on the way is missing. */
export const valueAt = (path: string, known: Known): unknown =>
  path
    .split(".")
    .reduce<unknown>(
      (value, key) =>
        typeof value === "object" && value !== null && Object.hasOwn(value, key)
          ? (value as Record<string, unknown>)[key]
          : undefined,
      known,
    );

/** Values of different types name one thing when they read the same: `12` and `"12"`. */
export const textOf = (value: unknown): string => (typeof value === "string" ? value : canonicalJson(value));

/**
 * The arguments of the compensation, or the first reason why they cannot be made. A missing source leaves out an
 * optional argument and is a reason for a required one; nothing is ever sent as null in its place.
 */
function mapArguments(
  map: NonNullable<Manifest["compensation"]>["argument_map"],
  { tool, input_schema }: Manifest,
  known: Known,
): Record<string, unknown> | string {
  const required = new Set(input_schema.required);
  const args: Record<string, unknown> = {};
  for (const [name, source] of Object.entries(map)) {
    const value = typeof source === "string" ? valueAt(source, known) : source.const;
    if (value !== undefined) args[name] = value;
    else if (required.has(name)) return `${tool} needs ${name}, and ${textOf(source)} is missing`;
  }
  const problems = checkValue(input_schema, args);
  return problems.length === 0
    ? args
    : `${tool} would refuse what the map yields: ${describeProblems(problems)}`;
}

/** What is worked on, as text that is equal for equal objects; null while an identity argument is not known. */
export function targetOf(tool: string, names: readonly string[] | undefined, args: object): string | null {
  if (!names || names.length === 0) return null;
  const identity: Record<string, string> = {};
  for (const name of names) {
    const value = (args as Record<string, unknown>)[name];
    if (value !== undefined && value !== null) identity[name] = textOf(value);
  }
  if (Object.keys(identity).length === 0) return null;
  return `${tool.slice(0, tool.indexOf("."))} ${canonicalJson(identity)}`;
}

/** What is worked on, as far as the arguments alone tell before the call. */
export function targetBefore(
  manifest: Manifest,
  undo: Manifest | undefined,
  args: Known["args"],
): string | null {
  if (!undo) return targetOf(manifest.tool, manifest.target, args);
  const map = manifest.compensation?.argument_map ?? {};
  const bound: Record<string, unknown> = {};
  for (const name of undo.target ?? []) {
    const source = map[name];
    if (source === undefined) continue;
    const value = typeof source === "string" ? valueAt(source, { args, result: undefined }) : source.const;
    if (value === undefined) return null;
    bound[name] = value;
  }
  return targetOf(undo.tool, undo.target, bound);
}

/** What a result makes of a step: its undo and what it works on. */
export function settle(manifest: Manifest, undo: Manifest | undefined, known: Known): Settlement {
  const { compensation } = manifest;
  if (!compensation) return { undo: null, target: targetOf(manifest.tool, manifest.target, known.args) };
  if (!undo) return { undo: null, unresolvable: `${compensation.tool} has no manifest`, target: null };
  const args = mapArguments(compensation.argument_map, undo, known);
  if (typeof args === "string") {
    return { undo: null, unresolvable: args, target: targetBefore(manifest, undo, known.args) };
  }
  return { undo: { tool: undo.tool, args }, target: targetOf(undo.tool, undo.target, args) };
}

/**
 * The undo that may be sent though nobody knows whether the write landed: made from the checkpoint, and safe only
 * through the argument that the manifest names as its guard, which must really be there.
 */
export function guardedUndo(
  { compensation, guarantees }: Manifest,
  undo: Manifest | undefined,
  known: Known,
): UndoCall | undefined {
  const guard = guarantees?.checkpoint_guard;
  if (!compensation || !undo || guarantees?.undo_from_checkpoint !== true || guard === undefined)
    return undefined;
  const args = mapArguments(compensation.argument_map, undo, known);
  if (typeof args === "string" || args[guard] === undefined || args[guard] === null) return undefined;
  return { tool: undo.tool, args };
}

const shapeOf = (value: unknown): unknown =>
  Array.isArray(value)
    ? value
    : typeof value === "object" && value !== null
      ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)]))
      : null;

/**
 * Whether two undos on one target put back the same part of it (the whole file; the same columns of a row), so that
 * where the earlier one left it, nothing of the later one's step can stand.
 */
export const restoresTheSame = (a: UndoCall, b: UndoCall): boolean =>
  a.tool === b.tool && canonicalJson(shapeOf(a.args)) === canonicalJson(shapeOf(b.args));
