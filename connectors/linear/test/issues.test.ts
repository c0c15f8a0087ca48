import { EffectUncertainError, InvalidArgumentsError } from "@reversi-connector/core";
import { archiveIssue, moveIssue, openIssue } from "@reversi-connector/linear/sandbox";
import { type Bench, bench, failure, refusal } from "./bench.ts";

type Made = { readonly issue_id: string };
const uuid4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test("an issue is read with all that people see of it, by identifier or by UUID", async () => {
  const { call, issue, team } = await bench();
  const seen = await call("get_issue", { issue_id: "ENG-1" });
  expect(seen).toEqual({
    issue_id: issue.id,
    identifier: "ENG-1",
    title: "Broken link",
    description: "See /docs",
    state: "Backlog",
    state_type: "backlog",
    team_id: team.id,
    team_key: "ENG",
    assignee: "ada",
    priority: 0,
    archived_at: null,
    trashed: false,
    url: "https://linear.app/acme/issue/ENG-1/broken-link",
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
  });
  expect(await call("get_issue", { issue_id: issue.id })).toEqual(seen);
  expect(await call("get_issue", { issue_id: "ENG-2" })).toMatchObject({ description: null, assignee: null });
});

test("an archived issue, and one in the trash, is still read by its id", async () => {
  const { call, issue } = await bench();
  archiveIssue(issue, { trash: true });
  expect(await call("get_issue", { issue_id: "ENG-1" })).toMatchObject({
    archived_at: issue.archivedAt,
    trashed: true,
  });
});

test("an issue that moved to another team is read by its former identifier", async () => {
  const { call, world, issue } = await bench();
  const [, ops] = world.teams;
  if (ops) moveIssue(world, issue, ops);
  expect(await call("get_issue", { issue_id: "ENG-1" })).toMatchObject({
    identifier: "OPS-1",
    team_key: "OPS",
  });
});

test.each([200, 400] as const)(
  'LN-05: reading an issue that does not exist (answered %i) fails: "Entity not found" is no success',
  async (status) => {
    const { call, world } = await bench();
    world.statuses.notFound = status;
    const error = await failure(call("get_issue", { issue_id: "ENG-99" }));
    expect(error).toMatchObject({ code: "FAILED", status, reason: "INPUT_ERROR", mayHaveApplied: false });
    expect(error.message).toBe(
      `HTTP ${status}: POST /graphql: Entity not found: Issue: Could not find referenced Issue. Check the id, and what the key may see. (INPUT_ERROR)`,
    );
  },
);

test("create_issue chooses the issue's id, and sends nothing else but the arguments", async () => {
  const { call, world, team, backend, issue } = await bench();
  const [, state] = team.states;
  const args = {
    team_id: team.id,
    title: "Typo",
    description: "On page 3",
    priority: 2,
    state_id: state?.id,
    assignee_id: world.users[2]?.id,
    label_ids: [world.labels[0]?.id],
    project_id: world.projects[0]?.id,
    parent_id: "ENG-1",
    due_date: "2026-12-24",
  };
  const result = await call<Made>("create_issue", args);
  expect(result).toEqual({
    issue_id: expect.stringMatching(uuid4),
    identifier: "ENG-3",
    url: "https://linear.app/acme/issue/ENG-3/typo",
    organization_id: world.organization.id,
  });
  expect(backend.requests.at(-1)?.json()).toMatchObject({
    variables: {
      input: {
        id: result.issue_id,
        teamId: team.id,
        title: "Typo",
        description: "On page 3",
        priority: 2,
        stateId: state?.id,
        assigneeId: world.users[2]?.id,
        labelIds: [world.labels[0]?.id],
        projectId: world.projects[0]?.id,
        parentId: "ENG-1",
        dueDate: "2026-12-24",
      },
    },
  });
  expect(world.issues.at(-1)).toMatchObject({ parent: issue.id, priority: 2, dueDate: "2026-12-24" });
});

test("one key makes one issue, whatever the status of Linear's refusal; another key, or other arguments, another one", async () => {
  for (const status of [200, 400] as const) {
    const { call, world, team } = await bench();
    world.statuses.issueTaken = status;
    const args = { team_id: team.id, title: "Typo" };
    const first = await call("create_issue", args, { idempotencyKey: "step 1" });
    expect(await call("create_issue", args, { idempotencyKey: "step 1" })).toEqual(first);
    expect(world.issues).toHaveLength(3);
    await call("create_issue", args, { idempotencyKey: "step 2" });
    await call("create_issue", { ...args, title: "Typos" }, { idempotencyKey: "step 1" });
    expect(world.issues.slice(2).map(({ title }) => title)).toEqual(["Typo", "Typo", "Typos"]);
  }
});

