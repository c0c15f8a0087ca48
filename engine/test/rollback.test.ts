import { ConflictError, ConnectorError, EffectUncertainError } from "@reversi-connector/core";
import { compensateKey, type RollbackProgress } from "@reversi-connector/engine";
import { type Answers, office, placed, type Script, scripted } from "./support/desk.ts";

const lost: Script = async () => {
  throw new EffectUncertainError("no answer");
};
/** Took a checkpoint, wrote, and got no answer. */
const lostAfterCheckpoint: Script = async (_, context) => {
  await context.checkpoint?.({ result: { previous: null, content: "c" }, evidence: { transaction: 1 } });
  throw new EffectUncertainError("no answer");
};
const undo = { tool: "desk.clear", args: { name: "a", previous: null, expected: "c", etag: "e" } };
const guarded = { name: "a", previous: null, expected: "c" };

/** One placed thing, and a compensator that answers as a test says. */
async function one(answers: Answers = {}, execute: Script = async () => placed) {
  const around = await office();
  await around.call("desk.place", { name: "a" }, execute).catch(() => {});
  const means = scripted(answers);
  const { compensate } = means;
  return {
    ...around,
    ...means,
    rollback: (options = {}) => around.run.rollback({ compensate, ...options }),
    status: () => around.run.steps.get(1)?.status,
    step: () => around.run.steps.get(1),
  };
}
const throwing = (error: unknown) => () => {
  throw error;
};

