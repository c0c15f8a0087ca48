import { canonicalJson, checkValue, describeProblems, type JsonSchema } from "@reversi-connector/core";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

const ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: false, allowUnionTypes: true });
const compiled = new WeakMap<JsonSchema, ValidateFunction>();

/** @throws Error when it is no JSON Schema of 2020-12 */
export function validatorOf(schema: JsonSchema): ValidateFunction {
  const known = compiled.get(schema);
  if (known) return known;
  const made = ajv.compile(schema as object);
  compiled.set(schema, made);
  return made;
}

/** What is wrong with a value against a schema, by core's checker and by Ajv; undefined when both agree that it fits. */
export function misfit(schema: JsonSchema, value: unknown, what: string): string | undefined {
  if (!isJson(value)) return `${what} is not JSON: what is sent would be another value`;
  const mine = checkValue(schema, value, 3, what);
  const validate = validatorOf(schema);
  const theirs = validate(value);
  if (theirs && mine.length === 0) return undefined;
  if (!theirs && mine.length > 0) return `${what} does not fit its schema: ${describeProblems(mine)}`;
  return theirs
    ? `core refuses ${what} (${describeProblems(mine)}) and JSON Schema accepts it`
    : `JSON Schema refuses ${what} (${ajv.errorsText(validate.errors)}) and core accepts it`;
}

/** Whether a value survives being sent as JSON: no dates, no `undefined` in it, no NaN. */
export function isJson(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value === "string") return value.isWellFormed();
  if (value === null || typeof value === "boolean") return true;
  if (Array.isArray(value)) return value.every(isJson);
  if (typeof value !== "object") return false;
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") return false;
  return (
    Object.values(value).every(isJson) &&
    canonicalJson(JSON.parse(JSON.stringify(value))) === canonicalJson(value)
  );
}

const typesOf = ({ type, anyOf }: JsonSchema): readonly string[] =>
  anyOf ? anyOf.flatMap(typesOf) : type === undefined ? [] : typeof type === "string" ? [type] : type;
const wrong: readonly (readonly [string, unknown])[] = [
  ["string", "certification"],
  ["integer", 7],
  ["boolean", true],
  ["object", { certification: true }],
  ["array", [{ certification: true }]],
  ["null", null],
];

/** Arguments that differ from good ones in one point that the schema forbids, and what that point is. */
export function* badArguments(schema: JsonSchema, good: object): Generator<readonly [string, object]> {
  const { properties = {}, required = [] } = schema;
  for (const name of required) {
    const { [name]: _, ...rest } = good as Record<string, unknown>;
    yield [`without ${name}`, rest];
  }
  yield ["with a name nobody knows", { ...good, certification_unknown: 1 }];
  for (const [name, property] of Object.entries(properties)) {
    const allowed = typesOf(property);
    if (allowed.length === 0) continue;
    for (const [type, value] of wrong) {
      const fits = allowed.includes(type) || (type === "integer" && allowed.includes("number"));
      if (!fits) yield [`with ${type} for ${name}`, { ...good, [name]: value }];
    }
    if (allowed.includes("integer")) yield [`with a fraction for ${name}`, { ...good, [name]: 1.5 }];
    if (allowed.includes("string"))
      yield [`with half a character for ${name}`, { ...good, [name]: "a\ud800" }];
    if (property.minLength) yield [`with an empty ${name}`, { ...good, [name]: "" }];
  }
}
