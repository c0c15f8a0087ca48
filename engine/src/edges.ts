import type { Manifest } from "@reversi-connector/core";
import { type Known, textOf, valueAt } from "./arguments.ts";
import type { Registry } from "./registry.ts";

type Rule = NonNullable<Manifest["requires"]>[number];
/** Steps by their target, so that those of one target can be passed over at once. */
type Steps = Map<string | null, number[]>;

const segments = (path: string): string[] => path.split("/").filter((part) => part !== "" && part !== ".");
/** The same path, or one above the other. */
const overlap = (a: readonly string[], b: readonly string[]): boolean =>
  (a.length < b.length ? a : b).every((part, at) => part === a[at] && part === b[at]);

interface Entry {
  readonly step: number;
  readonly target: string | null;
}
function put<Key>(map: Map<Key, Steps>, key: Key, { step, target }: Entry): void {
  const steps: Steps = map.get(key) ?? new Map();
  map.set(key, steps);
  const list = steps.get(target);
  if (list) list.push(step);
  else steps.set(target, [step]);
}
/** All steps but those of one target. */
function* others(steps: Steps | undefined, except: string | null): Generator<number> {
  for (const [target, list] of steps ?? []) if (target === null || target !== except) yield* list;
}
function* ancestors(path: readonly string[]): Generator<string> {
  for (let length = path.length - 1; length >= 0; length--) yield path.slice(0, length).join("/");
}

/** Finds paths that are the same as, above or below a given one, without comparing with each. */
function pathIndex() {
  const at = new Map<string, Steps>();
  const below = new Map<string, Steps>();
  return {
    add(path: string, entry: Entry) {
      const parts = segments(path);
      put(at, parts.join("/"), entry);
      for (const above of ancestors(parts)) put(below, above, entry);
    },
    *find(path: string, except: string | null): Generator<number> {
      const parts = segments(path);
      const own = parts.join("/");
      yield* others(at.get(own), except);
      yield* others(below.get(own), except);
      for (const above of ancestors(parts)) yield* others(at.get(above), except);
    },
  };
}

function groupedBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);
const isThere = (value: unknown) => value !== undefined && value !== null;

/** One kind of index for one rule: equal values, and for each `overlaps` a path index beside it. */
function ruleIndex({ match }: Rule) {
  const equal = Object.entries(match).flatMap(([own, source]) =>
    typeof source === "string" ? [{ own, path: source }] : [],
  );
  const overlapping = Object.entries(match).flatMap(([own, source]) =>
    typeof source === "string" ? [] : [{ own, path: source.overlaps }],
  );
  const same = new Map<string, Steps>();
  const paths = overlapping.map((side) => ({ ...side, index: pathIndex() }));
  const keyOf = (values: readonly unknown[]) =>
    values.every(isThere) ? JSON.stringify(values.map(textOf)) : undefined;

  return {
    add(entry: Entry, known: Known) {
      const key = keyOf(equal.map(({ path }) => valueAt(path, known)));
      if (key !== undefined) put(same, key, entry);
      for (const { path, index } of paths)
        for (const value of listOf(valueAt(path, known))) if (isThere(value)) index.add(textOf(value), entry);
    },
    find(args: Known["args"], except: string | null): Set<number> {
      const key = keyOf(equal.map(({ own }) => args[own]));
      if (key === undefined) return new Set();
      const sets = paths.map(({ own, index }) => {
        const values = listOf(args[own]).filter(isThere);
        return new Set(values.flatMap((value) => [...index.find(textOf(value), except)]));
      });
      if (equal.length > 0) sets.unshift(new Set(others(same.get(key), except)));
      const [first = new Set<number>(), ...rest] = sets;
      return new Set([...first].filter((step) => rest.every((set) => set.has(step))));
    },
    /** Whether a step whose result is not known could be meant: everything that is known agrees. */
    possible: (args: Known["args"], known: Known): boolean =>
      Object.entries(match).every(([own, source]) => {
        if (!isThere(args[own])) return false;
        const path = typeof source === "string" ? source : source.overlaps;
        const theirs = valueAt(path, known);
        if (!isThere(theirs)) return theirs === undefined && path.startsWith("result.");
        if (typeof source === "string") return textOf(theirs) === textOf(args[own]);
        const mine = listOf(args[own]).map((one) => segments(textOf(one)));
        return listOf(theirs).some((one) => mine.some((path) => overlap(path, segments(textOf(one)))));
      }),
  };
}

/** Which earlier steps a new call builds on, as its manifest's `requires` say. */
export interface Edges {
  began(step: number, tool: string, args: Known["args"], target: string | null): void;
  /** The outcome is known: by the result, or as nothing done. */
  ended(
    step: number,
    outcome: { readonly result: unknown; readonly target: string | null } | "nothing",
  ): void;
  /**
   * Steps that this call must be undone before. A step whose result is not known counts when nothing contradicts it;
   * steps on the call's own target are left out, because a target keeps its own order.
   */
  match(tool: string, args: Known["args"], target: string | null): number[];
}

export function edgesOf(registry: Registry): Edges {
  const rules = registry.tools.flatMap((tool) =>
    (registry.get(tool)?.requires ?? []).map((rule) => ({
      tool,
      earlier: rule.tool,
      index: ruleIndex(rule),
    })),
  );
  const rulesOf = groupedBy(rules, ({ tool }) => tool);
  const rulesTo = groupedBy(rules, ({ earlier }) => earlier);
  const open = new Map<number, { tool: string; args: Known["args"]; target: string | null }>();
  return {
    began(step, tool, args, target) {
      if (rulesTo.has(tool)) open.set(step, { tool, args, target });
    },
    ended(step, outcome) {
      const begun = open.get(step);
      if (!begun) return;
      open.delete(step);
      if (outcome === "nothing") return;
      const known = { args: begun.args, result: outcome.result };
      const entry = { step, target: outcome.target };
      for (const { index } of rulesTo.get(begun.tool) ?? []) index.add(entry, known);
    },
    match(tool, args, target) {
      const found = new Set<number>();
      for (const { earlier, index } of rulesOf.get(tool) ?? []) {
        for (const step of index.find(args, target)) found.add(step);
        for (const [step, begun] of open) {
          if (begun.tool !== earlier || (target !== null && begun.target === target)) continue;
          if (index.possible(args, { args: begun.args, result: undefined })) found.add(step);
        }
      }
      return [...found].sort((a, b) => a - b);
    },
  };
}
