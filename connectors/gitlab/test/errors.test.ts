import { inspect } from "node:util";
import { gitlab } from "@reversi-connector/gitlab";
import { bench, failure, site } from "./bench.ts";

const never = Promise.resolve();

describe("GL-07: whatever form GitLab's message has, the error is readable and names the status", () => {
  test.each([
    [400, { message: { title: ["can't be blank"] } }, "title can't be blank"],
    [
      400,
      { message: { title: ["can't be blank", "is odd"], base: ["No room"] } },
      "title can't be blank; is odd; No room",
    ],
    [400, { message: ["one", "two"] }, "one; two"],
    [400, { error: "title is missing" }, "title is missing"],
    [403, { message: "403 Forbidden" }, "403 Forbidden"],
    [401, { error: "insufficient_scope", scope: "api" }, "insufficient_scope: the token needs the scope api"],
    [
      403,
      { error: "insufficient_scope", error_description: "The request requires more.", scope: "api" },
      "insufficient_scope: The request requires more.: the token needs the scope api",
    ],
    [
      401,
      { error: "invalid_token", error_description: "Token was revoked." },
      "invalid_token: Token was revoked.",
    ],
    [401, { message: "401 Unauthorized" }, "401 Unauthorized"],
    [409, { message: "Duplicated issue" }, "Duplicated issue"],
    [422, { message: { error: "Spam detected" } }, "Spam detected"],
    [500, { message: "500 Internal Server Error" }, "500 Internal Server Error"],
    [400, { message: {} }, "Bad Request"],
    [400, { message: null }, "Bad Request"],
    [400, "no JSON", "Bad Request"],
  ])("%i %j", async (status, body, words) => {
    const { call, backend } = await bench();
    backend.inject({ kind: "status", status, body: typeof body === "string" ? body : JSON.stringify(body) });
    const error = await failure(call("create_issue", { title: "x" }));
    expect(error).toMatchObject({ code: "FAILED", status });
    const path = "/api/v4/projects/acme%2Ftools%2Fsite/issues";
    expect(error.message).toContain(`HTTP ${status}: POST ${path}: ${words}`);
  });

  test("a token without the scope for writing is told which one it needs", async () => {
    const { call, backend, state } = await bench();
    const before = await state();
    backend.world.scope = "read_api";
    await call("get_issue", { issue_iid: 1 });
    const error = await failure(call("create_issue", { title: "x" }));
    expect(error).toMatchObject({ status: 403, reason: "insufficient_scope" });
    expect(error.message).toContain("the token needs the scope api");
    expect(await state()).toEqual(before);
  });

  test("an address that does not exist points at what stands before GitLab", async () => {
    const { call, backend } = await bench();
    backend.inject({ kind: "status", status: 404, body: { error: "404 Not Found" } });
    const error = await failure(call("get_issue", { issue_iid: 1 }));
    expect(error.message).toMatch(/decodes %2F/);
  });
});

describe("rate limits", () => {
  const inSeconds = (seconds: number) => String(Math.ceil(Date.now() / 1000) + seconds);
  const application = { message: { error: "This endpoint has been requested too many times." } };
  test.each([
    ["plain text, with Retry-After", { "retry-after": "61" }, "Retry later\n", 61],
    [
      "plain text, with RateLimit-Reset",
      { "ratelimit-remaining": "0", "ratelimit-reset": inSeconds(40) },
      "Retry later\n",
      40,
    ],
    [
      "the application's own, while others remain",
      { "ratelimit-remaining": "9", "ratelimit-reset": inSeconds(1) },
      application,
      60,
    ],
    ["the application's own, without headers", {}, application, 60],
  ])("%s: an error with the waiting time, and nothing was done", async (_, headers, body, seconds) => {
    const { call, backend, state } = await bench();
    const before = await state();
    backend.inject({ kind: "status", status: 429, headers, body });
    const error = await failure(call("add_note", { issue_iid: 1, body: "x" }));
    expect(error).toMatchObject({ code: "FAILED", status: 429, mayHaveApplied: false });
    expect(Math.abs((error.retryAfterSeconds ?? 0) - seconds)).toBeLessThanOrEqual(2);
    expect(error.message).toMatch(/rate limit, try again in \d+ s/);
    expect(backend.requests).toHaveLength(1);
    expect(await state()).toEqual(before);
  });

  test("the sandbox's own limit of notes is met in the same way", async () => {
    const { call, backend } = await bench();
    backend.world.remainingNotes = 0;
    const error = await failure(call("add_note", { issue_iid: 1, body: "x" }));
    expect(error).toMatchObject({ status: 429, retryAfterSeconds: 60 });
    expect(error.message).toContain("requested too many times");
  });
});

describe("HT-05: redirects", () => {
  test.each([301, 302, 303, 307, 308])(
    "%i to another host is not followed with the token",
    async (status) => {
      const [here, other] = [await bench(), await bench()];
      const headers = { location: `${other.backend.address}/api/v4/projects/1/issues` };
      here.backend.inject({ kind: "status", status, headers }, { times: 2 });
      for (const [tool, args] of [
        ["create_issue", { title: "x" }],
        ["get_issue", { issue_iid: 1 }],
      ] as const) {
        expect(await failure(here.call(tool, args))).toMatchObject({ code: "FAILED", status });
      }
      expect(other.backend.requests).toEqual([]);
    },
  );

  test.each([301, 302, 307, 308])("%i within the host never turns a write into a success", async (status) => {
    const { call, backend, writes } = await bench();
    backend.inject({ kind: "status", status, headers: { location: "/api/v4/projects/1/issues" } });
    expect(await failure(call("create_issue", { title: "x" }))).toMatchObject({ code: "FAILED", status });
    expect(writes()).toHaveLength(1);
  });
});

