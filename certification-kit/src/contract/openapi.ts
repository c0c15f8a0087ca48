import { readFile } from "node:fs/promises";
import type { ErrorObject } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { Contract, Exchange } from "../contract.ts";
import { type Content, type Document, modernized, namesOf, type Parameter, resolver } from "./document.ts";
import { treeOf } from "./form.ts";
import { type Fits, type Found, operationsOf } from "./operations.ts";

export interface OpenApiOptions {
  /** What paths begin with; the path of the description's first server when left out. */
  readonly base?: string;
  /** Chooses between operations whose keys carry more than a path: `/items?copy`. All fit when left out. */
  readonly fits?: Fits;
  readonly deviations?: Readonly<Record<string, string>>;
}

/** A JSON body, or one in the form of an HTML form; anything else is not looked into. */
function parsed(type: string, body: string): { readonly value: unknown } | "opaque" | "broken" {
  if (type === "application/x-www-form-urlencoded") return { value: treeOf(new URLSearchParams(body)) };
  if (!/[/+]json$/.test(type)) return "opaque";
  try {
    return { value: JSON.parse(body) };
  } catch {
    return "broken";
  }
}

const bare = (type: string | undefined) => (type ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
/** The description of a media type, wildcards last. */
const contentFor = (content: Content, type: string) =>
  content[type] ??
  Object.entries(content).find(([key]) => bare(key) === type)?.[1] ??
  content[`${type.split("/")[0]}/*`] ??
  content["*/*"];

const most = 3;
const said = (errors: readonly ErrorObject[] | null | undefined): string[] =>
  (errors ?? [])
    .filter(({ keyword }) => keyword !== "anyOf" && keyword !== "oneOf")
    .slice(0, most)
    .map(({ instancePath, message, params }) => {
      const { allowedValues, additionalProperty } = params as Record<string, unknown>;
      const more = allowedValues ?? additionalProperty;
      return `${instancePath || "/"} ${message}${more === undefined ? "" : ` ${JSON.stringify(more).slice(0, 80)}`}`;
    })
    .map((text) => text.replace(/\/\d+(?=[/ ])/g, "/n"));

/** A value in a path, a query or a header as its schema wants it: lists are repeated, or joined. */
function given({ schema, style, explode, in: place }: Parameter, raw: unknown): unknown {
  const { type } = (schema ?? {}) as { readonly type?: unknown };
  if (type !== "array" || Array.isArray(raw)) return raw;
  if (typeof raw !== "string") return raw;
  const repeated = explode ?? (style ?? (place === "query" ? "form" : "simple")) === "form";
  return repeated ? [raw] : raw.split(",");
}

/**
 * Reads an OpenAPI description (3.0 or 3.1, JSON). Requests must be described with their query, headers and body, and
 * may hold nothing at their top that is not; answers must be described with status, media type and body.
 */
export async function openApi(file: string, options: OpenApiOptions = {}): Promise<Contract> {
  const text = await readFile(file, "utf8");
  const document = modernized(JSON.parse(text) as Document);
  const resolve = resolver(document);
  const server = new URL(document.servers?.[0]?.url.replace(/[{}]/g, "") ?? "/", "https://server.invalid");
  const { base = server.pathname.replace(/\/$/, ""), fits = () => true, deviations = {} } = options;
  const find = operationsOf(document, resolve, base, fits);

  const reading = (coerceTypes: boolean) => {
    const ajv = new Ajv2020({
      strict: false,
      allErrors: true,
      validateSchema: false,
      logger: false,
      coerceTypes,
    });
    formats.default(ajv);
    ajv.addSchema({ ...document, $id: "https://description.invalid/" });
    const compiled = new WeakMap<object, ReturnType<typeof ajv.compile>>();
    return (schema: object, value: unknown): string[] => {
      const check = compiled.get(schema) ?? ajv.compile(absolute(schema) as object);
      compiled.set(schema, check);
      // What is coerced is changed in place.
      return check(coerceTypes ? structuredClone(value) : value) ? [] : said(check.errors);
    };
  };
  const exact = reading(false);
  const fromText = reading(true);

  function* bodyProblems(
    content: Content | undefined,
    headers: Exchange["headers"],
    body: string,
  ): Generator<string, void> {
    if (body === "") return;
    if (!content || Object.keys(content).length === 0) return yield "a body that is not described";
    const type = bare(headers["content-type"]);
    const described = contentFor(content, type);
    if (!described) return yield `the media type ${type || "(none)"} is not described`;
    const read = parsed(type, body);
    if (read === "opaque" || !described.schema) return;
    if (read === "broken") return yield `the body is not ${type}`;
    const check = type === "application/x-www-form-urlencoded" ? fromText : exact;
    yield* check(described.schema, read.value);
    const names = namesOf(described.schema, resolve);
    for (const name of Object.keys((read.value ?? {}) as object)) {
      if (names && !Array.isArray(read.value) && !names.has(name)) yield `${name} is not described`;
    }
  }

  function* requestProblems(
    { operation, parameters, values }: Found,
    { path, headers, body }: Exchange,
  ): Generator<string, void> {
    const [, query = ""] = path.split(/\?(.*)/s);
    const asked = treeOf(new URLSearchParams(query));
    const places = { path: values, query: asked, header: headers, cookie: {} };
    for (const parameter of parameters) {
      const { name, in: place, required, schema } = parameter;
      const key = place === "header" ? name.toLowerCase() : name.replace(/\[\]$/, "");
      const raw = (places[place] as Readonly<Record<string, unknown>>)[key];
      if (raw === undefined) {
        if (required && place !== "path") yield `${place} ${name} is required`;
      } else if (schema) {
        for (const problem of fromText(
          { type: "object", properties: { value: schema } },
          { value: given(parameter, raw) },
        ))
          yield `${place} ${name}: ${problem.replace(/^\/value/, "")}`;
      }
    }
    const queries = parameters
      .filter(({ in: place }) => place === "query")
      .map(({ name }) => name.replace(/\[.*$/, ""));
    for (const name of Object.keys(asked))
      if (!queries.includes(name)) yield `query ${name} is not described`;
    const wanted = resolve(operation.requestBody);
    if (wanted?.required && body === "") yield "a body is required";
    for (const problem of bodyProblems(wanted?.content, headers, body)) yield `body: ${problem}`;
  }

  function* answerProblems({ operation }: Found, { method, answer }: Exchange): Generator<string, void> {
    const { status, headers, body } = answer;
    const { responses } = operation;
    const response = resolve(
      responses[status] ?? responses[`${String(status)[0]}XX`] ?? responses["default"],
    );
    if (!response) return yield "the status is not described";
    const content = Object.keys(response.content ?? {}).length > 0 ? response.content : undefined;
    if (body === "" && content && method !== "HEAD" && status !== 204 && status !== 304)
      yield "a body is described, and there is none";
    yield* bodyProblems(content, headers, body);
  }

  return {
    title: `${document.info.title} ${document.info.version}`,
    deviations,
    judge(exchange) {
      const found = find(exchange);
      const { method, malformed, answer } = exchange;
      if (!found) return malformed ? [] : [`${method} ${exchange.path.split("?")[0]}: it is not described`];
      const request = malformed ? [] : [...requestProblems(found, exchange)];
      return [
        ...request.map((text) => `${found.name}: ${text}`),
        ...[...answerProblems(found, exchange)].map(
          (text) => `${found.name}: answer ${answer.status}: ${text}`,
        ),
      ];
    },
  };
}

/** References of a part of the description lead into the whole. */
function absolute(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(absolute);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) =>
      key === "$ref" && typeof inner === "string" && inner.startsWith("#")
        ? [key, `https://description.invalid/${inner}`]
        : [key, absolute(inner)],
    ),
  );
}
