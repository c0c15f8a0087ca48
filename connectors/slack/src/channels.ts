import { ConnectorError, s } from "@reversi-connector/core";
import type { HttpReader } from "@reversi-connector/http";
import { get, tool } from "./client.ts";
import { channel, type Page } from "./objects.ts";

/** A channel, a group conversation, or a direct message, which has hardly any of these. */
interface Conversation {
  readonly id: string;
  readonly name?: string;
  readonly is_im?: boolean;
  readonly is_private?: boolean;
  readonly is_archived?: boolean;
  readonly is_member?: boolean;
  readonly num_members?: number;
}
interface List extends Page {
  readonly channels: readonly Conversation[];
}

/** Slack recommends no more at a time, and grants some twenty requests in a minute. */
const largestPage = 200;
const maxPages = 20;

interface Wanted {
  readonly types: readonly string[] | undefined;
  readonly exclude_archived: boolean;
  readonly team_id: string | undefined;
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** Up to `limit` conversations: Slack's pages may be short, or empty, before the end. */
async function list(client: HttpReader, { types, limit, cursor, ...filter }: Wanted) {
  const found: Conversation[] = [];
  const seen = new Set([cursor]);
  let next = cursor;
  for (let pages = 0; pages < maxPages && found.length < limit; pages++) {
    const { body } = await get<List>(
      client,
      "conversations.list",
      {
        ...filter,
        types: types?.length ? types.join(",") : undefined,
        limit: Math.min(limit - found.length, largestPage),
        cursor: next,
      },
      ({ channels }) => Array.isArray(channels),
    );
    found.push(...body.channels);
    next = body.response_metadata?.next_cursor || undefined;
    if (next === undefined) break;
    if (seen.has(next))
      throw new ConnectorError("conversations.list: the list runs in a circle, without end");
    seen.add(next);
  }
  return { found, next };
}

const entryOf = ({
  id,
  name,
  is_im = false,
  is_private,
  is_archived,
  is_member,
  num_members,
}: Conversation) => ({
  channel: id,
  name: name ?? null,
  is_private: is_private ?? is_im,
  is_archived: is_archived ?? false,
  is_member: is_member ?? is_im,
  num_members: num_members ?? null,
});

export const listChannels = tool
  .readOnly("list_channels", {
    description: "List channels, page by page.",
    permission: "slack:channels:read",
    input: s.object(
      {},
      {
        types: s.array(
          s.oneOf(["public_channel", "private_channel", "mpim", "im"], "Kind of conversation."),
          "Kinds to list; public channels when left out.",
          { maxItems: 4 },
        ),
        exclude_archived: s.boolean("Leave out archived channels.", { default: true }),
        team_id: s.string("Workspace, for organisation tokens.", { pattern: "^T[A-Z0-9]{1,30}$" }),
        limit: s.integer("At most this many entries.", { minimum: 1, maximum: 1000, default: 200 }),
        cursor: s.string("`next_cursor` of the previous page.", { minLength: 1, maxLength: 4096 }),
      },
    ),
    output: s.object({
      channels: s.array(
        s.object(
          {
            channel,
            name: s.nullable(s.string("Name.")),
            is_private: s.boolean("Private."),
            is_archived: s.boolean("Archived."),
            is_member: s.boolean("Whether the bot is in it."),
            num_members: s.nullable(s.integer("Members.")),
          },
          {},
          "One entry.",
        ),
        "The channels.",
      ),
      next_cursor: s.nullable(s.string("Pass as `cursor` for the next page; null at the end.")),
    }),
  })
  .run(async ({ client, args: { types, exclude_archived, team_id, limit, cursor } }) => {
    const { found, next } = await list(client, { types, exclude_archived, team_id, limit, cursor });
    return { channels: found.map(entryOf), next_cursor: next ?? null };
  });
