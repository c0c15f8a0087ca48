import { AsyncLocalStorage } from "node:async_hooks";
import {
  ConnectorError,
  type Context,
  EffectUncertainError,
  isConnectorError,
} from "@reversi-connector/core";
import { RefusedError, type Run } from "@reversi-connector/engine";
import { messageOf } from "../shared/usage.ts";
import { errorOf, failureResult, refusal, resultOf } from "./answers.ts";
import type { Catalog, Entry } from "./catalog.ts";
import { encode, type Fields, type Id, isObject, type Message, type Request } from "./messages.ts";

/** The upstream's answer to a call, as it came. */
interface Answered {
  readonly message: Message;
  readonly line: Buffer;
}

/** A call from the agent that has no answer yet. */
interface Going {
  readonly stop: AbortController;
  /** The agent does not want the answer any more. */
  cancelled: boolean;
  writes: boolean;
  checkpoint: Context["checkpoint"];
  /** Set while the upstream has the call. */
  exchange?: { answer(answered: Answered): void; lose(why: string): void };
}

export interface CallsOptions {
  readonly run: Run;
  catalog(): Promise<Catalog>;
  toClient(line: string | Buffer): void;
  toUpstream(line: string | Buffer): void;
  redact(text: string): string;
  /** How long the upstream may take for a call that writes, in milliseconds. */
  readonly timeoutMs: number;
}

/** The agent's tool calls on their way through the journal. */
export interface Calls {
  begin(request: Request, line: Buffer): void;
  /** Whether the line was the answer to a call; then it has been dealt with. */
  answer(message: Message, line: Buffer): boolean;
  /** The upstream's answer to a call came but cannot be used. False when there is no such call. */
  spoil(id: Id, why: string): boolean;
  /** The agent gives a call up. True when the upstream has it, and must be told. */
  cancel(id: Id): boolean;
  /** Makes a checkpoint of the call with this id durable. */
  checkpoint(id: Id, checkpoint: { readonly result: object; readonly evidence?: object }): Promise<void>;
  /** From now on no call is let through, for this reason. */
  shut(why: string): void;
  /** Ends every call that does not write, and every question to a person. */
  giveUpReads(why: string): void;
  /** The upstream is gone: whatever it has is lost. */
  loseAll(why: string): void;
  /** Resolves when every call was answered. */
  idle(): Promise<void>;
}

/** How long a cancelled write may still tell its outcome, in milliseconds. */
const cancelGraceMs = 2000;

/** The signal of the call that a question to a person belongs to. */
export const callSignal = new AsyncLocalStorage<AbortSignal>();

const advice: Readonly<Record<string, string>> = {
  no_manifest: " A person can add a manifest for it to the folder given with --manifests.",
  scope: " A person can widen --scope if this agent may do it.",
};

const textOf = (meta: unknown, key: string): string | undefined => {
  const value = isObject(meta) ? meta[key] : undefined;
  return typeof value === "string" && value !== "" ? value : undefined;
};

