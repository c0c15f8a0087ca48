import { linear } from "@reversi-connector/linear";
import { archiveIssue } from "@reversi-connector/linear/sandbox";
import { bench, failure, refusal } from "./bench.ts";

describe("LN-01: rate limits", () => {
  const inSeconds = (seconds: number) => String(Date.now() + seconds * 1000);
  const limited = refusal("Rate limit exceeded.", { code: "RATELIMITED" });
  test.each([
    ["400 with the reset of requests", 400, () => ({ "x-ratelimit-requests-reset": inSeconds(90) }), 90],
    [
      "429 with retry-after",
      429,
      () => ({ "retry-after": "61", "x-ratelimit-requests-reset": inSeconds(90) }),
      61,
    ],
    ["400 with retry-after", 400, () => ({ "retry-after": "61" }), 61],
    [
      "400 where only complexity is used up",
      400,
      () => ({
        "x-ratelimit-requests-remaining": "12",
        "x-ratelimit-requests-reset": inSeconds(3000),
        "x-ratelimit-complexity-remaining": "0",
        "x-ratelimit-complexity-reset": inSeconds(120),
      }),
      120,
    ],
    [
      "200 of one endpoint",
      200,
      () => ({
        "x-ratelimit-endpoint-requests-remaining": "0",
        "x-ratelimit-endpoint-requests-reset": inSeconds(45),
      }),
      45,
    ],
  ])(
    "%s is a rate limit with its waiting time, and is not sent again",
    async (_, status, headersOf, seconds) => {
      const { call, backend, team } = await bench();
      backend.inject({ kind: "status", status, headers: headersOf(), body: limited }, { skip: 1 });
      const error = await failure(call("create_issue", { team_id: team.id, title: "x" }));
      expect(error).toMatchObject({ code: "FAILED", status, reason: "RATELIMITED", mayHaveApplied: false });
      expect(Math.abs((error.retryAfterSeconds ?? 0) - seconds)).toBeLessThanOrEqual(2);
      expect(error.message).toMatch(
        new RegExp(`HTTP ${status}: .*rate limit, try again in \\d+ s.*RATELIMITED`),
      );
      expect(backend.requests).toHaveLength(2);
    },
  );

  test("without a word on how long to wait it says so", async () => {
    const { call, backend, team } = await bench();
    backend.inject({ kind: "status", status: 400, body: limited });
    const error = await failure(call("create_issue", { team_id: team.id, title: "x" }));
    expect(error.message).toContain("rate limit, without a word on how long to wait");
    expect(error).toMatchObject({ status: 400, reason: "RATELIMITED", retryAfterSeconds: undefined });
    expect(backend.requests).toHaveLength(1);
  });

  test("a short wait is waited for, and nothing is made twice", async () => {
    const { call, backend, world, team } = await bench();
    backend.inject({ kind: "rateLimit", retryAfter: 0 }, { skip: 1 });
    await call("create_issue", { team_id: team.id, title: "x" });
    expect(world.issues).toHaveLength(3);
    expect(backend.requests).toHaveLength(3);
  });

  test.each([400, 429] as const)("the sandbox's own limit (%i) is met in the same way", async (status) => {
    const { call, world } = await bench();
    world.remaining = 0;
    world.rateLimitStatus = status;
    const error = await failure(call("get_issue", { issue_id: "ENG-1" }));
    expect(error).toMatchObject({ status, reason: "RATELIMITED", retryAfterSeconds: expect.any(Number) });
  });
});

