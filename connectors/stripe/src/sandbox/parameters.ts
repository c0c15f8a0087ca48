import { refuse } from "./wire.ts";

/** Parameters as they were sent: text, and what stood in brackets. */
export interface Sent {
  [name: string]: string | Sent;
}

const namePattern = /^[^[\]]+(?:\[[^[\]]*\])*$/;

/** Decodes a form or a query, brackets and all. */
export function parse(text: string): Sent {
  const all: Sent = Object.create(null);
  for (const [name, value] of new URLSearchParams(text)) {
    if (!namePattern.test(name)) refuse(400, { message: `Invalid parameter name: ${name}`, param: name });
    const path = name.replaceAll("]", "").split("[");
    const last = path.pop() ?? "";
    let at = all;
    for (const part of path) {
      const inner = at[part] ?? Object.create(null);
      if (typeof inner === "string") return refuse(400, { message: "Invalid object", param: name });
      at[part] = inner;
      at = inner;
    }
    at[last === "" ? String(Object.keys(at).length) : last] = value;
  }
  return all;
}

/** Reads one parameter, or throws the refusal. */
export type Kind<Value> = (sent: string | Sent, param: string) => Value;

const bad = (message: string, param: string, code?: string): never =>
  refuse(400, { message, param, ...(code !== undefined && { code }) });

/** Text; the empty text leaves the field unset. */
export const text =
  (maximum = 5000): Kind<string | null> =>
  (sent, param) => {
    if (typeof sent !== "string") return bad("Invalid string: {}", param);
    if (sent.length > maximum) return bad(`Invalid string: must be at most ${maximum} characters`, param);
    return sent === "" ? null : sent;
  };

/** Text that cannot be unset. */
export const word: Kind<string> = (sent, param) =>
  text()(sent, param) ??
  bad(
    `You passed an empty string for '${param}'. We assume empty values are an attempt to unset a parameter; however '${param}' cannot be unset. You should remove '${param}' from your request or supply a non-empty value.`,
    param,
    "parameter_invalid_empty",
  );

export const integer: Kind<number> = (sent, param) => {
  const value = /^-?\d{1,15}$/.test(String(sent)) ? Number(sent) : Number.NaN;
  return Number.isNaN(value) ? bad(`Invalid integer: ${sent}`, param, "parameter_invalid_integer") : value;
};

export const oneOf =
  <const Value extends string>(values: readonly Value[]): Kind<Value> =>
  (sent, param) =>
    values.find((value) => value === sent) ??
    bad(`Invalid ${param}: must be one of ${values.join(", ")}`, param);

export const list =
  <Item>(item: Kind<Item>): Kind<Item[]> =>
  (sent, param) => {
    if (typeof sent === "string") return bad("Invalid array", param);
    return Object.entries(sent).map(([index, value]) => {
      if (!/^\d+$/.test(index)) bad("Invalid array", param);
      return item(value, `${param}[${index}]`);
    });
  };

export const metadata: Kind<Record<string, string>> = (sent, param) => {
  if (sent === "") return {};
  if (typeof sent === "string") return bad("Invalid object", param);
  const entries = Object.entries(sent).map(([key, value]) => {
    if (typeof value !== "string") return bad("Metadata values must be strings.", param);
    if (key.length > 40) return bad("Metadata keys can have up to 40 characters.", param);
    if (value.length > 500) return bad("Metadata values can have up to 500 characters.", param);
    return [key, value] as const;
  });
  if (entries.length > 50) bad("Metadata objects can have up to 50 keys.", param);
  return Object.fromEntries(entries.filter(([, value]) => value !== ""));
};

/** `created=1`, or `created[gte]=1` and the like: a test for a time. */
export const times: Kind<(created: number) => boolean> = (sent, param) => {
  if (typeof sent === "string") {
    const exact = integer(sent, param);
    return (created) => created === exact;
  }
  const { gt, gte, lt, lte } = read(
    sent,
    { gt: integer, gte: integer, lt: integer, lte: integer },
    [],
    param,
  );
  return (created) =>
    created > (gt ?? -1) &&
    created >= (gte ?? 0) &&
    created < (lt ?? Number.POSITIVE_INFINITY) &&
    created <= (lte ?? Number.POSITIVE_INFINITY);
};

type Kinds = Readonly<Record<string, Kind<unknown>>>;
type Values<K extends Kinds, Required extends keyof K> = {
  [Name in keyof K]?: ReturnType<K[Name]>;
} & { [Name in Required]: ReturnType<K[Name]> };

/** Parameters, each held to its kind; unknown and missing ones are refused. */
export function read<const K extends Kinds, const Required extends keyof K & string = never>(
  sent: Sent,
  kinds: K,
  required: readonly Required[] = [],
  below = "",
): Values<K, Required> {
  const nameOf = (name: string) => (below === "" ? name : `${below}[${name}]`);
  const values: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(sent)) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    const param = nameOf(name);
    if (!kind) return bad(`Received unknown parameter: ${param}`, param, "parameter_unknown");
    values[name] = kind(value, param);
  }
  for (const name of required) {
    if (!Object.hasOwn(values, name)) bad(`Missing required param: ${name}.`, name, "parameter_missing");
  }
  return values as Values<K, Required>;
}
