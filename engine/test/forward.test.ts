import {
  ConflictError,
  ConnectorError,
  EffectUncertainError,
  InvalidArgumentsError,
} from "@reversi-connector/core";
import { type Approval, type ApprovalRequest, forwardKey, RefusedError } from "@reversi-connector/engine";
import { office, placed, scripted } from "./support/desk.ts";

const failing = (error: Error) => async () => {
  throw error;
};
const types = (records: readonly { readonly type: string }[]) =>
  records.map(({ type }) => type).filter((type) => type !== "manifest");
const never = async () => {
  throw new Error("this must not be called");
};

test("a call's intent is durable before anything is sent, and its outcome before the call resolves", async () => {
  const { call, records, disk } = await office();
  let before: string[] = [];
  const outcome = await call("desk.place", { name: "a" }, async () => {
    before = types(records());
    expect(disk.files.get("run")?.pending).toHaveLength(0);
    return placed;
  });
  expect(before).toEqual(["run_opened", "intent"]);
  expect(types(records())).toEqual(["run_opened", "intent", "applied"]);
  expect(disk.files.get("run")?.pending).toHaveLength(0);
  expect(outcome).toEqual({
    step: 1,
    result: placed,
    undo: { tool: "desk.clear", args: { name: "a", previous: null, expected: "c", etag: "e" } },
  });
});

test("a connector is given the step's key, a checkpoint and the arguments as they were journaled", async () => {
  const { run, call, records } = await office();
  const args = { name: "a" };
  await call("desk.place", args, async (given, context) => {
    (given as { name: string }).name = "changed";
    expect(context.idempotencyKey).toBe(forwardKey("run", 1));
    await context.checkpoint?.({ result: { previous: "old", content: "c" }, evidence: { transaction: 7 } });
    expect(records().at(-1)).toMatchObject({
      type: "checkpoint",
      step: 1,
      result: { previous: "old", content: "c" },
      evidence: { transaction: 7 },
    });
    return placed;
  });
  expect(args).toEqual({ name: "a" });
  expect(run.steps.get(1)?.undo?.args).toMatchObject({ name: "a" });
});

test("arguments that are no JSON are refused: the journal could not hold them truly", async () => {
  const { call, records } = await office();
  await expect(call("desk.place", { name: "a", label: undefined }, never)).rejects.toThrow(
    InvalidArgumentsError,
  );
  expect(types(records())).toEqual(["run_opened"]);
});

test("a read is one record, without a sync, and has no key", async () => {
  const { call, records, disk } = await office();
  const syncs = disk.syncs.get("run");
  await call("desk.look", { name: "a" }, async (_, context) => {
    expect(context.idempotencyKey).toBeUndefined();
    return { ok: true };
  });
  await expect(
    call("desk.look", { name: "b" }, failing(new ConnectorError("gone", { status: 404 }))),
  ).rejects.toThrow("gone");
  await new Promise(setImmediate);
  expect(types(records())).toEqual(["run_opened", "read", "read"]);
  expect(disk.syncs.get("run")).toBe(syncs);
});

