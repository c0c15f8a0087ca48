import { randomUUID } from "node:crypto";
import type { LongLine } from "@reversi-connector/core/program";
import { maxLineBytes } from "@reversi-connector/core/program";
import type { Log } from "../shared/log.ts";
import { messageOf } from "../shared/usage.ts";
import type { Asker } from "./approval.ts";
import type { Calls } from "./calls.ts";
import {
  encode,
  type Fields,
  failureMessage,
  type Id,
  idOfLong,
  isObject,
  isRequest,
  isResponse,
  isUnusable,
  type Message,
  parseMessage,
  type Request,
  rpc,
  type Unusable,
  withoutMark,
} from "./messages.ts";

export interface ProxyOptions {
  toClient(line: string | Buffer): void;
  toUpstream(line: string | Buffer): void;
  readonly calls: () => Calls;
  /** What is added to the server's instructions. */
  readonly instructions: string;
  readonly log: Log;
  /** The client said that it is ready, or the upstream's tools changed. */
  onTools(): void;
}

/** Two line protocols and what goes from one to the other. Lines that need no change pass as the bytes they came as. */
export interface McpProxy {
  fromClient(bytes: Buffer): void;
  fromUpstream(bytes: Buffer): void;
  longFromClient(line: LongLine): void;
  longFromUpstream(line: LongLine): void;
  /** A request of the gateway's own. */
  askUpstream(method: string, params: Fields, timeoutMs: number): Promise<Fields>;
  readonly client: Asker;
  /** The upstream is gone: every request that waits for it is answered with an error. */
  loseAll(why: string): void;
  /** Resolves when the upstream answered every request that is no tool call. */
  idle(): Promise<void>;
}

const checkpointMethod = "reversi/checkpoint";
const questionTimeoutMs = 10 * 60_000;

/** Requests of our own to one side, by id. */
function ownRequests(prefix: string, send: (line: string) => void) {
  const waiting = new Map<Id, { resolve(result: Fields): void; reject(error: Error): void }>();
  let count = 0;
  return {
    ask(method: string, params: Fields, timeoutMs: number, signal?: AbortSignal): Promise<Fields> {
      const id = `${prefix}${++count}`;
      return new Promise<Fields>((resolve, reject) => {
        const give = (why: string) => {
          if (!waiting.delete(id)) return;
          send(encode({ method: "notifications/cancelled", params: { requestId: id, reason: why } }));
          reject(new Error(why));
        };
        const timer = setTimeout(() => give(`no answer to ${method} within ${timeoutMs} ms`), timeoutMs);
        waiting.set(id, {
          resolve: (result) => resolve(result),
          reject: (error) => reject(error),
        });
        const aborted = () => give("the call was given up");
        signal?.addEventListener("abort", aborted, { once: true });
        send(encode({ id, method, params }));
        if (signal?.aborted) aborted();
        timer.unref();
      });
    },
    /** Whether a response was for one of these. */
    take({ id, result, error }: Message): boolean {
      if (typeof id !== "string" || !id.startsWith(prefix)) return false;
      const asked = waiting.get(id);
      waiting.delete(id);
      if (error) asked?.reject(new Error(`error ${error.code}: ${error.message}`));
      else asked?.resolve(result ?? {});
      return true;
    },
    fail(why: string): void {
      for (const { reject } of waiting.values()) reject(new Error(why));
      waiting.clear();
    },
  };
}

