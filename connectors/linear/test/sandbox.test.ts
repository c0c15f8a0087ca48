import type { SandboxModule } from "@reversi-connector/core";
import { type LinearOptions, linear } from "@reversi-connector/linear";
import * as module from "@reversi-connector/linear/sandbox";
import { bench, errorShape, vendor } from "./bench.ts";

const asModule: SandboxModule<LinearOptions> = module;

test("another process attaches by the address alone", async () => {
  const { backend } = await bench();
  const elsewhere = linear(asModule.attach(backend.address));
  expect(await elsewhere.tools["linear.get_issue"]?.({ issue_id: "ENG-1" })).toMatchObject({
    state: "Backlog",
  });
  await elsewhere.close();
});

test.each([
  ["no key", { authorization: undefined }, 401, "AUTHENTICATION_ERROR", /not authenticated/],
  ["a wrong key", { authorization: `lin_api_${"x".repeat(40)}` }, 401, "AUTHENTICATION_ERROR", /./],
  ["a token without Bearer", { authorization: module.oauthToken }, 401, "AUTHENTICATION_ERROR", /./],
  [
    "a key with Bearer",
    { authorization: `Bearer lin_api_${"x".repeat(40)}` },
    400,
    "INPUT_ERROR",
    /Remove the Bearer/,
  ],
  ["another content type", { "content-type": "text/plain" }, 400, "BAD_REQUEST", /CSRF/],
])("%s is refused", async (_, changes, status, code, message) => {
  const { ask } = await vendor();
  const answer = await ask({ query: "{ viewer { id } }" }, changes);
  expect(answer).toMatchObject({ status, body: { errors: [errorShape], data: null } });
  expect(answer.body.errors[0].message).toMatch(message);
  expect(answer.body.errors[0].extensions.code).toBe(code);
});

test.each([
  ["no JSON", "{"],
  ["no object", "7"],
  ["no query", {}],
  ["variables of another kind", { query: "{ viewer { id } }", variables: "x" }],
  ["an unknown member", { query: "{ viewer { id } }", variable: {} }],
])("a body with %s is refused", async (_, body) => {
  const { ask } = await vendor();
  expect(await ask(body)).toMatchObject({ status: 400, body: { errors: [errorShape] } });
});

test("another path, another method and a query string are refused", async () => {
  const { ask } = await vendor();
  const body = { query: "{ viewer { id } }" };
  expect((await ask(body, {}, "/graphiql")).status).toBe(404);
  expect((await ask(undefined, {}, "/graphql?query=%7Bviewer%7Bid%7D%7D", "GET")).status).toBe(405);
  expect((await ask(body, {}, "/graphql?x=1")).status).toBe(400);
});

test.each([200, 400] as const)(
  "what is refused in GraphQL's way comes with the status it is told (%i)",
  async (status) => {
    const { query, world } = await vendor();
    world.statuses.notFound = status;
    expect(await query('{ issue(id: "ENG-99") { id } }')).toMatchObject({
      status,
      body: {
        errors: [
          {
            message: "Entity not found: Issue",
            path: ["issue"],
            locations: [{ line: 1, column: 3 }],
            extensions: {
              type: "invalid input",
              code: "INPUT_ERROR",
              statusCode: 400,
              userError: true,
              userPresentableMessage: "Could not find referenced Issue.",
            },
          },
        ],
        data: null,
      },
    });
  },
);

test.each([
  ["an id that is no UUID", { id: "x" }, /id must be a UUID/],
  ["an id of another version", { id: "3f0c6a0e-6f0e-1a3e-9b55-0a6d9a1c7f11" }, /id must be a UUID/],
  ["no title", { title: undefined }, /title should not be empty/],
  ["a priority that is none", { priority: 7 }, /priority/],
  ["a date that is none", { dueDate: "2026-02-30" }, /dueDate/],
  ["a state that is no UUID", { stateId: "Done" }, /stateId must be a UUID/],
  ["a state of another team", { stateId: "00000021-0000-4000-8000-000000000000" }, /WorkflowState/],
])("an issue with %s is refused", async (_, wrong, shown) => {
  const { query, team, state } = await vendor();
  const before = await state();
  const document = "mutation A($input: IssueCreateInput!) { issueCreate(input: $input) { success } }";
  const { body } = await query(document, { input: { teamId: team.id, title: "x", ...wrong } });
  expect(body.errors[0].extensions).toMatchObject({ type: "invalid input", code: "INPUT_ERROR" });
  expect(body.errors[0].extensions.userPresentableMessage).toMatch(shown);
  expect(await state()).toEqual(before);
});

test("an id is given once", async () => {
  const { query, team } = await vendor();
  const id = "3f0c6a0e-6f0e-4a3e-9b55-0a6d9a1c7f11";
  const create = (field: string, input: object) =>
    query(
      `mutation A($input: ${field === "issueCreate" ? "Issue" : "Comment"}CreateInput!) { ${field}(input: $input) { success } }`,
      { input },
    );
  const issue = { id, teamId: team.id, title: "x" };
  expect(await create("issueCreate", issue)).toMatchObject({ status: 200 });
  expect(await create("issueCreate", issue)).toMatchObject({
    status: 400,
    body: { errors: [{ message: "conflict on insert of Issue", path: ["issueCreate"] }] },
  });
  const other = { id: id.replace("3f", "4f"), issueId: "ENG-1", body: "x" };
  expect(await create("commentCreate", other)).toMatchObject({ status: 200 });
  const { status, body } = await create("commentCreate", other);
  expect(status).toBe(200);
  expect(body.errors[0].extensions.userPresentableMessage).toBe(
    `Entity Comment with id ${other.id} already exists.`,
  );
});

