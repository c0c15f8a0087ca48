import { ConnectorError, type Holds } from "@reversi-connector/core";
import { type HttpReader, path } from "@reversi-connector/http";
import { hasStatus } from "./client.ts";
import type { ChannelName, MessageName } from "./ids.ts";

/** Graph's message, as far as the tools read it. */
export interface Message {
  readonly id: string;
  readonly createdDateTime: string;
  readonly webUrl?: string | null;
  readonly deletedDateTime?: string | null;
  readonly body: { readonly content?: string | null };
  readonly attachments?: readonly object[];
}

export const messagesPath = ({ team_id, channel_id }: ChannelName) =>
  path`/teams/${team_id}/channels/${channel_id}/messages`;
export const messagePath = (name: MessageName) => `${messagesPath(name)}${path`/${name.message_id}`}`;

/** Graph does not always tell when a message was deleted; its text is gone in any case. */
const isDeleted = ({ deletedDateTime, body, attachments = [] }: Message): boolean =>
  (deletedDateTime ?? null) !== null || (body.content === "" && attachments.length === 0);

/** Graph answers 404 for lost access too, so that of a message counts only while its channel can be read. */
async function provesGone(client: HttpReader, name: ChannelName, refusal: ConnectorError): Promise<true> {
  const { team_id, channel_id } = name;
  try {
    await client.read({ path: path`/teams/${team_id}/channels/${channel_id}`, expect: ["id"] });
    return true;
  } catch (lost) {
    if (!hasStatus(lost, 403, 404)) throw lost;
    const why = "the channel cannot be read, so nobody can tell what is gone and what is hidden";
    throw new ConnectorError(`${refusal.message}; ${why}`, refusal);
  }
}

/** Whether a message is deleted; "unknown" where the token may not read messages. */
export async function isGone(client: HttpReader, name: MessageName): Promise<Holds> {
  try {
    const { body } = await client.read<Message>({
      path: messagePath(name),
      expect: ({ id, body }: Partial<Message>) => id === name.message_id && typeof body === "object",
    });
    return isDeleted(body);
  } catch (error) {
    if (hasStatus(error, 403)) return "unknown";
    if (hasStatus(error, 404)) return provesGone(client, name, error);
    throw error;
  }
}
