import { inspect } from "node:util";
import { type Checkpoint, EffectUncertainError } from "@reversi-connector/core";
import { github } from "@reversi-connector/github";
import { addComment } from "@reversi-connector/github/sandbox";
import { type Bench, bench, failure, site } from "./bench.ts";

type Write = readonly [tool: string, method: string, args: (on: Bench) => object];
const forward: readonly Write[] = [
  ["create_issue", "POST", () => ({ title: "Typo" })],
  ["add_comment", "POST", () => ({ issue_number: 1, body: "Hello" })],
  ["add_labels", "POST", () => ({ issue_number: 1, labels: ["bug", "new"] })],
  ["create_branch", "POST", () => ({ branch: "feature/x" })],
];
const undoes: readonly Write[] = [
  ["close_issue", "PATCH", () => ({ issue_number: 1 })],
  [
    "delete_comment",
    "DELETE",
    ({ backend }) => ({ comment_id: addComment(backend.world, backend.site, { issue: 1, body: "x" }).id }),
  ],
  ["remove_labels", "DELETE", () => ({ issue_number: 1, labels: ["bug"] })],
  ["delete_branch", "DELETE", () => ({ branch: "docs" })],
];
const all = [...forward, ...undoes];

/** Calls a tool and keeps what it made durable. */
async function lose({ call }: Bench, tool: string, args: object) {
  const kept: Checkpoint[] = [];
  const error = await failure(
    call(tool, args, { checkpoint: async (checkpoint) => void kept.push(checkpoint) }),
  );
  return { error, checkpoint: kept[0] };
}

describe("an answer that is lost", () => {
  test.each(all)(
    "HT-01: %s sent once, connection cut after the effect: unknown",
    async (tool, method, argsOf) => {
      const on = await bench();
      const args = argsOf(on);
      const before = await on.state();
      on.backend.inject({ kind: "cutAfter", reset: true }, { method });
      const { error } = await lose(on, tool, args);
      expect(EffectUncertainError.is(error)).toBe(true);
      expect(on.writes()).toHaveLength(1);
      expect(await on.state()).not.toEqual(before);
    },
  );

  test.each(all)(
    "%s, connection cut before the effect: unknown, and calling again succeeds",
    async (...write) => {
      const [tool, method, argsOf] = write;
      const on = await bench();
      const args = argsOf(on);
      const before = await on.state();
      on.backend.inject({ kind: "cutBefore" }, { method });
      const { error } = await lose(on, tool, args);
      expect(EffectUncertainError.is(error)).toBe(true);
      expect(await on.state()).toEqual(before);
      await on.call(tool, args);
      expect(await on.state()).not.toEqual(before);
    },
  );

  test.each(all)(
    "HT-06: %s answered with a body cut half way, or with no JSON: unknown",
    async (...write) => {
      const [tool, method, argsOf] = write;
      for (const fault of [
        { kind: "garbage" },
        { kind: "cutBody" },
        { kind: "cutBody", chunked: true },
      ] as const) {
        const on = await bench();
        const args = argsOf(on);
        on.backend.inject(fault, { method });
        // A 204 has no body that could be cut.
        if (fault.kind === "cutBody" && ["delete_comment", "delete_branch"].includes(tool)) continue;
        expect(EffectUncertainError.is((await lose(on, tool, args)).error)).toBe(true);
      }
    },
  );

  test.each(all)("%s never answered: unknown when its time is over", async (tool, method, argsOf) => {
    const on = await bench({ timeoutMs: 150 });
    const args = argsOf(on);
    on.backend.inject({ kind: "hang" }, { method });
    const { error } = await lose(on, tool, args);
    expect(EffectUncertainError.is(error)).toBe(true);
    expect(error.message).toContain("no answer within 150 ms");
  });

  test.each(all)(
    "%s answered with 502: failed, and perhaps done all the same",
    async (tool, method, argsOf) => {
      const on = await bench();
      const args = argsOf(on);
      on.backend.inject(
        { kind: "status", status: 502, effect: true, body: "<h1>Bad gateway</h1>" },
        { method },
      );
      const { error, checkpoint } = await lose(on, tool, args);
      expect(error).toMatchObject({ code: "FAILED", status: 502, mayHaveApplied: true });
      expect(error.expectedResult).toEqual(checkpoint?.result);
    },
  );

  test.each(forward.slice(2))(
    "%s: landed tells the truth both ways, late delivery included",
    async (...write) => {
      const [tool, method, argsOf] = write;
      const on = await bench();
      const args = argsOf(on);
      on.backend.inject({ kind: "late" }, { method });
      const { error, checkpoint } = await lose(on, tool, args);
      expect(error.expectedResult).toEqual(checkpoint?.result);
      expect(await on.landed(tool, args, checkpoint)).toEqual({ landed: false });
      await on.backend.settle();
      const answer = await on.landed(tool, args, checkpoint);
      expect(answer).toMatchObject({ landed: true, result: checkpoint?.result });
      expect(on.writes()).toHaveLength(1);
    },
  );

  test.each(forward.slice(2))(
    "%s: the undo from the checkpoint alone ends in the prior state",
    async (...write) => {
      const [tool, method, argsOf] = write;
      for (const kind of ["cutBefore", "cutAfter"] as const) {
        const on = await bench();
        const args = argsOf(on);
        const before = await on.state();
        on.backend.inject({ kind }, { method });
        const { checkpoint } = await lose(on, tool, args);
        expect(await on.undo(tool, args, checkpoint?.result ?? {})).toMatchObject({
          already: kind === "cutBefore",
        });
        on.backend.site.labels.splice(3); // the declared residue
        expect(await on.state()).toEqual(before);
      }
    },
  );

  test.each(undoes)(
    "%s: after a lost answer holds tells the truth, and repeating it succeeds",
    async (...write) => {
      const [tool, method, argsOf] = write;
      for (const kind of ["cutBefore", "cutAfter"] as const) {
        const on = await bench();
        const args = argsOf(on);
        on.backend.inject({ kind }, { method });
        await lose(on, tool, args);
        expect(await on.holds(tool, args)).toBe(kind === "cutAfter");
        expect(await on.call(tool, args)).toMatchObject({ already: kind === "cutAfter" });
        expect(await on.holds(tool, args)).toBe(true);
      }
    },
  );

  test("what no evidence can tell of a lost issue or comment is not claimed", async () => {
    const { connector } = await bench();
    expect(Object.keys(connector.landed)).toEqual(["github.add_labels", "github.create_branch"]);
  });
});

