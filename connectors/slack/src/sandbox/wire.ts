import { randomBytes } from "node:crypto";
import type { SandboxReply, SandboxRequest } from "@reversi-connector/http/sandbox";
import { type Arguments, argumentsOf, type Parameters } from "./arguments.ts";
import { bot, type Channel, type Kind, type Message, type World } from "./world.ts";

/** A token of realistic length that the sandbox really checks, and nobody else accepts. */
export const token = "xoxb-sandbox0-NotASecret0-OnlyForTheSandbox0";

/** Slack refuses with HTTP 200; what goes wrong before Slack answers has a status of its own. */
export const errorBody = (_: number, error: string) => ({ ok: false, error });

/** One call of one method. Its `fail` throws Slack's answer. */
export interface Call {
  readonly args: Arguments;
  readonly world: World;
  fail(error: string, details?: object): never;
  /** What the token must be allowed. */
  need(scope: string): void;
  /** A conversation that the bot may see. */
  channel(): Channel;
  /** One whose messages it may read. */
  readable(): Channel;
  /** A message in it; a placeholder counts as one. */
  message(channel: Channel, ts: string): Message;
}

/** What the sandbox answers to one method, `ok: true` left out. */
export type Method = (call: Call) => object;

const areas: Readonly<Record<Kind, string>> = {
  public_channel: "channels",
  private_channel: "groups",
  mpim: "mpim",
  im: "im",
};
/** `channels:read`, `groups:history`, … */
export const scopeFor = (kind: Kind, right: "read" | "history") => `${areas[kind]}:${right}`;

function fail(error: string, details: object = {}): never {
  throw { status: 200, body: { ok: false, error, ...details } } satisfies SandboxReply;
}

export function callOf(world: World, args: Arguments): Call {
  const need = (needed: string) => {
    const provided = [...world.scopes].join(",");
    if (!world.scopes.has(needed)) fail("missing_scope", { needed, provided });
  };
  const channel = () => {
    const found = world.channels.find(({ id }) => id === args.text("channel"));
    const hidden = found && found.kind !== "public_channel" && !found.members.has(bot.user);
    return found && !hidden ? found : fail("channel_not_found");
  };
  return {
    ...{ args, world, fail, need, channel },
    readable() {
      const found = channel();
      need(scopeFor(found.kind, "history"));
      return found.members.has(bot.user) ? found : fail("not_in_channel");
    },
    message: ({ messages }, ts) => messages.find((message) => message.ts === ts) ?? fail("message_not_found"),
  };
}

/** What Slack refuses whatever the method. */
function checkToken(world: World, { headers }: SandboxRequest): void {
  const { authorization } = headers;
  if (authorization === undefined) fail("not_authed");
  if (authorization !== `Bearer ${token}`) fail("invalid_auth");
  if (!world.tokenWorks) fail("token_revoked");
}

const isReply = (thrown: unknown): thrown is SandboxReply =>
  typeof (thrown as SandboxReply | null)?.status === "number";

/** The headers of every answer, and Slack's warning where the charset was not named. */
export function complete(world: World, request: SandboxRequest, reply: SandboxReply): SandboxReply {
  const { "content-type": type = "" } = request.headers;
  const body = reply.body as { readonly error?: string };
  world.lastError = body.error;
  const warning = "missing_charset";
  const warned = /^application\/json\s*$/i.test(type) && {
    warning,
    response_metadata: { warnings: [warning] },
  };
  return {
    status: reply.status,
    headers: {
      "x-slack-req-id": randomBytes(16).toString("hex"),
      "x-oauth-scopes": [...world.scopes].join(","),
      "cache-control": "private, no-cache, no-store, must-revalidate",
      ...reply.headers,
    },
    body: { ...body, ...warned },
  };
}

/** Too many requests, in either form. */
export const limited = ({ rateLimitStatus: status }: World, retryAfter: number | string | undefined) => ({
  status,
  headers: { "retry-after": retryAfter === undefined ? undefined : String(retryAfter) },
  body: errorBody(status, "ratelimited"),
});

/** A method's answer to a request, refusals included. */
export function answer(
  world: World,
  request: SandboxRequest,
  parameters: Parameters,
  method: Method,
): SandboxReply {
  try {
    checkToken(world, request);
    const args = argumentsOf(request, parameters, fail);
    return { status: 200, body: { ok: true, ...method(callOf(world, args)) } };
  } catch (reply) {
    if (!isReply(reply)) throw reply;
    return reply;
  }
}
