import { say } from "@reversi-connector/slack/sandbox";
import { ada, bench, failure, general } from "./bench.ts";

const args = { channel: general, text: "Deploy finished" };

const lost = async (given: object = args) => {
  const on = await bench();
  on.backend.inject({ kind: "cutAfter" }, { method: "POST" });
  await failure(on.call("post_message", given, { idempotencyKey: "key-1" }));
  on.backend.forget();
  return on;
};
const chatter = ({ backend }: Awaited<ReturnType<typeof lost>>, count: number, root?: string) => {
  for (let index = 0; index < count; index++) {
    say(backend.world, backend.general, { user: ada, text: `${index}`, ...(root && { root }) });
  }
};

test("a lost message is found by its key, in one request", async () => {
  const { landed, sent, backend } = await lost();
  const found = { channel: general, ts: backend.general.messages.at(-1)?.ts, thread_ts: null };
  expect(await landed("post_message", args, "key-1")).toEqual({ landed: true, result: found });
  expect(await landed("post_message", args, "key-2")).toEqual({ landed: false });
  expect(sent()).toEqual(["GET conversations.history", "GET conversations.history"]);
});

test("a lost message is found when people have answered, which makes it a thread of its own", async () => {
  const on = await lost();
  chatter(on, 1, on.backend.general.messages.at(-1)?.ts);
  expect(await on.landed("post_message", args, "key-1")).toMatchObject({ result: { thread_ts: null } });
});

test.each([15, 999])("a lost message is found behind many others, in pages of %d at most", async (limit) => {
  const on = await lost();
  on.backend.world.historyLimit = limit;
  chatter(on, 120);
  expect(await on.landed("post_message", args, "key-1")).toMatchObject({ landed: true });
  expect(on.sent().length).toBe(Math.ceil(121 / Math.min(limit, 100)));
  expect(await on.landed("post_message", args, "key-2")).toEqual({ landed: false });
});

test("a lost message is found in its thread", async () => {
  const on = await bench();
  const reply = { ...args, thread_ts: on.first.ts };
  on.backend.inject({ kind: "cutAfter" }, { method: "POST" });
  await failure(on.call("post_message", reply, { idempotencyKey: "key-1" }));
  const result = { channel: general, ts: on.backend.general.messages.at(-1)?.ts, thread_ts: on.first.ts };
  expect(await on.landed("post_message", reply, "key-1")).toEqual({ landed: true, result });
  expect(await on.landed("post_message", reply, "key-2")).toEqual({ landed: false });
  const inside = { ...args, thread_ts: result.ts };
  expect(await on.landed("post_message", inside, "key-2")).toBe("unknown");
  expect(await on.landed("post_message", { ...args, thread_ts: "1700000000.000100" }, "key-1")).toBe(
    "unknown",
  );
});

test("a lost message is not taken for another one with the same text, nor for one of another program", async () => {
  const { landed, backend } = await bench();
  const metadata = { event_type: "deploy", event_payload: { op: "key-1" } };
  say(backend.world, backend.general, { user: ada, text: args.text, metadata });
  expect(await landed("post_message", args, "key-1")).toEqual({ landed: false });
});

test("a lost message stays unknown where it was posted to a name, or without a key", async () => {
  const { landed, sent } = await lost({ ...args, channel: "#general" });
  expect(await landed("post_message", { ...args, channel: "#general" }, "key-1")).toBe("unknown");
  expect(await landed("post_message", { ...args, channel: ada }, "key-1")).toBe("unknown");
  expect(await landed("post_message", args)).toBe("unknown");
  expect(sent()).toEqual([]);
});

test.each([
  ["whose end is not reached", { messages: [], has_more: true }, new Date()],
  ["that does not end", { messages: [], response_metadata: { next_cursor: "bmV4dA==" } }, new Date()],
  ["read when the clocks disagree", { messages: [], has_more: false }, new Date(Date.now() - 120_000)],
])("a lost message stays unknown in a history %s", async (_, page, date) => {
  const { landed, backend, sent } = await bench();
  const headers = { date: date.toUTCString() };
  backend.inject({ kind: "status", status: 200, headers, body: { ok: true, ...page } }, { times: 100 });
  expect(await landed("post_message", args, "key-1")).toBe("unknown");
  expect(sent().length).toBeLessThanOrEqual(10);
});
