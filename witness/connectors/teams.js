import assert from "node:assert/strict";
import { Client, GraphError, PageIterator, RetryHandlerOptions } from "@microsoft/microsoft-graph-client";
import { behindTls, software, witness } from "../support.js";

/** The client sends its credential over TLS only, and only to hosts that it was told. */
async function clientFor({ address, options }, later, token = options.token) {
  const baseUrl = `${await behindTls(address, later)}/`;
  return Client.initWithMiddleware({
    authProvider: { getAccessToken: async () => token },
    baseUrl,
    customHosts: new Set(["127.0.0.1"]),
  });
}

const { does, raises, run } = await witness(
  "teams",
  software("@microsoft/microsoft-graph-client"),
  clientFor,
);

const team = "/teams/893075dd-2487-4122-925f-022c42e20265";
const channelId = "19:4a95f7d8db4c4e7fae857bcebe0623e6@thread.tacv2";
const general = `${team}/channels/${channelId}`;
const ours = { team_id: "893075dd-2487-4122-925f-022c42e20265", channel_id: channelId };
const once = [new RetryHandlerOptions(0, 0)];

does("lists channels", async ({ sdk, call }) => {
  const { value } = await sdk.api(`${team}/channels`).get();
  assert.deepEqual(
    value.map(({ displayName, membershipType }) => [displayName, membershipType]),
    [
      ["General", "standard"],
      ["Plans", "private"],
    ],
  );
  const { channels } = await call("list_channels", { team_id: ours.team_id });
  assert.deepEqual(
    channels.map(({ channel_id }) => channel_id),
    value.map(({ id }) => id),
  );
});

does("iterates over pages of channels", async ({ sdk, backend }) => {
  backend.world.channelPage = 1;
  const page = await sdk.api(`${team}/channels`).get();
  // The sandbox stands behind TLS without knowing.
  page["@odata.nextLink"] = page["@odata.nextLink"].replace("http:", "https:");
  const names = [];
  await new PageIterator(sdk, page, ({ displayName }) => names.push(displayName) > 0).iterate();
  assert.deepEqual(names, ["General", "Plans"]);
});

does("reads a channel", async ({ sdk }) => {
  const channel = await sdk.api(general).get();
  assert.deepEqual([channel.id, channel.displayName], [channelId, "General"]);
});

does("posts a message of HTML with a subject, and reads it", async ({ sdk, backend }) => {
  const made = await sdk.api(`${general}/messages`).post({
    subject: "Deploy",
    importance: "high",
    body: { contentType: "html", content: "<b>Deploy</b> finished" },
  });
  assert.deepEqual([made.messageType, made.subject, made.importance], ["message", "Deploy", "high"]);
  assert.deepEqual(made.body, { contentType: "html", content: "<b>Deploy</b> finished" });
  assert.equal(backend.general.messages.at(-1).id, made.id);
  assert.deepEqual(await sdk.api(`${general}/messages/${made.id}`).get(), made);
});

does("lists messages, newest first", async ({ sdk }) => {
  const { id } = await sdk.api(`${general}/messages`).post({ body: { content: "Hello" } });
  const { value } = await sdk.api(`${general}/messages`).top(1).get();
  assert.deepEqual(
    value.map((message) => message.id),
    [id],
  );
});

does("deletes a message softly", async ({ sdk }) => {
  const { id } = await sdk.api(`${general}/messages`).post({ body: { content: "Never mind" } });
  await sdk.api(`${general}/messages/${id}/softDelete`).post();
  const left = await sdk.api(`${general}/messages/${id}`).get();
  assert.notEqual(left.deletedDateTime, null);
  assert.equal(left.body.content, "");
});

does("sees what post_message posted deleted after its undo", async ({ sdk, call }) => {
  const { message_id } = await call("post_message", { ...ours, content: "Ours" });
  const read = () => sdk.api(`${general}/messages/${message_id}`).get();
  assert.deepEqual([(await read()).body.content, (await read()).deletedDateTime], ["Ours", null]);
  await call("delete_message", { ...ours, message_id });
  assert.notEqual((await read()).deletedDateTime, null);
});

does("goes on when the limit is over", async ({ sdk, backend }) => {
  backend.inject({ kind: "rateLimit", retryAfter: 0 });
  const patient = [new RetryHandlerOptions(0, 1)];
  const channel = await sdk.api(general).middlewareOptions(patient).get();
  assert.equal(channel.id, channelId);
});

const failure = (statusCode, code, message = /./) => ({ class: GraphError, statusCode, code, message });
const read = ({ sdk }) => sdk.api(general).middlewareOptions(once).get();
const injected = (fault) => (bench) => {
  bench.backend.inject(fault);
  return read(bench);
};

raises(
  "GraphError 404 NotFound: no such message",
  ({ sdk }) => sdk.api(`${general}/messages/1700000000000`).get(),
  failure(404, "NotFound"),
);
raises(
  "GraphError 404 NotFound: a team that one is not in",
  (bench) => {
    bench.backend.world.member = false;
    return read(bench);
  },
  { ...failure(404, "NotFound"), requestId: /^[0-9a-f-]{36}$/ },
);
raises(
  "GraphError 400 BadRequest: an id that is none",
  ({ sdk }) => sdk.api("/teams/acme/channels").get(),
  failure(400, "BadRequest", /GUID/),
);
raises(
  "GraphError 400 BadRequest: an empty message",
  ({ sdk }) => sdk.api(`${general}/messages`).post({ body: { content: "" } }),
  failure(400, "BadRequest"),
);
raises(
  "GraphError 401 InvalidAuthenticationToken: a token that nobody knows",
  async ({ backend, later }) => read({ sdk: await clientFor(backend, later, "a.b.c") }),
  failure(401, "InvalidAuthenticationToken"),
);
raises(
  "GraphError 401 InvalidAuthenticationToken: a token that has expired",
  (bench) => {
    bench.backend.world.tokenWorks = false;
    return read(bench);
  },
  failure(401, "InvalidAuthenticationToken", /expired/),
);
raises(
  "GraphError 403 Forbidden: a permission that is missing",
  ({ sdk, backend }) => {
    backend.world.scopes.delete("ChannelMessage.Send");
    return sdk.api(`${general}/messages`).post({ body: { content: "x" } });
  },
  failure(403, "Forbidden", /ChannelMessage\.Send/),
);
raises(
  "GraphError 403 Forbidden: somebody else's message",
  ({ sdk, backend }) => sdk.api(`${general}/messages/${backend.general.messages[0].id}/softDelete`).post(),
  failure(403, "Forbidden"),
);
raises(
  "GraphError 413 RequestEntityTooLarge: a message that is too long",
  ({ sdk }) => sdk.api(`${general}/messages`).post({ body: { content: "x".repeat(30_000) } }),
  failure(413, "RequestEntityTooLarge"),
);
raises("GraphError 409: a conflict", injected({ kind: "status", status: 409 }), {
  class: GraphError,
  statusCode: 409,
});
raises("GraphError 429 TooManyRequests: too many requests", injected({ kind: "rateLimit", retryAfter: 30 }), {
  ...failure(429, "TooManyRequests"),
  headers: (headers) => headers.get("retry-after") === "30",
});
raises(
  "GraphError 500 InternalServerError: a breakdown",
  injected({ kind: "status", status: 500 }),
  failure(500, "InternalServerError"),
);
raises(
  "GraphError TypeError: a connection that is cut",
  injected({ kind: "cutAfter" }),
  failure(-1, "TypeError", /fetch failed/),
);

run();
