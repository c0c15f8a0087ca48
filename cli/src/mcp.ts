import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import {
  CallToolRequestSchema,
  ElicitResultSchema,
  ErrorCode,
  ListToolsRequestSchema,
  ResultSchema,
  type ServerNotification,
  type ServerRequest,
} from "@modelcontextprotocol/sdk/types.js";
import type { Context, Description, Manifest } from "@reversi-connector/core";
import { type Approval, type ApprovalMode, approvalQuestion, approve } from "./approval.ts";
import { listed } from "./listing.ts";
import type { Log } from "./log.ts";
import { answerOf, errorAnswer, type ToolAnswer } from "./outcome.ts";
import type { StdioTransport } from "./stdio.ts";

/** A tool as it is offered to clients. */
export interface OfferedTool {
  /** As listed; `description.name` has the dot. */
  readonly listedName: string;
  readonly description: Description;
  readonly manifest: Manifest;
  /** The reading tools of its connector, as listed: where an unknown outcome is looked up. */
  readonly readTools: readonly string[];
  call(args: unknown, context: Context): Promise<unknown>;
}

export interface Offer {
  readonly name: string;
  readonly version: string;
  readonly instructions: string;
  /** Listed in this order. */
  readonly tools: readonly OfferedTool[];
  /** Every accepted spelling. */
  readonly byName: ReadonlyMap<string, OfferedTool>;
  readonly approval: ApprovalMode;
  readonly maxResultBytes: number;
  /** For the client's acknowledgement of a checkpoint. */
  readonly checkpointTimeoutMs: number;
  readonly log: Log;
}

export interface McpServer {
  connect(transport: StdioTransport): Promise<void>;
  /** Resolves when no call is running any more; with `abortReads`, calls that only read are given up. */
  settled(abortReads?: boolean): Promise<void>;
  /** Aborts what still runs, and ends. */
  close(): Promise<void>;
}

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** Progress goes out only when it was asked for, and its number only grows. */
function progressOf({ _meta, sendNotification }: Extra): Context["progress"] {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let last = 0;
  return ({ message, done, total }) => {
    last = Math.max(done ?? 0, last + (done === undefined ? 1 : 0));
    const params = { progressToken, progress: last, message, ...(total !== undefined && { total }) };
    sendNotification({ method: "notifications/progress", params }).catch(() => {});
  };
}

/** A decision may take a person a while; the tool's own time begins afterwards. */
const approvalTimeoutMs = 10 * 60 * 1000;

/** An MCP server for one offer. This file alone knows the SDK. */
export function mcpServer(offer: Offer): McpServer {
  const { log } = offer;
  const running = new Map<Promise<void>, { readonly writes: boolean; abort(): void }>();
  const server = new Server(
    { name: offer.name, version: offer.version },
    {
      capabilities: { tools: {} },
      instructions: offer.instructions,
      // Only the SDK's typed elicitation would use it, and that is not used here.
      jsonSchemaValidator: {
        getValidator: () => () => ({ valid: false, data: undefined, errorMessage: "unused" }),
      },
    },
  );

  /** The checkpoint travels as a request of ours, and the write waits for its acknowledgement. */
  function checkpointOf(
    tool: string,
    idempotencyKey: string | undefined,
    extra: Extra,
  ): Context["checkpoint"] {
    if (!server.getClientCapabilities()?.experimental?.["reversi/checkpoint"]) return undefined;
    return async ({ result, evidence }) => {
      const params = {
        tool,
        result,
        ...(evidence && { evidence }),
        requestId: extra.requestId,
        ...(idempotencyKey !== undefined && { _meta: { "reversi/idempotency_key": idempotencyKey } }),
      };
      const request = { method: "reversi/checkpoint", params } as unknown as ServerRequest;
      const { signal } = extra;
      await extra.sendRequest(request, ResultSchema, { signal, timeout: offer.checkpointTimeoutMs });
    };
  }

  const ask = async (
    { manifest }: OfferedTool,
    args: unknown,
    { sendRequest, signal }: Extra,
  ): Promise<Approval> => {
    if (!server.getClientCapabilities()?.elicitation?.form) return "unsupported";
    const message = approvalQuestion(manifest.tool, manifest.description, args);
    const requestedSchema = { type: "object" as const, properties: {} };
    try {
      const { action } = await sendRequest(
        { method: "elicitation/create", params: { message, requestedSchema } },
        ElicitResultSchema,
        { signal, timeout: approvalTimeoutMs },
      );
      return action;
    } catch (error) {
      log.warn(`${manifest.tool}: the client did not answer the question: ${(error as Error).message}`);
      return "cancel";
    }
  };

  async function run(
    tool: OfferedTool,
    args: unknown,
    extra: Extra,
    signal: AbortSignal,
  ): Promise<ToolAnswer> {
    const { manifest } = tool;
    const key = extra._meta?.["reversi/idempotency_key"];
    const idempotencyKey = typeof key === "string" && key !== "" ? key : undefined;
    const began = performance.now();
    let approved = manifest.approval !== "always";
    try {
      if (!approved) await approve(manifest.tool, offer.approval, () => ask(tool, args, extra));
      approved = true;
      const result = await tool.call(args, {
        idempotencyKey,
        signal,
        progress: progressOf(extra),
        checkpoint: checkpointOf(manifest.tool, idempotencyKey, extra),
      });
      const answer = answerOf(result, manifest, offer.maxResultBytes);
      log.info(`${manifest.tool}: done in ${Math.round(performance.now() - began)} ms`);
      return answer;
    } catch (error) {
      const answer = errorAnswer(error, manifest, tool.readTools, approved ? undefined : "refused");
      // Nothing is answered to a cancelled request: the log is the only place left for what became of it.
      const level = signal.aborted ? "warn" : "info";
      log[level](`${manifest.tool}:${signal.aborted ? " cancelled:" : ""} ${answer.content[0]?.text}`);
      return answer;
    }
  }

  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: offer.tools.map(listed) as never[] }));
  server.setRequestHandler(CallToolRequestSchema, ({ params: { name, arguments: args = {} } }, extra) => {
    const tool = offer.byName.get(name);
    if (!tool) {
      throw Object.assign(new Error(`there is no tool ${name}`), { code: ErrorCode.InvalidParams });
    }
    const stop = new AbortController();
    const answer = run(tool, args, extra, AbortSignal.any([extra.signal, stop.signal]));
    const ended = answer.then(() => void running.delete(ended));
    running.set(ended, { writes: tool.manifest.effect !== "read_only", abort: () => stop.abort() });
    return answer;
  });
  server.onerror = (error) => log.warn(error.message);

  return {
    connect: (transport) => server.connect(transport),
    async settled(abortReads = false) {
      for (const { writes, abort } of running.values()) if (abortReads && !writes) abort();
      while (running.size > 0) await Promise.all(running.keys());
    },
    close: () => server.close(),
  };
}
