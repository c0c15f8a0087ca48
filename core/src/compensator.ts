import type { LostContext } from "./call.ts";
import type { Connector } from "./connector.ts";
import { InvalidArgumentsError } from "./errors.ts";
import type { Context } from "./scope.ts";
import type { Holds, Landed } from "./tool.ts";

/** One compensation, as an engine sends it. */
export interface CompensationCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly idempotency_key?: string | undefined;
  readonly on_conflict?: "refuse" | "overwrite" | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Undoes, and answers the two questions that a truthful rollback asks. */
export interface Compensator {
  /** @throws as the tool does; InvalidArgumentsError for anything that is no compensation of these connectors */
  (call: CompensationCall): Promise<unknown>;
  holds(call: CompensationCall): Promise<Holds>;
  /** About a forward call whose answer was lost. "unknown" for tools that leave no evidence. */
  landed(call: Pick<CompensationCall, "tool" | "args">, context: LostContext): Promise<Landed<unknown>>;
}

/**
 * A compensator for a rollback: in this process, through the very handlers that serve agents.
 * @throws InvalidArgumentsError when two connectors have one tool: nobody could say whose effect is undone
 */
export function compensatorFor(connectors: readonly Connector[]): Compensator {
  const undoes = new Map<string, Connector>();
  const has = new Map<string, Connector>();
  for (const connector of connectors) {
    for (const { tool, effect, compensation } of connector.manifests) {
      if (has.has(tool))
        throw new InvalidArgumentsError(`two connectors have a tool ${tool}; give one of them`);
      has.set(tool, connector);
      if (effect === "idempotent") undoes.set(tool, connector);
      if (compensation) undoes.set(compensation.tool, connector);
    }
  }
  const find = (among: ReadonlyMap<string, Connector>, tool: string): Connector => {
    const connector = among.get(tool);
    if (connector) return connector;
    if (has.has(tool))
      throw new InvalidArgumentsError(`${tool} undoes nothing; only a compensation can be sent`);
    const names = connectors.map(({ name }) => name).join(", ") || "none";
    throw new InvalidArgumentsError(`no connector here has a tool ${tool} (connectors: ${names})`);
  };
  const contextOf = ({ idempotency_key, on_conflict, signal }: CompensationCall): Context => ({
    idempotencyKey: idempotency_key,
    onConflict: on_conflict,
    signal,
  });
  const compensate = async (call: CompensationCall) =>
    find(undoes, call.tool).tools[call.tool]?.(call.args, contextOf(call));
  return Object.assign(compensate, {
    holds: async (call: CompensationCall): Promise<Holds> =>
      (await find(undoes, call.tool).holds[call.tool]?.(call.args, contextOf(call))) ?? "unknown",
    landed: async ({ tool, args }: CompensationCall, context: LostContext): Promise<Landed<unknown>> =>
      (await find(has, tool).landed[tool]?.(args, context)) ?? "unknown",
  });
}