describe("an applied step", () => {
  test("is compensated when the undo answers and the goal is then in place", async () => {
    const { rollback, sent, records } = await one();
    const report = await rollback();
    expect(report).toMatchObject({ run: "run", status: "complete", counts: { compensated: 1 } });
    expect(report.groups.compensated).toEqual([{ step: 1, tool: "desk.place", state: "compensated", undo }]);
    expect(report.residue).toEqual([{ step: 1, tool: "desk.place", id: "desk-dust", text: "Some dust." }]);
    expect(sent).toMatchObject([
      { ...undo, idempotency_key: compensateKey("run", 1, undo, 0), run: "run", step: 1 },
    ]);
    const types = records().map(({ type }) => type);
    expect(types.slice(-5)).toEqual(["lease", "fenced", "undo_intent", "compensated", "report"]);
  });
  test("has its undo on record, durably, before it is sent", async () => {
    const { rollback, answers, disk } = await one();
    answers.undo = () => {
      expect(disk.files.get("run")?.durable.toString()).toContain('"type":"undo_intent"');
      return { ok: true };
    };
    expect((await rollback()).status).toBe("complete");
  });
  test("is compensated, and nothing more is claimed, when the tool says that the goal was there already", async () => {
    const { rollback } = await one({ undo: () => ({ already: true }), holds: "unknown" });
    expect((await rollback()).groups.compensated).toMatchObject([{ already: true }]);
  });
  test("is not believed to be undone already when reading back shows otherwise", async () => {
    const { rollback } = await one({ undo: () => ({ already: true }), holds: false });
    expect((await rollback()).groups.compensation_failed).toMatchObject([{ reason: "verification" }]);
  });
  test("is compensation_failed(verification) when the undo answers and the goal is not in place", async () => {
    const { rollback, step, answers, sent } = await one({ holds: false });
    expect(await rollback()).toMatchObject({ status: "incomplete", counts: { compensation_failed: 1 } });
    expect(step()).toMatchObject({ reason: "verification", epoch: 1 });
    answers.holds = true;
    expect((await rollback()).status).toBe("complete");
    expect(sent[0]?.idempotency_key).not.toBe(sent[1]?.idempotency_key);
  });
  test("is compensated_unverified when the credential may not read it back, and complete only if that is accepted", async () => {
    const { rollback, answers, sent } = await one({ holds: "unknown" });
    expect(await rollback()).toMatchObject({ status: "incomplete", counts: { compensated_unverified: 1 } });
    expect(await rollback({ acceptUnverified: true })).toMatchObject({ status: "complete" });
    expect(sent).toHaveLength(1);
    answers.holds = true;
    expect(await rollback()).toMatchObject({ status: "complete", counts: { compensated: 1 } });
    expect(sent).toHaveLength(1);
  });
  test("is conflict when somebody else changed it; the next rollback looks again", async () => {
    const { rollback, answers, status } = await one({
      undo: throwing(new ConflictError("changed")),
      holds: false,
    });
    const report = await rollback();
    expect(report.groups.conflict).toMatchObject([{ message: "changed" }]);
    expect(status()).toBe("conflict");
    answers.undo = () => ({ ok: true });
    answers.holds = true;
    expect((await rollback()).status).toBe("complete");
  });
  test("in conflict is overwritten only on the operator's word", async () => {
    const { rollback, sent, answers } = await one({ holds: false });
    answers.undo = ({ on_conflict }) => {
      if (on_conflict !== "overwrite") throw new ConflictError("changed");
      answers.holds = true;
      return { ok: true };
    };
    await rollback();
    await rollback({ forceConflicts: [2] });
    expect(sent.map(({ on_conflict }) => on_conflict)).toEqual([undefined, undefined]);
    expect((await rollback({ forceConflicts: true })).status).toBe("complete");
    expect(sent.at(-1)?.on_conflict).toBe("overwrite");
  });
  test("is compensation_failed(error) after an answered error, and the next undo has another key", async () => {
    const { rollback, answers, step, sent } = await one({
      undo: throwing(new ConnectorError("HTTP 500", { status: 500, mayHaveApplied: true })),
    });
    expect((await rollback()).groups.compensation_failed).toMatchObject([
      { reason: "error", message: "HTTP 500" },
    ]);
    expect(step()?.epoch).toBe(1);
    answers.undo = () => ({ ok: true });
    expect((await rollback()).status).toBe("complete");
    expect(sent.map((call) => call.idempotency_key)).toEqual(
      [0, 1].map((e) => compensateKey("run", 1, undo, e)),
    );
  });
  test.each([
    ["a lost answer", new EffectUncertainError("no answer")],
    ["an error nobody threw on purpose", new TypeError("fetch failed")],
  ])("is compensation_uncertain after %s, and the same key is sent again", async (_, error) => {
    const { rollback, answers, status, sent, asked } = await one({ undo: throwing(error), holds: false });
    await rollback();
    expect(status()).toBe("compensation_uncertain");
    expect(asked).toHaveLength(0);
    answers.undo = () => {
      answers.holds = true;
      return { ok: true };
    };
    expect((await rollback()).status).toBe("complete");
    expect(sent[0]?.idempotency_key).toBe(sent[1]?.idempotency_key);
  });
  test("whose undo's answer was lost is asked about first, and nothing is sent when its goal is in place", async () => {
    const { rollback, sent, answers } = await one({ undo: throwing(new EffectUncertainError("no answer")) });
    await rollback();
    answers.undo = throwing(new Error("must not be sent"));
    expect(await rollback()).toMatchObject({ status: "complete", counts: { compensated: 1 } });
    expect(sent).toHaveLength(1);
  });
  test("waits for a rate limit, which says nothing about the answer", async () => {
    let refusals = 3;
    const limit = () => {
      if (refusals-- > 0) throw new ConnectorError("slow down", { status: 429, retryAfterSeconds: 7 });
    };
    const { rollback, clock, sent } = await one({
      undo: limit,
      holds: () => {
        limit();
        return true;
      },
    });
    const before = clock.now();
    expect((await rollback()).status).toBe("complete");
    expect(clock.now() - before).toBe(21_000);
    expect(new Set(sent.map((call) => call.idempotency_key)).size).toBe(1);
  });
  test("does not wait for a rate limit without end", async () => {
    const limit = throwing(new ConnectorError("slow down", { status: 429, retryAfterSeconds: 3600 }));
    const { rollback, clock } = await one({ undo: limit });
    const before = clock.now();
    expect((await rollback()).counts).toEqual({ compensation_failed: 1 });
    expect(clock.now()).toBe(before);
  });
  test("is unverified, and others wait for it, while the read itself fails", async () => {
    const { rollback, answers, run } = await one({
      holds: throwing(new ConnectorError("HTTP 500", { status: 500 })),
    });
    expect(await rollback({ acceptUnverified: true })).toMatchObject({
      counts: { compensated_unverified: 1 },
    });
    expect(run.steps.get(1)?.unread).toBe(true);
    answers.holds = true;
    expect((await rollback()).status).toBe("complete");
  });
});

