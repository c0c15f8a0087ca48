import { type Connection, type Redactor, toolsFor } from "@reversi-connector/core";
import {
  type HttpAnswer,
  type HttpClient,
  type HttpReader,
  httpConnection,
  type VendorProblem,
} from "@reversi-connector/http";

export interface ShelfOptions {
  readonly token: string;
  /** `https://api.shelf.example/v1` when left out. */
  readonly baseUrl?: string | undefined;
}

/** Every tool of this package is declared through this. */
export const tool = toolsFor<HttpClient, HttpReader>("shelf");

/** The shape of Shelf's tokens: hidden in messages, also where nobody configured them. */
export const tokenPatterns: readonly RegExp[] = [/shelf_[A-Za-z0-9]{32}/g];

export const connect = (
  { token, baseUrl = "https://api.shelf.example/v1" }: ShelfOptions,
  { redact }: { readonly redact: Redactor },
): Connection<HttpClient, HttpReader> =>
  httpConnection({ baseUrl, redact, problem, headers: { authorization: `Bearer ${token}` } });

/** What Shelf says of a failure: the code is what tools decide by, the sentence is for people. */
function problem({ body }: HttpAnswer<unknown>): VendorProblem {
  const { error, message } = body as { error?: string; message?: string };
  return { reason: error, message };
}
