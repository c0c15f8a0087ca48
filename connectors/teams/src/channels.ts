import { ConnectorError, s } from "@reversi-connector/core";
import { path, type Query } from "@reversi-connector/http";
import { tool } from "./client.ts";
import { channelId, teamId } from "./ids.ts";

interface Channel {
  readonly id: string;
  readonly displayName: string;
  readonly description?: string | null;
  readonly membershipType?: string | null;
  readonly isArchived?: boolean | null;
}
interface Page {
  readonly value: readonly Channel[];
  readonly "@odata.nextLink"?: string;
}

const entryOf = ({ id, displayName, description, membershipType, isArchived }: Channel) => ({
  channel_id: id,
  display_name: displayName,
  description: description ?? null,
  // Graph's own word for a kind that is not told.
  membership_type: membershipType ?? "unknownFutureValue",
  is_archived: isArchived ?? null,
});

/**
 * A cursor is the query of the next page's address, and nothing else of it: an agent that makes one up still reads this
 * list only.
 */
const queryOf = (cursor: string | undefined): Query => Object.fromEntries(new URLSearchParams(cursor));

function cursorOf(link: string | undefined, last: string | undefined): string | null {
  if (link === undefined) return null;
  const [, cursor = ""] = link.split("?");
  if (cursor === "") throw new ConnectorError("the list of channels has a next page without an address");
  if (cursor === last) throw new ConnectorError("the list of channels runs in a circle, without end");
  return cursor;
}

export const listChannels = tool
  .readOnly("list_channels", {
    description: "List the channels of a team.",
    permission: "teams:channels:read",
    input: s.object(
      { team_id: teamId },
      { cursor: s.string("`next_cursor` of the previous page.", { minLength: 1, maxLength: 4096 }) },
    ),
    output: s.object({
      channels: s.array(
        s.object(
          {
            channel_id: channelId,
            display_name: s.string("Name."),
            description: s.nullable(s.string("Description.")),
            membership_type: s.string("standard, private or shared."),
            is_archived: s.nullable(s.boolean("Archived.")),
          },
          {},
          "One entry.",
        ),
        "The channels.",
      ),
      next_cursor: s.nullable(s.string("Pass as `cursor` for the next page; null at the end.")),
    }),
  })
  .run(async ({ client, args: { team_id, cursor } }) => {
    const { body } = await client.read<Page>({
      path: path`/teams/${team_id}/channels`,
      query: queryOf(cursor),
      expect: ({ value }: Page) => Array.isArray(value),
    });
    return { channels: body.value.map(entryOf), next_cursor: cursorOf(body["@odata.nextLink"], cursor) };
  });
