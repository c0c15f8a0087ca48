export type Kind = "public_channel" | "private_channel" | "mpim" | "im";

export interface Metadata {
  readonly event_type: string;
  readonly event_payload: Readonly<Record<string, unknown>>;
}

export interface Message {
  /** Unique in its channel. */
  readonly ts: string;
  readonly user: string;
  readonly text: string;
  /** The first message of the thread that it replies to. */
  readonly root?: string;
  /** A reply that the channel shows too. */
  readonly broadcast?: boolean;
  readonly metadata?: Metadata;
  /** Emoji → who reacted with it, in order. */
  readonly reactions: Map<string, string[]>;
  /** It stays as a placeholder for its replies' sake. */
  deleted: boolean;
}

export interface Channel {
  readonly id: string;
  readonly kind: Kind;
  /** None for a direct message. */
  readonly name?: string;
  readonly creator: string;
  readonly members: Set<string>;
  readonly messages: Message[];
  archived: boolean;
  /** Only some may post. */
  readOnly: boolean;
  /** Threads nobody can answer to or react in. */
  readonly lockedThreads: Set<string>;
}

/** Everything the sandbox knows; tests change it as other people would. */
export interface World {
  readonly channels: Channel[];
  /** What the token may do. */
  readonly scopes: Set<string>;
  /** User id → name. */
  readonly users: ReadonlyMap<string, string>;
  /** Name → the name that Slack lists it under. */
  readonly emoji: Map<string, string>;
  /** False: the workspace forbids to delete messages. */
  mayDelete: boolean;
  /** True: its exports for compliance prevent that. */
  complianceExports: boolean;
  /** How the deletion of a placeholder is refused: Slack does not tell. */
  tombstoneAnswer: "message_not_found" | "cant_delete_message";
  /** How many messages of history an app gets at a time: 999, or 15 for those sold outside the Marketplace. */
  historyLimit: number;
  /** With which status too many requests are answered. */
  rateLimitStatus: 200 | 429;
  /** False: the token was revoked. */
  tokenWorks: boolean;
  /** With what the last call was refused; undefined when it was not. */
  lastError: string | undefined;
  clock: number;
}

/** Whose token the sandbox knows. */
export const bot = { user: "U0BOT0BOT1", id: "B012AB3CD45", app: "A012AB3CD45", name: "reversi-agent" };
export const team = { id: "T012AB3CD45", name: "Acme", url: "https://acme.slack.com/" };

/** The scopes of the page, and those that verified undos need besides. */
export const listedScopes = ["channels:read", "chat:write", "reactions:write"];
const allScopes = [
  ...listedScopes,
  ...["groups:read", "im:read", "mpim:read", "reactions:read"],
  ...["channels:history", "groups:history", "im:history", "mpim:history"],
];

/** The time now, as a timestamp that was never used before. */
function nextTs(world: World): string {
  world.clock = Math.max(world.clock + 100, Date.now() * 1000);
  return `${Math.floor(world.clock / 1e6)}.${String(world.clock % 1e6).padStart(6, "0")}`;
}

type NewMessage = Pick<Message, "user" | "text"> & Partial<Pick<Message, "root" | "broadcast" | "metadata">>;

/** Posts as anybody. */
export function say(world: World, { messages }: Channel, given: NewMessage): Message {
  const message = { ts: nextTs(world), reactions: new Map(), deleted: false, ...given };
  messages.push(message);
  return message;
}

export const repliesTo = ({ messages }: Channel, { ts }: Message) =>
  messages.filter(({ root }) => root === ts);

/** Takes a message away, as its author or an administrator does; one with replies leaves a placeholder. */
export function take(channel: Channel, message: Message): void {
  message.deleted = repliesTo(channel, message).length > 0;
  message.reactions.clear();
  if (!message.deleted) channel.messages.splice(channel.messages.indexOf(message), 1);
}

/** Reacts as anybody; false when that person had done so before. */
export function react({ emoji }: World, { reactions }: Message, user: string, name: string): boolean {
  const listed = listedName(emoji, name) ?? name;
  const users = reactions.get(listed) ?? [];
  if (users.includes(user)) return false;
  reactions.set(listed, [...users, user]);
  return true;
}