export function callsThrough({ run, catalog, toClient, toUpstream, redact, timeoutMs }: CallsOptions): Calls {
  const going = new Map<Id, Going>();
  /** Ids whose answer nobody waits for any more. */
  const abandoned = new Set<Id>();
  let shutBecause: string | undefined;
  let whenIdle: (() => void)[] = [];

  const tellUpstream = (requestId: Id, reason: string) =>
    toUpstream(encode({ method: "notifications/cancelled", params: { requestId, reason } }));

  /** Hands the call to the upstream and waits for what becomes of it. */
  function exchange(id: Id, call: Going, line: string | Buffer, tool: string): Promise<Answered> {
    return new Promise<Answered>((resolve, reject) => {
      const timers: NodeJS.Timeout[] = [];
      const after = (ms: number, work: () => void) => timers.push(setTimeout(work, ms));
      const end = () => {
        for (const timer of timers) clearTimeout(timer);
        delete call.exchange;
      };
      const lose = (why: string) => {
        end();
        abandoned.add(id);
        const message = `${tool}: ${why}`;
        reject(call.writes ? new EffectUncertainError(message) : new ConnectorError(message));
      };
      const answer = (answered: Answered) => {
        end();
        resolve(answered);
      };
      call.exchange = { answer, lose };
      if (call.writes) {
        after(timeoutMs, () => {
          tellUpstream(id, "time limit");
          lose(`no answer within ${timeoutMs} ms`);
        });
      }
      const cancelled = () => {
        const why = "cancelled after it was sent";
        if (call.writes) after(cancelGraceMs, () => lose(why));
        else lose(why);
      };
      call.stop.signal.addEventListener("abort", cancelled, { once: true });
      toUpstream(line);
    });
  }

  /** The line as the agent sent it, with the key and, where it spelled the tool otherwise, the upstream's name of it. */
  function outgoing(
    { id, method, params = {} }: Request,
    line: Buffer,
    { upstreamName }: Entry,
    key?: string,
  ) {
    if (key === undefined && params["name"] === upstreamName) return line;
    const meta =
      key === undefined ? {} : { _meta: { ...(params["_meta"] as object), "reversi/idempotency_key": key } };
    return encode({ id, method, params: { ...params, name: upstreamName, ...meta } });
  }

  async function journaled(
    request: Request,
    line: Buffer,
    call: Going,
    entry: Entry,
  ): Promise<Fields | Buffer> {
    const { id, params = {} } = request;
    const { name: tool, manifest } = entry;
    let answered: Answered | undefined;
    let own: unknown;
    let sent = false;
    const execute = async (_: unknown, { idempotencyKey, checkpoint }: Context) => {
      call.checkpoint = checkpoint;
      try {
        if (call.stop.signal.aborted) throw new ConnectorError(`${tool}: given up before it was sent`);
        sent = true;
        answered = await exchange(id, call, outgoing(request, line, entry, idempotencyKey), tool);
        const error = errorOf(answered.message, redact);
        if (error) throw error;
      } catch (error) {
        own = error;
        throw error;
      }
      return call.writes ? resultOf(answered.message) : undefined;
    };
    const args = params["arguments"] ?? {};
    const reason = textOf(params["_meta"], "reversi/reason");
    const { signal } = call.stop;
    const make = () => run.call({ tool, args: args as object, reason, execute, signal });
    try {
      await (manifest?.approval ? callSignal.run(signal, make) : make());
    } catch (error) {
      if (answered && (error === own || !call.writes)) return answered.line;
      if (RefusedError.is(error))
        return refusal(error.reason, `${error.message}${advice[error.reason] ?? ""}`);
      if (isConnectorError(error)) return failureResult(error);
      if (!sent) return refusal("journal", `${tool} was refused before it was sent: ${messageOf(error)}`);
      const lost = `${tool} was called, but its outcome could not be written down: ${messageOf(error)}`;
      return failureResult(new EffectUncertainError(lost));
    }
    return answered?.line ?? failureResult(new EffectUncertainError(`${tool}: no answer`));
  }

  async function decide(request: Request, line: Buffer, call: Going): Promise<Fields | Buffer> {
    const { params = {} } = request;
    const asked = String(params["name"]);
    if (shutBecause !== undefined) return refusal("fenced", shutBecause);
    const known = (await catalog()).find(asked);
    if (shutBecause !== undefined) return refusal("fenced", shutBecause);
    if (!known)
      return refusal(
        "unknown_tool",
        `${asked} was refused: the server lists no such tool. Nothing was sent.`,
      );
    if (known.objection !== undefined)
      return refusal("drift", `${asked} was refused: ${known.objection}. Nothing was sent.`);
    call.writes = known.manifest?.effect !== "read_only";
    if (call.writes && params["task"] !== undefined) {
      return refusal(
        "task",
        `${asked} was refused: a task's outcome comes later than its answer, and could not be journaled. Call it without a task.`,
      );
    }
    return journaled(request, line, call, known);
  }

  return {
    begin(request, line) {
      const { id, params = {} } = request;
      if (typeof params["name"] !== "string" || !isObject(params["arguments"] ?? {})) {
        const message = "tools/call needs a name, and arguments that are an object";
        return toClient(encode({ id, error: { code: -32602, message } }));
      }
      if (going.has(id)) {
        return toClient(
          encode({ id, error: { code: -32600, message: "a call with this id is still running" } }),
        );
      }
      const call: Going = {
        stop: new AbortController(),
        cancelled: false,
        writes: false,
        checkpoint: undefined,
      };
      going.set(id, call);
      abandoned.delete(id);
      void decide(request, line, call)
        .catch((error) =>
          refusal("gateway", `${params["name"]} was refused: ${messageOf(error)}. Nothing was sent.`),
        )
        .then((outcome) => {
          going.delete(id);
          if (!call.cancelled) toClient(Buffer.isBuffer(outcome) ? outcome : encode({ id, result: outcome }));
          if (going.size > 0) return;
          for (const done of whenIdle) done();
          whenIdle = [];
        });
    },
    answer(message, line) {
      const id = message.id as Id;
      const open = going.get(id)?.exchange;
      open?.answer({ message, line });
      return open !== undefined || abandoned.delete(id);
    },
    spoil(id, why) {
      const open = going.get(id)?.exchange;
      open?.lose(why);
      return open !== undefined;
    },
    cancel(id) {
      const call = going.get(id);
      if (!call) return false;
      call.cancelled = true;
      const has = call.exchange !== undefined;
      call.stop.abort(new Error("cancelled by the client"));
      return has;
    },
    async checkpoint(id, checkpoint) {
      const call = going.get(id);
      if (!call?.checkpoint || !call.exchange)
        throw new Error(`no call with the id ${JSON.stringify(id)} can take a checkpoint`);
      await call.checkpoint(checkpoint);
    },
    shut(why) {
      shutBecause ??= why;
    },
    giveUpReads(why) {
      for (const { writes, exchange: open, stop, cancelled } of going.values()) {
        if (!open) stop.abort(new Error(why));
        else if (!writes || cancelled) open.lose(why);
      }
    },
    loseAll(why) {
      for (const { exchange: open, stop } of going.values()) {
        if (open) open.lose(why);
        else stop.abort(new Error(why));
      }
    },
    idle: () =>
      going.size === 0 ? Promise.resolve() : new Promise<void>((resolve) => void whenIdle.push(resolve)),
  };
}
