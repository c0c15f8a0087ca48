import {
  type Connection,
  ConnectorError,
  EffectUncertainError,
  type Redactor,
  toolsFor,
} from "@reversi-connector/core";
import { type HttpClient, type HttpReader, httpConnection } from "@reversi-connector/http";
import { problem } from "./problems.ts";

export interface GcpOptions {
  /** OAuth access token. It lives about an hour; nothing here renews it. */
  readonly token: string;
  /** `https://storage.googleapis.com` when left out. */
  readonly baseUrl?: string | undefined;
}

/** Every tool of this package is declared through this. */
export const tool = toolsFor<HttpClient, HttpReader>("gcp");

/** The shapes of Google's access and refresh tokens, API keys and private keys, and of the signatures in signed URLs. */
export const tokenPatterns: readonly RegExp[] = [
  /ya29\.[A-Za-z0-9._-]+/g,
  /1\/\/[A-Za-z0-9_-]{20,}/g,
  /AIza[A-Za-z0-9_-]{35}/g,
  /GOCSPX-[A-Za-z0-9_-]{20,}/g,
  /X-Goog-(?:Signature|Credential)=[^&\s"'<>]+/gi,
  /-----BEGIN (?:RSA )?PRIVATE KEY-----[^-]*/g,
];

/** What went wrong after an earlier write of the same call, which may be a backup: not "nothing was done". */
function afterWrite(error: unknown): unknown {
  if (!ConnectorError.is(error) || error.mayHaveApplied) return error;
  const answered = error.status !== undefined && error.status < 500;
  return answered ? error : new ConnectorError(error.message, { ...error, mayHaveApplied: true });
}

/** A client for one call. After its first write no failure is plainly "not done" any more. */
function tracking(client: HttpClient): HttpClient {
  let wrote = false;
  async function tracked<Answer>(sending: Promise<Answer>, writes: boolean): Promise<Answer> {
    const before = wrote;
    try {
      const answer = await sending;
      wrote ||= writes;
      return answer;
    } catch (error) {
      wrote ||= EffectUncertainError.is(error) || (ConnectorError.is(error) && error.mayHaveApplied);
      throw before ? afterWrite(error) : error;
    }
  }
  return {
    read: (request) => tracked(client.read(request), false),
    write: (request) => tracked(client.write(request), true),
  };
}

export function connect(
  { token, baseUrl = "https://storage.googleapis.com" }: GcpOptions,
  { redact }: { readonly redact: Redactor },
): Connection<HttpClient, HttpReader> {
  const headers = { authorization: `Bearer ${token}` };
  const connection = httpConnection({ baseUrl, redact, problem, headers });
  return { ...connection, client: (scope) => tracking(connection.client(scope)) };
}
