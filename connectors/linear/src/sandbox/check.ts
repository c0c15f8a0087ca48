import { graphqlError } from "./errors.ts";
import type { Operation, Selection, Value } from "./parse.ts";
import { type Field, inputs, outputs, scalars, unions } from "./schema.ts";

const invalid = (message: string, { at }: Pick<Selection, "at">) =>
  graphqlError(message, "GRAPHQL_VALIDATION_FAILED", [at]);
const unfit = (message: string) => graphqlError(message, "GRAPHQL_VALIDATION_FAILED");

/** Whatever a client names: what every object inherits is not meant. */
const own = <T>(record: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;
const nullable = (type: string) => (type.endsWith("!") ? type.slice(0, -1) : type);
/** `[Comment!]!` → `Comment!`; undefined for what is no list. */
export const itemOf = (type: string): string | undefined => /^\[(.*)\]!?$/.exec(type)?.[1];
/** The name alone. */
export const nameOf = (type: string) => type.replace(/[[\]!]/g, "");

export const fieldOf = (parent: string, name: string): Field | undefined => {
  if (name === "__typename") return { type: "String!", args: {} };
  const field = own(own(outputs, parent) ?? {}, name);
  return typeof field === "string" ? { type: field, args: {} } : field;
};

/** Why `value` does not fit `type`; undefined when it does. */
function misfit(type: string, value: unknown): string | undefined {
  if (value === null || value === undefined) {
    return type.endsWith("!") ? `Expected non-nullable type "${type}" not to be null.` : undefined;
  }
  const item = itemOf(type);
  if (item !== undefined) {
    const items: unknown[] = Array.isArray(value) ? value : [value];
    return items.map((each) => misfit(item, each)).find(Boolean);
  }
  const name = nullable(type);
  const fields = own(inputs, name);
  if (!fields) return own(scalars, name)?.(value) ? undefined : `${name} cannot represent the value given.`;
  if (typeof value !== "object" || Array.isArray(value)) return `Expected type "${name}" to be an object.`;
  const given = value as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(fields, key));
  if (unknown !== undefined) return `Field "${unknown}" is not defined by type "${name}".`;
  for (const [key, needed] of Object.entries(fields)) {
    if (given[key] === undefined && needed.endsWith("!")) {
      return `Field "${key}" of required type "${needed}" was not provided.`;
    }
    const why = misfit(needed, given[key]);
    if (why !== undefined) return why;
  }
  return undefined;
}

/** A value of the document, its variables put in. */
export function plainOf(value: Value, variables: Readonly<Record<string, unknown>>): unknown {
  switch (value.kind) {
    case "variable":
      return variables[value.name];
    case "literal":
      return value.value;
    case "enum":
      return Symbol(value.name); // no enum is an argument here
    case "list":
      return value.items.map((item) => plainOf(item, variables));
    case "object":
      return Object.fromEntries(
        Object.entries(value.fields).map(([key, field]) => [key, plainOf(field, variables)]),
      );
  }
}

/** Whether a variable of one type may stand where the other is expected. */
const mayStand = (given: string, expected: string) =>
  given === expected || nullable(given) === expected || given.replaceAll("!", "") === expected;

function checkValue(
  value: Value,
  type: string,
  operation: Operation,
  selection: Selection,
  used: Set<string>,
): void {
  const inner = itemOf(type);
  if (value.kind === "variable") {
    const given = own(operation.variables, value.name);
    used.add(value.name);
    if (given === undefined) {
      throw invalid(`Variable "$${value.name}" is not defined by operation "${operation.name}".`, selection);
    }
    if (!mayStand(given, type)) {
      throw invalid(
        `Variable "$${value.name}" of type "${given}" used in position expecting type "${type}".`,
        selection,
      );
    }
  } else if (value.kind === "list" && inner !== undefined) {
    for (const item of value.items) checkValue(item, inner, operation, selection, used);
  } else if (value.kind === "object" && inputs[nullable(type)]) {
    const fields = inputs[nullable(type)] ?? {};
    for (const [key, field] of Object.entries(value.fields)) {
      const expected = own(fields, key);
      if (expected === undefined)
        throw invalid(`Field "${key}" is not defined by type "${nullable(type)}".`, selection);
      checkValue(field, expected, operation, selection, used);
    }
    const missing = Object.keys(fields).find((key) => fields[key]?.endsWith("!") && !value.fields[key]);
    if (missing)
      throw invalid(
        `Field "${nullable(type)}.${missing}" of required type "${fields[missing]}" was not provided.`,
        selection,
      );
  } else {
    const why = misfit(type, plainOf(value, {}));
    if (why !== undefined) throw invalid(why, selection);
  }
}

function checkSelection(outer: string, selection: Selection, operation: Operation, used: Set<string>): void {
  const { name, args, selections, on: parent = outer } = selection;
  if (parent !== outer && !unions[outer]?.includes(parent)) {
    const why = `as objects of type "${outer}" can never be of type "${parent}"`;
    throw invalid(`Fragment cannot be spread here ${why}.`, selection);
  }
  const field = fieldOf(parent, name);
  if (!field) throw invalid(`Cannot query field "${name}" on type "${parent}".`, selection);
  for (const [key, value] of Object.entries(args)) {
    const type = own(field.args, key);
    if (type === undefined)
      throw invalid(`Unknown argument "${key}" on field "${parent}.${name}".`, selection);
    checkValue(value, type, operation, selection, used);
  }
  const missing = Object.keys(field.args).find((key) => field.args[key]?.endsWith("!") && !args[key]);
  if (missing !== undefined) {
    const what = `argument "${missing}" of type "${field.args[missing]}"`;
    throw invalid(`Field "${name}" ${what} is required, but it was not provided.`, selection);
  }
  const leaf = !outputs[nameOf(field.type)] && !unions[nameOf(field.type)];
  if (leaf && selections) {
    throw invalid(
      `Field "${name}" must not have a selection since type "${field.type}" has no subfields.`,
      selection,
    );
  }
  if (!leaf && !selections) {
    throw invalid(`Field "${name}" of type "${field.type}" must have a selection of subfields.`, selection);
  }
  for (const inner of selections ?? []) checkSelection(nameOf(field.type), inner, operation, used);
}

/** Holds an operation and its variables to the schema. @throws Failure as Linear words it */
export function check(operation: Operation, variables: Readonly<Record<string, unknown>>): void {
  const used = new Set<string>();
  const root = operation.kind === "query" ? "Query" : "Mutation";
  for (const type of Object.values(operation.variables)) {
    if (!own(inputs, nameOf(type)) && !own(scalars, nameOf(type)))
      throw unfit(`Unknown type "${nameOf(type)}".`);
  }
  for (const selection of operation.selections) checkSelection(root, selection, operation, used);
  for (const [name, type] of Object.entries(operation.variables)) {
    if (!used.has(name)) throw unfit(`Variable "$${name}" is never used in operation "${operation.name}".`);
    if (variables[name] === undefined && type.endsWith("!")) {
      throw unfit(`Variable "$${name}" of required type "${type}" was not provided.`);
    }
    const why = misfit(type, variables[name]);
    if (why !== undefined) throw unfit(`Variable "$${name}" got invalid value; ${why}`);
  }
}