describe("the caller's own verify", () => {
  test("turns an undo that holds into a failed one, by false", async () => {
    const { rollback } = await one();
    expect((await rollback({ verify: () => false })).groups.compensation_failed).toMatchObject([
      { reason: "verification" },
    ]);
  });
  test("does not make true what holds denies or does not know", async () => {
    const denied = await one({ holds: false });
    expect((await denied.rollback({ verify: () => true })).counts).toEqual({ compensation_failed: 1 });
    const unknown = await one({ holds: "unknown" });
    expect((await unknown.rollback({ verify: () => true })).counts).toEqual({ compensated_unverified: 1 });
  });
  test("is all there is with a bare function, and without it a bare function's undo is unverified", async () => {
    const { run } = await one();
    const bare = async () => {};
    expect((await run.rollback({ compensate: bare })).counts).toEqual({ compensated_unverified: 1 });
    const { run: other } = await one();
    const told: unknown[] = [];
    const verify = (call: unknown) => told.push(call) > 0;
    expect((await other.rollback({ compensate: bare, verify })).status).toBe("complete");
    expect(told).toEqual([{ run: "run", step: 1, tool: "desk.place", undo, answer: undefined }]);
  });
});
describe("a step whose answer was lost", () => {
  test("is applied when evidence brings its result, and then undone", async () => {
    const { rollback, sent, lookedUp, run } = await one(
      { landed: () => ({ landed: true, result: placed }) },
      lostAfterCheckpoint,
    );
    expect((await rollback()).status).toBe("complete");
    expect(sent).toMatchObject([undo]);
    expect(lookedUp).toMatchObject([
      {
        idempotencyKey: run.steps.get(1)?.key,
        checkpoint: { result: { content: "c" }, evidence: { transaction: 1 } },
      },
    ]);
  });
  test("is not applied when two looks agree, the second after its request can no longer arrive", async () => {
    const { rollback, lookedUp, sent, clock, step } = await one({ landed: () => ({ landed: false }) }, lost);
    expect(await rollback()).toMatchObject({ status: "complete", counts: { not_applied: 1 } });
    expect(lookedUp).toHaveLength(2);
    expect(sent).toHaveLength(0);
    expect(clock.now()).toBeGreaterThanOrEqual((step()?.deadline ?? 0) + 30_000);
  });
  test("stays uncertain when that moment is further away than the caller waits", async () => {
    const { rollback, lookedUp } = await one({ landed: () => ({ landed: false }) }, lost);
    expect(await rollback({ patienceMs: 1_000 })).toMatchObject({
      status: "incomplete",
      counts: { uncertain: 1 },
    });
    expect(lookedUp).toHaveLength(1);
  });
  test("is undone when it arrives between the two looks", async () => {
    let looks = 0;
    const landed = () =>
      ++looks === 1 ? ({ landed: false } as const) : ({ landed: true, result: placed } as const);
    const { rollback, sent } = await one({ landed }, lost);
    expect(await rollback()).toMatchObject({ status: "complete", counts: { compensated: 1 } });
    expect(sent).toHaveLength(1);
  });
  test("of which the backend cannot tell yet is looked up again when its request can no longer arrive", async () => {
    let looks = 0;
    const landed = () => (++looks === 1 ? "unknown" : ({ landed: false } as const));
    const { rollback, lookedUp, sent, clock, step } = await one({ landed }, lost);
    expect(await rollback()).toMatchObject({ status: "complete", counts: { not_applied: 1 } });
    expect(lookedUp).toHaveLength(3);
    expect(sent).toHaveLength(0);
    expect(clock.now()).toBeGreaterThanOrEqual((step()?.deadline ?? 0) + 30_000);
  });
  test("without evidence is undone from its checkpoint, under the guard", async () => {
    const { rollback, sent } = await one({}, lostAfterCheckpoint);
    expect(await rollback()).toMatchObject({ status: "complete", counts: { compensated: 1 } });
    expect(sent).toMatchObject([{ tool: "desk.clear", args: guarded }]);
  });
  test("and which seems undone already is looked at again when its request can no longer arrive", async () => {
    const { rollback, sent, clock, step } = await one(
      { undo: () => ({ already: true }) },
      lostAfterCheckpoint,
    );
    const deadline = step()?.deadline ?? 0;
    expect((await rollback()).status).toBe("complete");
    expect(sent).toHaveLength(2);
    expect(clock.now()).toBeGreaterThanOrEqual(deadline + 30_000);
  });
  test("without evidence and checkpoint is never guessed at: it stays uncertain until a person settles it", async () => {
    const { rollback, sent, run } = await one({}, lost);
    expect(await rollback()).toMatchObject({ status: "incomplete", counts: { uncertain: 1 } });
    expect(sent).toHaveLength(0);
    await run.resolve(1, { applied: placed }, "seen in the console", "bob");
    expect(await rollback()).toMatchObject({ status: "complete", counts: { compensated: 1 } });
  });
  test("is not undone from a checkpoint that lacks the guard", async () => {
    const unguarded: Script = async (_, context) => {
      await context.checkpoint?.({ result: { previous: null } });
      throw new EffectUncertainError("no answer");
    };
    const { rollback, sent } = await one({}, unguarded);
    expect((await rollback()).counts).toEqual({ uncertain: 1 });
    expect(sent).toHaveLength(0);
  });
  test("and one answered with a 5xx are treated alike", async () => {
    const broken: Script = async () => {
      throw new ConnectorError("HTTP 502", { status: 502, mayHaveApplied: true });
    };
    const { rollback } = await one({ landed: () => ({ landed: true, result: placed }) }, broken);
    expect(await rollback()).toMatchObject({ status: "complete", counts: { compensated: 1 } });
  });
});

