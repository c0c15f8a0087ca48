type Tree = Record<string, unknown>;
const isTree = (value: unknown): value is Tree =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** RFC 7396. */
export function merged(target: unknown, patch: unknown): unknown {
  if (!isTree(patch)) return patch;
  const result: Tree = isTree(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}

interface Operation {
  readonly op?: unknown;
  readonly path?: unknown;
  readonly value?: unknown;
}

/** RFC 6902, as far as members of objects go; undefined where an operation fails. */
export function patched(target: object, operations: unknown): object | undefined {
  if (!Array.isArray(operations)) return undefined;
  const root = structuredClone(target) as Tree;
  for (const { op, path, value } of operations as readonly Operation[]) {
    const keys = String(path).split("/").slice(1);
    const last = keys.pop() ?? "";
    const parent = keys.reduce<unknown>((at, key) => (isTree(at) ? at[key] : undefined), root);
    if (!isTree(parent)) return undefined;
    if (op !== "add" && !Object.hasOwn(parent, last)) return undefined;
    if (op === "test" && JSON.stringify(parent[last]) !== JSON.stringify(value)) return undefined;
    if (op === "add" || op === "replace") parent[last] = value;
    else if (op === "remove") delete parent[last];
  }
  return root;
}
