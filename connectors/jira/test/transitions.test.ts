import { ConflictError, InvalidArgumentsError } from "@reversi-connector/core";
import { ada, moveIssue, statuses } from "../src/sandbox.ts";
import { type Bench, bench, failure, seen } from "./bench.ts";
import { lose } from "./writes.ts";

const { toDo, inProgress, done } = statuses;
const closed = { id: "9", name: "Closed", category: "done" } as const;
const start = { issue_id: "PROJ-1", transition: "Start" };

test.each([
  ["11", "its id"],
  ["Start", "its name"],
  ["sTART", "its name, whatever the case"],
  ["in progress", "the status that it leads to"],
])("a transition is meant by %s (%s), and is undone once", async (transition) => {
  const on = await bench();
  const before = await seen(on);
  const args = { issue_id: "PROJ-1", transition };
  const moved = await on.call("transition_issue", args);
  expect(moved).toEqual({
    ...{ issue_id: on.backend.issue.id, issue_key: "PROJ-1", transition_id: "11" },
    ...{ previous_status: "To Do", previous_status_id: "10000" },
    ...{ status: "In Progress", status_id: "3" },
  });
  expect(on.backend.issue.status).toBe(inProgress);
  const back = { issue_id: on.backend.issue.id, status: "To Do", status_id: "10000" };
  expect(await on.undo("transition_issue", args, moved)).toEqual({
    ...back,
    ...{ transition_id: "21", already: false },
  });
  expect(await on.undo("transition_issue", args, moved)).toEqual({
    ...back,
    ...{ transition_id: null, already: true },
  });
  expect(await seen(on)).toEqual(before);
  expect(on.writes()).toHaveLength(2);
});

test("an issue that is back already is left alone, though a transition leads to its own status", async () => {
  const on = await bench();
  on.world.transitions = [...on.world.transitions, { id: "61", name: "Again", to: toDo }];
  const moved = await on.call("transition_issue", start);
  moveIssue(on.world, on.backend.issue, ada, { to: toDo });
  const before = await on.state();
  expect(await on.undo("transition_issue", start, moved)).toMatchObject({ already: true });
  expect(await on.state()).toEqual(before);
  expect(on.writes()).toHaveLength(1);
});

