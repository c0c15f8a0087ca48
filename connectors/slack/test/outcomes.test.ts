import { EffectUncertainError } from "@reversi-connector/core";
import { bot, react } from "@reversi-connector/slack/sandbox";
import { bench, failure, general, refusal } from "./bench.ts";
import { all, forward, key, lose, method, undoes } from "./writes.ts";

describe("an answer that is lost", () => {
  test.each(all)("HT-01: %s sent once, connection cut after the effect: unknown", async (tool, argsOf) => {
    const on = await bench();
    const args = argsOf(on);
    const before = await on.state();
    on.backend.inject({ kind: "cutAfter", reset: true }, { method });
    const { error } = await lose(on, tool, args);
    expect(EffectUncertainError.is(error)).toBe(true);
    expect(on.writes()).toHaveLength(1);
    expect(await on.state()).not.toEqual(before);
  });

  test.each(all)("%s, cut before the effect: unknown, and calling again succeeds", async (tool, argsOf) => {
    const on = await bench();
    const args = argsOf(on);
    const before = await on.state();
    on.backend.inject({ kind: "cutBefore" }, { method });
    expect(EffectUncertainError.is((await lose(on, tool, args)).error)).toBe(true);
    expect(await on.state()).toEqual(before);
    await on.call(tool, args);
    expect(await on.state()).not.toEqual(before);
  });

  test.each(all)(
    "HT-06: %s answered with a body that is cut, or is no JSON: unknown",
    async (tool, argsOf) => {
      for (const fault of [
        { kind: "garbage" },
        { kind: "cutBody" },
        { kind: "cutBody", chunked: true },
      ] as const) {
        const on = await bench();
        const args = argsOf(on);
        on.backend.inject(fault, { method });
        expect(EffectUncertainError.is((await lose(on, tool, args)).error)).toBe(true);
      }
    },
  );

  test.each(all)("%s never answered: unknown when its time is over", async (tool, argsOf) => {
    const on = await bench({ timeoutMs: 150 });
    const args = argsOf(on);
    on.backend.inject({ kind: "hang" }, { method });
    const { error } = await lose(on, tool, args);
    expect(EffectUncertainError.is(error)).toBe(true);
    expect(error.message).toContain("no answer within 150 ms");
  });

  test.each(
    all.flatMap(([tool, argsOf]) =>
      (
        [
          ["HTTP 502", { kind: "status", status: 502, body: "<h1>Bad gateway</h1>" }],
          ...["fatal_error", "internal_error", "service_unavailable", "request_timeout"].map(
            (error) => [error, refusal(error)] as const,
          ),
        ] as const
      ).map(([name, fault]) => ({ tool, argsOf, name, fault })),
    ),
  )("$tool answered with $name after the effect: failed, and perhaps done all the same", async (given) => {
    const on = await bench();
    const args = given.argsOf(on);
    on.backend.inject({ ...given.fault, effect: true }, { method });
    const { error, checkpoint } = await lose(on, given.tool, args);
    expect(error).toMatchObject({ code: "FAILED", status: given.fault.status, mayHaveApplied: true });
    expect(error.message).toContain("it may have taken effect all the same");
    expect(error.expectedResult).toEqual(checkpoint?.result);
    expect(on.writes()).toHaveLength(1);
  });

  test.each(forward)("%s: landed tells the truth both ways, late delivery included", async (tool, argsOf) => {
    const on = await bench();
    const args = argsOf(on);
    on.backend.inject({ kind: "late" }, { method });
    const { error, checkpoint } = await lose(on, tool, args);
    expect(error.expectedResult).toEqual(checkpoint?.result);
    expect(await on.landed(tool, args, key, checkpoint)).toEqual({ landed: false });
    await on.backend.settle();
    const answer = await on.landed(tool, args, key, checkpoint);
    expect(answer).toMatchObject({ landed: true, result: checkpoint?.result ?? { channel: general } });
    expect(on.writes()).toHaveLength(1);
  });

  test.each(forward)("%s: the undo of what landed ends in the prior state", async (tool, argsOf) => {
    const on = await bench();
    const args = argsOf(on);
    const before = await on.state();
    on.backend.inject({ kind: "cutAfter" }, { method });
    const { checkpoint } = await lose(on, tool, args);
    const answer = await on.landed(tool, args, key, checkpoint);
    await on.undo(tool, args, (answer as { result: object }).result);
    expect(await on.state()).toEqual(before);
  });

  test("add_reaction: the undo from the checkpoint alone ends in the prior state", async () => {
    for (const had of [false, true]) {
      for (const kind of ["cutBefore", "cutAfter"] as const) {
        const on = await bench();
        if (had) react(on.backend.world, on.first, bot.user, "tada");
        const before = await on.state();
        on.backend.inject({ kind }, { method });
        const args = { channel: general, timestamp: on.first.ts, name: "tada" };
        const { checkpoint } = await lose(on, "add_reaction", args);
        const { already } = await on.undo("add_reaction", args, checkpoint?.result ?? {});
        expect(already).toBe(had || kind === "cutBefore");
        expect(await on.state()).toEqual(before);
      }
    }
  });

  test.each(undoes)(
    "%s: afterwards holds tells the truth, and repeating it succeeds",
    async (tool, argsOf) => {
      for (const kind of ["cutBefore", "cutAfter"] as const) {
        const on = await bench();
        const args = argsOf(on);
        on.backend.inject({ kind }, { method });
        await lose(on, tool, args);
        expect(await on.holds(tool, args)).toBe(kind === "cutAfter");
        expect(await on.call(tool, args)).toMatchObject({ already: kind === "cutAfter" });
        expect(await on.holds(tool, args)).toBe(true);
      }
    },
  );
});

test("a read that fails ends add_reaction before anything is written", async () => {
  for (const skip of [0, 1]) {
    const on = await bench();
    const before = await on.state();
    on.backend.inject({ kind: "status", status: 500 }, { method: "GET", skip });
    const args = { channel: general, timestamp: on.first.ts, name: "tada" };
    expect(await failure(on.call("add_reaction", args))).toMatchObject({ code: "FAILED", status: 500 });
    expect(on.writes()).toEqual([]);
    expect(await on.state()).toEqual(before);
  }
});

test("holds and landed send reads only", async () => {
  const on = await bench();
  for (const [tool, argsOf] of undoes) await on.holds(tool, argsOf(on));
  const result = { channel: general, timestamp: on.first.ts, name: "tada", added: true };
  for (const [tool, argsOf] of forward) await on.landed(tool, argsOf(on), key, { result });
  expect(on.backend.requests.length).toBeGreaterThanOrEqual(6);
  expect(on.writes()).toEqual([]);
});
