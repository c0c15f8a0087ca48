import { type Channel, type Message, tenant, type World } from "./world.ts";

const linkTo = (kind: string, { id }: Channel, rest: string) =>
  `https://teams.microsoft.com/l/${kind}/${encodeURIComponent(id)}/${rest}`;

export const channelOf = (channel: Channel) => ({
  id: channel.id,
  createdDateTime: "2026-01-10T09:00:00Z",
  displayName: channel.name,
  description: channel.description,
  isFavoriteByDefault: null,
  email: "",
  tenantId: tenant,
  webUrl: linkTo("channel", channel, encodeURIComponent(channel.name)),
  membershipType: channel.membershipType,
  isArchived: channel.archived,
});

export function messageOf({ team, users, deletedShows }: World, channel: Channel, message: Message) {
  const { id, user, subject, importance, content, contentType, deleted } = message;
  const created = new Date(Number(id)).toISOString();
  return {
    ...{ id, replyToId: null, etag: id, messageType: "message" },
    createdDateTime: created,
    lastModifiedDateTime: deleted?.toISOString() ?? created,
    lastEditedDateTime: null,
    deletedDateTime: deleted && deletedShows === "date" ? deleted.toISOString() : null,
    ...{ subject: deleted ? null : subject, summary: null, chatId: null, importance, locale: "en-us" },
    webUrl: linkTo("message", channel, `${id}?tenantId=${tenant}`),
    ...{ policyViolation: null, eventDetail: null },
    from: {
      ...{ application: null, device: null },
      user: { id: user, displayName: users.get(user) ?? null, userIdentityType: "aadUser" },
    },
    body: { contentType, content: deleted ? "" : content },
    channelIdentity: { teamId: team.id, channelId: channel.id },
    ...{ attachments: [], mentions: [], reactions: [] },
  };
}
