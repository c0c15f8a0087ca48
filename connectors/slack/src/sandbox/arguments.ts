import type { SandboxRequest } from "@reversi-connector/http/sandbox";

export type Kind = "text" | "boolean" | "integer" | "json";
/** Argument → what it holds. */
export type Kinds = Readonly<Record<string, Kind>>;
/** A method's arguments, and whether each must be there. Only methods that write take JSON. */
export interface Parameters {
  readonly writes: boolean;
  readonly required: Kinds;
  readonly optional: Kinds;
}

/** Arguments that were checked. */
export interface Arguments {
  has(name: string): boolean;
  /** "" when it was left out. */
  text(name: string): string;
  is(name: string): boolean;
  number(name: string, otherwise: number): number;
  json(name: string): unknown;
}

type Fail = (error: string, details?: object) => never;
type Values = Readonly<Record<string, unknown>>;

const forms = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\b/i;

function bodyOf({ headers, text }: SandboxRequest, { writes }: Parameters, fail: Fail): Values {
  const { "content-type": type } = headers;
  if (type === undefined) return text === "" ? {} : fail("missing_post_type");
  if (forms.test(type)) return Object.fromEntries(new URLSearchParams(text));
  if (!/^application\/json\s*(?:;|$)/i.test(type)) fail("invalid_post_type");
  if (/charset=(?!utf-?8\b)/i.test(type)) fail("invalid_charset");
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    fail("invalid_json");
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) return fail("json_not_object");
  // Methods that read take their arguments from the query or a form only.
  return writes ? (body as Values) : {};
}

const fromText: Readonly<Record<Kind, (text: string) => unknown>> = {
  text: (text) => text,
  boolean: (text) => ({ true: true, "1": true, false: false, "0": false })[text],
  integer: (text) => (/^\d{1,9}$/.test(text) ? Number(text) : undefined),
  json: (text) => {
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  },
};
const fits: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  text: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  integer: Number.isInteger,
  json: (value) => typeof value === "object" && value !== null,
};

/**
 * A call's arguments, from the query of a GET or the body of a POST. Slack overlooks names that it does not know; here
 * they are refused, so that a misspelt one shows.
 */
export function argumentsOf(request: SandboxRequest, parameters: Parameters, fail: Fail): Arguments {
  const { required, optional } = parameters;
  const given =
    request.method === "GET" ? Object.fromEntries(request.query) : bodyOf(request, parameters, fail);
  const invalid = (why: string) =>
    fail("invalid_arguments", { response_metadata: { messages: [`[ERROR] ${why}`] } });
  const values = new Map<string, unknown>();
  for (const [name, value] of Object.entries(given)) {
    const kind =
      (Object.hasOwn(required, name) && required[name]) || (Object.hasOwn(optional, name) && optional[name]);
    if (!kind) return invalid(`no such argument: ${name}`);
    const read = typeof value === "string" ? fromText[kind](value) : value;
    if (!fits[kind](read)) invalid(`must be ${kind}: ${name}`);
    values.set(name, read);
  }
  for (const name of Object.keys(required)) if (!values.has(name)) invalid(`missing required field: ${name}`);
  if (request.method !== "GET" && request.query.size > 0) invalid("arguments in two places");
  return {
    has: (name) => values.has(name),
    text: (name) => (values.get(name) as string | undefined) ?? "",
    is: (name) => values.get(name) === true,
    number: (name, otherwise) => (values.get(name) as number | undefined) ?? otherwise,
    json: (name) => values.get(name),
  };
}