test("archiving twice succeeds, and what is archived can be brought back", async () => {
  const { query, issue, state } = await vendor();
  const before = await state();
  const run = async (field: string) =>
    (await query(`mutation { ${field}(id: "${issue.id}") { success entity { archivedAt trashed } } }`)).body
      .data[field];
  const archived = { success: true, entity: { archivedAt: expect.any(String), trashed: null } };
  expect(await run("issueArchive")).toEqual(archived);
  expect(await run("issueArchive")).toEqual(archived);
  expect(await run("issueUnarchive")).toEqual({ success: true, entity: { archivedAt: null, trashed: null } });
  expect(await state()).toEqual(before);
});

test("comments come in pages of 50 unless more, at most 250, are asked for, newest first", async () => {
  const { query, world, issue } = await vendor();
  for (let count = 0; count < 60; count++) module.addComment(world, { issue: issue.id, body: `${count}` });
  const page = async (args: string) => {
    const fields = "nodes { body } pageInfo { hasNextPage hasPreviousPage endCursor }";
    return (await query(`{ issue(id: "ENG-1") { comments${args} { ${fields} } } }`)).body;
  };
  const first = (await page("")).data.issue.comments;
  expect(first.nodes).toHaveLength(50);
  expect(first.nodes[0]).toEqual({ body: "59" });
  expect(first.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
  const rest = (await page(`(after: "${first.pageInfo.endCursor}")`)).data.issue.comments;
  expect(rest.nodes).toHaveLength(10);
  expect(rest.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
  for (const args of ["(first: 0)", "(first: 251)", '(after: "x")']) {
    expect((await page(args)).errors).toEqual([
      expect.objectContaining({ message: "Argument Validation Error" }),
    ]);
  }
});

test("a filter lets through what it names", async () => {
  const { query, world, issue, other } = await vendor();
  const mine = module.addComment(world, { issue: issue.id, body: "mine" });
  module.addComment(world, { issue: other.id, body: "other" });
  const bodies = async (filter: object) =>
    (
      await query("query A($filter: CommentFilter) { comments(filter: $filter) { nodes { body } } }", {
        filter,
      })
    ).body.data.comments.nodes.map(({ body }: { body: string }) => body);
  expect(await bodies({})).toEqual(["other", "mine"]);
  expect(await bodies({ issue: { id: { eq: issue.id } } })).toEqual(["mine"]);
  expect(await bodies({ id: { in: [mine.id] } })).toEqual(["mine"]);
});

test("deleting a comment takes its replies along", async () => {
  const { query, world, issue, state } = await vendor();
  const before = await state();
  const { id } = module.addComment(world, { issue: issue.id, body: "x" });
  module.addComment(world, { issue: issue.id, parent: id, body: "y" });
  expect((await query(`mutation { commentDelete(id: "${id}") { success entityId } }`)).body.data).toEqual({
    commentDelete: { success: true, entityId: id },
  });
  expect(await state()).toEqual(before);
});

test("numbers are never used again", async () => {
  const { world } = await vendor();
  const made = module.openIssue(world, { title: "x" });
  module.eraseIssue(world, made);
  expect(module.openIssue(world, { title: "y" }).number).toBe(made.number + 1);
});

test("each scope allows what it names, and nothing else", async () => {
  const { query, world } = await vendor();
  world.scopes.clear();
  expect(await query("{ viewer { id } }")).toMatchObject({
    status: 403,
    body: { errors: [{ message: "Invalid scope: `read` required", extensions: { code: "FORBIDDEN" } }] },
  });
  world.scopes.add("comments:create");
  const comment =
    'mutation { commentCreate(input: { issueId: "ENG-1", body: "x" }) { success comment { id } } }';
  const made = await query(comment);
  expect(made.status).toBe(200);
  const { id } = made.body.data.commentCreate.comment;
  expect((await query(`mutation { commentDelete(id: "${id}") { success } }`)).status).toBe(403);
});

test("every answer says what is left of the rate limit, in milliseconds since 1970 when it is full again", async () => {
  const { query } = await vendor();
  const answers = [await query("{ viewer { id } }"), await query("{ foo }")];
  expect(answers.map(({ headers }) => headers["x-ratelimit-requests-remaining"])).toEqual(["4999", "4998"]);
  for (const { headers } of answers) {
    expect(headers["x-ratelimit-requests-limit"]).toBe("5000");
    expect(Number(headers["x-ratelimit-requests-reset"])).toBeGreaterThan(Date.now());
    expect(headers).toHaveProperty("x-ratelimit-complexity-remaining");
  }
});

test("the rate limit is a 400, or a 429, in Linear's form; retry-after comes only when told to", async () => {
  const { query, backend } = await vendor();
  for (const status of [400, 429] as const) {
    backend.world.rateLimitStatus = status;
    backend.inject({ kind: "rateLimit" });
    backend.inject({ kind: "rateLimit", retryAfter: 60 });
    const answers = [await query("{ viewer { id } }"), await query("{ viewer { id } }")];
    expect(answers.map((answer) => answer.status)).toEqual([status, status]);
    expect(answers.map(({ headers }) => headers["retry-after"])).toEqual([undefined, "60"]);
    expect(answers[0]?.body.errors[0].extensions).toMatchObject({
      type: "ratelimited",
      code: "RATELIMITED",
      statusCode: 429,
      meta: { rateLimitResult: { allowed: false, remaining: 0 } },
    });
  }
});