/** False when there was no such reaction. */
export function unreact({ emoji }: World, { reactions }: Message, user: string, name: string): boolean {
  const listed = listedName(emoji, name) ?? name;
  const users = reactions.get(listed) ?? [];
  const left = users.filter((other) => other !== user);
  if (left.length === 0) reactions.delete(listed);
  else reactions.set(listed, left);
  return left.length < users.length;
}

const toned = new Set(["+1", "-1", "wave", "clap", "pray", "muscle"]);
/** The name under which a reaction is listed; undefined for a name that is no emoji's. */
export function listedName(emoji: World["emoji"], given: string): string | undefined {
  const [, name = "", tone] = /^([^:]+)(::skin-tone-[2-6])?$/.exec(given) ?? [];
  const listed = emoji.get(name);
  if (listed === undefined || tone === undefined) return listed;
  return toned.has(listed) ? listed + tone : undefined;
}

export function openChannel(
  world: World,
  given: Pick<Channel, "id" | "kind"> & Partial<Pick<Channel, "name" | "members" | "archived" | "creator">>,
): Channel {
  const channel: Channel = {
    creator: "U0ADA0ADA1",
    members: new Set([bot.user, "U0ADA0ADA1"]),
    messages: [],
    archived: false,
    readOnly: false,
    lockedThreads: new Set(),
    ...given,
  };
  world.channels.push(channel);
  return channel;
}

const emojiNames = [
  "+1 thumbsup | -1 thumbsdown | eyes | white_check_mark | tada | rocket | heart | memo pencil | wave | clap | pray",
  "smile | fire | x | 100 | acme-party party_acme | shipit",
];

/** The channel `general` with two messages, `random`, the private `plans`, and `secret`, where the bot is not. */
export function newWorld(): World {
  const names = emojiNames.flatMap((line) => line.split(" | ")).map((group) => group.split(" "));
  const world: World = {
    channels: [],
    scopes: new Set(allScopes),
    users: new Map([
      [bot.user, bot.name],
      ["U0ADA0ADA1", "ada"],
      ["U0GRACE001", "grace"],
    ]),
    emoji: new Map(names.flatMap((group) => group.map((name) => [name, group[0] ?? name]))),
    mayDelete: true,
    complianceExports: false,
    tombstoneAnswer: "message_not_found",
    historyLimit: 999,
    rateLimitStatus: 429,
    tokenWorks: true,
    lastError: undefined,
    clock: 0,
  };
  const general = openChannel(world, { id: "C0GENERAL01", kind: "public_channel", name: "general" });
  openChannel(world, { id: "C0RANDOM001", kind: "public_channel", name: "random", members: new Set() });
  openChannel(world, { id: "G0PLANS0001", kind: "private_channel", name: "plans" });
  openChannel(world, { id: "C0SECRET001", kind: "private_channel", name: "secret", members: new Set() });
  const hello = say(world, general, { user: "U0ADA0ADA1", text: "Good morning" });
  react(world, hello, "U0GRACE001", "wave");
  say(world, general, { user: "U0GRACE001", text: "Who deploys today?" });
  return world;
}

/** What a user could see. */
export const visibleState = ({ channels, users }: World) => ({
  channels: Object.fromEntries(
    channels
      // Slack hides a conversation in which nobody has said anything.
      .filter(({ kind, messages }) => kind !== "im" || messages.length > 0)
      .map(({ id, name, archived, messages }) => [
        id,
        {
          name: name ?? null,
          archived,
          messages: messages.map(({ ts, user, text, root, broadcast, deleted, reactions }) => ({
            ...{ ts, user: users.get(user) ?? user, text: deleted ? null : text },
            ...{ thread: root ?? null, broadcast: broadcast ?? false },
            reactions: Object.fromEntries([...reactions].sort(([a], [b]) => (a < b ? -1 : 1))),
          })),
        },
      ]),
  ),
});
