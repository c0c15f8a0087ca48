import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import type { DocumentNode, GraphQLError, OperationDefinitionNode } from "graphql";
import type { Contract } from "../contract.ts";

interface Asked {
  readonly query?: string;
  readonly variables?: Readonly<Record<string, unknown>>;
}
interface Answered {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly { readonly message?: unknown }[];
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/**
 * Reads a GraphQL schema, as SDL. Documents must be valid and their variables fit; data must be what the schema says
 * of the very fields that were asked for, and errors must have messages. The package `graphql` is needed.
 */
export async function graphql(file: string, deviations: Contract["deviations"] = {}): Promise<Contract> {
  const [text, { buildSchema, execute, parse, validate, getVariableValues }] = await Promise.all([
    readFile(file, "utf8"),
    import("graphql").catch(() => {
      throw new Error("the package graphql is needed to read a GraphQL schema: npm install graphql");
    }),
  ]);
  const schema = buildSchema(text);

  function* ofDocument(document: DocumentNode, variables: Asked["variables"]): Generator<string, void> {
    for (const { message } of validate(schema, document)) yield message;
    const [operation] = document.definitions as readonly OperationDefinitionNode[];
    const { errors = [] } = getVariableValues(schema, operation?.variableDefinitions ?? [], variables ?? {});
    for (const { message } of errors) yield `variables: ${message}`;
  }

  /** The schema itself completes the data: what it would not have answered so does not fit. */
  function* ofData(document: DocumentNode, { variables }: Asked, data: object): Generator<string, void> {
    const { data: complete, errors = [] } = execute({
      ...{ schema, document, rootValue: data },
      ...(variables && { variableValues: variables }),
      fieldResolver: (source, _, __, { path }) => source[path.key],
    }) as { readonly data?: unknown; readonly errors?: readonly GraphQLError[] };
    for (const { message, path } of errors) if (path) yield `data: ${message}`;
    if (errors.length === 0 && !isDeepStrictEqual(JSON.parse(JSON.stringify(complete)), data)) {
      yield "data: it holds what was not asked for, or in another form";
    }
  }

  return {
    title: "GraphQL schema",
    deviations,
    judge({ malformed, body, answer }) {
      const asked = parsed(body) as Asked | undefined;
      const answered = parsed(answer.body) as Answered | undefined;
      const document = malformed || asked?.query === undefined ? undefined : parse(asked.query);
      const [definition] = (document?.definitions ?? []) as readonly OperationDefinitionNode[];
      const name = definition?.selectionSet.selections
        .map((each) => ("name" in each ? each.name.value : ""))
        .join(", ");
      const { data, errors } = answered ?? {};
      const found = [
        ...(!malformed && !document ? ["there is no document"] : []),
        ...(document ? ofDocument(document, asked?.variables) : []),
        ...(data && document && !errors ? ofData(document, asked ?? {}, data) : []),
        ...(!data && !errors?.every(({ message }) => typeof message === "string")
          ? [`answer ${answer.status}: neither data nor errors with messages`]
          : []),
      ];
      return found.map((sentence) => `${name ?? "malformed"}: ${sentence}`);
    },
  };
}
