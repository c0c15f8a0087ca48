/** The parts of an OpenAPI description that exchanges are held against. */
export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header" | "cookie";
  readonly required?: boolean;
  readonly style?: string;
  readonly explode?: boolean;
  readonly schema?: object;
  readonly content?: Content;
}
export type Content = Readonly<Record<string, { readonly schema?: object }>>;
export interface Response {
  readonly content?: Content;
}
export interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content?: Content };
  readonly responses: Readonly<Record<string, Response>>;
}
export interface Document {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly servers?: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

type Loose = Record<string, unknown>;

/** OpenAPI 3.0 says `nullable` and a boolean `exclusiveMinimum`; JSON Schema has types and numbers for these. */
function modern(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(modern);
  if (typeof value !== "object" || value === null) return value;
  const { nullable, exclusiveMinimum, exclusiveMaximum, ...rest } = Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, modern(inner)]),
  ) as Loose;
  const { minimum, maximum, ...open } = rest;
  const bounded = {
    ...open,
    ...(minimum !== undefined && (exclusiveMinimum === true ? { exclusiveMinimum: minimum } : { minimum })),
    ...(maximum !== undefined && (exclusiveMaximum === true ? { exclusiveMaximum: maximum } : { maximum })),
    ...(typeof exclusiveMinimum === "object" && { exclusiveMinimum }),
    ...(typeof exclusiveMaximum === "object" && { exclusiveMaximum }),
  };
  // A property may be called `nullable`; only the keyword is a boolean.
  if (nullable === undefined) return bounded;
  if (nullable !== true) return typeof nullable === "boolean" ? bounded : { ...bounded, nullable };
  return { anyOf: [bounded, { type: "null" }] };
}

export const modernized = (document: Document): Document =>
  document.openapi.startsWith("3.0") ? (modern(document) as Document) : document;

/** Looks references up. */
export function resolver(document: Document) {
  const at = (pointer: string): unknown =>
    pointer
      .slice(2)
      .split("/")
      .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"))
      .reduce<unknown>((value, key) => (value as Loose | undefined)?.[key], document);
  return function resolved<Value>(value: Value): Value {
    const { $ref } = (value ?? {}) as { readonly $ref?: string };
    return typeof $ref === "string" ? resolved(at($ref) as Value) : value;
  };
}
export type Resolve = ReturnType<typeof resolver>;

interface Shape {
  readonly properties?: Readonly<Record<string, object>>;
  readonly additionalProperties?: unknown;
  readonly allOf?: readonly object[];
  readonly anyOf?: readonly object[];
  readonly oneOf?: readonly object[];
}

/** The names that a schema describes; undefined where it leaves names open, or describes none. */
export function namesOf(schema: object | undefined, resolve: Resolve): Set<string> | undefined {
  const shape = resolve(schema) as Shape | undefined;
  if (!shape || (shape.additionalProperties !== undefined && shape.additionalProperties !== false))
    return undefined;
  const parts = [...(shape.allOf ?? []), ...(shape.anyOf ?? []), ...(shape.oneOf ?? [])];
  const names = new Set(Object.keys(shape.properties ?? {}));
  for (const part of parts) {
    const { type } = resolve(part) as { readonly type?: unknown };
    if (type === "null") continue;
    const more = namesOf(part, resolve);
    if (!more) return undefined;
    for (const name of more) names.add(name);
  }
  return names.size > 0 ? names : undefined;
}