describe("a person", () => {
  test("settles a step as not applied, on record with the evidence and the name", async () => {
    const { run, rollback, records } = await one({}, lost);
    await run.resolve(1, "not_applied", "asked support", "bob");
    expect(records().at(-1)).toMatchObject({
      type: "resolved",
      outcome: "not_applied",
      evidence: "asked support",
      by: "bob",
    });
    expect((await rollback()).status).toBe("complete");
  });
  test("cannot settle what is settled, what is not there, or with a result that lacks what the undo needs", async () => {
    const { run, rollback } = await one({}, lost);
    await expect(run.resolve(1, { applied: {} }, "", "bob")).rejects.toThrow("result.previous is missing");
    await expect(run.resolve(2, "not_applied", "", "bob")).rejects.toThrow("has no step 2");
    await run.resolve(1, "not_applied", "", "bob");
    await expect(run.resolve(1, "not_applied", "", "bob")).rejects.toThrow("there is nothing to resolve");
    expect((await rollback()).status).toBe("complete");
  });
  test("gives an unresolvable step the result that was missing", async () => {
    const { run, rollback } = await one({}, async () => ({ name: "a" }));
    expect((await rollback()).counts).toEqual({ unresolvable: 1 });
    await run.resolve(1, { applied: placed }, "read the log", "bob");
    expect((await rollback()).status).toBe("complete");
  });
});

