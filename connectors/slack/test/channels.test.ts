import { openChannel } from "@reversi-connector/slack/sandbox";
import { bench, failure, general } from "./bench.ts";

type Listed = { channels: { channel: string; name: string | null }[]; next_cursor: string | null };
const many = async (count: number, archived = (_: number) => false) => {
  const on = await bench();
  const { world } = on.backend;
  world.channels.length = 0;
  for (let index = 0; index < count; index++) {
    const id = `C0CHANNEL${String(index).padStart(3, "0")}`;
    openChannel(world, { id, kind: "public_channel", name: `room-${index}`, archived: archived(index) });
  }
  return on;
};

test("public channels are listed, archived ones left out", async () => {
  const { call, backend } = await bench();
  for (const channel of backend.world.channels) channel.archived = channel.name === "random";
  expect(await call("list_channels", {})).toEqual({
    channels: [
      {
        ...{ channel: general, name: "general", is_private: false },
        ...{ is_archived: false, is_member: true, num_members: 2 },
      },
    ],
    next_cursor: null,
  });
  const { channels } = await call<Listed>("list_channels", { exclude_archived: false });
  expect(channels).toMatchObject([{ is_archived: false }, { is_archived: true, is_member: false }]);
});

test("private channels are listed where the bot is in, direct messages without a name", async () => {
  const { call, backend } = await bench();
  await call("post_message", { channel: "U0ADA0ADA1", text: "x" });
  const types = ["private_channel", "mpim", "im"];
  expect(await call("list_channels", { types, team_id: "T012AB3CD45" })).toMatchObject({
    channels: [
      { name: "plans", is_private: true },
      { channel: "D0ADA0ADA1", name: null, is_private: true, is_member: true, num_members: null },
    ],
  });
  expect(backend.requests.at(-1)?.query.get("team_id")).toBe("T012AB3CD45");
});

test("SL-09: 250 channels come in as many pages as they take", async () => {
  const { call, backend } = await many(250);
  const { channels, next_cursor } = await call<Listed>("list_channels", { limit: 1000 });
  expect([channels.length, next_cursor]).toEqual([250, null]);
  expect(backend.requests.map(({ query }) => query.get("limit"))).toEqual(["200", "200"]);
});

test("SL-09: at most `limit` come at a time, and the cursor leads to the rest", async () => {
  const { call } = await many(250);
  const first = await call<Listed>("list_channels", { limit: 120 });
  const second = await call<Listed>("list_channels", { limit: 130, cursor: first.next_cursor });
  expect(first.channels).toHaveLength(120);
  expect(second.next_cursor).toBeNull();
  const names = [...first.channels, ...second.channels].map(({ name }) => name);
  expect(new Set(names).size).toBe(250);
});

test("SL-09: short and empty pages do not end the list", async () => {
  const { call } = await many(60, (index) => index < 40 || index % 2 === 0);
  const { channels, next_cursor } = await call<Listed>("list_channels", { limit: 10 });
  expect(channels.map(({ name }) => name)).toEqual(
    Array.from({ length: 10 }, (_, index) => `room-${41 + 2 * index}`),
  );
  expect(next_cursor).toBeNull();
});

test("SL-09: a list that never gets further is an error", async () => {
  const { call, backend, sent } = await many(3);
  const body = { ok: true, channels: [], response_metadata: { next_cursor: "dGVhbTpD" } };
  backend.inject({ kind: "status", status: 200, body }, { times: Number.POSITIVE_INFINITY });
  const error = await failure(call("list_channels", {}));
  expect(error).toMatchObject({ code: "FAILED", message: expect.stringContaining("runs in a circle") });
  expect(sent()).toHaveLength(2);
});

test("SL-09: after twenty nearly empty pages the cursor is handed on", async () => {
  const { call, sent } = await many(60, (index) => index < 59);
  const first = await call<Listed>("list_channels", { limit: 1 });
  expect(sent()).toHaveLength(20);
  expect(first).toEqual({ channels: [], next_cursor: expect.stringMatching(/./) });
});

test("a page without a list is no answer", async () => {
  const { call, backend } = await bench();
  for (const body of [{ ok: true }, { ok: "true", channels: [] }, { channels: [] }, null, 7]) {
    backend.inject({ kind: "status", status: 200, body });
    expect((await failure(call("list_channels", {}))).message).toMatch(/does not carry what it must/);
  }
});

test("a kind that the token may not list is an error that names the scope", async () => {
  const { call, backend } = await bench();
  backend.world.scopes.delete("groups:read");
  const error = await failure(call("list_channels", { types: ["private_channel"] }));
  expect(error).toMatchObject({ status: 200, reason: "missing_scope" });
  expect(error.message).toMatch(/the token needs groups:read, and has channels:read,chat:write,/);
});
