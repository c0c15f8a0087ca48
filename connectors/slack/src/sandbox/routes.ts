import { type Handler, route, router } from "@reversi-connector/http/sandbox";
import type { Kind, Kinds, Parameters } from "./arguments.ts";
import * as chat from "./chat.ts";
import * as conversations from "./conversations.ts";
import * as reactions from "./reactions.ts";
import { answer, complete, errorBody, type Method } from "./wire.ts";
import { bot, team, type World } from "./world.ts";

const authTest: Method = () => ({
  url: team.url,
  ...{ team: team.name, team_id: team.id },
  ...{ user: bot.name, user_id: bot.user, bot_id: bot.id },
  is_enterprise_install: false,
});

const named =
  (kind: Kind) =>
  (...names: readonly string[]): Kinds =>
    Object.fromEntries(names.map((name) => [name, kind]));
const [text, flags, integer, json] = [named("text"), named("boolean"), named("integer"), named("json")];

const reads = (required: Kinds, optional: Kinds = {}): Parameters => ({ writes: false, required, optional });
const writes = (required: Kinds, optional: Kinds = {}): Parameters => ({ writes: true, required, optional });

const paging = { ...text("cursor"), ...integer("limit") };
const times = { ...text("oldest", "latest"), ...flags("inclusive", "include_all_metadata") };
const content = {
  ...text("text", "markdown_text", "thread_ts", "parse"),
  ...json("blocks", "attachments", "metadata"),
  ...flags("reply_broadcast", "unfurl_links", "unfurl_media", "mrkdwn", "link_names"),
};
const item = text("channel", "timestamp");

const methods: Readonly<Record<string, readonly [Parameters, Method]>> = {
  "auth.test": [reads({}), authTest],
  "conversations.list": [
    reads({}, { ...paging, ...text("types", "team_id"), ...flags("exclude_archived") }),
    conversations.list,
  ],
  "conversations.history": [reads(text("channel"), { ...paging, ...times }), conversations.history],
  "conversations.replies": [reads(text("channel", "ts"), { ...paging, ...times }), conversations.replies],
  "chat.postMessage": [writes(text("channel"), content), chat.postMessage],
  "chat.delete": [writes(text("channel", "ts")), chat.deleteMessage],
  "chat.getPermalink": [reads(text("channel", "message_ts")), chat.getPermalink],
  "reactions.add": [writes(text("name"), item), reactions.add],
  "reactions.remove": [writes(text("name"), item), reactions.remove],
  "reactions.get": [reads({}, { ...item, ...flags("full") }), reactions.get],
};

/** Slack's part of the sandbox: every request is held to what the vendor checks. */
export function handler(world: World): Handler {
  const routes = Object.entries(methods).flatMap(([name, [parameters, method]]) =>
    // Methods that read can be posted to as well, with a form.
    (parameters.writes ? ["POST"] : ["GET", "POST"]).map((verb) =>
      route(`${verb} /api/${name}`, (request) => answer(world, request, parameters, method)),
    ),
  );
  const routed = router(routes, () => ({ status: 200, body: errorBody(200, "unknown_method") }));
  return async (request) => complete(world, request, await routed(request));
}
