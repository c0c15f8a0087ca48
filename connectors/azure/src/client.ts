import { randomUUID } from "node:crypto";
import {
  type Connection,
  ConnectorError,
  EffectUncertainError,
  type Redactor,
  toolsFor,
} from "@reversi-connector/core";
import {
  type BodyAs,
  type BodyForm,
  type Headers,
  type HttpAnswer,
  httpConnection,
  type ReadRequest,
  type WriteRequest,
} from "@reversi-connector/http";
import { checkAccount, checkEndpoint, type Place, pathOf } from "./names.ts";
import { problem } from "./problems.ts";

export interface AzureOptions {
  /** Microsoft Entra access token for `https://storage.azure.com/`. */
  readonly token: string;
  /** Name of the storage account: 3 to 24 lower-case letters and digits. */
  readonly account: string;
  /**
   * `https://<account>.blob.core.windows.net` when left out. Another cloud's host, or an emulator's address with the account
   * as its path.
   */
  readonly endpoint?: string | undefined;
  /** Certificates (PEM) to trust instead of the usual ones. */
  readonly ca?: string | undefined;
}

/** A container, or a blob in it. */
export interface Target {
  readonly container: string;
  readonly blob?: string;
}
type Read<Form extends BodyForm> = Omit<ReadRequest<Form>, "path" | "link" | "json"> & { readonly as: Form };
type Write = Pick<WriteRequest, "method" | "headers" | "body"> & {
  /** The one status that says that it was done. */
  readonly done: number;
  /** What is copied, in place of a body. */
  readonly from?: Place;
};

export interface BlobReader {
  /** @throws ConnectorError, InvalidArgumentsError */
  read<Form extends BodyForm>(
    target: Target,
    request: Read<Form>,
  ): Promise<HttpAnswer<BodyAs<Form, unknown>>>;
}
export interface BlobClient extends BlobReader {
  /**
   * Sends a write, once. After the first one of a call no failure is plainly "not done" any more.
   * @throws EffectUncertainError also for an answer that does not say that it was done; ConnectorError, InvalidArgumentsError
   */
  write(target: Place, request: Write): Promise<HttpAnswer<string>>;
}

/** Every tool of this package is declared through this. */
export const tool = toolsFor<BlobClient, BlobReader>("azure");

/** The shapes of Entra tokens, and of what makes an address with a signature, or a connection string, a credential. */
export const tokenPatterns: readonly RegExp[] = [
  /eyJ[\w-]+\.[\w-]+\.[\w-]+/g,
  /\bsig=[\w%+/=-]{20,}/gi,
  /AccountKey=[\w+/=]{20,}/gi,
];

const serviceVersion = "2023-11-03";

/** What went wrong after an earlier write of the same call: not "nothing was done". */
function afterWrite(error: unknown): unknown {
  if (!ConnectorError.is(error) || error.mayHaveApplied) return error;
  const answered = error.status !== undefined && error.status < 500;
  if (answered || error.reason === "ServerBusy") return error;
  return new ConnectorError(error.message, { ...error, mayHaveApplied: true });
}

/** @throws EffectUncertainError */
function checkDone(answer: HttpAnswer<string>, { method, done }: Write, blob: string): void {
  if (answer.status === done) return;
  throw new EffectUncertainError(
    `HTTP ${answer.status}: ${method} ${blob}: Azure answers ${done} when it is done; whether it took effect is unknown`,
  );
}

/** @throws InvalidArgumentsError naming the option */
export function connect(
  { token, account, endpoint, ca }: AzureOptions,
  { redact }: { readonly redact: Redactor },
): Connection<BlobClient, BlobReader> {
  checkAccount(account);
  if (endpoint !== undefined) checkEndpoint(endpoint);
  const baseUrl = endpoint ?? `https://${account}.blob.core.windows.net`;
  const authorization = `Bearer ${token}`;
  const connection = httpConnection({
    ...{ baseUrl, redact, ca, problem },
    headers: { authorization, "x-ms-version": serviceVersion },
    headersFor: () => ({
      "x-ms-date": new Date().toUTCString(),
      "x-ms-client-request-id": randomUUID(),
    }),
  });

  /** The service reads what it copies under a credential of its own: a private source needs the token once more. */
  const sourceHeaders = (from: Place): Headers => {
    const address = `${baseUrl.replace(/\/+$/, "")}${pathOf(from)}`;
    if (Buffer.byteLength(address) <= 2048)
      return { "x-ms-copy-source": address, "x-ms-copy-source-authorization": authorization };
    throw new ConnectorError(
      `${from.blob}: its address has more than 2048 characters, so Azure cannot copy it; nothing was sent`,
    );
  };

  return {
    reader(scope) {
      const reader = connection.reader(scope);
      return { read: (target, request) => reader.read({ ...request, path: pathOf(target) }) };
    },
    client(scope) {
      const client = connection.client(scope);
      let wrote = false;
      const tracked = async <Answer>(sending: Promise<Answer>, writes: boolean): Promise<Answer> => {
        const before = wrote;
        try {
          const answer = await sending;
          wrote ||= writes;
          return answer;
        } catch (error) {
          const sent =
            EffectUncertainError.is(error) || (ConnectorError.is(error) && error.status !== undefined);
          wrote ||= writes && sent;
          throw before ? afterWrite(error) : error;
        }
      };
      return {
        read: (target, request) => tracked(client.read({ ...request, path: pathOf(target) }), false),
        async write(target, { from, ...request }) {
          const { method, body } = request;
          const headers = { ...request.headers, ...(from && sourceHeaders(from)) };
          const expect = (text: string) => text === "";
          const sent = { ...{ method, body, headers, expect }, path: pathOf(target), as: "text" as const };
          const answer = await tracked(client.write<unknown, "text">(sent), true);
          checkDone(answer, request, target.blob);
          return answer;
        },
      };
    },
    close: () => connection.close(),
  };
}
