import { InvalidArgumentsError } from "@reversi-connector/core";
import type { BodyForm, Expect } from "./answer.ts";
import { encodeForm, type Query } from "./encode.ts";

/** Names in any case; `undefined` is left out. */
export interface Headers {
  readonly [name: string]: string | undefined;
}

/** A request about to be sent, as a signature sees it. */
export interface OutgoingRequest {
  readonly method: string;
  /** Raw, with the query and with the base URL's path: the bytes on the wire. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Empty when there is none. */
  readonly body: Uint8Array;
}

/** Where a request goes. */
export interface Target {
  /** From `path`…``. */
  readonly path?: string;
  readonly query?: Query | undefined;
  /** In place of `path`: an absolute URL that the backend handed out (the next page). Only on the connection's origin. */
  readonly link?: string;
}

export interface RequestBase<Form extends BodyForm> extends Target {
  readonly headers?: Headers | undefined;
  /** JSON when left out. An empty body is JSON only for HEAD, 204 and 205: `undefined`. */
  readonly as?: Form;
  /** Take any content-encoding: stored objects keep theirs. */
  readonly encoded?: boolean;
  /** What a 2xx must carry; one that does not counts as unreadable. */
  readonly expect?: Expect;
}

/** A request that changes nothing. */
export interface ReadRequest<Form extends BodyForm = BodyForm> extends RequestBase<Form> {
  /** GET when left out; POST for queries that travel in a body. */
  readonly method?: "GET" | "HEAD" | "POST";
  readonly json?: unknown;
}

/** A request that may change something, with at most one of `json`, `form` (see `encodeForm`) and `body`. */
export interface WriteRequest<Form extends BodyForm = BodyForm> extends RequestBase<Form> {
  readonly method: "POST" | "PUT" | "PATCH" | "DELETE";
  readonly json?: unknown;
  readonly form?: object | undefined;
  readonly body?: string | Uint8Array | undefined;
}

const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** @throws InvalidArgumentsError naming the header, never its value */
export function addHeaders(to: Record<string, string>, headers: Headers | undefined): Record<string, string> {
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined) continue;
    if (!headerName.test(name))
      throw new InvalidArgumentsError("a header's name holds a character it must not");
    if (!headerValue.test(value)) {
      throw new InvalidArgumentsError(
        `the header ${name} holds a line break or another character it must not`,
      );
    }
    to[name.toLowerCase()] = value;
  }
  return to;
}

const jsonType = "application/json";
const formType = "application/x-www-form-urlencoded";

/** A body and its content type. */
export interface Payload {
  readonly bytes?: Buffer;
  readonly type?: string;
}

/** @throws InvalidArgumentsError */
export function payloadOf({ json, form, body }: Pick<WriteRequest, "json" | "form" | "body">): Payload {
  const given = [json, form, body].filter((value) => value !== undefined).length;
  if (given > 1) throw new InvalidArgumentsError("a request has one of json, form and body");
  if (json !== undefined) return { bytes: Buffer.from(JSON.stringify(json)), type: jsonType };
  if (form !== undefined) return { bytes: Buffer.from(encodeForm(form)), type: formType };
  if (body === undefined) return {};
  if (typeof body === "string") return { bytes: Buffer.from(body) };
  return { bytes: Buffer.from(body.buffer, body.byteOffset, body.byteLength) };
}
