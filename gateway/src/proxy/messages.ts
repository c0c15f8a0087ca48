import { isUtf8 } from "node:buffer";
import type { LongLine } from "@reversi-connector/core/program";

export type Id = string | number;
export type Fields = Readonly<Record<string, unknown>>;

/** A JSON-RPC 2.0 message, as far as a proxy has to know it. */
export interface Message {
  readonly jsonrpc: "2.0";
  readonly id?: Id;
  readonly method?: string;
  readonly params?: Fields;
  readonly result?: Fields;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}
export interface Request extends Message {
  readonly id: Id;
  readonly method: string;
}

export const rpc = {
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  ended: -32000,
} as const;

export const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A line that cannot be used, and the request it may have been. */
export interface Unusable {
  readonly problem: string;
  readonly id: Id | null;
}
export const isUnusable = (parsed: Message | Unusable): parsed is Unusable => "problem" in parsed;

const isId = (value: unknown): value is Id => typeof value === "string" || Number.isSafeInteger(value);

function problemOf({ jsonrpc, id, method, params, result }: Fields): string | undefined {
  if (jsonrpc !== "2.0") return "it is no JSON-RPC 2.0 message";
  if (method !== undefined && typeof method !== "string") return "its method is no text";
  if (id !== undefined && !isId(id) && !(id === null && method === undefined))
    return "its id is neither a text nor a whole number";
  if (params !== undefined && !isObject(params)) return "its params are no object";
  if (params !== undefined && params["_meta"] !== undefined && !isObject(params["_meta"]))
    return "its params._meta is no object";
  return result === undefined || isObject(result) ? undefined : "its result is no object";
}

const byteOrderMark = Buffer.from("\uFEFF");
/** A line as others can read it: some programs begin with a byte order mark. */
export const withoutMark = (line: Buffer): Buffer =>
  line[0] === byteOrderMark[0] && line.subarray(0, 3).equals(byteOrderMark) ? line.subarray(3) : line;

/** A line as a message, or what is wrong with it; undefined for a blank line. */
export function parseMessage(line: Buffer): Message | Unusable | undefined {
  if (!isUtf8(line)) return { problem: "it is not valid UTF-8", id: null };
  const text = line.toString("utf8");
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return text.trim() === "" ? undefined : { problem: "it is no JSON", id: null };
  }
  if (!isObject(message)) {
    return {
      problem: Array.isArray(message) ? "batches are not supported" : "it is no JSON object",
      id: null,
    };
  }
  const problem = problemOf(message);
  if (problem === undefined) return message as unknown as Message;
  return { problem, id: isId(message["id"]) ? message["id"] : null };
}

export const isRequest = (message: Message): message is Request =>
  message.method !== undefined && message.id !== undefined;
export const isResponse = ({ method, id }: Message): boolean => method === undefined && id !== undefined;

const idAtHead =
  /^\uFEFF?\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,\s*)*"id"\s*:\s*(-?\d+|"(?:[^"\\]|\\.)*")/;
const idAtTail =
  /(?<!\\)"id"\s*:\s*(-?\d+|"(?:[^"\\]|\\.)*")\s*(?:,\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*)*\}\s*$/;

/** The id in a line of which only the ends are known; undefined when neither end shows it. */
export function idOfLong({ head, tail }: LongLine): Id | undefined {
  const found = (idAtHead.exec(head) ?? idAtTail.exec(tail))?.[1];
  return found === undefined ? undefined : (JSON.parse(found) as Id);
}

export const encode = (message: Omit<Message, "jsonrpc">): string =>
  `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;

export const failureMessage = (id: Id | null, code: number, message: string): string =>
  encode({ id, error: { code, message } } as Message);