describe("several steps", () => {
  const bare = async () => ({ ok: true });
  test("are undone newest first, and one failure stops only those that wait for it", async () => {
    const { call, run } = await office();
    await call("desk.place", { name: "folder" });
    await call("desk.attach", { path: "folder/x" }, async () => ({ id: "7" }));
    await call("desk.place", { name: "other" });
    const means = scripted({
      undo: ({ tool }) => {
        if (tool === "desk.drop") throw new ConnectorError("HTTP 403", { status: 403 });
        return { ok: true };
      },
    });
    const report = await run.rollback({ compensate: means.compensate });
    expect(means.sent.map(({ step }) => step)).toEqual([3, 2]);
    expect(report.groups.deferred).toMatchObject([{ step: 1, state: "applied", waits_for: [2] }]);
    means.answers.undo = bare;
    expect((await run.rollback({ compensate: means.compensate })).status).toBe("complete");
    expect(means.sent.map(({ step }) => step)).toEqual([3, 2, 2, 1]);
  });
  test("on one target wait for each other, though no tool requires it", async () => {
    const { call, run } = await office();
    await call("desk.place", { name: "a" });
    await call("desk.place", { name: "a" });
    expect(run.steps.get(2)?.requires).toEqual([]);
    const { compensate, sent } = scripted({
      undo: throwing(new ConnectorError("HTTP 500", { status: 500 })),
    });
    const report = await run.rollback({ compensate });
    expect(report.counts).toEqual({ compensation_failed: 1, deferred: 1 });
    expect(report.groups.deferred).toMatchObject([{ step: 1, waits_for: [2] }]);
    expect(sent.map(({ step }) => step)).toEqual([2]);
  });
  test("on one target whose newest is refused let the earlier ones tell whether it was the run itself", async () => {
    const { call, run } = await office();
    await call("desk.place", { name: "a" });
    await call("desk.place", { name: "a" }, async () => ({ ...placed, previous: "one", content: "two" }));
    // What is there is what the first step left: the second one's effect is gone.
    let now: unknown = "c";
    const { compensate } = scripted({
      undo: ({ args }) => {
        if (args["expected"] !== now) throw new ConflictError("changed");
        now = args["previous"];
        return { ok: true };
      },
      holds: ({ args }) => args["previous"] === now,
    });
    expect(await run.rollback({ compensate })).toMatchObject({
      status: "complete",
      counts: { compensated: 2 },
    });
    const { call: callAgain, run: other } = await office();
    await callAgain("desk.place", { name: "a" });
    await callAgain("desk.place", { name: "a" });
    now = "a person's";
    expect((await other.rollback({ compensate })).counts).toEqual({ conflict: 2 });
  });
  test("seen again after an earlier one on their target was undone count as undone, not as changed by others", async () => {
    const { call, run } = await office();
    await call("desk.place", { name: "a" });
    await call("desk.place", { name: "a" }, async () => ({ ...placed, previous: "one", content: "two" }));
    const unknown = scripted({ holds: "unknown" });
    expect((await run.rollback({ compensate: unknown.compensate })).counts).toEqual({
      compensated_unverified: 2,
    });
    // Now the credential may read: the thing is where the first step found it.
    const reading = scripted({ holds: ({ args }) => args["previous"] === null });
    expect(await run.rollback({ compensate: reading.compensate })).toMatchObject({ status: "complete" });
    expect(reading.sent).toEqual([]);
  });
  test("can be chosen; the others stand, and what waits for them says so", async () => {
    const { call, run } = await office();
    await call("desk.place", { name: "folder" });
    await call("desk.attach", { path: "folder/x" }, async () => ({ id: "7" }));
    await call("desk.place", { name: "other" });
    const report = await run.rollback({ compensate: bare, verify: () => true, steps: [1, 3] });
    expect(report.counts).toEqual({ compensated: 1, standing: 1, deferred: 1 });
    await expect(run.rollback({ compensate: bare, steps: [9] })).rejects.toThrow("has no step 9");
  });
  test("whose later one can never be undone are done when their goal is in place all the same", async () => {
    const { call, run } = await office();
    await call("desk.place", { name: "a" });
    await call("desk.clear", { name: "a", previous: null }, async () => ({ ok: true }));
    const standing = scripted({ holds: false });
    const report = await run.rollback({ compensate: standing.compensate });
    expect(report.counts).toEqual({ no_compensation: 1, deferred: 1 });
    const gone = scripted({ holds: true });
    expect((await run.rollback({ compensate: gone.compensate })).counts).toEqual({
      no_compensation: 1,
      compensated: 1,
    });
    expect([...standing.sent, ...gone.sent]).toEqual([]);
  });
  test("are reported as they go, and stop when the caller says so", async () => {
    const { call, run } = await office();
    for (const name of ["a", "b", "c"]) await call("desk.place", { name });
    const stop = new AbortController();
    const seen: RollbackProgress[] = [];
    const onProgress = (progress: RollbackProgress) => {
      seen.push(progress);
      if (progress.done === 2) stop.abort();
    };
    const { compensate } = scripted({});
    const report = await run.rollback({ compensate, onProgress, signal: stop.signal });
    expect(seen.map(({ step, done, total, state }) => [step, done, total, state])).toEqual([
      [3, 1, 3, "compensated"],
      [2, 2, 3, "compensated"],
    ]);
    expect(report).toMatchObject({ status: "incomplete", counts: { compensated: 2, standing: 1 } });
  });
});