test.each(all)(
  "%s: a read that fails ends the call before anything is written",
  async (tool, method, argsOf) => {
    const count = async () => {
      const on = await bench();
      await on.call(tool, argsOf(on));
      return on.backend.requests.length - 1;
    };
    for (let skip = 0, reads = await count(); skip < reads; skip++) {
      const on = await bench();
      const args = argsOf(on);
      const before = await on.state();
      on.backend.inject({ kind: "status", status: 500 }, { method: "GET", skip });
      expect(await failure(on.call(tool, args))).toMatchObject({ code: "FAILED", status: 500 });
      expect(on.backend.requests.filter((request) => request.method === method)).toEqual([]);
      expect(await on.state()).toEqual(before);
    }
  },
);

test("holds and landed send reads only", async () => {
  const on = await bench();
  for (const [tool, , argsOf] of undoes) await on.holds(tool, argsOf(on));
  const result = { issue_number: 1, added: ["new"], created_labels: [], branch: "x", sha: "a".repeat(40) };
  for (const [tool, , argsOf] of forward.slice(2)) await on.landed(tool, argsOf(on), { result });
  expect(on.backend.requests.length).toBeGreaterThanOrEqual(6);
  expect(on.writes()).toEqual([]);
});

describe("GH-01: rate limits", () => {
  const secondary = "You have exceeded a secondary rate limit. Please wait a few minutes.";
  const reset = () => String(Math.ceil(Date.now() / 1000) + 90);
  test.each([
    ["403 that only its message tells apart", 403, {}, secondary, 60],
    ["429 that only its message tells apart", 429, {}, secondary, 60],
    ["429 with retry-after", 429, { "retry-after": "61" }, secondary, 61],
    ["403 with retry-after", 403, { "retry-after": "61" }, secondary, 61],
    ["403 with nothing remaining", 403, { "x-ratelimit-remaining": "0" }, "API rate limit exceeded", 90],
    ["429 with nothing remaining", 429, { "x-ratelimit-remaining": "0" }, "API rate limit exceeded", 90],
  ])("%s is a rate limit with its waiting time", async (_, status, headers, message, seconds) => {
    const { call, backend } = await bench();
    const withReset = { "x-ratelimit-reset": reset(), ...headers };
    backend.inject({ kind: "status", status, headers: withReset, body: { message } });
    const error = await failure(call("create_issue", { title: "x" }));
    expect(error).toMatchObject({ code: "FAILED", status, mayHaveApplied: false });
    expect(Math.abs((error.retryAfterSeconds ?? 0) - seconds)).toBeLessThanOrEqual(2);
    expect(error.message).toMatch(/rate limit, try again in \d+ s/);
    expect(backend.requests).toHaveLength(1);
  });

  test("the sandbox's own limit is met in the same way", async () => {
    const { call, backend } = await bench();
    backend.world.remaining = 0;
    const error = await failure(call("create_issue", { title: "x" }));
    expect(error).toMatchObject({ status: 403, reason: expect.stringContaining("API rate limit exceeded") });
    expect(error.message).toContain("rate limit");
  });

  test("a missing permission is not taken for a rate limit", async () => {
    const { call, backend } = await bench();
    backend.site.permissions.issues = "read";
    const error = await failure(call("create_issue", { title: "x" }));
    expect(error.message).not.toContain("rate limit");
    expect(error.retryAfterSeconds).toBeUndefined();
  });
});

