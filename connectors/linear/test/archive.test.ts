import { EffectUncertainError } from "@reversi-connector/core";
import { archiveIssue, eraseIssue } from "@reversi-connector/linear/sandbox";
import { type Bench, bench, failure, refusal } from "./bench.ts";

const created = async () => {
  const on: Bench = await bench();
  const before = await on.state();
  const args = { team_id: on.team.id, title: "Typo" };
  const result = await on.call<{ readonly issue_id: string }>("create_issue", args);
  const issue = on.world.issues.find(({ id }) => id === result.issue_id);
  if (!issue) throw new Error("no issue was made");
  return { ...on, before, args, result, issue };
};
type Created = Awaited<ReturnType<typeof created>>;

test("the undo of create_issue leaves the issue archived, and nothing else", async () => {
  const { undo, undoOf, holds, state, before, args, result } = await created();
  expect(await holds("archive_issue", undoOf("create_issue", args, result).args)).toBe(false);
  expect(await undo("create_issue", args, result)).toEqual({
    issue_id: result.issue_id,
    archived_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    already: false,
  });
  expect(await holds("archive_issue", undoOf("create_issue", args, result).args)).toBe(true);
  const after = (await state()) as { issues: { archived: boolean }[] };
  expect(after.issues.filter(({ archived }) => !archived)).toEqual((before as typeof after).issues);
});

test("a changed issue is archived all the same: nothing of it is lost", async () => {
  const { undo, issue, args, result } = await created();
  issue.title = "Typo on page 3";
  expect(await undo("create_issue", args, result)).toMatchObject({ already: false });
  expect(issue).toMatchObject({ title: "Typo on page 3", archivedAt: expect.any(String), trashed: false });
});

test.each([false, true])(
  "repeating it changes nothing and sends no write (in the trash: %s)",
  async (trash) => {
    const { undo, issue, state, writes, args, result } = await created();
    archiveIssue(issue, { trash });
    if (trash) issue.archivedAt = null;
    const before = await state();
    for (let times = 0; times < 2; times++) {
      expect(await undo("create_issue", args, result)).toEqual({
        issue_id: result.issue_id,
        archived_at: issue.archivedAt,
        already: true,
      });
    }
    expect(await state()).toEqual(before);
    expect(writes()).toHaveLength(1);
  },
);

test.each([200, 400] as const)(
  "LN-05: an issue deleted for good is success, once its team was read (answered %i)",
  async (status) => {
    const { undo, undoOf, holds, world, issue, sent, writes, args, result } = await created();
    world.statuses.notFound = status;
    eraseIssue(world, issue);
    expect(await undo("create_issue", args, result)).toEqual({
      issue_id: result.issue_id,
      archived_at: null,
      already: true,
    });
    expect(sent().slice(-2)).toEqual(["query Issue", "query Team"]);
    expect(await holds("archive_issue", undoOf("create_issue", args, result).args)).toBe(true);
    expect(writes()).toHaveLength(1);
  },
);

const hidden: readonly (readonly [string, (on: Created) => object | undefined, RegExp])[] = [
  [
    "the team may not be seen any more",
    ({ team }) => {
      team.visible = false;
      return undefined;
    },
    /its team .* cannot be read, so nobody can tell what is gone and what is hidden/,
  ],
  [
    "the key belongs to another workspace",
    ({ world }) => {
      world.organization = { ...world.organization, id: "0000beef-0000-4000-8000-000000000000" };
      return undefined;
    },
    /its team .* cannot be read/,
  ],
  [
    "the team is that of another workspace than the one it was made in",
    ({ issue, world }) => {
      eraseIssue(world, issue);
      return { expected_organization_id: "0000beef-0000-4000-8000-000000000000" };
    },
    /the key belongs to workspace 0000acce.*, not to 0000beef/,
  ],
  [
    "the team was not given",
    ({ issue, world }) => {
      eraseIssue(world, issue);
      return { team_id: undefined };
    },
    /its team was not given/,
  ],
];
test.each(hidden)("LN-05: not found is a failed step when %s", async (_, hide, why) => {
  const on = await created();
  const { args } = on.undoOf("create_issue", on.args, on.result);
  const { team_id, ...rest } = { ...args, ...hide(on) };
  const undoArgs = team_id === undefined ? rest : { ...rest, team_id };
  const error = await failure(on.call("archive_issue", undoArgs));
  expect(error).toMatchObject({ code: "FAILED", reason: "INPUT_ERROR", mayHaveApplied: false });
  expect(error.message).toMatch(why);
  await expect(on.holds("archive_issue", undoArgs)).rejects.toThrow(/nobody can tell/);
  expect(on.writes()).toHaveLength(1);
});

test("an issue deleted between the read and the archiving is success", async () => {
  const { undo, world, issue, args, result, meanwhile } = await created();
  meanwhile(1, () => eraseIssue(world, issue));
  expect(await undo("create_issue", args, result)).toMatchObject({ archived_at: null, already: true });
});

test("an issue that Linear cannot find for archiving alone is a failed step", async () => {
  const { undo, backend, issue, args, result } = await created();
  backend.inject({ kind: "status", status: 200, body: refusal("Entity not found: Issue") }, { skip: 1 });
  expect((await failure(undo("create_issue", args, result))).message).toContain("Entity not found: Issue");
  expect(issue.archivedAt).toBeNull();
});

test("an answer that says success and shows the issue as it was proves nothing", async () => {
  const { undo, undoOf, holds, world, args, result } = await created();
  world.mutations = "pretend";
  expect(EffectUncertainError.is(await failure(undo("create_issue", args, result)))).toBe(true);
  expect(await holds("archive_issue", undoOf("create_issue", args, result).args)).toBe(false);
});

test("success without the issue is success: Linear may leave it out", async () => {
  const { undo, backend, args, result } = await created();
  const body = { data: { issueArchive: { success: true, entity: null } } };
  backend.inject({ kind: "status", status: 200, effect: true, body }, { skip: 1 });
  expect(await undo("create_issue", args, result)).toMatchObject({ archived_at: null, already: false });
});
