import { check, fieldOf, itemOf, nameOf, plainOf } from "./check.ts";
import { Failure, graphqlError } from "./errors.ts";
import { type Operation, parse, type Selection } from "./parse.ts";
import { resolvers } from "./resolvers.ts";
import { outputs } from "./schema.ts";
import type { World } from "./world.ts";

type Variables = Readonly<Record<string, unknown>>;

/** The arguments of a field; those that stand for an absent variable are absent. */
const argumentsOf = ({ args }: Selection, variables: Variables) =>
  Object.fromEntries(
    Object.entries(args)
      .map(([name, value]) => [name, plainOf(value, variables)] as const)
      .filter(([, value]) => value !== undefined),
  );

/** A value as the selection asks for it. */
function complete(type: string, value: unknown, selection: Selection, variables: Variables): unknown {
  const plain: unknown = typeof value === "function" ? value(argumentsOf(selection, variables)) : value;
  if (plain === null || plain === undefined) {
    if (type.endsWith("!")) throw new Error(`the sandbox has nothing for ${selection.name}: ${type}`);
    return null;
  }
  const item = itemOf(type);
  if (item !== undefined)
    return (plain as unknown[]).map((each) => complete(item, each, selection, variables));
  return outputs[nameOf(type)]
    ? shape(nameOf(type), plain as object, selection.selections ?? [], variables)
    : plain;
}

const shape = (type: string, value: object, selections: readonly Selection[], variables: Variables): object =>
  Object.fromEntries(
    selections.map((selection) => {
      const { name, key } = selection;
      const field = fieldOf(type, name);
      const found = name === "__typename" ? type : (value as Readonly<Record<string, unknown>>)[name];
      return [key, complete(field?.type ?? "", found, selection, variables)];
    }),
  );

function pick(operations: readonly Operation[], name: string | undefined): Operation {
  const [only] = operations;
  if (name === undefined && only && operations.length === 1) return only;
  const found = operations.find((operation) => name !== undefined && operation.name === name);
  if (found) return found;
  const why =
    name === undefined
      ? "Must provide operation name if query contains multiple operations."
      : `Unknown operation named "${name}".`;
  throw graphqlError(why, "OPERATION_RESOLUTION_FAILURE");
}

export interface Request {
  readonly query: string;
  readonly variables: Variables;
  readonly operationName: string | undefined;
}

/** The data of an operation. @throws Failure when anything of it fails: every field at the root is non-null */
export function execute(world: World, { query, variables, operationName }: Request): object {
  const operation = pick(parse(query), operationName);
  check(operation, variables);
  const root = operation.kind === "query" ? "Query" : "Mutation";
  return Object.fromEntries(
    operation.selections.map((selection) => {
      const { name, key, at } = selection;
      const args = argumentsOf(selection, variables);
      try {
        const value = resolvers[root][name]?.(world, args as never);
        return [key, complete(fieldOf(root, name)?.type ?? "", value, selection, variables)];
      } catch (thrown) {
        if (!(thrown instanceof Failure)) throw thrown;
        throw new Failure({ ...thrown.error, path: [key], locations: [at] }, thrown.status);
      }
    }),
  );
}