describe("GH-08: a repository that was renamed", () => {
  test("is read under its old name, and never written to: the error says that it moved", async () => {
    const { call, backend, state } = await bench();
    backend.site.name = "new-site";
    backend.world.renamed.set("acme/site", backend.site.id);
    const before = await state();
    expect(await call("get_issue", { issue_number: 1 })).toMatchObject({ title: "Broken link" });
    for (const [tool, , argsOf] of all.filter(([name]) => name !== "delete_comment")) {
      const error = await failure(call(tool, argsOf({ backend } as Bench)));
      expect(error).toMatchObject({ code: "FAILED", status: 307, mayHaveApplied: false });
      expect(error.message).toContain("moved");
    }
    expect(await state()).toEqual(before);
  });

  test.each([301, 302, 303, 307, 308])("HT-05: %i to another host is not followed", async (status) => {
    const [here, other] = [await bench(), await bench()];
    const headers = { location: `${other.backend.address}/repositories/1296269/issues` };
    here.backend.inject({ kind: "status", status, headers }, { times: 2 });
    expect(await failure(here.call("create_issue", { title: "x" }))).toMatchObject({
      code: "FAILED",
      status,
    });
    expect(await failure(here.call("get_issue", { issue_number: 1 }))).toMatchObject({
      code: "FAILED",
      status,
    });
    expect(other.backend.requests).toEqual([]);
  });

  test.each([301, 302, 307, 308])("%i within the host never turns a write into a success", async (status) => {
    const { call, backend, writes } = await bench();
    backend.inject({ kind: "status", status, headers: { location: "/repos/acme/site/issues" } });
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
      for (const status of [400, 401, 403, 422, 500]) {
        backend.inject({ kind: "echo", as, status });
        errors.push(await failure(call("create_issue", { title: "x" })));
      }
    }
    backend.inject({
      kind: "echo",
      text: `${encodeURIComponent(token)} ${Buffer.from(token).toString("base64")}`,
    });
    errors.push(await failure(call("create_issue", { title: "x" })));
    const tls = github({ token, baseUrl: backend.address.replace("http:", "https:") });
    errors.push(
      await failure(tls.tools["github.get_issue"]?.({ ...site, issue_number: 1 }) ?? Promise.resolve()),
    );
    await tls.close();
    backend.inject({ kind: "refuse" });
    errors.push(
      await failure(call("get_issue", { issue_number: 1 })),
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
      const { backend, call } = await bench();
      const tls = github({
        token: backend.options.token,
        baseUrl: backend.address.replace("http:", "https:"),
      });
      if (how === "refused") backend.inject({ kind: "refuse" });
      const asked =
        how === "refused"
          ? call("create_issue", { title: "x" })
          : tls.tools["github.create_issue"]?.({ ...site, title: "x" });
      const error = await failure(asked ?? Promise.resolve());
      await tls.close();
      expect(error.message).toContain("nothing was sent");
      expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
    },
  );

  test("SE-01: the configured value is hidden whatever its shape, GitHub's shapes are hidden besides", async () => {
    const { backend } = await bench();
    const foreign = `ghs_12345_${"eyJhbGciOiJSUzI1NiJ9.".repeat(3)}sig`;
    const odd = github({ token: "abc.def-123", baseUrl: backend.address });
    backend.inject({ kind: "echo", text: `was abc.def-123 and ${foreign} and github_pat_${"x".repeat(40)}` });
    const error = await failure(
      odd.tools["github.create_issue"]?.({ ...site, title: "x" }) ?? Promise.resolve(),
    );
    await odd.close();
    expect(error.message).toMatch(/was \[redacted\] and \[redacted\] and \[redacted\]/);
  });

  test("SE-01: a token that is too short, or that holds a blank, is refused without being shown", () => {
    for (const token of ["abcd", "ghp_abc def0123456789", "ghp_abc\ndef0123456789", "<your token>", ""]) {
      expect(() => github({ token })).toThrow(/token \(GITHUB_TOKEN\)/);
      expect(() => github({ token })).not.toThrow(/abc/);
    }
  });

  test("a text that holds the token is refused before anything is sent", async () => {
    const { call, backend } = await bench();
    const body = `my token is ${backend.options.token}`;
    const error = await failure(call("add_comment", { issue_number: 1, body }));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENTS" });
    expect(backend.requests).toEqual([]);
  });

  test("a wrong token is GitHub's 401", async () => {
    const { backend } = await bench();
    const wrong = github({ token: "ghp_wrong".padEnd(40, "0"), baseUrl: backend.address });
    const error = await failure(
      wrong.tools["github.get_issue"]?.({ ...site, issue_number: 1 }) ?? Promise.resolve(),
    );
    await wrong.close();
    expect(error).toMatchObject({ status: 401, reason: "Bad credentials" });
  });
});
