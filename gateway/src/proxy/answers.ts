import { ConnectorError, EffectUncertainError, type ErrorBody, errorBody } from "@reversi-connector/core";
import { errorFrom } from "@reversi-connector/engine";
import { type Fields, isObject, type Message, rpc } from "./messages.ts";

const codes: readonly unknown[] = ["INVALID_ARGUMENTS", "FAILED", "CONFLICT", "EFFECT_UNCERTAIN"];

/** The structured error that our own servers put beside the text. */
function structured(carrier: unknown): ErrorBody | undefined {
  const body = isObject(carrier) ? carrier["reversi/error"] : undefined;
  if (!isObject(body) || !codes.includes(body["code"]) || typeof body["message"] !== "string")
    return undefined;
  const { expected_result: expected, ...rest } = body;
  return { ...rest, ...(isObject(expected) && { expected_result: expected }) } as unknown as ErrorBody;
}

const textsOf = (result: Fields): string[] => {
  const content = Array.isArray(result["content"]) ? result["content"] : [];
  return content.flatMap((block) =>
    isObject(block) && typeof block["text"] === "string" ? [block["text"]] : [],
  );
};

const notStarted: readonly number[] = [rpc.invalidRequest, rpc.methodNotFound, -32700];

/** The error that an answer means, its text redacted; undefined for an answer that reports success. */
export function errorOf(
  { error, result = {} }: Message,
  redact: (text: string) => string,
): Error | undefined {
  const from = (body: ErrorBody) => errorFrom({ ...body, message: redact(body.message) });
  if (error) {
    const body = structured(error.data);
    if (body) return from(body);
    const mayHaveApplied = !notStarted.includes(error.code);
    return new ConnectorError(redact(`the server answered error ${error.code}: ${error.message}`), {
      mayHaveApplied,
    });
  }
  if (result["isError"] !== true) return undefined;
  const body = structured(result["_meta"]);
  if (body) return from(body);
  // Text alone is neither success nor proof that nothing happened.
  return new ConnectorError(redact(textsOf(result).join("\n")) || "the tool answered with an error", {
    mayHaveApplied: true,
  });
}

/**
 * What `result.…` means in a manifest: the structured content; without it, the JSON object that is the only text; without
 * that, the MCP result itself.
 */
export function resultOf({ result = {} }: Message): unknown {
  if (isObject(result["structuredContent"])) return result["structuredContent"];
  const texts = textsOf(result);
  try {
    const [only] = texts;
    const parsed: unknown =
      texts.length === 1 && only?.trimStart().startsWith("{") ? JSON.parse(only) : undefined;
    if (isObject(parsed)) return parsed;
  } catch {
    // Text that merely looks like JSON is text.
  }
  return result;
}

const outcomes = {
  INVALID_ARGUMENTS: "refused",
  FAILED: "failed",
  CONFLICT: "conflict",
  EFFECT_UNCERTAIN: "uncertain",
} as const;

const answered = (text: string, body: ErrorBody, outcome: string): Fields => ({
  isError: true,
  content: [{ type: "text", text }],
  _meta: { "reversi/error": body, "reversi/outcome": outcome },
});

/** The tool result for a call that the gateway did not let through: says why and what to do. */
export const refusal = (reason: string, message: string): Fields =>
  answered(message, { code: "FAILED", message, reason }, "refused");

/** The tool result for a call whose outcome the gateway has to tell itself, since the server's own answer is missing. */
export function failureResult(error: unknown): Fields {
  const { expected_result: _, ...body } = errorBody(error);
  const uncertain = EffectUncertainError.is(error);
  const advice = uncertain
    ? " The write may have been applied. Do not repeat it before looking at the backend."
    : "";
  const text = `${uncertain ? "EffectUncertainError: " : ""}${body.message}${advice}`;
  return answered(text, body, outcomes[body.code]);
}
