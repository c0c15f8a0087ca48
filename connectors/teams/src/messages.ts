import { s } from "@reversi-connector/core";
import type { HttpClient } from "@reversi-connector/http";
import { hasStatus, tool } from "./client.ts";
import { channelId, type MessageName, messageId, teamId } from "./ids.ts";
import { isGone, type Message, messagePath, messagesPath } from "./message-state.ts";

/** Deletes a message; false when somebody had done so: Graph does not say how it answers then. */
async function softDelete(client: HttpClient, name: MessageName): Promise<boolean> {
  try {
    await client.write({
      method: "POST",
      path: `${messagePath(name)}/softDelete`,
      expect: (body) => body === undefined,
    });
    return true;
  } catch (error) {
    if (hasStatus(error, 400, 404) && (await isGone(client, name)) === true) return false;
    throw error;
  }
}

export const deleteMessage = tool
  .idempotent("delete_message", {
    description: "Soft-delete an own message. A deleted message is success.",
    permission: "teams:messages:delete",
    input: s.object({ team_id: teamId, channel_id: channelId, message_id: messageId }),
    output: s.object({ message_id: messageId, already: s.boolean("True when nothing had to be done.") }),
    target: ["team_id", "channel_id", "message_id"],
  })
  .holds(({ client, args }) => isGone(client, args))
  .run(async ({ client, args }) => {
    // Not allowed to look is no reason not to undo.
    const already = (await isGone(client, args)) === true || !(await softDelete(client, args));
    return { message_id: args.message_id, already };
  });

export const postMessage = tool
  .reversible("post_message", {
    description: "Post a message to a channel as the signed-in user.",
    permission: "teams:messages:write",
    input: s.object(
      {
        team_id: teamId,
        channel_id: channelId,
        content: s.string("The message; about 28 KB at most.", { minLength: 1, maxLength: 28_000 }),
      },
      {
        content_type: s.oneOf(["text", "html"], "How `content` is written.", { default: "text" }),
        subject: s.string("Subject line.", { minLength: 1, maxLength: 255 }),
        importance: s.oneOf(["normal", "high", "urgent"], "Importance.", { default: "normal" }),
      },
    ),
    output: s.object({
      team_id: teamId,
      channel_id: channelId,
      message_id: messageId,
      url: s.nullable(s.string("Address of it for people; carries no credential.")),
      created_at: s.string("Created (RFC 3339)."),
    }),
    additive: true,
    compensation: {
      tool: deleteMessage,
      argument_map: {
        team_id: "args.team_id",
        channel_id: "args.channel_id",
        message_id: "result.message_id",
      },
    },
    residue: [
      {
        id: "placeholder",
        text: "A `message deleted` placeholder and compliance copies stay; people may have read it.",
      },
    ],
  })
  .run(async ({ client, args }) => {
    const { team_id, channel_id, content, content_type, subject, importance } = args;
    const { body: made } = await client.write<Message>({
      method: "POST",
      path: messagesPath(args),
      json: { subject, importance, body: { contentType: content_type, content } },
      expect: ["id", "createdDateTime"],
    });
    const { id: message_id, webUrl = null, createdDateTime: created_at } = made;
    return { team_id, channel_id, message_id, url: webUrl, created_at };
  });
