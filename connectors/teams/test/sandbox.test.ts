import { teams } from "@reversi-connector/teams";
import { attach, say, take } from "@reversi-connector/teams/sandbox";
import { bench } from "./bench.ts";

const json = "application/json";
async function vendor() {
  const on = await bench();
  const { token, baseUrl } = on.backend.options;
  const channels = `${baseUrl}/teams/${on.channel.team_id}/channels`;
  const channel = `/${encodeURIComponent(on.channel.channel_id)}`;
  const ask = async (line: string, body?: string, changes: Record<string, string> = {}) => {
    const [method = "", path = ""] = line.split(" ");
    const response = await fetch(channels + path.replace("/:channel", channel), {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { "content-type": json }), ...changes },
      ...(body && { body }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text && JSON.parse(text) };
  };
  return { ...on, ask };
}
const send = (more: object = {}) => JSON.stringify({ body: { content: "x" }, ...more });

test("another process attaches by the address alone", async () => {
  const { backend, channel } = await bench();
  const elsewhere = teams(attach(backend.address));
  const listed = await elsewhere.tools["teams.list_channels"]?.({ team_id: channel.team_id });
  expect(listed).toMatchObject({ next_cursor: null });
  await elsewhere.close();
});

test.each([
  ["no token", 401, "POST /:channel/messages", send(), { authorization: "" }],
  ["a wrong token", 401, "POST /:channel/messages", send(), { authorization: "Bearer a.b.c" }],
  ["another content type", 415, "POST /:channel/messages", send(), { "content-type": "text/plain" }],
  ["no JSON", 400, "POST /:channel/messages", "{", {}],
  ["an unknown field", 400, "POST /:channel/messages", send({ text: "y" }), {}],
  ["an unknown importance", 400, "POST /:channel/messages", send({ importance: "low" }), {}],
  ["no content", 400, "POST /:channel/messages", send({ body: {} }), {}],
  ["a large message", 413, "POST /:channel/messages", send({ body: { content: "x".repeat(28_673) } }), {}],
  ["an unknown option", 400, "GET ?$top=3", undefined, {}],
  ["a page that is too large", 400, "GET /:channel/messages?$top=51", undefined, {}],
  ["an unknown channel", 404, "GET /19%3Aabc%40thread.tacv2", undefined, {}],
  ["an odd channel id", 400, "GET /general", undefined, {}],
  ["an odd message id", 400, "GET /:channel/messages/abc", undefined, {}],
  ["an unknown message", 404, "GET /:channel/messages/1", undefined, {}],
  ["a body where none belongs", 411, "POST /:channel/messages/1/softDelete", "{}", {}],
  ["DELETE", 400, "DELETE /:channel/messages/1", undefined, {}],
])("%s is refused with %d and Graph's form", async (_, status, line, body, changes) => {
  const { ask, state } = await vendor();
  const before = await state();
  const answer = await ask(line, body, changes);
  expect(answer.status).toBe(status);
  expect(answer.body).toEqual({
    error: { code: expect.any(String), message: expect.any(String), innerError: expect.any(Object) },
  });
  expect(answer.headers.get("request-id")).toBe(answer.body.error.innerError["request-id"]);
  expect(await state()).toEqual(before);
});

test.each([
  ["Channel.ReadBasic.All", "GET "],
  ["ChannelMessage.Read.All", "GET /:channel/messages"],
  ["ChannelMessage.Send", "POST /:channel/messages"],
  ["ChannelMessage.ReadWrite", "POST /:channel/messages/1/softDelete"],
] as const)("without %s, %s is refused with 403 and names it", async (scope, line) => {
  const { ask, backend } = await vendor();
  backend.world.scopes.delete(scope);
  const answer = await ask(line, line.endsWith("messages") && line.startsWith("POST") ? send() : undefined);
  expect(answer).toMatchObject({ status: 403, body: { error: { code: "Forbidden" } } });
  expect(answer.body.error.message).toContain(scope);
});

test("messages come with the newest change first; comments in HTML do not survive", async () => {
  const { ask, backend } = await vendor();
  const [first] = backend.general.messages;
  say(backend.world, backend.general, { content: "second" });
  const content = '<p data-op="1">x</p><!-- y -->';
  const made = await ask("POST /:channel/messages", send({ body: { content, contentType: "html" } }));
  expect(made).toMatchObject({ status: 201, body: { body: { content: "<p>x</p>" } } });
  if (first) {
    take(first);
    first.deleted = new Date(backend.world.clock + 1);
  }
  const { body } = await ask("GET /:channel/messages?$top=2");
  expect(body.value.map(({ id }: { id: string }) => id)).toEqual([first?.id, made.body.id]);
  expect(body.value[0]).toMatchObject({ deletedDateTime: expect.any(String), body: { content: "" } });
});
