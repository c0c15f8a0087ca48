import type { Checkpoint } from "@reversi-connector/core";
import { bot, react, say, take, unreact } from "@reversi-connector/slack/sandbox";
import { hasReacted } from "../src/emoji.ts";
import { ada, bench, failure, general, grace, refusal } from "./bench.ts";

type Added = { channel: string; timestamp: string; name: string; added: boolean };
/** A message to react to, and what reacting to it takes. */
const ready = async (name = "tada") => {
  const on = await bench();
  const args = { channel: general, timestamp: on.first.ts, name };
  const kept: Checkpoint[] = [];
  const checkpoint = async (next: Checkpoint) => void kept.push(next);
  return {
    ...on,
    args,
    kept,
    before: await on.state(),
    add: () => on.call<Added>("add_reaction", args, { checkpoint }),
    people: () => Object.fromEntries(on.first.reactions),
  };
};

test("a reaction is added, and what was there before is durable by then", async () => {
  const { add, args, kept, people, sent } = await ready();
  expect(await add()).toEqual({ ...args, added: true });
  expect(kept).toEqual([{ result: { ...args, added: true } }]);
  expect(people()).toEqual({ wave: [grace], tada: [bot.user] });
  expect(sent()).toEqual(["GET reactions.get", "GET auth.test", "POST reactions.add"]);
});

test("the undo of add_reaction brings the message back to what it was", async () => {
  const { add, args, undo, undone, state, before } = await ready();
  const result = await add();
  expect(await undone("add_reaction", args, result)).toBe(false);
  expect(await undo("add_reaction", args, result)).toEqual({ ...args, already: false });
  expect(await state()).toEqual(before);
  expect(await undone("add_reaction", args, result)).toBe(true);
  expect(await undo("add_reaction", args, result)).toMatchObject({ already: true });
  expect(await state()).toEqual(before);
});

test("only the bot's own reaction is taken back", async () => {
  const { add, args, undo, backend, first, people } = await ready();
  const result = await add();
  react(backend.world, first, ada, "tada");
  await undo("add_reaction", args, result);
  expect(people()).toEqual({ wave: [grace], tada: [ada] });
});

test("a reaction that the bot had given before is not added, and its undo sends nothing", async () => {
  const { add, args, kept, undo, undone, backend, first, state } = await ready();
  react(backend.world, first, bot.user, "tada");
  const before = await state();
  const result = await add();
  expect(result).toEqual({ ...args, added: false });
  expect(kept).toEqual([{ result }]);
  backend.forget();
  expect(await undo("add_reaction", args, result)).toEqual({ ...args, already: true });
  expect(await undone("add_reaction", args, result)).toBe(true);
  expect(backend.requests).toEqual([]);
  expect(await state()).toEqual(before);
});

test("a reaction that somebody gives with the same bot in between is Slack's to tell", async () => {
  const { add, backend } = await ready();
  backend.inject(refusal("already_reacted"), { method: "POST" });
  expect(await add()).toMatchObject({ added: false });
});

test.each([
  ["tada", "tada"],
  [":thumbsup:", "thumbsup"],
  ["thumbsup::skin-tone-3", "thumbsup::skin-tone-3"],
  [":+1::skin-tone-2:", "+1::skin-tone-2"],
])("SL-04: %s is sent as %s, and so is its undo", async (given, name) => {
  const { add, args, undo, undone, writes, state, before } = await ready(given);
  const result = await add();
  expect(result).toMatchObject({ name, added: true });
  expect(await undone("add_reaction", args, result)).toBe(false);
  await undo("add_reaction", args, result);
  expect(writes().map((request) => request.json())).toEqual([
    { ...args, name },
    { ...args, name },
  ]);
  expect(await undone("add_reaction", args, result)).toBe(true);
  expect(await state()).toEqual(before);
});