test("an id that is taken, of an issue that cannot be read, leaves the outcome unknown", async () => {
  const { call, world, team } = await bench();
  const args = { team_id: team.id, title: "Typo" };
  await call("create_issue", args, { idempotencyKey: "step 1" });
  const [, ops] = world.teams;
  const [made] = world.issues.slice(2);
  if (ops && made) moveIssue(world, made, ops);
  if (ops) ops.visible = false;
  const error = await failure(call("create_issue", args, { idempotencyKey: "step 1" }));
  expect(EffectUncertainError.is(error)).toBe(true);
  expect(error.message).toMatch(
    /conflict on insert of Issue.*an earlier request made it.*Entity not found: Issue/,
  );
});

test("another conflict than that of the chosen id is an ordinary failure", async () => {
  const { call, backend, team } = await bench();
  const body = refusal("conflict on insert of Issue", {
    type: "invalid input",
    code: "INPUT_ERROR",
    userPresentableMessage: "Entity Issue with id 3f0c6a0e-6f0e-4a3e-9b55-0a6d9a1c7f11 already exists.",
  });
  backend.inject({ kind: "status", status: 400, body }, { skip: 1 });
  const error = await failure(call("create_issue", { team_id: team.id, title: "Typo" }));
  expect(error).toMatchObject({ code: "FAILED", status: 400, mayHaveApplied: false });
  expect(backend.requests).toHaveLength(2);
});

test("an empty key is refused: every call would choose the same id", async () => {
  const { call, backend, team } = await bench();
  const error = await failure(call("create_issue", { team_id: team.id, title: "x" }, { idempotencyKey: "" }));
  expect(InvalidArgumentsError.is(error)).toBe(true);
  expect(backend.requests).toEqual([]);
});

test.each([
  ["a team", "team_id", "Team"],
  ["a state", "state_id", "WorkflowState"],
  ["a user", "assignee_id", "User"],
  ["a project", "project_id", "Project"],
  ["a parent", "parent_id", "Issue"],
])("LN-05: %s that does not exist fails and makes nothing", async (_, name, entity) => {
  const { call, state, team } = await bench();
  const before = await state();
  const args = { team_id: team.id, title: "Typo", [name]: "3f0c6a0e-6f0e-4a3e-9b55-0a6d9a1c7f11" };
  const error = await failure(call("create_issue", args));
  expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
  expect(error.message).toContain(`Entity not found: ${entity}`);
  expect(await state()).toEqual(before);
});

test.each([
  ["create_issue", ({ team }: Bench) => ({ team_id: team.id, title: "x" })],
  ["archive_issue", ({ issue }: Bench) => ({ issue_id: issue.id })],
])("%s without the right to write fails and says so", async (tool, argsOf) => {
  const on = await bench();
  on.world.scopes.delete("write");
  const before = await on.state();
  const error = await failure(on.call(tool, argsOf(on)));
  expect(error).toMatchObject({ code: "FAILED", status: 403, reason: "FORBIDDEN", mayHaveApplied: false });
  expect(await on.state()).toEqual(before);
});

test("a key that may only create issues creates them", async () => {
  const { call, world, team } = await bench();
  world.scopes.delete("write");
  world.scopes.add("issues:create");
  expect(await call("create_issue", { team_id: team.id, title: "x" })).toMatchObject({ identifier: "ENG-3" });
});

test.each([
  ["team that is no UUID", { team_id: "ENG" }],
  ["empty title", { title: "" }],
  ["title that is too long", { title: "x".repeat(513) }],
  ["priority that is none", { priority: 5 }],
  ["date of another form", { due_date: "24.12.2026" }],
  ["parent with a slash", { parent_id: "ENG/1" }],
  ["identifier with a line break", { parent_id: "ENG-1\n" }],
  ["unknown argument", { teamId: "x" }],
])("a %s is refused before anything is sent", async (_, wrong) => {
  const { call, backend, team } = await bench();
  const error = await failure(call("create_issue", { team_id: team.id, title: "x", ...wrong }));
  expect(InvalidArgumentsError.is(error)).toBe(true);
  expect(backend.requests).toEqual([]);
});

test("MC-09: an issue with a long description is returned whole", async () => {
  const { call, world } = await bench();
  const description = "á line of text\n".repeat(4000).trimEnd();
  const { id } = openIssue(world, { title: "Long", description });
  expect((await call("get_issue", { issue_id: id }))["description"]).toBe(description);
});
