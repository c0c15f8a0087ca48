import { type Checkpoint, EffectUncertainError } from "@reversi-connector/core";
import { addComment } from "@reversi-connector/linear/sandbox";
import { type Bench, bench, failure } from "./bench.ts";

/** A write, with how many reads come before it. */
type Write = readonly [tool: string, reads: number, args: (on: Bench) => object];
const forward: readonly Write[] = [
  ["create_issue", 1, ({ team }) => ({ team_id: team.id, title: "Typo" })],
  ["add_comment", 1, () => ({ issue_id: "ENG-1", body: "Hello" })],
];
const undoes: readonly Write[] = [
  [
    "archive_issue",
    1,
    ({ issue, team, world }) => ({
      issue_id: issue.id,
      team_id: team.id,
      expected_organization_id: world.organization.id,
    }),
  ],
  [
    "delete_comment",
    2,
    ({ issue, world }) => ({
      comment_id: addComment(world, { issue: issue.id, body: "x" }).id,
      issue_id: issue.id,
      expected_organization_id: world.organization.id,
    }),
  ],
];
const all = [...forward, ...undoes];
const idempotencyKey = "run 1, step 1";

/** Calls a tool and keeps what it made durable. */
async function lose({ call }: Bench, tool: string, args: object) {
  const kept: Checkpoint[] = [];
  const checkpoint = async (next: Checkpoint) => void kept.push(next);
  const error = await failure(call(tool, args, { idempotencyKey, checkpoint }));
  return { error, checkpoint: kept[0] };
}

describe("an answer that is lost", () => {
  test.each(all)(
    "HT-01: %s sent once, connection cut after the effect: unknown",
    async (tool, skip, argsOf) => {
      const on = await bench();
      const args = argsOf(on);
      const before = await on.state();
      on.backend.inject({ kind: "cutAfter", reset: true }, { skip });
      const { error } = await lose(on, tool, args);
      expect(EffectUncertainError.is(error)).toBe(true);
      expect(error).toMatchObject({ idempotencyKey });
      expect(on.writes()).toHaveLength(1);
      expect(await on.state()).not.toEqual(before);
    },
  );

  test.each(all)(
    "%s, connection cut before the effect: unknown, and calling again succeeds",
    async (tool, skip, argsOf) => {
      const on = await bench();
      const args = argsOf(on);
      const before = await on.state();
      on.backend.inject({ kind: "cutBefore" }, { skip });
      const { error } = await lose(on, tool, args);
      expect(EffectUncertainError.is(error)).toBe(true);
      expect(await on.state()).toEqual(before);
      await on.call(tool, args, { idempotencyKey });
      expect(await on.state()).not.toEqual(before);
    },
  );

  test.each(all)(
    "HT-06: %s answered with a body cut half way, with no JSON, or with nothing in it: unknown",
    async (tool, skip, argsOf) => {
      for (const fault of [
        { kind: "garbage" },
        { kind: "garbage", body: "{}" },
        { kind: "garbage", body: '{"data":{}}' },
        { kind: "garbage", body: '{"data":null}' },
        { kind: "cutBody" },
        { kind: "cutBody", chunked: true },
      ] as const) {
        const on = await bench();
        const args = argsOf(on);
        on.backend.inject(fault, { skip });
        expect(EffectUncertainError.is((await lose(on, tool, args)).error)).toBe(true);
      }
    },
  );

  test.each(all)("%s never answered: unknown when its time is over", async (tool, skip, argsOf) => {
    const on = await bench({ timeoutMs: 250 });
    const args = argsOf(on);
    on.backend.inject({ kind: "hang" }, { skip });
    const { error } = await lose(on, tool, args);
    expect(EffectUncertainError.is(error)).toBe(true);
    expect(error.message).toContain("no answer within 250 ms");
  });

  test.each(all)(
    "%s answered with 502: failed, and perhaps done all the same",
    async (tool, skip, argsOf) => {
      const on = await bench();
      const args = argsOf(on);
      on.backend.inject(
        { kind: "status", status: 502, effect: true, body: "<h1>Bad gateway</h1>" },
        { skip },
      );
      const { error, checkpoint } = await lose(on, tool, args);
      expect(error).toMatchObject({ code: "FAILED", status: 502, mayHaveApplied: true });
      expect(error.expectedResult).toEqual(checkpoint?.result);
    },
  );

  test.each(forward)(
    "%s: landed tells the truth both ways, late delivery included, from the key or the checkpoint alone",
    async (tool, skip, argsOf) => {
      const on = await bench();
      const args = argsOf(on);
      on.backend.inject({ kind: "late" }, { skip });
      const { error, checkpoint } = await lose(on, tool, args);
      expect(error.expectedResult).toEqual(checkpoint?.result);
      expect(await on.landed(tool, args, idempotencyKey, checkpoint)).toEqual({ landed: false });
      expect(await on.landed(tool, args, undefined, checkpoint)).toEqual({ landed: false });
      await on.backend.settle();
      const answer = await on.landed(tool, args, idempotencyKey, checkpoint);
      expect(answer).toMatchObject({ landed: true, result: checkpoint?.result });
      expect(await on.landed(tool, args, idempotencyKey)).toEqual(answer);
      expect(await on.landed(tool, args, undefined, checkpoint)).toEqual(answer);
      expect(await on.landed(tool, args, "another key")).not.toEqual(answer);
      expect(await on.landed(tool, args)).toBe("unknown");
      expect(on.writes()).toHaveLength(1);
      expect(await on.call(tool, args, { idempotencyKey })).toMatchObject(checkpoint?.result ?? {});
    },
  );

  test.each(forward)("%s: who cannot see where it was to be made cannot tell", async (tool, skip, argsOf) => {
    const on = await bench();
    const args = argsOf(on);
    on.backend.inject({ kind: "cutAfter" }, { skip });
    const { checkpoint } = await lose(on, tool, args);
    on.team.visible = false;
    expect(await on.landed(tool, args, idempotencyKey, checkpoint)).toBe("unknown");
    on.team.visible = true;
    on.world.organization = { ...on.world.organization, id: "0000beef-0000-4000-8000-000000000000" };
    expect(await on.landed(tool, args, idempotencyKey, checkpoint)).toBe("unknown");
  });

  test("without a checkpoint, an identifier alone does not say in which workspace to look", async () => {
    const { landed, team, issue } = await bench();
    const body = "Hello";
    expect(await landed("add_comment", { issue_id: "ENG-1", body }, idempotencyKey)).toBe("unknown");
    expect(await landed("add_comment", { issue_id: issue.id, body }, idempotencyKey)).toEqual({
      landed: false,
    });
    const args = { team_id: team.id, title: "x" };
    expect(await landed("create_issue", args, idempotencyKey)).toEqual({ landed: false });
  });

  test.each(forward)("%s: the undo from the checkpoint alone ends in the prior state", async (...write) => {
    const [tool, skip, argsOf] = write;
    for (const kind of ["cutBefore", "cutAfter"] as const) {
      const on = await bench();
      const args = argsOf(on);
      const before = await on.state();
      on.backend.inject({ kind }, { skip });
      const { checkpoint } = await lose(on, tool, args);
      const undone = await on.undo(tool, args, checkpoint?.result ?? {});
      expect(undone).toMatchObject({ already: kind === "cutBefore" });
      on.world.issues.splice(2); // the declared residue
      expect(await on.state()).toEqual(before);
    }
  });

  test.each(undoes)(
    "%s: after a lost answer holds tells the truth, and repeating it succeeds",
    async (tool, skip, argsOf) => {
      for (const kind of ["cutBefore", "cutAfter"] as const) {
        const on = await bench();
        const args = argsOf(on);
        on.backend.inject({ kind }, { skip });
        await lose(on, tool, args);
        expect(await on.holds(tool, args)).toBe(kind === "cutAfter");
        expect(await on.call(tool, args)).toMatchObject({ already: kind === "cutAfter" });
        expect(await on.holds(tool, args)).toBe(true);
      }
    },
  );
});

