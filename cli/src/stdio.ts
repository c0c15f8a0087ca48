import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { maxLineBytes } from "@reversi-connector/core/program";
import { type BadLine, lineSplitter } from "./lines.ts";
import type { Log, StdoutWrite } from "./log.ts";

type RequestId = string | number;

const idAtHead =
  /^\uFEFF?\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,\s*)*"id"\s*:\s*(-?\d+|"(?:[^"\\]|\\.)*")/;
const idAtTail =
  /(?<!\\)"id"\s*:\s*(-?\d+|"(?:[^"\\]|\\.)*")\s*(?:,\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*)*\}\s*$/;

/** The id of a request of which only the ends are known; null when neither end shows it. */
function idOf({ head, tail }: BadLine): RequestId | null {
  const found = (idAtHead.exec(head) ?? idAtTail.exec(tail))?.[1];
  return found === undefined ? null : (JSON.parse(found) as RequestId);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isParams = (value: unknown): boolean =>
  value === undefined || (isObject(value) && (value["_meta"] === undefined || isObject(value["_meta"])));

export interface StdioTransport extends Transport {
  /** Resolves when every request read so far was answered, cancelled or refused. */
  answered(): Promise<void>;
  /** Resolves when stdin ended, or stdout has no reader any more. */
  readonly over: Promise<"end" | "broken">;
}

/** MCP's line protocol: a bad line costs that line only, and stdin's end is an end. */
export function stdioTransport(stdin: NodeJS.ReadStream, write: StdoutWrite, log: Log): StdioTransport {
  const open = new Map<RequestId, number>();
  let whenAnswered: (() => void)[] = [];
  let finish: (how: "end" | "broken") => void = () => {};
  const over = new Promise<"end" | "broken">((resolve) => {
    finish = resolve;
  });

  const settle = (id: RequestId) => {
    const left = (open.get(id) ?? 0) - 1;
    if (left > 0) open.set(id, left);
    else open.delete(id);
    if (open.size > 0) return;
    for (const done of whenAnswered) done();
    whenAnswered = [];
  };
  const put = (message: object) =>
    new Promise<void>((resolve) => {
      write(`${JSON.stringify(message)}\n`, (error) => {
        if (error) finish("broken");
        resolve();
      });
    });
  const refuse = (line: BadLine) => {
    const message =
      line.reason === "too long"
        ? `request larger than ${maxLineBytes} bytes (${line.bytes}); nothing was executed`
        : "request is not valid UTF-8; nothing was executed";
    log.warn(message);
    void put({ jsonrpc: "2.0", id: idOf(line), error: { code: -32600, message } });
  };
  const receive = (text: string) => {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      return log.warn("a line on stdin is no JSON; ignored");
    }
    if (Array.isArray(message)) return log.warn("a batch on stdin; batches are not supported, ignored");
    if (!isObject(message) || message["jsonrpc"] !== "2.0")
      return log.warn("a line on stdin is no JSON-RPC 2.0 message; ignored");
    const { id, method, params } = message;
    if (typeof method !== "string") return transport.onmessage?.(message as unknown as JSONRPCMessage);
    // Exactly these members: the SDK ignores, without an answer, a request that has others.
    const sent = { jsonrpc: "2.0" as const, method, ...(params !== undefined && { params }) };
    if (id === undefined) {
      transport.onmessage?.(sent as JSONRPCMessage);
      // Nothing is sent for a cancelled request any more, so it is not waited for; the call itself is, elsewhere.
      if (method === "notifications/cancelled" && isObject(params)) settle(params["requestId"] as RequestId);
      return;
    }
    if (typeof id !== "string" && !Number.isSafeInteger(id))
      return log.warn("a request without a usable id; ignored");
    if (!isParams(params)) {
      const error = { code: -32602, message: "params must be an object, and so must params._meta" };
      return void put({ jsonrpc: "2.0", id, error });
    }
    open.set(id as RequestId, (open.get(id as RequestId) ?? 0) + 1);
    transport.onmessage?.({ ...sent, id } as JSONRPCMessage);
  };
  const lines = lineSplitter(maxLineBytes, receive, refuse);
  const data = (chunk: Buffer) => lines.push(chunk);
  const end = () => {
    lines.end();
    finish("end");
  };

  const transport: StdioTransport = {
    over,
    async start() {
      stdin.on("data", data).once("end", end).once("error", end);
      process.stdout.on("error", () => finish("broken"));
    },
    async send(message) {
      await put(message);
      if (!("method" in message) && "id" in message && message.id !== undefined) settle(message.id);
    },
    answered: () =>
      open.size === 0 ? Promise.resolve() : new Promise<void>((resolve) => void whenAnswered.push(resolve)),
    async close() {
      stdin.off("data", data).off("end", end).pause();
      transport.onclose?.();
    },
  };
  return transport;
}
