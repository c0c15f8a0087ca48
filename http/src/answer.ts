import { isUtf8 } from "node:buffer";

/** A whole answer of the backend. */
export interface HttpAnswer<Body> {
  readonly status: number;
  /** Names in lower case; repeated ones joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** The body in the form that was asked for. */
  readonly body: Body;
  /** The body decoded as UTF-8, whatever was asked for. */
  readonly text: string;
  readonly bytes: Buffer;
}

/** What `body` becomes: parsed JSON, text, the bytes as sent, or nothing (the body is not looked at). */
export type BodyForm = "json" | "text" | "bytes" | "none";
export type BodyAs<Form extends BodyForm, Json> = Form extends "text"
  ? string
  : Form extends "bytes"
    ? Buffer
    : Form extends "none"
      ? undefined
      : Json;

/** What a 2xx body must carry: names (`"number"`, `"data.issue.id"`) that are there and not null, or a test of its own. */
export type Expect = readonly string[] | ((body: never) => boolean);

/** Bytes that are not what they should be; `message` completes "the answer …". */
export class Unreadable {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

const byteOrderMark = "\uFEFF";

function decode(bytes: Buffer): string {
  // Decoding would replace what it cannot read, and an undo would write the replacement.
  if (!isUtf8(bytes)) throw new Unreadable("is not UTF-8");
  const text = bytes.toString();
  return text.startsWith(byteOrderMark) ? text.slice(1) : text;
}

function parse(bytes: Buffer): unknown {
  if (bytes.length === 0) throw new Unreadable("has no body, where JSON was expected");
  const text = decode(bytes);
  try {
    return JSON.parse(text);
  } catch {
    throw new Unreadable("is not JSON");
  }
}

const hasNoBody = (method: string, status: number) => method === "HEAD" || status === 204 || status === 205;

/** @throws Unreadable */
export function bodyOf(bytes: Buffer, form: BodyForm, method: string, status: number): unknown {
  switch (form) {
    case "none":
      return undefined;
    case "bytes":
      return bytes;
    case "text":
      return decode(bytes);
    case "json":
      return bytes.length === 0 && hasNoBody(method, status) ? undefined : parse(bytes);
  }
}

const at = (body: unknown, name: string): unknown =>
  name
    .split(".")
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | null | undefined)?.[key], body);

/** @throws Unreadable */
export function checkExpected(body: unknown, expect: Expect): void {
  if (typeof expect === "function") {
    if (!expect(body as never)) throw new Unreadable("does not carry what it must");
    return;
  }
  const missing = expect.filter((name) => (at(body, name) ?? null) === null);
  if (missing.length > 0) throw new Unreadable(`does not carry ${missing.join(", ")}`);
}

type Head = Pick<HttpAnswer<unknown>, "status" | "headers">;

export const answerWith = <Body>({ status, headers }: Head, bytes: Buffer, body: Body): HttpAnswer<Body> => ({
  status,
  headers,
  body,
  bytes,
  get text() {
    return bytes.toString();
  },
});

/** The answer as the vendor's hooks see it: `body` is the JSON, or undefined when there is none; parsed when looked at. */
export function answerForVendor({ status, headers }: Head, bytes: Buffer): HttpAnswer<unknown> {
  let parsed: { readonly body: unknown } | undefined;
  const read = () => {
    try {
      return { body: parse(bytes) };
    } catch {
      return { body: undefined };
    }
  };
  return {
    status,
    headers,
    bytes,
    get body() {
      parsed ??= read();
      return parsed.body;
    },
    get text() {
      return bytes.toString();
    },
  };
}
