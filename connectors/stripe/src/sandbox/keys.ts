import type { RecordedRequest, SandboxRequest } from "@reversi-connector/http/sandbox";
import { errorBody, isReply, type Reply, refuse } from "./wire.ts";
import { codeOf, type Kept, type World } from "./world.ts";

const day = 24 * 3_600_000;

const keyOf = ({ method, headers }: SandboxRequest) =>
  method === "POST" ? headers["idempotency-key"] : undefined;

/** The same parameters in another order are the same parameters. */
const parametersOf = ({ text }: SandboxRequest) => JSON.stringify([...new URLSearchParams(text)].sort());

/** Throws the refusal of a key that was first used for something else. */
function compare(first: SandboxRequest, request: SandboxRequest, key: string): void {
  const type = "idempotency_error";
  const must = "Keys for idempotent requests can only be used";
  const hint = `Try using a key other than '${key}' if you meant to execute a different request.`;
  if (first.pathname !== request.pathname) {
    const paths = `('${request.pathname}' vs '${first.pathname}')`;
    refuse(400, {
      type,
      message: `${must} for the same endpoint they were first used for ${paths}. ${hint}`,
    });
  }
  if (parametersOf(first) !== parametersOf(request)) {
    refuse(400, { type, message: `${must} with the same parameters they were first used with. ${hint}` });
  }
}

function repeat({ first, requestId, reply }: Kept, request: SandboxRequest, key: string): Reply {
  if (!reply) {
    return refuse(409, {
      type: "idempotency_error",
      code: "idempotency_key_in_use",
      message: `There is currently another in-progress request using this Idempotent Key (that probably means you submitted twice, and the other request is still going through): ${key}. Try again in a bit.`,
    });
  }
  compare(first, request, key);
  return { ...reply, headers: { "idempotent-replayed": "true", "original-request": requestId } };
}

/** Answers a request under its key: the first answer, a 500 included, is repeated for a day. */
export async function underKey(
  { keys, hold }: World,
  request: SandboxRequest,
  requestId: string,
  execute: () => Reply | Promise<Reply>,
): Promise<Reply> {
  const key = keyOf(request);
  if (key === undefined) return execute();
  if (key.length > 255) refuse(400, { message: "Idempotency keys can have up to 255 characters." });
  const known = keys.get(key);
  if (known && Date.now() - known.at < day) return repeat(known, request, key);
  const kept: Kept = { first: request, requestId, at: Date.now(), reply: undefined };
  keys.set(key, kept);
  try {
    await hold;
    kept.reply = await execute();
    return kept.reply;
  } catch (error) {
    if (isReply(error) && error.executed !== false) kept.reply = error;
    else keys.delete(key);
    throw error;
  }
}

/** Keeps under its key each 500 that a fault put on the wire, where it is an answer of Stripe's like any other. */
export function keeper(world: World) {
  const seen = new WeakSet<RecordedRequest>();
  return (requests: readonly RecordedRequest[]): void => {
    for (const request of requests) {
      const key = keyOf(request);
      if (key === undefined || request.status !== 500 || seen.has(request)) continue;
      seen.add(request);
      if (!world.keepsBreakdowns) continue;
      const reply = { status: 500, body: errorBody(500, "Something went wrong") };
      const known = world.keys.get(key);
      if (known?.first === request) known.reply = reply;
      else if (!known) {
        const requestId = `req_${codeOf(key, 14)}`;
        world.keys.set(key, { first: request, requestId, at: Date.now(), reply });
      }
    }
  };
}