export function createProxy({
  toClient,
  toUpstream,
  calls,
  instructions,
  log,
  onTools,
}: ProxyOptions): McpProxy {
  const prefix = `reversi-${randomUUID()}-`;
  const toTheUpstream = ownRequests(prefix, toUpstream);
  const toTheClient = ownRequests(prefix, toClient);
  /** Requests that pass through and have no answer yet. */
  const passing = new Map<Id, "initialize" | "other">();
  let whenIdle: (() => void)[] = [];
  let capabilities: Fields = {};
  let clientName = "unknown";

  const settle = (id: Id) => {
    passing.delete(id);
    if (passing.size > 0) return;
    for (const done of whenIdle) done();
    whenIdle = [];
  };

  /** The client's own capabilities, and ours: checkpoints are acknowledged here. */
  function initialize({ id, method, params = {} }: Request): void {
    capabilities = isObject(params["capabilities"]) ? params["capabilities"] : {};
    const info = params["clientInfo"];
    if (isObject(info) && typeof info["name"] === "string") clientName = info["name"];
    const experimental = { ...(capabilities["experimental"] as object), [checkpointMethod]: {} };
    passing.set(id, "initialize");
    toUpstream(
      encode({ id, method, params: { ...params, capabilities: { ...capabilities, experimental } } }),
    );
  }

  /** The server's own introduction, with the run's name; tasks are left out, because their outcome cannot be journaled. */
  function initialized({ id, result }: Message, line: Buffer): void {
    if (!result) {
      toClient(line);
      return;
    }
    const { tasks: _, ...offered } = isObject(result["capabilities"])
      ? result["capabilities"]
      : ({} as Fields);
    const theirs = typeof result["instructions"] === "string" ? [result["instructions"]] : [];
    const joined = [...theirs, instructions].join("\n\n");
    toClient(encode({ id: id as Id, result: { ...result, capabilities: offered, instructions: joined } }));
  }

  function request(message: Request, line: Buffer): void {
    const { id, method } = message;
    if (method === "tools/call") calls().begin(message, line);
    else if (method === "initialize") initialize(message);
    else if (method === "server/discover") {
      // That revision introduces itself on every request, ours included; the client falls back to `initialize`.
      toClient(failureMessage(id, rpc.methodNotFound, "Method not found"));
    } else {
      passing.set(id, "other");
      toUpstream(line);
    }
  }

  function notification({ method, params = {} }: Message, line: Buffer): void {
    if (method === "notifications/cancelled") {
      const id = params["requestId"] as Id;
      if (passing.has(id)) {
        settle(id);
        toUpstream(line);
      } else if (calls().cancel(id)) toUpstream(line);
      return;
    }
    toUpstream(line);
    if (method === "notifications/initialized") onTools();
  }

  async function checkpoint({ id, params = {} }: Request): Promise<void> {
    try {
      const { requestId, result, evidence } = params;
      if (!isObject(result)) throw new Error(`${checkpointMethod} needs a result that is an object`);
      await calls().checkpoint(requestId as Id, { result, ...(isObject(evidence) && { evidence }) });
      toUpstream(encode({ id, result: {} }));
    } catch (error) {
      toUpstream(failureMessage(id, rpc.ended, messageOf(error)));
    }
  }

  const parse = (line: Buffer, whose: string): Message | Unusable | undefined => {
    const parsed = parseMessage(line);
    if (parsed && isUnusable(parsed)) log.say(`a line from the ${whose} was left out: ${parsed.problem}`);
    return parsed;
  };

  return {
    fromClient(bytes) {
      const line = withoutMark(bytes);
      const message = parse(line, "client");
      if (!message) return;
      if ("problem" in message) {
        toClient(failureMessage(message.id, rpc.invalidRequest, `${message.problem}; nothing was sent`));
      } else if (isResponse(message)) {
        if (!toTheClient.take(message)) toUpstream(line);
      } else if (isRequest(message)) request(message, line);
      else notification(message, line);
    },
    fromUpstream(bytes) {
      const line = withoutMark(bytes);
      const message = parse(line, "upstream server");
      if (!message || "problem" in message) return;
      if (isResponse(message)) {
        if (toTheUpstream.take(message) || calls().answer(message, line)) return;
        const kind = passing.get(message.id as Id);
        if (kind === "initialize") initialized(message, line);
        else toClient(line);
        settle(message.id as Id);
      } else if (isRequest(message) && message.method === checkpointMethod) void checkpoint(message);
      else {
        if (message.method === "notifications/tools/list_changed") onTools();
        toClient(line);
      }
    },
    longFromClient(line) {
      const what = `request larger than ${maxLineBytes} bytes (${line.bytes}); nothing was sent`;
      log.say(what);
      toClient(failureMessage(idOfLong(line) ?? null, rpc.invalidRequest, what));
    },
    longFromUpstream(line) {
      const what = `the server's answer is larger than ${maxLineBytes} bytes (${line.bytes})`;
      log.say(what);
      const id = idOfLong(line);
      if (id === undefined || calls().spoil(id, what) || !passing.has(id)) return;
      toClient(failureMessage(id, rpc.ended, what));
      settle(id);
    },
    askUpstream: (method, params, timeoutMs) => toTheUpstream.ask(method, params, timeoutMs),
    client: {
      get name() {
        return clientName;
      },
      get canAsk() {
        const { elicitation } = capabilities;
        // An empty object means forms: that is how the first revision declared it.
        return isObject(elicitation) && ("form" in elicitation || !("url" in elicitation));
      },
      ask: (params, signal) => toTheClient.ask("elicitation/create", params, questionTimeoutMs, signal),
    },
    loseAll(why) {
      toTheUpstream.fail(why);
      for (const id of [...passing.keys()]) {
        toClient(failureMessage(id, rpc.ended, why));
        settle(id);
      }
    },
    idle: () =>
      passing.size === 0 ? Promise.resolve() : new Promise<void>((resolve) => void whenIdle.push(resolve)),
  };
}
