import type { Exchange } from "../contract.ts";
import type { Document, Operation, Parameter, Resolve } from "./document.ts";

export interface Found {
  /** `GET /items/{id}`, as in the description. */
  readonly name: string;
  readonly operation: Operation;
  readonly parameters: readonly Parameter[];
  /** The values of path parameters, percent-decoded. */
  readonly values: Readonly<Record<string, string>>;
}

const literal = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** A template as a pattern; `deep`: its last parameter may hold slashes. */
function patternOf(template: string, deep: boolean): { readonly names: string[]; readonly pattern: RegExp } {
  const names: string[] = [];
  const last = template.lastIndexOf("{");
  let text = "";
  let from = 0;
  for (const { 0: whole, 1: name = "", index } of template.matchAll(/\{([^}]+)\}/g)) {
    names.push(name);
    text += `${literal(template.slice(from, index))}(${deep && index === last ? ".+" : "[^/]+"})`;
    from = index + whole.length;
  }
  return { names, pattern: new RegExp(`^${text}${literal(template.slice(from))}$`) };
}

const decoded = (text: string) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** Whether an operation whose key carries more than a path is the one that a request is for. */
export type Fits = (key: string, exchange: Exchange) => boolean;

/** Finds the operation that a request is for. */
export function operationsOf(document: Document, resolve: Resolve, base: string, fits: Fits) {
  const all = Object.entries(document.paths).flatMap(([key, item]) => {
    const [template = ""] = key.split("?");
    return [false, true].map((deep) => ({
      ...{ key, item, deep, weight: template.replace(/\{[^}]+\}/g, "").length },
      ...patternOf(template, deep),
    }));
  });
  // Literal text before parameters, and parameters without slashes before those with.
  all.sort((a, b) => Number(a.deep) - Number(b.deep) || b.weight - a.weight);

  return function find(exchange: Exchange): Found | undefined {
    const [pathname = ""] = exchange.path.split("?");
    if (!pathname.startsWith(base)) return undefined;
    const path = pathname.slice(base.length);
    for (const { key, item, names, pattern } of all) {
      const match = pattern.exec(path);
      const operation = item[exchange.method.toLowerCase()] as Operation | undefined;
      if (!match || !operation || !fits(key, exchange)) continue;
      const shared = (item["parameters"] ?? []) as readonly Parameter[];
      const own = (operation.parameters ?? []).map(resolve);
      const inherited = shared
        .map(resolve)
        .filter((each) => !own.some(({ name, in: place }) => name === each.name && place === each.in));
      return {
        ...{ name: `${exchange.method} ${key}`, operation, parameters: [...own, ...inherited] },
        values: Object.fromEntries(names.map((name, index) => [name, decoded(match[index + 1] ?? "")])),
      };
    }
    return undefined;
  };
}
