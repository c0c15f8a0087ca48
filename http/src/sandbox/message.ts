import type { IncomingMessage, ServerResponse } from "node:http";

/** A request as it came over the wire. */
export interface SandboxRequest {
  readonly method: string;
  /** As on the request line: nothing decoded or folded, query included. */
  readonly path: string;
  /** `path` up to the query. */
  readonly pathname: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Name, value, name, value, as sent. */
  readonly rawHeaders: readonly string[];
  readonly bytes: Buffer;
  readonly text: string;
  /** The body as JSON. Throws the vendor's 400 when it is none. */
  json(): unknown;
  /** A reply in the vendor's form for errors. */
  error(status: number, message: string): SandboxReply;
}

/** What came, and what became of it. */
export interface RecordedRequest extends SandboxRequest {
  /** Whether the vendor's handler ran: whether the request took effect. */
  readonly handled: boolean;
  /** The status sent; undefined where no answer was begun. */
  readonly status: number | undefined;
  /** Whether a whole answer was sent. */
  readonly answered: boolean;
}

export interface SandboxReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>> | undefined;
  /** Text and bytes go out as they are, anything else as JSON. */
  readonly body?: unknown;
}

/** How the vendor words an error's body. */
export type ErrorBody = (status: number, message: string) => unknown;

export type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] };

const flat = (headers: IncomingMessage["headers"]) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : (value ?? ""),
    ]),
  );

/** Resolves with the body, or undefined when the sender went away first. */
export const bodyOf = (message: IncomingMessage): Promise<Buffer | undefined> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = [];
    message
      .on("data", (chunk: Buffer) => chunks.push(chunk))
      .on("end", () => resolve(Buffer.concat(chunks)))
      .on("error", () => resolve(undefined))
      .on("close", () => resolve(undefined));
  });

export function recorded(
  message: IncomingMessage,
  bytes: Buffer,
  errorBody: ErrorBody,
): Mutable<RecordedRequest> {
  const path = message.url ?? "";
  const [pathname = "", ...rest] = path.split("?");
  const error = (status: number, text: string): SandboxReply => ({ status, body: errorBody(status, text) });
  return {
    method: message.method ?? "",
    path,
    pathname,
    query: new URLSearchParams(rest.join("?")),
    headers: flat(message.headers),
    rawHeaders: message.rawHeaders,
    bytes,
    text: bytes.toString(),
    json() {
      try {
        return JSON.parse(bytes.toString());
      } catch {
        throw error(400, "the body is not JSON");
      }
    },
    error,
    handled: false,
    status: undefined,
    answered: false,
  };
}

/** A reply in bytes, with the headers that go with them. */
export function serialized({ headers = {}, body }: SandboxReply): {
  readonly headers: Record<string, string | string[]>;
  readonly bytes: Buffer;
} {
  const [bytes, type] =
    body === undefined
      ? [Buffer.alloc(0), undefined]
      : typeof body === "string"
        ? [Buffer.from(body), "text/plain; charset=utf-8"]
        : ArrayBuffer.isView(body)
          ? [Buffer.from(body.buffer, body.byteOffset, body.byteLength), "application/octet-stream"]
          : [Buffer.from(JSON.stringify(body)), "application/json; charset=utf-8"];
  const all: Record<string, string | string[]> = type === undefined ? {} : { "content-type": type };
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) all[name.toLowerCase()] = typeof value === "string" ? value : [...value];
  }
  return { headers: all, bytes };
}

export function answer(response: ServerResponse, reply: SandboxReply): void {
  const { headers, bytes } = serialized(reply);
  const hasNone = reply.status === 204 || reply.status === 304;
  // A reply to HEAD may tell a length that it does not have.
  if (!hasNone) headers["content-length"] ??= String(bytes.length);
  response.writeHead(reply.status, headers).end(hasNone ? undefined : bytes);
}
