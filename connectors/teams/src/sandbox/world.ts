/** A permission of Microsoft Graph. */
export type Scope =
  | "Channel.ReadBasic.All"
  | "ChannelMessage.Send"
  | "ChannelMessage.ReadWrite"
  | "ChannelMessage.Read.All";

export interface Message {
  /** The millisecond of its creation, unique in its channel. */
  readonly id: string;
  readonly user: string;
  readonly subject: string | null;
  readonly importance: "normal" | "high" | "urgent";
  content: string;
  readonly contentType: "text" | "html";
  deleted: Date | undefined;
}

export interface Channel {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly membershipType: "standard" | "private" | "shared";
  readonly messages: Message[];
  archived: boolean;
  /** Only moderators may post. */
  moderated: boolean;
}

/** Everything the sandbox knows; tests change it as other people would. */
export interface World {
  readonly team: { readonly id: string; readonly channels: Channel[] };
  /** What the token may do. */
  readonly scopes: Set<Scope>;
  /** User id → name. */
  readonly users: ReadonlyMap<string, string>;
  /** False: the signed-in user is not in the team, and sees nothing of it. */
  member: boolean;
  /** Of an application without a user such a token can only read. */
  tokenKind: "delegated" | "application";
  /** False: it has expired. */
  tokenWorks: boolean;
  /** How the deletion of a deleted message is answered: Graph does not tell. */
  repeatedDelete: 204 | 400 | 404;
  /** How a deleted message reads: by its date, or only by its text that is gone. */
  deletedShows: "date" | "nothing";
  /** How many channels a page holds. */
  channelPage: number;
  clock: number;
}

/** Whose token the sandbox knows. */
export const user = "8ea0e38b-efb3-4757-924a-5f94061cf8c2";
/** Somebody else. */
export const colleague = "5d8e7a10-2f3b-4c6d-9e01-7b2a4c6e8f90";
export const tenant = "2432b57b-0abd-43db-aa7b-16eadd115d34";

/** The permissions of the page. */
export const listedScopes: readonly Scope[] = [
  "Channel.ReadBasic.All",
  "ChannelMessage.Send",
  "ChannelMessage.ReadWrite",
];

/** Posts as anybody. */
export function say(
  world: World,
  { messages }: Channel,
  given: Pick<Message, "content"> & Partial<Message>,
): Message {
  world.clock = Math.max(world.clock + 1, Date.now());
  const message: Message = {
    id: String(world.clock),
    ...{ user, subject: null, importance: "normal", contentType: "text", deleted: undefined },
    ...given,
  };
  messages.push(message);
  return message;
}

/** Deletes as its author does: a placeholder stays. */
export function take(message: Message): void {
  message.deleted ??= new Date();
}

export function openChannel(
  { team }: World,
  given: Pick<Channel, "id" | "name"> & Partial<Channel>,
): Channel {
  const channel: Channel = {
    ...{ description: null, membershipType: "standard", messages: [], archived: false, moderated: false },
    ...given,
  };
  team.channels.push(channel);
  return channel;
}

/** A team with the channel `General`, in which a colleague has said good morning, and the private `Plans`. */
export function newWorld(): World {
  const world: World = {
    team: { id: "893075dd-2487-4122-925f-022c42e20265", channels: [] },
    scopes: new Set<Scope>([...listedScopes, "ChannelMessage.Read.All"]),
    users: new Map([
      [user, "Robin Kline"],
      [colleague, "Ada Byron"],
    ]),
    member: true,
    tokenKind: "delegated",
    tokenWorks: true,
    repeatedDelete: 204,
    deletedShows: "date",
    channelPage: Number.POSITIVE_INFINITY,
    clock: 0,
  };
  const general = openChannel(world, {
    id: "19:4a95f7d8db4c4e7fae857bcebe0623e6@thread.tacv2",
    name: "General",
  });
  openChannel(world, {
    id: "19:d0bba23c2fc8413991125a43a54cc30e@thread.tacv2",
    name: "Plans",
    description: "What comes next",
    membershipType: "private",
  });
  say(world, general, { user: colleague, content: "Good morning" });
  return world;
}

/** What a user could see. */
export const visibleState = ({ team, users }: World) => ({
  channels: Object.fromEntries(
    team.channels.map(({ id, name, archived, messages }) => [
      id,
      {
        ...{ name, archived },
        messages: messages.map(({ user, subject, importance, content, contentType, deleted }) =>
          deleted
            ? { user: users.get(user) ?? user, deleted: true }
            : {
                ...{ user: users.get(user) ?? user, deleted: false },
                ...{ subject, importance, content, contentType },
              },
        ),
      },
    ]),
  ),
});
