import type { CompensationCall, LostContext } from "@reversi-connector/core";
import { UsageError } from "@reversi-connector/core/program";
import { oneLine } from "./usage.ts";

/** One line of the compensator protocol, checked. */
export type ProtocolCall =
  | { readonly op: "compensate" | "holds"; readonly call: CompensationCall }
  | { readonly op: "landed"; readonly call: CompensationCall; readonly context: LostContext };

export const operations = ["compensate", "holds", "landed"] as const;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** @throws UsageError that says where, and does not repeat what was there */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const { message } = error as Error;
    const why = /after JSON/.test(message)
      ? "there is something behind it"
      : oneLine(/^.*?(?=, (?:\.{3})?"|$)/s.exec(message)?.[0] ?? "");
    throw new UsageError(`a compensation call must be one JSON object: ${why}`);
  }
}

const textOf = (call: Record<string, unknown>, key: string): string | undefined => {
  const value = call[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string" && value !== "") return value;
  throw new UsageError(`the call's "${key}" must be a text`);
};

function lostContext(call: Record<string, unknown>, idempotencyKey: string | undefined): LostContext {
  const since = new Date(typeof call["since"] === "string" ? call["since"] : Number.NaN);
  if (Number.isNaN(since.getTime())) throw new UsageError(`a landed call needs "since", an ISO 8601 time`);
  const { checkpoint } = call;
  if (checkpoint === undefined || checkpoint === null) return { since, idempotencyKey };
  if (!isObject(checkpoint) || !isObject(checkpoint["result"])) {
    throw new UsageError(`the call's "checkpoint" must be {"result": {…}, "evidence"?: {…}}`);
  }
  const { result, evidence } = checkpoint;
  if (evidence !== undefined && !isObject(evidence)) {
    throw new UsageError(`the call's "checkpoint.evidence" must be an object`);
  }
  return { since, idempotencyKey, checkpoint: { result, ...(evidence && { evidence }) } };
}

/** @throws UsageError saying in one sentence what is wrong with the call */
export function protocolCall(text: string): ProtocolCall {
  if (text.trim() === "") throw new UsageError("stdin is empty; it must hold one compensation call as JSON");
  const given = parse(text);
  if (!isObject(given)) throw new UsageError("a compensation call must be a JSON object");
  const { op = "compensate", args, on_conflict = "refuse" } = given;
  const tool = textOf(given, "tool");
  if (tool === undefined) throw new UsageError(`the call lacks "tool"`);
  if (!isObject(args)) throw new UsageError(`the call's "args" must be an object`);
  if (on_conflict !== "refuse" && on_conflict !== "overwrite") {
    throw new UsageError(`the call's "on_conflict" must be "refuse" or "overwrite"`);
  }
  const idempotency_key = textOf(given, "idempotency_key");
  const call: CompensationCall = { tool, args, idempotency_key, on_conflict };
  switch (op) {
    case "compensate":
    case "holds":
      return { op, call };
    case "landed":
      return { op, call, context: lostContext(given, idempotency_key) };
    default:
      throw new UsageError(`the call's "op" must be one of ${operations.join(", ")}`);
  }
}