describe("GraphQL errors", () => {
  test.each([
    ["200", 200, "invalid input", "INPUT_ERROR"],
    ["400", 400, "invalid input", "INPUT_ERROR"],
    ["200 without a type", 200, undefined, "INPUT_ERROR"],
    ["200", 200, "user error", "USER_ERROR"],
    ["400", 400, "graphql error", "GRAPHQL_VALIDATION_FAILED"],
    ["200", 200, "forbidden", "FORBIDDEN"],
    ["403", 403, "forbidden", "FORBIDDEN"],
    ["401", 401, "authentication error", "AUTHENTICATION_ERROR"],
    ["200", 200, "feature not accessible", "FEATURE_NOT_ACCESSIBLE"],
    ["200", 200, "usage limit exceeded", "USAGE_LIMIT_EXCEEDED"],
  ])("answered with %s: not done", async (_, status, type, code) => {
    const { call, backend, team } = await bench();
    const body = refusal("No.", { type, code, userPresentableMessage: "Not like this." });
    backend.inject({ kind: "status", status, body }, { skip: 1 });
    const error = await failure(call("create_issue", { team_id: team.id, title: "x" }));
    expect(error).toMatchObject({ code: "FAILED", status, reason: code, mayHaveApplied: false });
    expect(error.message).toBe(`HTTP ${status}: POST /graphql: No: Not like this. (${code})`);
  });

  test.each([
    ["200", 200, { type: "internal error", code: "INTERNAL_SERVER_ERROR", statusCode: 500 }],
    ["400", 400, { type: "internal error", code: "INTERNAL_SERVER_ERROR" }],
    ["500", 500, { type: "internal error", code: "INTERNAL_SERVER_ERROR" }],
    ["200", 200, { type: "lock timeout", code: "LOCK_TIMEOUT" }],
    ["200", 200, { type: "network error" }],
    ["200 with nothing to tell what it is", 200, {}],
  ])("answered with %s (%i, %j): perhaps done all the same", async (_, status, extensions) => {
    const { call, backend, team } = await bench();
    const body = refusal("Something went wrong.", extensions);
    backend.inject({ kind: "status", status, body }, { skip: 1 });
    const error = await failure(call("create_issue", { team_id: team.id, title: "x" }));
    expect(error).toMatchObject({ code: "FAILED", status, mayHaveApplied: true });
  });

  test("an error beside the mutation's own data says that the mutation was done", async () => {
    const { call, backend, team } = await bench();
    const body = {
      ...refusal("Entity not found: Team", { type: "invalid input", code: "INPUT_ERROR" }),
      data: { issueCreate: { success: true, issue: null } },
    };
    backend.inject({ kind: "status", status: 200, effect: true, body }, { skip: 1 });
    const error = await failure(call("create_issue", { team_id: team.id, title: "x" }));
    expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: true });
  });

  test("a read fails with them as well, and never in doubt", async () => {
    const { call, backend } = await bench();
    for (const status of [200, 400, 500]) {
      backend.inject({ kind: "status", status, body: refusal("No.", { type: "internal error" }) });
      const error = await failure(call("get_issue", { issue_id: "ENG-1" }));
      expect(error).toMatchObject({ code: "FAILED", status, mayHaveApplied: false });
    }
  });

  test("several errors are all said", async () => {
    const { call, backend } = await bench();
    const body = { errors: [{ message: "First." }, { message: "Second." }], data: null };
    backend.inject({ kind: "status", status: 400, body });
    expect((await failure(call("get_issue", { issue_id: "ENG-1" }))).message).toContain("First.; Second.");
  });
});

test("success: false is a failure of every mutation", async () => {
  const { call, world, team, issue, state } = await bench();
  const made = await call("add_comment", { issue_id: "ENG-1", body: "x" });
  world.mutations = "fail";
  const before = await state();
  for (const [tool, args] of [
    ["create_issue", { team_id: team.id, title: "x" }],
    ["archive_issue", { issue_id: issue.id }],
    ["add_comment", { issue_id: "ENG-1", body: "x" }],
    ["delete_comment", { comment_id: made["comment_id"] }],
  ] as const) {
    const error = await failure(call(tool, args));
    expect(error).toMatchObject({ code: "FAILED", status: 200, mayHaveApplied: false });
    expect(error.message).toContain("answered success: false");
  }
  expect(await state()).toEqual(before);
});

test("a comment on a closed issue is refused in Linear's words", async () => {
  const { call, world, issue } = await bench();
  archiveIssue(issue);
  world.archivedIsClosed = true;
  const error = await failure(call("add_comment", { issue_id: "ENG-1", body: "x" }));
  expect(error.message).toContain("Entity not found: Issue");
});

test.each([301, 302, 303, 307, 308])("HT-05: %i to another host is not followed", async (status) => {
  const [here, other] = [await bench(), await bench()];
  const headers = { location: `${other.backend.address}/graphql` };
  here.backend.inject({ kind: "status", status, headers }, { times: 2 });
  for (const asked of [
    here.call("get_issue", { issue_id: "ENG-1" }),
    here.call("create_issue", { team_id: here.team.id, title: "x" }),
  ]) {
    const error = await failure(asked);
    expect(error).toMatchObject({ code: "FAILED", status });
    expect(error.message).toContain("moved");
  }
  expect(other.backend.requests).toEqual([]);
});

test.each(["refused", "TLS"])(
  "a connection that is %s sent nothing: a write is not uncertain",
  async (how) => {
    const { backend, team, call } = await bench();
    const args = { team_id: team.id, title: "x" };
    const baseUrl = backend.address.replace("http:", "https:");
    const tls = linear({ ...backend.options, baseUrl });
    if (how === "refused") backend.inject({ kind: "refuse" });
    const error = await failure(
      how === "refused" ? call("create_issue", args) : tls.tools["linear.create_issue"]?.(args),
    );
    await tls.close();
    expect(error.message).toContain("nothing was sent");
    expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
  },
);