describe("secrets", () => {
  const everything = (error: unknown) =>
    [
      inspect(error, { depth: 10, showHidden: true }),
      JSON.stringify(error, Object.getOwnPropertyNames(error ?? {})),
      (error as Error).message,
      (error as Error).stack,
    ].join("\n");

  test("SE-02: no error shows the token, whatever went wrong and whatever came back", async () => {
    const { call, backend, connector } = await bench();
    const { token } = backend.options;
    const errors: unknown[] = [];
    for (const as of ["json", "html", "text", "header"] as const) {
      for (const status of [400, 401, 403, 404, 422, 500]) {
        backend.inject({ kind: "echo", as, status });
        errors.push(await failure(call("create_issue", { title: "x" })));
      }
    }
    const encoded = `${encodeURIComponent(token)} ${Buffer.from(token).toString("base64")}`;
    backend.inject({ kind: "echo", text: encoded });
    errors.push(await failure(call("create_issue", { title: "x" })));
    const fields = { message: { [token]: [token] }, error_description: token, scope: token };
    backend.inject({ kind: "status", status: 400, body: fields });
    errors.push(await failure(call("create_issue", { title: "x" })));
    const ran = { commands_changes: { [token]: 1 }, summary: [token] };
    backend.inject({ kind: "status", status: 202, body: ran });
    errors.push(await failure(call("add_note", { issue_iid: 1, body: "x" })));
    backend.inject({ kind: "refuse" });
    errors.push(
      await failure(call("get_issue", { issue_iid: 1 })),
      await failure(call("create_issue", { title: "x" })),
    );
    for (const error of errors) {
      expect(everything(error)).not.toContain(token);
      expect(everything(error)).not.toContain(Buffer.from(token).toString("base64").slice(2, -4));
      expect(error).not.toHaveProperty("cause");
    }
    expect(inspect(connector, { depth: 10, showHidden: true })).not.toContain(token);
  });

  test.each(["refused", "TLS"])(
    "a connection that is %s sent nothing: a write is not uncertain",
    async (how) => {
      const { backend } = await bench();
      const { token } = backend.options;
      const baseUrl = how === "TLS" ? backend.address.replace("http:", "https:") : backend.address;
      const connector = gitlab({ token, baseUrl });
      if (how === "refused") backend.inject({ kind: "refuse" });
      const asked = connector.tools["gitlab.create_issue"]?.({ ...site, title: "x" });
      const error = await failure(asked ?? never);
      await connector.close();
      expect(error.message).toContain("nothing was sent");
      expect(error.message).not.toContain(token);
      expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
    },
  );

  test("SE-01: the configured value is hidden whatever its shape, GitLab's shapes are hidden besides", async () => {
    const { backend } = await bench();
    const foreign = [
      `glpat-${"x".repeat(20)}`,
      `glpat-${"y".repeat(27)}.01.0z9y8x7w6`,
      `glrt-${"z".repeat(20)}`,
      `_gitlab_session=${"a".repeat(32)}`,
    ];
    const odd = gitlab({ token: "acme-abc.def-123", baseUrl: backend.address });
    backend.inject({ kind: "echo", text: `was acme-abc.def-123 and ${foreign.join(" and ")}.` });
    const asked = odd.tools["gitlab.create_issue"]?.({ ...site, title: "x" });
    const error = await failure(asked ?? never);
    await odd.close();
    const hidden = Array(5).fill("[redacted]").join(" and ");
    expect(error.message).toContain(`was ${hidden}.`);
  });

  test("SE-01: a token that is too short, or that holds a blank, is refused without being shown", () => {
    for (const token of ["abcd", "glpat-abc def0123456789", "glpat-abc\ndef0123456789", "<your token>", ""]) {
      expect(() => gitlab({ token })).toThrow(/token \(GITLAB_TOKEN\)/);
      expect(() => gitlab({ token })).not.toThrow(/abc/);
    }
  });

  test("a text that holds the token is refused before anything is sent", async () => {
    const { call, backend } = await bench();
    const body = `my token is ${backend.options.token}`;
    const error = await failure(call("add_note", { issue_iid: 1, body }));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENTS" });
    expect(backend.requests).toEqual([]);
  });

  test("a wrong token is GitLab's 401", async () => {
    const { backend } = await bench();
    const wrong = gitlab({ token: `glpat-${"0".repeat(20)}`, baseUrl: backend.address });
    const asked = wrong.tools["gitlab.get_issue"]?.({ ...site, issue_iid: 1 });
    const error = await failure(asked ?? never);
    await wrong.close();
    expect(error).toMatchObject({ status: 401, reason: "401 Unauthorized" });
  });

  test("the token travels in PRIVATE-TOKEN and nowhere else", async () => {
    const { call, backend } = await bench();
    await call("create_branch", { branch: "x" });
    for (const { headers, path, text } of backend.requests) {
      const { "private-token": sent, ...others } = headers;
      expect(sent).toBe(backend.options.token);
      expect(JSON.stringify([others, path, text])).not.toContain(sent);
    }
  });
});