test("SL-04: the undo takes colons off as well, and nothing but colons is refused", async () => {
  const { add, args, call, backend, people } = await ready();
  await add();
  expect(await call("remove_reaction", { ...args, name: ":tada:" })).toEqual({ ...args, already: false });
  expect(people()).toEqual({ wave: [grace] });
  backend.forget();
  for (const tool of ["add_reaction", "remove_reaction"]) {
    const error = await failure(call(tool, { ...args, name: ":::" }));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENTS", problems: [{ at: "name" }] });
  }
  expect(backend.requests).toEqual([]);
});

test("a checkpoint that is refused keeps the reaction from being sent", async () => {
  const { call, args, state, before, writes } = await ready();
  const checkpoint = () => Promise.reject(new Error("disk full"));
  const error = await failure(call("add_reaction", args, { checkpoint }));
  expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
  expect(error.message).toMatch(/checkpoint was refused.*nothing was written/);
  expect(writes()).toEqual([]);
  expect(await state()).toEqual(before);
});

describe("a name that Slack lists otherwise", () => {
  test("is recognised for a standard emoji, before and after", async () => {
    const { add, args, kept, undone, backend, first } = await ready("thumbsup");
    react(backend.world, first, bot.user, "+1");
    expect(await add()).toMatchObject({ added: false });
    expect(kept).toMatchObject([{ result: { added: false } }]);
    expect(await undone("add_reaction", args, { name: "thumbsup", added: true })).toBe(false);
    unreact(backend.world, first, bot.user, "+1");
    expect(await undone("add_reaction", args, { name: "thumbsup", added: true })).toBe(true);
  });

  test("is not guessed for the workspace's own emoji: no checkpoint, unknown, and the undo is sent", async () => {
    const { add, args, kept, undo, undone, landed, backend, first, people } = await ready("party_acme");
    react(backend.world, first, bot.user, "acme-party");
    expect(await add()).toMatchObject({ added: false });
    expect(kept).toEqual([]);
    const result = { ...args, added: true };
    expect(await landed("add_reaction", args, "key-1", { result })).toBe("unknown");
    expect(await undone("add_reaction", args, result)).toBe("unknown");
    expect(await undo("add_reaction", args, result)).toMatchObject({ already: false });
    expect(people()).toEqual({ wave: [grace] });
  });
});

test.each([
  [true, "eyes", [{ name: "eyes", users: ["U1"], count: 1 }]],
  [false, "eyes", []],
  [false, "eyes", [{ name: "eyes", users: ["U2"], count: 1 }]],
  [false, "eyes", [{ name: "tada", users: ["U1"], count: 1 }]],
  [false, "custom", [{ name: "tada", users: ["U2"], count: 1 }]],
  ["unknown", "custom", [{ name: "tada", users: ["U1"], count: 1 }]],
  [
    false,
    "custom",
    [
      { name: "custom", users: ["U2"], count: 1 },
      { name: "tada", users: ["U1"], count: 1 },
    ],
  ],
  ["unknown", "eyes", [{ name: "eyes", users: ["U2"], count: 2 }]],
  [false, "eyes", [{ name: "tada", users: ["U2"], count: 2 }]],
  [true, "thumbsup::skin-tone-3", [{ name: "+1::skin-tone-3", users: ["U1"], count: 1 }]],
  [false, "thumbsup::skin-tone-3", [{ name: "+1", users: ["U1"], count: 1 }]],
])("that U1 has reacted is %p for %s among %j", (answer, name, reactions) => {
  expect(hasReacted(reactions, "U1", name)).toBe(answer);
});

test("a list of people that Slack cuts short is asked for in full", async () => {
  const { add, args, backend, first, undone } = await ready();
  for (const user of ["U1AAA", "U2AAA", "U3AAA", "U4AAA"]) react(backend.world, first, user, "tada");
  const result = await add();
  expect(await undone("add_reaction", args, result)).toBe(false);
});