test("a tool without a manifest, or outside the scope, is refused and nothing is sent", async () => {
  const { call, run } = await office({ scope: ["desk:read"] });
  await expect(call("desk.unknown", {}, never)).rejects.toThrow(
    "desk.unknown has no manifest in this run. Nothing was sent.",
  );
  await expect(call("desk.place", { name: "a" }, never)).rejects.toThrow(
    "desk.place needs desk:write, which is outside the scope",
  );
  await call("desk.look", { name: "a" }, async () => ({ ok: true }));
  expect([...run.steps.values()].map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(run.report().status).toBe("complete");
});

describe("a result whose mapped arguments", () => {
  test("all resolve makes the step applied with its undo", async () => {
    const { call, run } = await office();
    await call("desk.place", { name: "a" });
    expect(run.steps.get(1)).toMatchObject({ status: "applied", target: 'desk {"name":"a"}' });
  });
  test("are missing where they are required is unresolvable, said at once and never sent as null", async () => {
    const { call, run } = await office();
    const { unresolvable, undo } = await call("desk.place", { name: "a" }, async () => ({
      name: "a",
      content: "c",
    }));
    expect(unresolvable).toBe("desk.clear needs previous, and result.previous is missing");
    expect(undo).toBeNull();
    expect(run.report()).toMatchObject({ status: "incomplete", counts: { unresolvable: 1 } });
  });
  test("are missing where they are optional leaves them out", async () => {
    const { call } = await office();
    const { etag: _, ...result } = placed;
    const { undo } = await call("desk.place", { name: "a" }, async () => result);
    expect(undo?.args).toEqual({ name: "a", previous: null, expected: "c" });
  });
  test("are null is passed on only where the compensation allows null", async () => {
    const { call } = await office();
    const refused = await call("desk.place", { name: "a" }, async () => ({ ...placed, content: null }));
    expect(refused.unresolvable).toContain("expected must be a string");
    const allowed = await call("desk.place", { name: "a" }, async () => ({ ...placed, etag: null }));
    expect(allowed.undo?.args).toMatchObject({ previous: null, etag: null });
  });
  test("cannot be read because the result is no JSON is unresolvable, and the effect still counts", async () => {
    const { call } = await office();
    const { unresolvable } = await call("desk.place", { name: "a" }, async () => ({ ...placed, size: 1n }));
    expect(unresolvable).toContain("is missing");
  });
});

describe("a call that throws", () => {
  test.each([
    ["EffectUncertainError", new EffectUncertainError("lost"), { status: "uncertain" }],
    ["a refusal", new InvalidArgumentsError("no"), { status: "failed", may: false }],
    ["a 404", new ConnectorError("none", { status: 404 }), { status: "failed", may: false }],
    ["a failed precondition", new ConflictError("changed"), { status: "failed", may: false }],
    [
      "a 5xx",
      new ConnectorError("broken", { status: 502, mayHaveApplied: true }),
      { status: "failed", may: true },
    ],
    ["something nobody threw on purpose", new TypeError("x is undefined"), { status: "failed", may: true }],
  ])("%s is rethrown as it is and journaled for what it proves", async (_, error, state) => {
    const { call, run } = await office();
    await expect(call("desk.place", { name: "a" }, failing(error))).rejects.toBe(error);
    expect(run.steps.get(1)).toMatchObject(state);
    expect(run.report().status).toBe("may" in state && !state.may ? "complete" : "incomplete");
  });
  test("with what was durable before the write keeps that, although no checkpoint was taken", async () => {
    const { call, run } = await office();
    const error = new EffectUncertainError("lost", {
      idempotencyKey: "theirs",
      expectedResult: { previous: "old" },
    });
    await expect(call("desk.place", { name: "a" }, failing(error))).rejects.toBe(error);
    expect(run.steps.get(1)).toMatchObject({ key: "theirs", checkpoint: { result: { previous: "old" } } });
  });
});

describe("a tool that needs an approval", () => {
  const ask = async (answer: (request: ApprovalRequest) => Partial<Approval>) => {
    const around = await office({
      approve: async (request) => ({ approved: true, by: "alice", ...answer(request) }),
    });
    return { ...around, burn: () => around.call("desk.burn", { name: "a" }, async () => ({ ok: true })) };
  };
  test("is rejected when nobody is there to ask", async () => {
    const { call, run } = await office();
    await expect(call("desk.burn", { name: "a" }, never)).rejects.toThrow(
      "nobody is there to ask. Nothing was sent.",
    );
    expect(run.steps.get(1)?.status).toBe("rejected");
    expect(run.report().status).toBe("complete");
  });
  test("is called when it was approved for exactly this call, and the approval is in the journal first", async () => {
    const { burn, records, run } = await ask(() => ({}));
    await burn();
    expect(types(records())).toEqual(["run_opened", "awaiting_approval", "approved", "intent", "applied"]);
    expect(records().find(({ type }) => type === "approved")).toMatchObject({ step: 1, by: "alice" });
    expect(run.report()).toMatchObject({ status: "incomplete", counts: { unrecoverable: 1 } });
  });
  test.each<[string, (request: ApprovalRequest) => Partial<Approval>, string]>([
    ["denied", () => ({ approved: false, why: "too hot" }), "too hot"],
    ["given for another call", () => ({ digest: "0".repeat(64) }), "the approval is for another call"],
    ["expired", () => ({ expires: "2025-12-31T00:00:00Z" }), "the approval expired"],
    ["without a readable end", () => ({ expires: "soon" }), "the approval expired"],
  ])("is rejected when the approval was %s", async (_, answer, why) => {
    const { burn, run, records } = await ask(answer);
    await expect(burn()).rejects.toThrow(why);
    expect(run.steps.get(1)?.status).toBe("rejected");
    expect(records().at(-1)).toMatchObject({ type: "denied", by: "alice" });
  });
  test("takes an approval given beforehand once, also after a restart", async () => {
    const around = await ask(() => ({ id: "approval-1" }));
    await around.burn();
    await expect(around.burn()).rejects.toThrow("the approval was used before");
    expect((await around.load()).approvals).toEqual(new Set(["approval-1"]));
  });
  test("is rejected when asking fails", async () => {
    const { call } = await office({ approve: async () => Promise.reject(new Error("pager is off")) });
    await expect(call("desk.burn", { name: "a" }, never)).rejects.toThrow("asking failed (pager is off)");
  });
  test("is bound by its digest to the arguments and the manifest", async () => {
    const digests = new Set<string>();
    const { call } = await office({
      approve: async ({ digest }) => {
        digests.add(digest);
        return { approved: true, by: "alice" };
      },
    });
    for (const name of ["a", "b", "a"]) await call("desk.burn", { name }, async () => ({ ok: true }));
    expect(digests.size).toBe(2);
  });
});

test("a function that takes no context sends no key, so a lost answer is not looked up by one", async () => {
  const { run } = await office();
  const lost = {
    tool: "desk.place",
    args: { name: "a" },
    execute: failing(new EffectUncertainError("no answer")),
  };
  await expect(run.call(lost)).rejects.toThrow("no answer");
  const { compensate, lookedUp } = scripted({});
  expect((await run.rollback({ compensate })).counts).toEqual({ uncertain: 1 });
  for (const look of lookedUp) expect(look).toMatchObject({ idempotencyKey: undefined });
  expect(lookedUp).not.toHaveLength(0);
});

test("a run that is being rolled back takes no calls, not even one whose approval came meanwhile", async () => {
  let answer: (approval: Approval) => void = () => {};
  const { run, call } = await office({ approve: () => new Promise((resolve) => (answer = resolve)) });
  const waiting = call("desk.burn", { name: "a" }, never);
  await new Promise(setImmediate);
  await run.rollback({ compensate: never });
  answer({ approved: true, by: "alice" });
  await expect(waiting).rejects.toThrow("takes no new calls");
  const refused = await call("desk.place", { name: "a" }, never).catch((error) => error);
  expect(RefusedError.is(refused) && refused.reason).toBe("fenced");
});

test("a rollback waits for calls that are under way, and undoes what they did", async () => {
  const still = { now: () => 0, sleep: () => new Promise<void>(() => {}) };
  const { run, call } = await office({ clock: still });
  let finish: () => void = () => {};
  const waiting = call(
    "desk.place",
    { name: "a" },
    () =>
      new Promise((resolve) => {
        finish = () => resolve(placed);
      }),
  );
  await new Promise(setImmediate);
  const { compensate, sent } = scripted({});
  const rolling = run.rollback({ compensate });
  await new Promise(setImmediate);
  expect(sent).toEqual([]);
  finish();
  await waiting;
  expect((await rolling).status).toBe("complete");
  expect(sent).toHaveLength(1);
});

test("a call that never ends is unknown once its time is over, and its late answer is still believed", async () => {
  const { run, call } = await office();
  let finish: () => void = () => {};
  const waiting = call("desk.place", { name: "a" }, (_, { signal }) => {
    signal?.addEventListener("abort", () => {});
    return new Promise((resolve) => (finish = () => resolve(placed)));
  });
  await new Promise(setImmediate);
  const first = await run.rollback({ compensate: never });
  expect(first).toMatchObject({ status: "incomplete", counts: { uncertain: 1 } });
  finish();
  await waiting;
  expect(run.steps.get(1)?.status).toBe("applied");
});

test("steps build on earlier ones whose arguments or results name the same thing, and say so in their intent", async () => {
  const { call, run } = await office();
  await call("desk.place", { name: "folder/a" });
  await call("desk.place", { name: "folder" });
  await call("desk.place", { name: "folder-b" });
  await call("desk.place", { name: "folder/a/x/y" });
  await call("desk.attach", { path: "folder/a/x" }, async () => ({ id: "7" }));
  expect(run.steps.get(5)?.requires).toEqual([1, 2, 4]);
});

test("an approval, a cancelled call and a refused one each leave the run with nothing that stands", async () => {
  const { run } = await office({ approve: async () => ({ approved: true, by: "alice" }) });
  const signal = AbortSignal.abort(new Error("cancelled"));
  const call = { tool: "desk.burn", args: { name: "a" }, execute: never, signal };
  await expect(run.call(call)).rejects.toThrow("cancelled");
  expect(run.report()).toMatchObject({ status: "complete", counts: { rejected: 1 } });
});
