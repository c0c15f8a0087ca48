import { inspect } from "node:util";
import { slack } from "@reversi-connector/slack";
import { bench, failure, general, refusal } from "./bench.ts";
import { all } from "./writes.ts";

const everything = (error: unknown) =>
  [
    inspect(error, { depth: 10, showHidden: true }),
    JSON.stringify(error, Object.getOwnPropertyNames(error ?? {})),
    (error as Error).message,
    (error as Error).stack,
  ].join("\n");
const message = { channel: general, text: "x" };

test("SE-02: no error shows the token, whatever went wrong and whatever came back", async () => {
  const { call, backend, connector } = await bench();
  const { token, baseUrl = "" } = backend.options;
  const errors: unknown[] = [];
  for (const as of ["json", "html", "text", "header"] as const) {
    for (const status of [200, 400, 401, 403, 500]) {
      backend.inject({ kind: "echo", as, status });
      errors.push(await failure(call("post_message", message)));
    }
  }
  for (const text of [token, encodeURIComponent(token), Buffer.from(token).toString("base64")]) {
    for (const details of [{}, { needed: text, provided: text }]) {
      backend.inject(refusal(text, details), { times: 2 });
      errors.push(await failure(call("post_message", message)), await failure(call("list_channels", {})));
    }
  }
  const tls = slack({ token, baseUrl: baseUrl.replace("http:", "https:") });
  errors.push(await failure(tls.tools["slack.list_channels"]?.({}) ?? Promise.resolve()));
  await tls.close();
  backend.inject({ kind: "refuse" });
  errors.push(await failure(call("list_channels", {})), await failure(call("post_message", message)));
  for (const error of errors) {
    expect(everything(error)).not.toContain(token);
    expect(everything(error)).not.toContain(Buffer.from(token).toString("base64").slice(2, -4));
    expect(error).not.toHaveProperty("cause");
  }
  expect(inspect(connector, { depth: 10, showHidden: true })).not.toContain(token);
});

test("nothing of a refusal is repeated but its code and its scopes", async () => {
  const { call, backend } = await bench();
  const response_metadata = { messages: ["[ERROR] my private words"] };
  backend.inject(refusal("invalid_arguments", { response_metadata, needed: "my private words" }));
  const error = await failure(call("post_message", message));
  expect(error.message).toBe("HTTP 200: POST /api/chat.postMessage: invalid_arguments");
});

test.each([
  "xoxb-12345678901-12345678901-abcdefABCDEF",
  "xoxe.xoxp-1-Mi0yLTEyMzQ1Njc4OTA",
  "xapp-1-A012AB3CD45-12345678901-abcdef",
])("SE-01: the configured value is hidden whatever its shape, and %s besides", async (foreign) => {
  const { backend } = await bench();
  const odd = slack({ token: "abc.def-123", baseUrl: backend.options.baseUrl });
  backend.inject(refusal("missing_scope", { needed: `abc.def-123,${foreign}` }));
  const error = await failure(odd.tools["slack.post_message"]?.(message) ?? Promise.resolve());
  await odd.close();
  expect(error.message).toMatch(/needs \[redacted\],\[redacted\], and/);
});

test("SE-01: a token that is too short, or that holds a blank, is refused without being shown", () => {
  for (const token of ["abcd", "xoxb-abc def0123456789", "xoxb-abc\ndef0123456789", "<your token>", ""]) {
    expect(() => slack({ token })).toThrow(/token \(SLACK_BOT_TOKEN\)/);
    expect(() => slack({ token })).not.toThrow(/abc/);
  }
});

test("a text that holds the token is refused before anything is sent", async () => {
  const { call, backend } = await bench();
  const text = `my token is ${backend.options.token}`;
  expect(await failure(call("post_message", { ...message, text }))).toMatchObject({
    code: "INVALID_ARGUMENTS",
  });
  expect(backend.requests).toEqual([]);
});

test("the token travels in no address and no body", async () => {
  const on = await bench();
  for (const [tool, argsOf] of all) await on.call(tool, argsOf(on));
  for (const { path, text } of on.backend.requests)
    expect(path + text).not.toContain(on.backend.options.token);
});

test("a wrong token, and one that was revoked, are Slack's refusals", async () => {
  const { backend, call } = await bench();
  const wrong = slack({ token: "xoxb-wrong-0123456789", baseUrl: backend.options.baseUrl });
  const error = await failure(wrong.tools["slack.list_channels"]?.({}) ?? Promise.resolve());
  await wrong.close();
  expect(error).toMatchObject({ status: 200, reason: "invalid_auth" });
  expect(error.requestId).toMatch(/^[0-9a-f]{32}$/);
  backend.world.tokenWorks = false;
  expect(await failure(call("list_channels", {}))).toMatchObject({ reason: "token_revoked" });
});
