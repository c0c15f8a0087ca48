import { type Connection, type Redactor, toolsFor } from "@reversi-connector/core";
import { type HttpClient, type HttpReader, httpConnection } from "@reversi-connector/http";
import { failed, problem } from "./failures.ts";

export interface LinearOptions {
  /** Personal API key, or `Bearer ` and an OAuth token: sent as the whole `Authorization` header, as it is. */
  readonly apiKey: string;
  /** `https://api.linear.app` when left out. */
  readonly baseUrl?: string | undefined;
}

/** Every tool of this package is declared through this. */
export const tool = toolsFor<HttpClient, HttpReader>("linear");

/** Keys, tokens, webhook secrets, and addresses of files that need no login. */
export const tokenPatterns: readonly RegExp[] = [
  /\blin_(?:api|oauth|wh)_[A-Za-z0-9]{32,}/g,
  /https:\/\/uploads\.linear\.app\/[^\s"'<>]*[?&]signature=[^\s"'<>]+/g,
];

export const connect = (
  { apiKey, baseUrl = "https://api.linear.app" }: LinearOptions,
  { redact }: { readonly redact: Redactor },
): Connection<HttpClient, HttpReader> =>
  httpConnection({
    baseUrl,
    redact,
    failed,
    problem,
    headers: { authorization: apiKey, "user-agent": "reversi-connector-linear" },
  });

const endpoint = "/graphql";

/**
 * The data that a query brings. `operation` is the query without its keyword, so that no read can carry a mutation;
 * `expect` names what the data must hold.
 * @throws ConnectorError
 */
export async function query<Data>(
  client: HttpReader,
  operation: string,
  variables: object,
  expect: readonly string[],
): Promise<Data> {
  const { body } = await client.read<{ readonly data: Data }>({
    method: "POST",
    path: endpoint,
    json: { query: `query ${operation}`, variables },
    expect: expect.map((name) => `data.${name}`),
  });
  return body.data;
}

/**
 * The data that a mutation brings. `proves` says whether it shows the effect.
 * @throws EffectUncertainError when nobody knows whether it took effect; ConnectorError
 */
export async function mutate<Data>(
  client: HttpClient,
  operation: string,
  variables: object,
  proves: (data: Data) => boolean,
): Promise<Data> {
  const { body } = await client.write<{ readonly data: Data }>({
    method: "POST",
    path: endpoint,
    json: { query: `mutation ${operation}`, variables },
    expect: ({ data }: { readonly data: Data }) => proves(data),
  });
  return body.data;
}
