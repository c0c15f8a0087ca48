import { type ConnectorDefinition, s } from "@reversi-connector/core";

/** Schemas of values that several tools share. */
export const teamId = s.string("Team id, a GUID.", {
  pattern: "^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$",
});
export const channelId = s.string("Channel id, such as `19:…@thread.tacv2`, not percent-encoded.", {
  pattern: "^19:[A-Za-z0-9_-]{1,200}@thread\\.[A-Za-z0-9]{1,20}$",
});
export const messageId = s.string("Message id, digits.", { pattern: "^[0-9]{1,20}$" });

export interface ChannelName {
  readonly team_id: string;
  readonly channel_id: string;
}
export interface MessageName extends ChannelName {
  readonly message_id: string;
}

/** What cannot be decoded stays as it is, for the schema to refuse. */
function decodedOnce(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function decoded(args: unknown): unknown {
  const { channel_id } = (args ?? {}) as Partial<ChannelName>;
  if (typeof channel_id !== "string" || !channel_id.includes("%")) return args;
  return { ...(args as object), channel_id: decodedOnce(channel_id) };
}

type Member<Rest extends readonly unknown[], Result> = (args: unknown, ...rest: Rest) => Result;
const eachDecoding = <Rest extends readonly unknown[], Result>(
  members: Readonly<Record<string, Member<Rest, Result>>>,
): Record<string, Member<Rest, Result>> => {
  const decoding: Record<string, Member<Rest, Result>> = Object.create(null);
  for (const [name, member] of Object.entries(members)) {
    decoding[name] = (args, ...rest) => member(decoded(args), ...rest);
  }
  return decoding;
};

/** The same connector, which also takes a channel id as it stands in a link: decoded once, then held to the schema. */
export const takingPastedIds = <Options extends object>(
  definition: ConnectorDefinition<Options>,
): ConnectorDefinition<Options> => ({
  ...definition,
  create(options) {
    const connector = definition.create(options);
    return { ...connector, tools: eachDecoding(connector.tools), holds: eachDecoding(connector.holds) };
  },
});
