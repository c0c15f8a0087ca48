import { readFileSync } from "node:fs";
import type { Plan, Subject } from "@reversi-connector/certification-kit";
import { teams } from "./index.ts";
import { token } from "./sandbox/wire.ts";
import { listedScopes } from "./sandbox/world.ts";
import { sandbox, say, type TeamsSandbox } from "./sandbox.ts";

type Calls = Readonly<Record<string, Plan<TeamsSandbox> | readonly Plan<TeamsSandbox>[]>>;

const channelIn = ({ world, general }: TeamsSandbox) => ({ team_id: world.team.id, channel_id: general.id });

/** Good calls in the sandbox's one team. */
const calls: Calls = {
  "teams.list_channels": { args: ({ backend: { world } }) => ({ team_id: world.team.id }) },
  "teams.post_message": [
    {
      title: "plain text",
      args: ({ backend }) => ({ ...channelIn(backend), content: "a < b & <b>x</b>\nline2" }),
    },
    {
      title: "HTML with a subject",
      args: ({ backend }) => ({
        ...channelIn(backend),
        ...{ content: "<p>Done</p>", content_type: "html", subject: "Deploy", importance: "high" },
      }),
    },
  ],
  "teams.delete_message": {
    args: ({ backend }) => ({
      ...channelIn(backend),
      message_id: say(backend.world, backend.general, { content: "Never mind" }).id,
    }),
  },
};

interface State {
  readonly channels: Readonly<Record<string, { readonly messages: readonly { deleted: boolean }[] }>>;
}

/** The state without the placeholders of messages that were not there before. */
const withoutPlaceholders = (before: State, after: State) => ({
  ...after,
  channels: Object.fromEntries(
    Object.entries(after.channels).map(([id, channel]) => {
      const known = before.channels[id]?.messages.length ?? 0;
      const messages = channel.messages.filter(({ deleted }, index) => !deleted || index < known);
      return [id, { ...channel, messages }];
    }),
  ),
});

/** Those that were published. */
const schemaHashes: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL("../schema-hashes.json", import.meta.url), "utf8"),
);

/** Where the sandbox differs from the published description, as the vendor does. */
const deviations = {
  "GET /v1.0/teams/*/channels/*: it is not described":
    "the control read of a channel; left out of the excerpt",
};

/** What the certification needs to know about this connector. */
export const subject = {
  connector: ({ address, credential, timeoutMs }) =>
    teams({ token: credential, baseUrl: `${address}/v1.0`, timeoutMs }),
  backend: () => sandbox(),
  wire: (backend, { http }) =>
    http(backend, {
      address: backend.address,
      // A 403 to a read alone means that the token may not read messages, and the undo is sent all the same.
      inject(fault, skip) {
        if (fault.kind !== "deny" || fault.status !== "403") return false;
        backend.inject({ kind: "deny", status: 403 }, { skip, times: Number.POSITIVE_INFINITY });
        return true;
      },
    }),
  credential: token,
  calls,
  schemaHashes,
  residue: { placeholder: withoutPlaceholders },
  contract: (folder, kit) => kit.openApi(`${folder}/teams.json`, { deviations }),
  permit({ world }, access) {
    if (access === "none") world.member = false;
    else for (const scope of world.scopes) if (!listedScopes.includes(scope)) world.scopes.delete(scope);
  },
  strictness: {
    accepts: { unknown_query: "Graph ignores query parameters that do not begin with $" },
  },
} satisfies Subject<TeamsSandbox>;
