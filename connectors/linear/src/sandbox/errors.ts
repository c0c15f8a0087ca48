import type { Location } from "./parse.ts";

/** How Linear classifies a failure: its type, its code, and the status it means, whatever the HTTP status. */
const kinds = {
  input: { type: "invalid input", code: "INPUT_ERROR", statusCode: 400 },
  authentication: { type: "authentication error", code: "AUTHENTICATION_ERROR", statusCode: 401 },
  forbidden: { type: "forbidden", code: "FORBIDDEN", statusCode: 403 },
  rateLimited: { type: "ratelimited", code: "RATELIMITED", statusCode: 429 },
  internal: { type: "internal error", code: "INTERNAL_SERVER_ERROR", statusCode: 500 },
} as const;
export type ErrorKind = keyof typeof kinds;

export interface GraphQLError {
  readonly message: string;
  readonly path?: readonly string[];
  readonly locations?: readonly Location[];
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** A failure on its way to the answer: thrown by whatever finds it. */
export class Failure {
  readonly error: GraphQLError;
  /** The HTTP status of the answer. */
  readonly status: number;
  constructor(error: GraphQLError, status: number) {
    this.error = error;
    this.status = status;
  }
}

/** A failure that Linear's own code reports. `shown` is the sentence for people. */
export const failure = (
  kind: ErrorKind,
  message: string,
  shown = message,
  status: number = kinds[kind].statusCode,
): Failure =>
  new Failure(
    {
      message,
      extensions: { ...kinds[kind], userError: kind !== "internal", userPresentableMessage: shown },
    },
    status,
  );

/** A document, or variables, that do not fit the schema. */
export const graphqlError = (message: string, code: string, locations?: readonly Location[]): Failure =>
  new Failure(
    {
      message,
      ...(locations && { locations }),
      extensions: { type: "graphql error", code, statusCode: 400, userError: true },
    },
    400,
  );

/** The body of a failed answer. */
export const bodyOf = (error: GraphQLError) => ({ errors: [error], data: null });

const kindOf = (status: number): ErrorKind => {
  if (status === 401) return "authentication";
  if (status === 403) return "forbidden";
  if (status === 429) return "rateLimited";
  return status >= 500 ? "internal" : "input";
};
/** The body that goes with a status. */
export const errorBody = (status: number, message: string) => bodyOf(failure(kindOf(status), message).error);
