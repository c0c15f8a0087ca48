import { inspect } from "node:util";
import { jira } from "../src/index.ts";
import { sandbox } from "../src/sandbox.ts";
import { bench, failure, refusal } from "./bench.ts";
import { all } from "./writes.ts";

const everything = (error: unknown) =>
  [
    inspect(error, { depth: 10, showHidden: true }),
    JSON.stringify(error, Object.getOwnPropertyNames(error ?? {})),
    (error as Error).message,
    (error as Error).stack,
  ].join("\n");
const comment = { issue_id: "PROJ-1", body: "x" };

test("SE-02, SE-05: no error shows the token, the pair or their Base64, whatever came back", async () => {
  const { call, backend, connector } = await bench();
  const { email, token, baseUrl } = backend.options;
  const pair = `${email}:${token}`;
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const forms = [token, pair, base64(token), base64(pair), `Basic ${base64(pair)}`, encodeURIComponent(pair)];
  const errors: unknown[] = [];
  for (const as of ["json", "html", "text", "header"] as const) {
    for (const status of [200, 400, 401, 407, 500]) {
      backend.inject({ kind: "echo", as, status });
      errors.push(await failure(call("add_comment", comment)));
    }
  }
  for (const form of forms) {
    backend.inject({ kind: "status", status: 401, body: refusal(`who is ${form}?`) }, { times: 2 });
    errors.push(await failure(call("add_comment", comment)));
    errors.push(await failure(call("get_issue", { issue_id: "PROJ-1" })));
    const body = { errorMessages: [], errors: { summary: form, [form]: "bad" } };
    backend.inject({ kind: "status", status: 400, body }, { method: "POST" });
    errors.push(await failure(call("add_comment", comment)));
  }
  const tls = jira({ email, token, baseUrl: baseUrl.replace("http:", "https:") });
  errors.push(await failure(tls.tools["jira.get_issue"]?.({ issue_id: "PROJ-1" })));
  await tls.close();
  backend.inject({ kind: "refuse" });
  errors.push(await failure(call("get_issue", { issue_id: "PROJ-1" })));
  for (const error of errors) {
    const half = base64(`${email}:`).slice(0, 20);
    for (const secret of [token, base64(token).slice(2, -4), half, base64(pair).slice(-40)]) {
      expect(everything(error)).not.toContain(secret);
    }
    expect(error).not.toHaveProperty("cause");
  }
  expect(inspect(connector, { depth: 10, showHidden: true })).not.toContain(token);
});

test.each([
  `ATATT3x${"FfGf0Abc_d-".repeat(4)}=1A2B3C4D`,
  `ATCTT3x${"FfGf0Abc_d-".repeat(4)}=1A2B3C4D`,
  "Basic dXNlckBleGFtcGxlLmNvbTpzZWNyZXQ=",
  "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLW9mLWl0",
])("SE-01: the configured value is hidden whatever its shape, and %s besides", async (foreign) => {
  const { backend } = await bench();
  const odd = jira({ ...backend.options, token: "oldTokenOf24Characters00" });
  backend.inject({ kind: "status", status: 400, body: refusal(`oldTokenOf24Characters00 and ${foreign}.`) });
  const error = await failure(odd.tools["jira.get_issue"]?.({ issue_id: "PROJ-1" }));
  await odd.close();
  expect(error.message).toMatch(/\[redacted\] and \[redacted\]\.$/);
});

test("the credential travels in one header, and in no address and no body", async () => {
  const on = await bench();
  const { email, token } = on.backend.options;
  for (const [tool, argsOf] of all) {
    const fresh = await bench();
    await fresh.call(tool, argsOf(fresh));
    for (const { path, text, headers } of fresh.backend.requests) {
      expect(path + text).not.toContain(token);
      expect(headers).toMatchObject({
        authorization: `Basic ${Buffer.from(`${email}:${token}`).toString("base64")}`,
        accept: "application/json",
        "user-agent": "reversi-connector-jira",
      });
    }
  }
});

test("a text that holds the token is refused before anything is sent", async () => {
  const { call, backend } = await bench();
  const error = await failure(call("add_comment", { ...comment, body: `it is ${backend.options.token}` }));
  expect(error).toMatchObject({ code: "INVALID_ARGUMENTS" });
  expect(backend.requests).toEqual([]);
});

describe("the address of the site", () => {
  const account = { email: "me@example.com", token: "ATATT3xNotASecret0000000000" };
  test.each([
    ["no scheme", "yourco.atlassian.net"],
    ["plain HTTP", "http://yourco.atlassian.net"],
    ["plain HTTP to what only looks local", "http://127.0.0.1.example.com"],
    ["another scheme", "ftp://yourco.atlassian.net"],
    ["a password", "https://me:hunter2hunter2@yourco.atlassian.net"],
    ["a name", "https://hunter2hunter2@yourco.atlassian.net"],
    ["an empty name", "https://@yourco.atlassian.net"],
    ["a password without slashes", "https:me:hunter2hunter2@yourco.atlassian.net"],
    ["a query", "https://yourco.atlassian.net?os_password=hunter2hunter2"],
    ["a fragment", "https://yourco.atlassian.net#hunter2hunter2"],
    ["nothing", "  "],
  ])("with %s is refused without being repeated", (_, baseUrl) => {
    expect(() => jira({ ...account, baseUrl })).toThrow(/baseUrl/);
    expect(() => jira({ ...account, baseUrl })).not.toThrow(/hunter2/);
  });

  test.each([
    "https://yourco.atlassian.net",
    "HTTPS://yourco.atlassian.net/",
    "http://localhost:1",
    "http://[::1]:1",
  ])("%s is taken", async (baseUrl) => {
    await jira({ ...account, baseUrl }).close();
  });

  test.each([
    ["/ex/jira/11111111-2222-3333-4444-555555555555", "/ex/jira/11111111-2222-3333-4444-555555555555"],
    ["/ex/jira/1/", "/ex/jira/1"],
    ["/ex/jira/1/rest/api/3", "/ex/jira/1"],
    ["/rest/api/3/", ""],
    ["//", ""],
  ])("HT-09: %s keeps its path", async (path, prefix) => {
    const { backend } = await bench();
    const scoped = jira({ ...backend.options, baseUrl: backend.address + path });
    await scoped.tools["jira.get_issue"]?.({ issue_id: "PROJ-1" }).catch(() => {});
    await scoped.close();
    expect(backend.requests.map(({ pathname }) => pathname)).toEqual([`${prefix}/rest/api/3/issue/PROJ-1`]);
  });
});

test.each([301, 302, 303, 307, 308])("HT-05: %i to another host is not followed", async (status) => {
  const [here, other] = [await bench(), await sandbox()];
  const headers = { location: `${other.address}/rest/api/3/issue/PROJ-1` };
  here.backend.inject({ kind: "status", status, headers }, { times: 2 });
  for (const [tool, args] of [
    ["get_issue", { issue_id: "PROJ-1" }],
    ["add_comment", comment],
  ] as const) {
    expect(await failure(here.call(tool, args))).toMatchObject({ code: "FAILED", status });
  }
  expect(other.requests).toEqual([]);
  await other.close();
});