describe("JR-03: names that repeat", () => {
  const jr03 = [
    { id: "11", name: "Done", to: done },
    { id: "21", name: "Done", to: closed },
    { id: "31", name: "done", to: done },
    { id: "41", name: "21", to: inProgress },
    { id: "51", name: "Start", to: toDo },
  ];
  const workflow = async () => {
    const on = await bench();
    on.world.transitions = jr03;
    return on;
  };

  test.each([
    ["a name that several have", "Done", ["11", "21", "31"]],
    ["a status that several lead to", "closed", []],
  ])("%s is refused with the ids", async (_, transition, ids) => {
    const on = await workflow();
    if (ids.length === 0) {
      on.world.transitions = [...jr03, { id: "71", name: "Put away", to: closed }];
      ids.push("21", "71");
    }
    const error = await failure(on.call("transition_issue", { issue_id: "PROJ-1", transition }));
    expect(InvalidArgumentsError.is(error)).toBe(true);
    expect([...error.message.matchAll(/(\d+) \(/g)].map(([, id]) => id)).toEqual(ids);
    expect(on.writes()).toEqual([]);
  });

  test("an id counts before a name", async () => {
    const on = await workflow();
    const moved = await on.call("transition_issue", { issue_id: "PROJ-1", transition: "21" });
    expect(moved).toMatchObject({ transition_id: "21", status_id: "9" });
  });

  test("the undo goes by the status's id, not by its name", async () => {
    const on = await bench();
    const elsewhere = { id: "10077", name: "To Do", category: "new" } as const;
    on.world.transitions = [
      { id: "1", name: "Start", from: [toDo.id], to: inProgress },
      { id: "2", name: "Not there", from: [inProgress.id], to: elsewhere },
      { id: "3", name: "Stop", from: [inProgress.id], to: toDo, required: ["resolution"] },
      { id: "4", name: "Stop, too", from: [inProgress.id], to: toDo },
    ];
    const moved = await on.call("transition_issue", start);
    expect(await on.undo("transition_issue", start, moved)).toMatchObject({
      transition_id: "4",
      status_id: toDo.id,
    });
    expect(on.backend.issue.status).toBe(toDo);
  });
});

test("what leads nowhere is an error that names what there is", async () => {
  const on = await bench();
  const error = await failure(on.call("transition_issue", { issue_id: "PROJ-1", transition: "Fly" }));
  expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
  expect(error.message).toContain("11 (Start, to In Progress), 31 (Finish, to Done)");
  on.world.permissions.delete("TRANSITION_ISSUES");
  expect((await failure(on.call("transition_issue", start))).message).toContain(
    "none that this account may run",
  );
});

describe("what Jira refuses", () => {
  test("a field that a screen asks for is named", async () => {
    const on = await bench();
    on.world.transitions = [{ id: "11", name: "Start", to: inProgress, required: ["resolution"] }];
    const error = await failure(on.call("transition_issue", start));
    expect(error).toMatchObject({ code: "FAILED", status: 400, mayHaveApplied: false });
    expect(error.message).toContain("resolution: resolution is required.");
  });

  test("409 while somebody else changes it is a plain error, and the next undo completes", async () => {
    const on = await bench();
    const moved = await on.call("transition_issue", start);
    on.world.busy = true;
    const error = await failure(on.undo("transition_issue", start, moved));
    expect(error).toMatchObject({ code: "FAILED", status: 409, mayHaveApplied: false });
    on.world.busy = false;
    expect(await on.undo("transition_issue", start, moved)).toMatchObject({ already: false });
  });

  test("a transition that somebody else's move has made impossible", async () => {
    const on = await bench();
    on.meanwhile("POST", () => moveIssue(on.world, on.backend.issue, ada, { to: done }));
    const error = await failure(on.call("transition_issue", start));
    expect(error).toMatchObject({ code: "FAILED", status: 400, mayHaveApplied: false });
    expect(on.backend.issue.status).toBe(done);
  });
});

describe("a status that somebody else set survives", () => {
  test("a third status is a conflict, unless the operator says otherwise", async () => {
    const on = await bench();
    const moved = await on.call("transition_issue", start);
    moveIssue(on.world, on.backend.issue, ada, { to: done });
    const error = await failure(on.undo("transition_issue", start, moved));
    expect(ConflictError.is(error)).toBe(true);
    expect(error.message).toContain("expected 3, found 10002 (Done)");
    expect(on.backend.issue.status).toBe(done);
    const forced = await on.undo("transition_issue", start, moved, { onConflict: "overwrite" });
    expect(forced).toMatchObject({ transition_id: "51", already: false });
  });

  test("without a word on what the step left, any other status is a conflict", async () => {
    const on = await bench();
    const args = { issue_id: "PROJ-2", previous_status_id: toDo.id };
    expect(await failure(on.call("restore_status", args))).toMatchObject({ code: "CONFLICT" });
    expect(on.writes()).toEqual([]);
  });
});

test("a workflow without a way back is a failed step that says so", async () => {
  const on = await bench();
  const moved = await on.call("transition_issue", start);
  on.world.transitions = on.world.transitions.filter(({ to }) => to !== toDo);
  const error = await failure(on.undo("transition_issue", start, moved));
  expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
  expect(error.message).toContain(
    "no transition leads back to To Do (10000); there are: 31 (Finish, to Done)",
  );
});

test("JR-08: the status comes back; a resolution that the workflow set stays, as the manifest says", async () => {
  const on = await bench();
  const args = { issue_id: "PROJ-1", transition: "Done" };
  const moved = await on.call("transition_issue", args);
  await on.undo("transition_issue", args, moved);
  expect(on.backend.issue).toMatchObject({ status: toDo, resolution: "Done" });
  const { guarantees } = on.connector.manifests.find(({ tool }) => tool === "jira.transition_issue") ?? {};
  expect(guarantees?.residue?.map(({ id }) => id)).toEqual(["history", "post-functions"]);
});

describe("a lost transition", () => {
  const lost = async (kind: "cutAfter" | "cutBefore", on?: Bench) => {
    const here = on ?? (await bench());
    here.backend.inject({ kind }, { method: "POST" });
    const { checkpoint } = await lose(here, "transition_issue", start);
    return { ...here, checkpoint };
  };

  test("is told by an entry of the history, though the issue was moved on since", async () => {
    const on = await lost("cutAfter");
    moveIssue(on.world, on.backend.issue, ada, { to: done });
    expect(await on.landed("transition_issue", start, undefined, on.checkpoint)).toEqual({
      landed: true,
      result: on.checkpoint?.result,
    });
  });

  test("is not taken for the same move by somebody else, nor for an earlier one", async () => {
    const on = await bench();
    await on.undo("transition_issue", start, await on.call("transition_issue", start));
    const earlier = await lost("cutBefore", on);
    expect(await on.landed("transition_issue", start, undefined, earlier.checkpoint)).toEqual({
      landed: false,
    });

    const others = await lost("cutBefore");
    moveIssue(others.world, others.backend.issue, ada, { to: inProgress });
    expect(await others.landed("transition_issue", start, undefined, others.checkpoint)).toEqual({
      landed: false,
    });
  });

  test("is found at the end of a long history; beyond a hundred later changes it stays unknown", async () => {
    const on = await bench();
    const shuffle = (times: number) => {
      for (let count = 0; count < times; count++) {
        moveIssue(on.world, on.backend.issue, ada, { to: count % 2 === 0 ? done : toDo });
      }
    };
    shuffle(120);
    const { checkpoint } = await lost("cutAfter", on);
    expect(await on.landed("transition_issue", start, undefined, checkpoint)).toMatchObject({ landed: true });
    shuffle(100);
    expect(await on.landed("transition_issue", start, undefined, checkpoint)).toBe("unknown");
  });

  test("stays unknown without a checkpoint, and into the same status, which leaves no trace", async () => {
    const on = await lost("cutAfter");
    expect(await on.landed("transition_issue", start)).toBe("unknown");
    const result = { ...on.checkpoint?.result, status_id: "10000" };
    const checkpoint = { ...on.checkpoint, result };
    expect(await on.landed("transition_issue", start, undefined, checkpoint)).toBe("unknown");
  });
});
