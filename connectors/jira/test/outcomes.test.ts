import { EffectUncertainError } from "@reversi-connector/core";
import { bench, failure, refusal, seen } from "./bench.ts";
import { all, forward, key, lose, undoes, writing } from "./writes.ts";

describe("JR-02: 204 without a body is success", () => {
  test.each([
    ["transition_issue", { issue_id: "PROJ-1", transition: "Start" }, "POST"],
    ["delete_comment", { issue_id: "PROJ-1", comment_id: "10043" }, "DELETE"],
    ["delete_issue", { issue_id: "PROJ-2", project: "PROJ" }, "DELETE"],
    ["restore_status", { issue_id: "PROJ-2", previous_status_id: "10000", expected_status_id: "3" }, "POST"],
  ])("of %s, with and without a content type", async (tool, args, method) => {
    for (const type of ["", "application/json", "application/json;charset=UTF-8"]) {
      const on = await bench();
      const headers: Record<string, string> = type === "" ? {} : { "content-type": type };
      on.backend.inject({ kind: "status", status: 204, headers, body: "", effect: true }, { method });
      expect(await on.call(tool, args)).toBeDefined();
      expect(on.writes().map(({ status }) => status)).toEqual([204]);
    }
  });
});

describe("an answer that is lost", () => {
  test.each(all)("HT-01, HT-06: %s sent once, its answer lost or useless: unknown", async (tool, argsOf) => {
    for (const fault of [
      { kind: "cutAfter", reset: true },
      { kind: "cutBefore" },
      { kind: "garbage" },
      { kind: "status", status: 200, body: "{}" },
    ] as const) {
      const on = await bench();
      const args = argsOf(on);
      on.backend.inject(fault, writing(tool));
      const { error } = await lose(on, tool, args);
      expect([fault.kind, EffectUncertainError.is(error)]).toEqual([fault.kind, true]);
      expect(on.writes()).toHaveLength(1);
    }
  });

  test.each(forward)("%s: landed tells the truth both ways, late delivery included", async (tool, argsOf) => {
    const on = await bench();
    const args = argsOf(on);
    const before = await seen(on);
    on.backend.inject({ kind: "late" }, writing(tool));
    const { error, checkpoint } = await lose(on, tool, args);
    expect(error.expectedResult).toEqual(checkpoint?.result);
    expect(await on.landed(tool, args, key, checkpoint)).toEqual({ landed: false });
    await on.backend.settle();
    const answer = await on.landed(tool, args, key, checkpoint);
    expect(answer).toMatchObject({ landed: true, result: checkpoint?.result ?? {} });
    if (answer === "unknown" || !answer?.landed) throw new Error("it landed");
    expect(await on.undo(tool, args, answer.result as object)).toMatchObject({ already: false });
    expect(await seen(on)).toEqual(before);
    expect(on.writes()).toHaveLength(2);
  });

  test.each(["cutBefore", "cutAfter"] as const)(
    "transition_issue, %s: the undo from the checkpoint alone ends in the prior state",
    async (kind) => {
      const on = await bench();
      const args = { issue_id: "PROJ-1", transition: "Start" };
      const before = await seen(on);
      on.backend.inject({ kind }, { method: "POST" });
      const { checkpoint } = await lose(on, "transition_issue", args);
      const undone = await on.undo("transition_issue", args, checkpoint?.result ?? {});
      expect(undone).toMatchObject({ already: kind === "cutBefore" });
      expect(await seen(on)).toEqual(before);
    },
  );

  test.each(undoes)("%s: afterwards holds tells the truth, and repeating succeeds", async (tool, argsOf) => {
    for (const kind of ["cutBefore", "cutAfter"] as const) {
      const on = await bench();
      const args = argsOf(on);
      on.backend.inject({ kind }, writing(tool));
      await lose(on, tool, args);
      expect(await on.holds(tool, args)).toBe(kind === "cutAfter");
      expect(await on.call(tool, args)).toMatchObject({ already: kind === "cutAfter" });
      expect(await on.holds(tool, args)).toBe(true);
    }
  });
});

test.each(all)("%s answered with 503 after the effect: failed, and perhaps done", async (tool, argsOf) => {
  const on = await bench();
  const args = argsOf(on);
  const headers = { "retry-after": "1" };
  on.backend.inject(
    { kind: "status", status: 503, effect: true, headers, body: "<h1>Unavailable</h1>" },
    writing(tool),
  );
  const { error, checkpoint } = await lose(on, tool, args);
  expect(error).toMatchObject({ code: "FAILED", status: 503, mayHaveApplied: true });
  expect(error.expectedResult).toEqual(checkpoint?.result);
  expect(on.writes()).toHaveLength(1);
});

test.each(forward.filter(([tool]) => tool !== "create_issue"))(
  "%s: a checkpoint that is refused stops it before the write",
  async (tool, argsOf) => {
    const on = await bench();
    const checkpoint = async () => {
      throw new Error("the disk is full");
    };
    const error = await failure(on.call(tool, argsOf(on), { checkpoint }));
    expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
    expect(error.message).toMatch(/the disk is full.*nothing was written/);
    expect(on.writes()).toEqual([]);
  },
);

describe("a rate limit", () => {
  test.each(all)("%s: nothing was done, and the waiting time is named", async (tool, argsOf) => {
    const on = await bench();
    const args = argsOf(on);
    const before = await on.state();
    on.backend.inject({ kind: "rateLimit", retryAfter: 30 }, writing(tool));
    const { error } = await lose(on, tool, args);
    expect(error).toMatchObject({
      ...{ code: "FAILED", status: 429, reason: "jira-burst-based" },
      ...{ retryAfterSeconds: 30, mayHaveApplied: false },
    });
    expect(await on.state()).toEqual(before);
  });

  test("that is over soon is waited for, and the write is done once", async () => {
    const on = await bench();
    on.backend.inject({ kind: "rateLimit", retryAfter: 0 }, { method: "POST" });
    await on.call("add_comment", { issue_id: "PROJ-1", body: "x" });
    expect(on.writes().map(({ handled }) => handled)).toEqual([false, true]);
    expect(on.backend.issue.comments).toHaveLength(2);
  });
});

describe("the errors of gateways", () => {
  test.each([
    [{ code: 401, message: "Unauthorized; scope does not match" }, /scope does not match/],
    [
      { message: "Client must be authenticated to access this resource.", "status-code": 401 },
      /authenticated/,
    ],
    ["Client must be authenticated to access this resource.", /Unauthorized/],
    [refusal("Login Required"), /Login Required/],
  ])("%j", async (body, message) => {
    const on = await bench();
    on.backend.inject({ kind: "status", status: 401, body });
    const error = await failure(on.call("get_issue", { issue_id: "PROJ-1" }));
    expect(error).toMatchObject({ code: "FAILED", status: 401 });
    expect(error.message).toMatch(message);
  });

  test("a captcha that Jira asks for is named", async () => {
    const on = await bench();
    const headers = { "x-seraph-loginreason": "AUTHENTICATION_DENIED" };
    on.backend.inject({ kind: "status", status: 403, headers, body: "<html></html>" });
    const error = await failure(on.call("get_issue", { issue_id: "PROJ-1" }));
    expect(error).toMatchObject({ status: 403, reason: "AUTHENTICATION_DENIED" });
    expect(error.message).toContain("captcha");
  });
});
