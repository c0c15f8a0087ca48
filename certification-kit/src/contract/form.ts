type Tree = { [key: string]: Tree | string | string[] };

/** Lists are written with indices, with nothing between the brackets, or by repeating a name. */
function listed(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, listed(inner)] as const);
  const isList = entries.length > 0 && entries.every(([key], index) => key === String(index));
  return isList ? entries.map(([, inner]) => inner) : Object.fromEntries(entries);
}

/** Names with brackets as a tree: `metadata[a]=1&items[0][id]=x`. A name that comes again is a list. */
export function treeOf(pairs: Iterable<readonly [string, string]>): Readonly<Record<string, unknown>> {
  const root: Tree = Object.create(null);
  for (const [name, value] of pairs) {
    const [first = "", ...rest] = name
      .split("[")
      .map((part, index) => (index === 0 ? part : part.replace(/\]$/, "")));
    const keys = [first, ...rest];
    let at: Tree = root;
    for (const [index, key] of keys.entries()) {
      const own = key === "" ? String(Object.keys(at).length) : key;
      const known = at[own];
      if (index < keys.length - 1) {
        const next: Tree = typeof known === "object" && !Array.isArray(known) ? known : Object.create(null);
        at[own] = next;
        at = next;
      } else if (known === undefined) at[own] = value;
      else at[own] = [...(Array.isArray(known) ? known : [String(known)]), value];
    }
  }
  return listed(root) as Record<string, unknown>;
}
