import { s } from "@reversi-connector/core";
import { type Handler, type RoutedRequest, route, router } from "@reversi-connector/http/sandbox";
import { channelOf, messageOf } from "./objects.ts";
import { callOf, complete, type Endpoint, errorBody, fail, gate, isOwn, isReply } from "./wire.ts";
import { type Message, say, take, type World } from "./world.ts";

const metadata = "https://graph.microsoft.com/v1.0/$metadata#teams";

const listChannels: Endpoint = ({ request, world, need, team, options }) => {
  need("Channel.ReadBasic.All");
  const { id, channels } = team();
  const given = options("$select", "$filter", "$skiptoken").get("$skiptoken");
  const start = given === null ? 0 : Number(Buffer.from(given, "base64url").toString());
  if (!Number.isInteger(start) || start < 0) fail(400, "Invalid skip token.");
  const end = start + world.channelPage;
  const skip = Buffer.from(String(end)).toString("base64url");
  const link = `http://${request.headers["host"]}${request.pathname}?$skiptoken=${skip}`;
  const value = channels.slice(start, end).map(channelOf);
  return {
    status: 200,
    body: {
      "@odata.context": `${metadata}('${id}')/channels`,
      "@odata.count": value.length,
      ...(end < channels.length && { "@odata.nextLink": link }),
      value,
    },
  };
};

const getChannel: Endpoint = ({ need, channel, options }) => {
  need("Channel.ReadBasic.All");
  options("$select", "$filter");
  return { status: 200, body: channelOf(channel()) };
};

const lastChange = ({ id, deleted }: Message) => deleted?.getTime() ?? Number(id);

/** Newest change first. */
const listMessages: Endpoint = ({ world, need, channel, options }) => {
  need("ChannelMessage.Read.All");
  const top = Number(options("$top", "$expand").get("$top") ?? 20);
  if (!Number.isInteger(top) || top < 1 || top > 50)
    fail(400, "The limit of '50' for Top query is exceeded.");
  const found = channel();
  const sorted = [...found.messages].sort((a, b) => lastChange(b) - lastChange(a));
  const value = sorted.slice(0, top).map((message) => messageOf(world, found, message));
  return { status: 200, body: { "@odata.count": value.length, value } };
};

const getMessage: Endpoint = ({ world, need, channel, message, options }) => {
  need("ChannelMessage.Read.All");
  options();
  return { status: 200, body: messageOf(world, channel(), message()) };
};

const sendSchema = s.object(
  { body: s.object({ content: s.string() }, { contentType: s.oneOf(["text", "html"]) }) },
  { subject: s.nullable(s.string()), importance: s.oneOf(["normal", "high", "urgent"]) },
);
interface Sent {
  readonly body: { readonly content: string; readonly contentType?: "text" | "html" };
  readonly subject?: string | null;
  readonly importance?: Message["importance"];
}
const maxBytes = 28 * 1024;
const sanitised = (html: string) => html.replace(/<!--[\s\S]*?-->| data-[\w-]+="[^"]*"/g, "");

const postMessage: Endpoint = ({ world, need, channel, options, json }) => {
  if (world.tokenKind === "application") {
    const only = "Message POST is allowed in application-only context only for import purposes.";
    fail(401, only, "Unauthorized");
  }
  need("ChannelMessage.Send");
  options();
  const found = channel();
  const { body, subject = null, importance = "normal" } = json<Sent>(sendSchema);
  const { content, contentType = "text" } = body;
  if (content === "") fail(400, "Missing body content");
  if (Buffer.byteLength(content) > maxBytes) fail(413, "Request Entity too large");
  if (found.archived) fail(403, "The channel is archived.");
  if (found.moderated) fail(403, "Only moderators may post to this channel.");
  const kept = contentType === "html" ? sanitised(content) : content;
  const made = say(world, found, { subject, importance, contentType, content: kept });
  return {
    status: 201,
    headers: { location: `/teams/${world.team.id}/channels/${found.id}/messages/${made.id}` },
    body: messageOf(world, found, made),
  };
};

const softDelete: Endpoint = ({ world, need, channel, message, options, empty }) => {
  if (world.tokenKind === "application") fail(403, "Application permissions are not supported.");
  need("ChannelMessage.ReadWrite");
  options();
  empty();
  const found = message();
  if (!isOwn(found)) fail(403, "Only its sender may delete a message.");
  if (channel().archived) fail(403, "The channel is archived.");
  if (found.deleted && world.repeatedDelete !== 204) fail(world.repeatedDelete, "The message is deleted.");
  take(found);
  return { status: 204 };
};

const endpoints: Readonly<Record<string, Endpoint>> = {
  "GET ": listChannels,
  "GET /:channel": getChannel,
  "GET /:channel/messages": listMessages,
  "POST /:channel/messages": postMessage,
  "GET /:channel/messages/:message": getMessage,
  "POST /:channel/messages/:message/softDelete": softDelete,
};

/** Graph's part of the sandbox: every request is held to what the vendor checks. */
export function handler(world: World): Handler {
  const routes = Object.entries(endpoints).map(([pattern, endpoint]) => {
    const [method, rest = ""] = pattern.split(" ");
    const answer = (request: RoutedRequest) => endpoint(callOf(world, request));
    return route(`${method} /v1.0/teams/:team/channels${rest}`, answer);
  });
  const unknown = "Resource not found for the segment.";
  const routed = router(routes, () => ({ status: 400, body: errorBody(400, unknown) }));
  return async (request) => {
    try {
      gate(world, request);
      return complete(request, await routed(request));
    } catch (reply) {
      if (!isReply(reply)) throw reply;
      return complete(request, reply);
    }
  };
}