describe("a dry run", () => {
  test("sends reads only, writes nothing, and tells the literal undo and what a read shows now", async () => {
    const { run, call, disk } = await office();
    await call("desk.place", { name: "a" });
    await call("desk.place", { name: "b" });
    await call("desk.place", { name: "c" });
    await call("desk.place", { name: "d" }, lost).catch(() => {});
    await call("desk.clear", { name: "x", previous: null }, async () => ({ ok: true }));
    const before = disk.bytes("run").toString();
    const seen: Record<string, boolean | "unknown"> = { a: true, b: false, c: "unknown" };
    const { compensate, sent } = scripted({ holds: ({ args }) => seen[args["name"] as string] ?? "unknown" });
    const { steps } = await run.rollback({ compensate, dryRun: true });
    expect(steps.map(({ step, now }) => [step, now])).toEqual([
      [5, "cannot undo"],
      [4, "cannot tell"],
      [3, "cannot tell"],
      [2, "would undo"],
      [1, "already undone"],
    ]);
    expect(steps.at(-1)).toMatchObject({ undo, residue: [{ id: "desk-dust" }] });
    expect(sent).toEqual([]);
    expect(disk.bytes("run").toString()).toBe(before);
    await call("desk.place", { name: "e" });
  });
  test("tells who waits for whom, and keeps a conflict a conflict while it lasts", async () => {
    const { run, call } = await office();
    await call("desk.place", { name: "folder" });
    await call("desk.attach", { path: "folder/x" }, async () => ({ id: "7" }));
    const { compensate } = scripted({ undo: throwing(new ConflictError("changed")), holds: false });
    await run.rollback({ compensate });
    const { steps } = await run.rollback({ compensate, dryRun: true });
    expect(steps).toMatchObject([
      { step: 2, state: "conflict", now: "conflict" },
      { step: 1, now: "would undo", waits_for: [2] },
    ]);
  });
});

describe("after a crash", () => {
  test("a call without a recorded outcome is uncertain and never made again", async () => {
    const { call, resume } = await office();
    void call("desk.place", { name: "a" }, () => new Promise(() => {}));
    await new Promise(setImmediate);
    const run = await resume();
    expect(run.steps.get(1)).toMatchObject({ status: "uncertain" });
    const { step } = await run.call({ tool: "desk.place", args: { name: "a" }, execute: async () => placed });
    expect(step).toBe(2);
  });
  test("a call with a checkpoint is uncertain with its before-image", async () => {
    const { call, resume } = await office();
    void call("desk.place", { name: "a" }, async (_, context) => {
      await context.checkpoint?.({ result: { previous: null, content: "c" } });
      return new Promise(() => {});
    });
    await new Promise(setImmediate);
    const run = await resume();
    const { compensate, sent } = scripted({});
    expect((await run.rollback({ compensate })).status).toBe("complete");
    expect(sent).toMatchObject([{ args: guarded }]);
  });
  test("an undo without a recorded outcome is compensation_uncertain, and asked about before it is sent again", async () => {
    const { run, resume } = await one();
    void run.rollback({ compensate: () => new Promise(() => {}) });
    await new Promise(setImmediate);
    const again = await resume();
    expect(again.steps.get(1)?.status).toBe("compensation_uncertain");
    const { compensate, sent } = scripted({});
    expect((await again.rollback({ compensate })).status).toBe("complete");
    expect(sent).toEqual([]);
  });
  test("the run stays fenced, and edges and numbers go on where they were", async () => {
    const { resume, call } = await office();
    await call("desk.place", { name: "folder" });
    const again = await resume();
    const execute = async () => ({ id: "7" });
    const { step } = await again.call({ tool: "desk.attach", args: { path: "folder/x" }, execute });
    expect(again.steps.get(step)).toMatchObject({ step: 2, requires: [1] });
    await again.rollback({ compensate: async () => {} });
    const fenced = await resume();
    await expect(fenced.call({ tool: "desk.look", args: { name: "a" }, execute })).rejects.toThrow(
      "no new calls",
    );
  });
});
