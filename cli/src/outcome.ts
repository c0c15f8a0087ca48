import {
  ConnectorError,
  EffectUncertainError,
  type ErrorBody,
  errorBody,
  type Manifest,
} from "@reversi-connector/core";
import { bounded } from "./usage.ts";

/** What a tool call sends back over MCP. */
export interface ToolAnswer {
  readonly [key: string]: unknown;
  readonly content: { readonly type: "text"; readonly text: string }[];
  readonly structuredContent?: Record<string, unknown>;
  readonly isError?: true;
  readonly _meta?: Record<string, unknown>;
}

/** Up to here the text block repeats the whole result; a larger result is whole in `structuredContent` only. */
export const wholeTextLength = 256 * 1024;
const cutLength = 64 * 1024;

/** A copy in which long texts are cut, for clients that read only the text block. */
const shortened = (value: unknown, longest: number): unknown => {
  if (typeof value === "string") {
    if (value.length <= longest) return value;
    return `${value.slice(0, longest).toWellFormed()}… [cut here; the whole text has ${value.length} characters and is in structuredContent]`;
  }
  if (Array.isArray(value)) {
    const few = value.slice(0, 100).map((item) => shortened(item, longest / 100));
    return value.length <= 100
      ? few
      : [...few, `… [cut here; ${value.length} items are in structuredContent]`];
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shortened(inner, longest)]));
};

/**
 * A result: `structuredContent` has all of it. The text block repeats it while that is cheap, and has its beginning when
 * it is not, so that a large content never travels twice.
 */
export function answerOf(result: unknown, { tool, effect }: Manifest, maxBytes: number): ToolAnswer {
  const json = JSON.stringify(result);
  const text = json.length <= wholeTextLength ? json : JSON.stringify(shortened(result, cutLength));
  // Few characters can never be too many bytes; only large results are counted.
  if (json.length * 4 > maxBytes) {
    const bytes = Buffer.byteLength(json) + Buffer.byteLength(JSON.stringify(text));
    if (bytes > maxBytes) throw tooLarge(tool, effect !== "read_only", bytes, maxBytes);
  }
  return {
    content: [{ type: "text", text }],
    structuredContent: result as Record<string, unknown>,
    ...(effect !== "read_only" && { _meta: { "reversi/outcome": "applied" } }),
  };
}

function tooLarge(tool: string, writes: boolean, bytes: number, maxBytes: number): Error {
  const size = `the result has ${bytes} bytes, more than the ${maxBytes} that are sent at most`;
  if (writes) return new EffectUncertainError(`${tool}: done, but ${size}`);
  return new ConnectorError(
    `${tool}: ${size}; ask for less, or raise REVERSI_MAX_RESULT_BYTES if the client can take it`,
  );
}

const outcomes = {
  INVALID_ARGUMENTS: "refused",
  FAILED: "failed",
  CONFLICT: "conflict",
  EFFECT_UNCERTAIN: "uncertain",
} as const;
const names = {
  INVALID_ARGUMENTS: "InvalidArgumentsError",
  FAILED: "ConnectorError",
  CONFLICT: "ConflictError",
  EFFECT_UNCERTAIN: "EffectUncertainError",
} as const;

/** What to do about an outcome that nobody knows. */
function advice(body: ErrorBody, manifest: Manifest, readTools: readonly string[]): string {
  const key = body.idempotency_key;
  const look = readTools.length === 0 ? "in the backend itself" : `with ${readTools.join(" or ")}`;
  const repeats = manifest.guarantees?.idempotency && key !== undefined;
  const keyed = repeats
    ? ` or repeat it under the same _meta["reversi/idempotency_key"], ${key}, within ${manifest.guarantees?.idempotency?.window_hours} hours`
    : key === undefined
      ? ""
      : ` (idempotency key of the call: ${key})`;
  return ` The write may have been applied. Do not repeat it before checking: look ${look}${keyed}.`;
}

const maxExpectedBytes = 1024 * 1024;

/** An error: its name first, what to do about it, and all that a program needs in `_meta`. */
export function errorAnswer(
  error: unknown,
  manifest: Manifest,
  readTools: readonly string[],
  outcome?: string,
): ToolAnswer {
  const told = errorBody(error);
  const whole = { ...told, message: bounded(told.message) };
  const { expected_result, ...rest } = whole;
  const large = expected_result !== undefined && JSON.stringify(expected_result).length > maxExpectedBytes;
  const body = large ? rest : whole;
  const open = body.code === "EFFECT_UNCERTAIN" || body.may_have_applied === true;
  const invalid = body.code === "INVALID_ARGUMENTS";
  const correct = invalid ? " Nothing was sent; correct the arguments and call again." : "";
  // That stands at the end of what connectors refuse by themselves, too.
  const said = invalid ? body.message.replace(/; nothing was sent$/, "") : body.message;
  const message = /[.!?]$/.test(said) ? said : `${said}.`;
  const text = `${names[body.code]}: ${message}${correct}${open ? advice(body, manifest, readTools) : ""}`;
  return {
    isError: true,
    content: [{ type: "text", text }],
    _meta: { "reversi/error": body, "reversi/outcome": outcome ?? outcomes[body.code] },
  };
}
