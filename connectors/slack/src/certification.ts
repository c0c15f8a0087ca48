import { readFileSync } from "node:fs";
import type { Plan, Subject } from "@reversi-connector/certification-kit";
import { slack } from "./index.ts";
import { token } from "./sandbox/wire.ts";
import { listedScopes } from "./sandbox/world.ts";
import { bot, react, type SlackSandbox, sandbox, say } from "./sandbox.ts";

type Calls = Readonly<Record<string, Plan<SlackSandbox> | readonly Plan<SlackSandbox>[]>>;

/** The first message in `general`, which somebody else has posted. */
const first = ({ general }: SlackSandbox) => ({
  channel: general.id,
  timestamp: general.messages[0]?.ts ?? "",
});

/** Good calls on the sandbox's three channels. */
const calls: Calls = {
  "slack.list_channels": [
    { title: "public channels", args: {} },
    {
      title: "all kinds, in small pages",
      args: { types: ["public_channel", "private_channel", "mpim", "im"], exclude_archived: false, limit: 2 },
    },
  ],
  "slack.post_message": [
    { title: "to a channel", args: { channel: "C0GENERAL01", text: "Deploy finished" } },
    {
      title: "a reply",
      args: ({ backend }) => {
        const { channel, timestamp } = first(backend);
        return { channel, text: "Morning!", thread_ts: timestamp, reply_broadcast: true };
      },
    },
    {
      title: "to a private channel",
      args: { channel: "G0PLANS0001", text: "Shall we?", unfurl_links: true },
    },
  ],
  "slack.delete_message": {
    args: ({ backend: { world, general } }) => ({
      channel: general.id,
      ts: say(world, general, { user: bot.user, text: "Never mind" }).ts,
      thread_ts: null,
    }),
  },
  "slack.add_reaction": [
    { title: "an emoji", args: ({ backend }) => ({ ...first(backend), name: "tada" }) },
    { title: "an alias with colons", args: ({ backend }) => ({ ...first(backend), name: ":thumbsup:" }) },
    { title: "one that others gave", args: ({ backend }) => ({ ...first(backend), name: "wave" }) },
  ],
  "slack.remove_reaction": {
    args({ backend }) {
      const [message] = backend.general.messages;
      if (message) react(backend.world, message, bot.user, "eyes");
      return { ...first(backend), name: "eyes" };
    },
  },
};

/** Those that were published. */
const schemaHashes: Record<string, string> = JSON.parse(
  readFileSync(new URL("../schema-hashes.json", import.meta.url), "utf8"),
);

/** Where the sandbox differs from the published description, as the vendor does. */
const deviations = {
  "*: answer 200: response_metadata is not described": "which argument is wrong stands there, in `messages`",
  "*: answer 200: needed is not described": "of a missing scope Slack names the one it needs …",
  "*: answer 200: provided is not described": "… and those it has",
};

/** What the certification needs to know about this connector. */
export const subject = {
  connector: ({ address, credential, timeoutMs }) =>
    slack({ token: credential, baseUrl: `${address}/api`, timeoutMs }),
  backend: () => sandbox(),
  wire(backend, { http }) {
    const refused = ["channel_not_found", "is_archived"];
    const denied = ["invalid_auth", "token_revoked"];
    const wire = http(backend, {
      address: backend.address,
      statuses: { refuse: refused, deny: denied, serverError: ["500", "503", "fatal_error"] },
      // Slack says no with HTTP 200.
      inject(fault, skip, times) {
        if (!("status" in fault) || /^\d+$/.test(fault.status)) return false;
        const body = { ok: false, error: fault.status };
        const effect = fault.kind === "serverError" && fault.effect;
        backend.inject({ kind: "status", status: 200, effect, body }, { skip, times });
        return true;
      },
    });
    const { replay } = wire;
    return Object.assign(wire, {
      async replay(...given: Parameters<NonNullable<typeof replay>>) {
        const status = await replay?.(...given);
        return status === "200" && backend.world.lastError !== undefined ? "400" : status;
      },
    });
  },
  credential: token,
  calls,
  schemaHashes,
  residue: { seen: "the sandbox notifies nobody, and nobody answers there" },
  contract: (folder, kit) => kit.openApi(`${folder}/slack.json`, { deviations }),
  permit({ world }, access) {
    if (access === "none") world.tokenWorks = false;
    else for (const scope of world.scopes) if (!listedScopes.includes(scope)) world.scopes.delete(scope);
  },
} satisfies Subject<SlackSandbox>;
