import { conversationOf, messageOf } from "./objects.ts";
import { type Call, type Method, scopeFor } from "./wire.ts";
import { bot, type Channel, type Kind, type Message } from "./world.ts";

const encode = (text: string) => Buffer.from(text).toString("base64");
const decode = (text: string) => Buffer.from(text, "base64").toString();

/** Where a list goes on, by the id behind a cursor such as `team:C061FA5PB`. */
function startOf<Item>(
  { args, fail }: Call,
  prefix: string,
  items: readonly Item[],
  idOf: (item: Item) => string,
) {
  if (!args.text("cursor")) return 0;
  const [kind, id] = decode(args.text("cursor")).split(":");
  const index = items.findIndex((item) => idOf(item) === id);
  return kind === prefix && index !== -1 ? index : fail("invalid_cursor");
}
const cursorOf = <Item>(prefix: string, next: Item | undefined, idOf: (item: Item) => string) => ({
  next_cursor: next === undefined ? "" : encode(`${prefix}:${idOf(next)}`),
});

const kinds: readonly string[] = ["public_channel", "private_channel", "mpim", "im"];

export const list: Method = (call) => {
  const { args, world, fail, need } = call;
  const types = args.text("types") === "" ? ["public_channel"] : args.text("types").split(",");
  if (types.some((type) => !kinds.includes(type))) fail("invalid_types");
  for (const type of types) need(scopeFor(type as Kind, "read"));
  const limit = args.number("limit", 100);
  if (limit < 1 || limit > 1000) fail("invalid_limit");
  const all = world.channels.filter(({ kind }) => types.includes(kind));
  const idOf = ({ id }: Channel) => id;
  const start = startOf(call, "team", all, idOf);
  // Slack cuts pages before it leaves anything out: they can be short, or empty.
  const shown = all
    .slice(start, start + limit)
    .filter(({ kind, members }) => kind === "public_channel" || members.has(bot.user))
    .filter(({ archived }) => !archived || !args.is("exclude_archived"));
  return {
    channels: shown.map((channel) => conversationOf(world, channel)),
    response_metadata: cursorOf("team", all[start + limit], idOf),
  };
};

/** Those between `oldest` and `latest`. */
function within({ args }: Call, messages: readonly Message[]): Message[] {
  const oldest = args.text("oldest") || "0";
  const latest = args.text("latest") || "9999999999";
  const edge = args.is("inclusive");
  // Numbers this near to each other differ in the last digits only: compare them in whole microseconds.
  const micros = (ts: string) =>
    BigInt(ts.split(".")[0] ?? 0) * 1_000_000n + BigInt((ts.split(".")[1] ?? "").padEnd(6, "0"));
  return messages.filter(({ ts }) => {
    const at = micros(ts);
    return edge ? at >= micros(oldest) && at <= micros(latest) : at > micros(oldest) && at < micros(latest);
  });
}

function checkTimes({ args, fail }: Call): void {
  for (const name of ["oldest", "latest"]) {
    if (args.has(name) && !/^\d{1,10}(?:\.\d{1,6})?$/.test(args.text(name))) fail(`invalid_ts_${name}`);
  }
}

/** One page of messages. */
function page(call: Call, channel: Channel, messages: readonly Message[], first: readonly Message[] = []) {
  const { args, world, fail } = call;
  const asked = args.number("limit", 100);
  if (asked < 1 || asked > 999) fail("invalid_limit");
  const limit = Math.min(asked, world.historyLimit);
  const idOf = ({ ts }: Message) => ts.replace(".", "");
  const start = startOf(call, "next_ts", messages, idOf);
  const next = messages[start + limit];
  const metadata = args.is("include_all_metadata");
  return {
    messages: [...first, ...messages.slice(start, start + limit)].map((message) =>
      messageOf(channel, message, { metadata }),
    ),
    has_more: next !== undefined,
    response_metadata: cursorOf("next_ts", next, idOf),
  };
}

/** Newest first; replies are left out. */
export const history: Method = (call) => {
  const channel = call.readable();
  checkTimes(call);
  const shown = channel.messages.filter(({ root, broadcast }) => root === undefined || broadcast);
  return page(call, channel, within(call, shown).reverse());
};

/** The first message always, then its replies, oldest first. */
export const replies: Method = (call) => {
  const { args, fail } = call;
  const channel = call.readable();
  checkTimes(call);
  const root = channel.messages.find(({ ts }) => ts === args.text("ts")) ?? fail("thread_not_found");
  const others = channel.messages.filter((message) => message.root === root.ts);
  return page(call, channel, within(call, others), [root]);
};
