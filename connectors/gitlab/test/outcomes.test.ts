import { type Checkpoint, EffectUncertainError } from "@reversi-connector/core";
import { addNote } from "@reversi-connector/gitlab/sandbox";
import { type Bench, bench, failure } from "./bench.ts";

type Write = readonly [tool: string, method: string, args: (on: Bench) => object];
const forward: readonly Write[] = [
  ["create_issue", "POST", () => ({ title: "Typo" })],
  ["add_note", "POST", () => ({ issue_iid: 1, body: "Hello" })],
  ["create_branch", "POST", () => ({ branch: "feature/x" })],
];
const undoes: readonly Write[] = [
  ["close_issue", "PUT", () => ({ issue_iid: 1 })],
  [
    "delete_note",
    "DELETE",
    ({ backend: { world, site } }) => {
      const [issue] = site.issues;
      return { issue_iid: 1, note_id: issue && addNote(world, issue, { body: "x" }).id };
    },
  ],
  ["delete_branch", "DELETE", () => ({ branch: "docs" })],
];
const all = [...forward, ...undoes];

/** Calls a tool and keeps what it made durable. */
async function lose({ call }: Bench, tool: string, args: object) {
  const kept: Checkpoint[] = [];
  const error = await failure(
    call(tool, args, { checkpoint: async (checkpoint) => void kept.push(checkpoint) }),
  );
  return { error, checkpoint: kept[0] };
}

describe("an answer that is lost", () => {
  test.each(all)(
    "HT-01: %s sent once, connection cut after the effect: unknown",
    async (tool, method, argsOf) => {
      const on = await bench();
      const args = argsOf(on);
      const before = await on.state();
      on.backend.inject({ kind: "cutAfter", reset: true }, { method });
      const { error } = await lose(on, tool, args);
      expect(EffectUncertainError.is(error)).toBe(true);
      expect(on.writes()).toHaveLength(1);
      expect(await on.state()).not.toEqual(before);
    },
  );

  test.each(all)(
    "%s, connection cut before the effect: unknown, and calling again succeeds",
    async (...write) => {
      const [tool, method, argsOf] = write;
      const on = await bench();
      const args = argsOf(on);
      const before = await on.state();
      on.backend.inject({ kind: "cutBefore" }, { method });
      const { error } = await lose(on, tool, args);
      expect(EffectUncertainError.is(error)).toBe(true);
      expect(await on.state()).toEqual(before);
      await on.call(tool, args);
      expect(await on.state()).not.toEqual(before);
    },
  );

  test.each(all)(
    "HT-06: %s answered with a body cut half way, or with no JSON: unknown",
    async (...write) => {
      const [tool, method, argsOf] = write;
      for (const fault of [
        { kind: "garbage" },
        { kind: "cutBody" },
        { kind: "cutBody", chunked: true },
      ] as const) {
        // A 204 has no body that could be cut.
        if (fault.kind === "cutBody" && method === "DELETE") continue;
        const on = await bench();
        const args = argsOf(on);
        on.backend.inject(fault, { method });
        expect(EffectUncertainError.is((await lose(on, tool, args)).error)).toBe(true);
      }
    },
  );

  test.each(forward)(
    "%s answered with a 201 that lacks what it must carry: unknown",
    async (tool, method, argsOf) => {
      for (const body of [{}, [], { id: 5 }, { iid: 7, state: "opened" }, { commit: {} }]) {
        const on = await bench();
        on.backend.inject({ kind: "status", status: 201, effect: true, body }, { method });
        expect(EffectUncertainError.is((await lose(on, tool, argsOf(on))).error)).toBe(true);
      }
    },
  );

  test.each(all)("%s never answered: unknown when its time is over", async (tool, method, argsOf) => {
    const on = await bench({ timeoutMs: 150 });
    const args = argsOf(on);
    on.backend.inject({ kind: "hang" }, { method });
    const { error } = await lose(on, tool, args);
    expect(EffectUncertainError.is(error)).toBe(true);
    expect(error.message).toContain("no answer within 150 ms");
  });

  test.each(all)(
    "%s answered with 502: failed, and perhaps done all the same",
    async (tool, method, argsOf) => {
      const on = await bench();
      const args = argsOf(on);
      const body = "<h1>Bad gateway</h1>";
      on.backend.inject({ kind: "status", status: 502, effect: true, body }, { method });
      const { error, checkpoint } = await lose(on, tool, args);
      expect(error).toMatchObject({ code: "FAILED", status: 502, mayHaveApplied: true });
      expect(error.expectedResult).toEqual(checkpoint?.result);
    },
  );

  test("create_branch: landed tells the truth both ways, late delivery included", async () => {
    const on = await bench();
    const args = { branch: "feature/x" };
    on.backend.inject({ kind: "late" }, { method: "POST" });
    const { error, checkpoint } = await lose(on, "create_branch", args);
    expect(error.expectedResult).toEqual(checkpoint?.result);
    expect(await on.landed("create_branch", args, checkpoint)).toEqual({ landed: false });
    await on.backend.settle();
    const answer = await on.landed("create_branch", args, checkpoint);
    expect(answer).toMatchObject({ landed: true, result: checkpoint?.result });
    expect(on.writes()).toHaveLength(1);
  });

  test.each(["cutBefore", "cutAfter"] as const)(
    "create_branch (%s): the undo from the checkpoint alone ends in the prior state",
    async (kind) => {
      const on = await bench();
      const args = { branch: "feature/x" };
      const before = await on.state();
      on.backend.inject({ kind }, { method: "POST" });
      const { checkpoint } = await lose(on, "create_branch", args);
      const undone = await on.undo("create_branch", args, checkpoint?.result ?? {});
      expect(undone).toMatchObject({ already: kind === "cutBefore" });
      expect(await on.state()).toEqual(before);
    },
  );

  test.each(undoes)(
    "%s: after a lost answer holds tells the truth, and repeating it succeeds",
    async (...write) => {
      const [tool, method, argsOf] = write;
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

  test("what no evidence can tell of a lost issue or note is not claimed", async () => {
    const { connector } = await bench();
    expect(Object.keys(connector.landed)).toEqual(["gitlab.create_branch"]);
  });
});

test.each(all)(
  "%s: a read that fails ends the call before anything is written",
  async (tool, method, argsOf) => {
    const clean = await bench();
    await clean.call(tool, argsOf(clean));
    for (let skip = 0; skip < clean.backend.requests.length - 1; skip++) {
      const on = await bench();
      const args = argsOf(on);
      const before = await on.state();
      on.backend.inject({ kind: "status", status: 500 }, { method: "GET", skip });
      expect(await failure(on.call(tool, args))).toMatchObject({ code: "FAILED", status: 500 });
      expect(on.backend.requests.filter((request) => request.method === method)).toEqual([]);
      expect(await on.state()).toEqual(before);
    }
  },
);

test("holds and landed send reads only", async () => {
  const on = await bench();
  for (const [tool, , argsOf] of undoes) await on.holds(tool, argsOf(on));
  const result = { project_id: on.backend.site.id, branch: "x", sha: "a".repeat(40) };
  await on.landed("create_branch", { branch: "x" }, { result });
  expect(on.backend.requests.length).toBeGreaterThanOrEqual(4);
  expect(on.writes()).toEqual([]);
});