describe("without the right to read reactions", () => {
  test("nothing is made durable, nothing is known, and both the reaction and its undo are sent", async () => {
    const { add, args, kept, undo, undone, landed, backend, state, before } = await ready();
    backend.world.scopes.delete("reactions:read");
    const result = await add();
    expect(result).toMatchObject({ added: true });
    expect(kept).toEqual([]);
    expect(await landed("add_reaction", args)).toBe("unknown");
    expect(await landed("add_reaction", args, "key-1", { result })).toBe("unknown");
    expect(await undone("add_reaction", args, result)).toBe("unknown");
    expect(await undo("add_reaction", args, result)).toMatchObject({ already: false });
    expect(await state()).toEqual(before);
  });

  test("Slack's word that the bot had reacted before still counts", async () => {
    const { add, backend, first } = await ready();
    backend.world.scopes.delete("reactions:read");
    react(backend.world, first, bot.user, "tada");
    expect(await add()).toMatchObject({ added: false });
  });
});

test("landed tells whether the reaction is there, and repeats what was found before", async () => {
  const { add, args, landed, backend, first } = await ready();
  const result = await add();
  const earlier = { ...result, added: false };
  expect(await landed("add_reaction", args, "k", { result })).toEqual({ landed: true, result });
  expect(await landed("add_reaction", args, "k", { result: earlier })).toEqual({
    landed: true,
    result: earlier,
  });
  expect(await landed("add_reaction", args, "k")).toBe("unknown");
  unreact(backend.world, first, bot.user, "tada");
  expect(await landed("add_reaction", args, "k", { result })).toEqual({ landed: false });
  take(backend.general, first);
  expect(await landed("add_reaction", args, "k", { result })).toEqual({ landed: false });
});

test("a reaction that is off already, or whose message is gone, is success", async () => {
  const { add, args, undo, undone, backend, first } = await ready();
  const result = await add();
  unreact(backend.world, first, bot.user, "tada");
  expect(await undo("add_reaction", args, result)).toMatchObject({ already: true });
  take(backend.general, first);
  expect(await undo("add_reaction", args, result)).toMatchObject({ already: true });
  expect(await undone("add_reaction", args, result)).toBe(true);
});

test("lost access and a thread that was locked are failed steps", async () => {
  const { add, args, undo, undone, backend, first, people } = await ready();
  const result = await add();
  backend.general.lockedThreads.add(first.ts);
  expect(await failure(undo("add_reaction", args, result))).toMatchObject({ reason: "thread_locked" });
  for (const error of ["channel_not_found", "not_in_channel", "invalid_auth", "missing_scope"]) {
    backend.inject(refusal(error), { method: "POST" });
    expect(await failure(undo("add_reaction", args, result))).toMatchObject({
      code: "FAILED",
      reason: error,
    });
  }
  backend.world.channels.length = 0;
  await expect(undone("add_reaction", args, result)).rejects.toThrow(/channel_not_found/);
  expect(people()).toMatchObject({ tada: [bot.user] });
});

test.each([
  ["invalid_name", { name: "no-such-emoji" }],
  ["message_not_found", { timestamp: "1700000000.000100" }],
  ["bad_timestamp", { timestamp: "1.2" }],
  ["channel_not_found", { channel: "C0SECRET001" }],
])("what Slack refuses with %s is a definite failure", async (reason, change) => {
  const { call, args, state, before } = await ready();
  const error = await failure(call("add_reaction", { ...args, ...change }));
  expect(error).toMatchObject({ code: "FAILED", reason, mayHaveApplied: false });
  expect(await state()).toEqual(before);
});

test("a reaction to a reply is taken back as well", async () => {
  const { backend, first, call, undo, state } = await ready();
  const reply = say(backend.world, backend.general, { user: ada, text: "x", root: first.ts });
  const before = await state();
  const args = { channel: general, timestamp: reply.ts, name: "eyes" };
  const result = await call("add_reaction", args);
  await undo("add_reaction", args, result);
  expect(await state()).toEqual(before);
});
