import { inspect } from "node:util";
import { linear } from "@reversi-connector/linear";
import { oauthToken } from "@reversi-connector/linear/sandbox";
import { bench, failure } from "./bench.ts";

const everything = (error: unknown) =>
  [
    inspect(error, { depth: 10, showHidden: true }),
    JSON.stringify(error, Object.getOwnPropertyNames(error ?? {})),
    (error as Error).message,
    (error as Error).stack,
  ].join("\n");
const bearer = `Bearer ${oauthToken}`;

test("LN-02: the header is exactly the value given, a key or a token with its prefix", async () => {
  const [withKey, withToken] = [await bench(), await bench({ apiKey: bearer })];
  for (const { call } of [withKey, withToken]) await call("get_issue", { issue_id: "ENG-1" });
  const header = ({ backend }: typeof withKey) => backend.requests[0]?.headers["authorization"];
  expect(header(withKey)).toBe(withKey.backend.options.apiKey);
  expect(header(withToken)).toBe(bearer);
});

test("LN-02: a key with Bearer, or a token without it, is Linear's refusal and says what to do", async () => {
  const { backend } = await bench();
  const prefixed = await bench({ apiKey: `Bearer ${backend.options.apiKey}` });
  const error = await failure(prefixed.call("get_issue", { issue_id: "ENG-1" }));
  expect(error).toMatchObject({ code: "FAILED", status: 400 });
  expect(error.message).toContain("Remove the Bearer prefix");
  const bare = await bench({ apiKey: oauthToken });
  expect(await failure(bare.call("get_issue", { issue_id: "ENG-1" }))).toMatchObject({
    status: 401,
    reason: "AUTHENTICATION_ERROR",
  });
});

test.each([["a key"], ["a token with its prefix"]])(
  "SE-02, LN-02: no error shows %s, whatever came back",
  async (kind) => {
    const on = await bench(kind === "a key" ? {} : { apiKey: bearer });
    const { backend, call, connector, team } = on;
    const secret = kind === "a key" ? backend.options.apiKey : oauthToken;
    const args = { team_id: team.id, title: "x" };
    const encoded = Buffer.from(secret).toString("base64");
    const errors: unknown[] = [];
    for (const as of ["json", "html", "text", "header"] as const) {
      for (const status of [200, 400, 401, 403, 429, 500]) {
        backend.inject({ kind: "echo", as, status }, { skip: 1 });
        errors.push(await failure(call("create_issue", args)));
      }
    }
    const text = `${secret} Bearer ${secret} ${encodeURIComponent(secret)} ${encoded} "${secret}"`;
    backend.inject({ kind: "echo", text });
    errors.push(await failure(call("create_issue", args)));
    backend.inject({ kind: "refuse" });
    errors.push(await failure(call("get_issue", { issue_id: "ENG-1" })));
    for (const error of errors) {
      expect(everything(error)).not.toContain(secret);
      expect(everything(error)).not.toContain(encoded.slice(2, -4));
      expect(error).not.toHaveProperty("cause");
    }
    expect(inspect(connector, { depth: 10, showHidden: true })).not.toContain(secret);
  },
);

test("SE-01: the configured value is hidden whatever its shape, Linear's shapes and signed addresses besides", async () => {
  const { backend } = await bench();
  const odd = linear({ apiKey: "abc.def-123", baseUrl: backend.address });
  const foreign = [
    `lin_api_${"x".repeat(40)}`,
    `lin_oauth_${"1".repeat(64)}`,
    `lin_wh_${"y".repeat(40)}`,
    "https://uploads.linear.app/a/b.png?signature=eyJhbGciOi",
  ].join(" and ");
  backend.inject({ kind: "echo", text: `was abc.def-123 and ${foreign}` });
  const error = await failure(odd.tools["linear.get_issue"]?.({ issue_id: "ENG-1" }));
  await odd.close();
  expect(error.message).toContain(`was ${Array(5).fill("[redacted]").join(" and ")}`);
});

test("SE-01, SE-04: a key that is too short, or that holds a blank, is refused without being shown", () => {
  for (const apiKey of [
    "abcd",
    "lin_api_abc def0123456789",
    "lin_api_abc\ndef0123456789",
    "Bearer lin_oauth_abc def0123456789",
    "Bearer",
    "Bearer <your token>",
    "<your token>",
    "",
  ]) {
    expect(() => linear({ apiKey })).toThrow(/apiKey \(LINEAR_API_KEY\)/);
    expect(() => linear({ apiKey })).not.toThrow(/abc/);
  }
});

test("SE-04: blanks around a key are no part of it", async () => {
  const { backend } = await bench();
  const connector = linear({ ...backend.options, apiKey: ` ${backend.options.apiKey}\n` });
  expect(await connector.tools["linear.get_issue"]?.({ issue_id: "ENG-1" })).toMatchObject({
    title: "Broken link",
  });
  await connector.close();
});

test("a text that holds the key is refused before anything is sent", async () => {
  const { call, backend } = await bench();
  const error = await failure(
    call("add_comment", { issue_id: "ENG-1", body: `my key is ${backend.options.apiKey}` }),
  );
  expect(error).toMatchObject({ code: "INVALID_ARGUMENTS" });
  expect(backend.requests).toEqual([]);
});

test("a wrong key is Linear's 401", async () => {
  const { call } = await bench({ apiKey: "lin_api_wrong".padEnd(48, "0") });
  const error = await failure(call("get_issue", { issue_id: "ENG-1" }));
  expect(error).toMatchObject({ status: 401, reason: "AUTHENTICATION_ERROR" });
});
