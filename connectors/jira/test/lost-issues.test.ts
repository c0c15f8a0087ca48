import { addIssue, index, me, moveToProject, removeIssue, rule, type StoredIssue } from "../src/sandbox.ts";
import { type Bench, bench, failure } from "./bench.ts";

const args = { project: "PROJ", issue_type: "Task", summary: "New" };

const lost = async (kind: "cutAfter" | "cutBefore", given = args, searchLags = false) => {
  const on = await bench();
  on.world.searchLags = searchLags;
  on.backend.inject({ kind }, { method: "POST" });
  await failure(on.call("create_issue", given, { idempotencyKey: "key-1" }));
  on.backend.forget();
  return on;
};
const others = ({ world, backend }: Bench, count: number, given: Partial<StoredIssue> = {}) => {
  const { project, type } = backend.issue;
  return Array.from({ length: count }, () => addIssue(world, { project, type, summary: "New", ...given }));
};
const found = (on: Bench, key = "PROJ-3") => ({
  landed: true,
  result: { issue_id: on.issueWith(key).id, issue_key: key, url: `${on.backend.address}/browse/${key}` },
});

test.each(["PROJ", "10000"])(
  "a lost issue in %s is found by its key, and not by its summary",
  async (project) => {
    const on = await lost("cutAfter", { ...args, project });
    others(on, 3, { creator: me });
    expect(await on.landed("create_issue", { ...args, project }, "key-1")).toEqual(found(on));
    expect(on.sent()).toEqual(["GET /search/jql"]);
    expect(await on.landed("create_issue", { ...args, project }, "key-2")).toEqual({ landed: false });
    expect(on.writes()).toEqual([]);
  },
);

test("a lost issue is found in the project that a rule moved it to", async () => {
  const on = await lost("cutAfter");
  moveToProject(on.world, on.issueWith("PROJ-3"), rule, on.issueWith("HELP-1").project);
  expect(await on.landed("create_issue", args, "key-1")).toEqual(found(on, "HELP-2"));
});

test("a lost issue is found behind a page of others that the account made since", async () => {
  const on = await lost("cutAfter");
  others(on, 150, { creator: me });
  expect(await on.landed("create_issue", args, "key-1")).toEqual(found(on));
  expect(on.sent()).toHaveLength(2);
});

describe("while the search lags, a lost issue", () => {
  test("is found by reading the numbers behind the last one that the search knows", async () => {
    const on = await lost("cutAfter", args, true);
    expect(await on.landed("create_issue", args, "key-1")).toEqual(found(on));
    expect(on.sent()).toEqual(["GET /search/jql", "GET /search/jql", "GET /issue/PROJ-3"]);
    index(on.world);
    expect(await on.landed("create_issue", args, "key-1")).toEqual(found(on));
  });

  test("is found behind others, and behind numbers that are gone", async () => {
    const on = await bench();
    on.world.searchLags = true;
    for (const issue of others(on, 4).slice(1, 3)) removeIssue(on.world, issue);
    on.backend.inject({ kind: "cutAfter" }, { method: "POST" });
    await failure(on.call("create_issue", args, { idempotencyKey: "key-1" }));
    expect(await on.landed("create_issue", args, "key-1")).toEqual(found(on, "PROJ-7"));
  });

  test("that was never made is not taken for somebody else's", async () => {
    const on = await lost("cutBefore", args, true);
    others(on, 2);
    expect(await on.landed("create_issue", args, "key-1")).toEqual({ landed: false });
  });

  test("stays unknown behind too many", async () => {
    const on = await lost("cutBefore", args, true);
    others(on, 60);
    expect(await on.landed("create_issue", args, "key-1")).toBe("unknown");
  });
});

test("a lost issue in a project without any is looked for from the first number on, where its key is known", async () => {
  const on = await bench();
  on.world.issues.length = 0;
  expect(await on.landed("create_issue", args, "key-1")).toEqual({ landed: false });
  expect(on.sent().slice(-3)).toEqual(["GET /issue/PROJ-1", "GET /issue/PROJ-2", "GET /issue/PROJ-3"]);
  expect(await on.landed("create_issue", { ...args, project: "10000" }, "key-1")).toBe("unknown");
});

test("a lost issue stays unknown without a key, and an error where nobody can look", async () => {
  const on = await lost("cutAfter");
  expect(await on.landed("create_issue", args)).toBe("unknown");
  on.world.isPublic = true;
  on.world.loginWorks = false;
  expect(await failure(on.landed("create_issue", args, "key-1"))).toMatchObject({
    reason: "AUTHENTICATED_FAILED",
  });
  on.world.loginWorks = true;
  on.backend.issue.project.visible = false;
  expect(await failure(on.landed("create_issue", args, "key-1"))).toMatchObject({ status: 400 });
});