test.each(all)(
  "%s: a read that fails ends the call before anything is written",
  async (tool, reads, argsOf) => {
    for (let skip = 0; skip < reads; skip++) {
      const on = await bench();
      const args = argsOf(on);
      const before = await on.state();
      on.backend.inject({ kind: "status", status: 500 }, { skip });
      const error = await failure(on.call(tool, args));
      expect(error).toMatchObject({ code: "FAILED", status: 500, mayHaveApplied: false });
      expect(on.writes()).toEqual([]);
      expect(await on.state()).toEqual(before);
    }
  },
);

test.each(all)(
  "%s: a read whose connection is lost is repeated, a write never",
  async (tool, reads, argsOf) => {
    const on = await bench();
    on.backend.inject({ kind: "cutAfter" }, {});
    await on.call(tool, argsOf(on));
    expect(on.sent()).toHaveLength(reads + 2);
    expect(on.writes()).toHaveLength(1);
  },
);

test.each(forward)("%s: a checkpoint that is refused stops it before the write", async (tool, _, argsOf) => {
  const on = await bench();
  const before = await on.state();
  const checkpoint = async () => {
    throw new Error("the disk is full");
  };
  const error = await failure(on.call(tool, argsOf(on), { idempotencyKey, checkpoint }));
  expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
  expect(error.message).toMatch(/the disk is full.*nothing was written/);
  expect(on.writes()).toEqual([]);
  expect(await on.state()).toEqual(before);
});

test("MC-12: each call is sent once, also while the same one still runs", async () => {
  const { call, world, writes, team } = await bench();
  const args = { team_id: team.id, title: "Twice" };
  await Promise.all([call("create_issue", args), call("create_issue", args)]);
  expect(writes()).toHaveLength(2);
  const context = { idempotencyKey };
  const [one, two] = await Promise.all([
    call("create_issue", args, context),
    call("create_issue", args, context),
  ]);
  expect(two).toEqual(one);
  expect(world.issues).toHaveLength(5);
});

test("holds and landed send queries only", async () => {
  const on = await bench();
  for (const [tool, , argsOf] of undoes) await on.holds(tool, argsOf(on));
  for (const [tool, , argsOf] of forward) await on.landed(tool, argsOf(on), idempotencyKey);
  expect(on.sent().length).toBeGreaterThanOrEqual(5);
  expect(on.writes()).toEqual([]);
});

describe("the whole way round", () => {
  test.each(forward)(
    "%s: do, undo, and nothing but the declared residue is left",
    async (tool, _, argsOf) => {
      const on = await bench();
      const args = argsOf(on);
      const before = await on.state();
      const result = await on.call<object>(tool, args);
      await on.undo(tool, args, result);
      const last = on.world.issues.splice(2);
      expect(last.map(({ archivedAt }) => archivedAt !== null)).toEqual(
        tool === "create_issue" ? [true] : [],
      );
      expect(await on.state()).toEqual(before);
    },
  );
});
