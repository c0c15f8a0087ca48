import { inspect } from "node:util";
import { certify } from "@reversi-connector/certification-kit";
import { subject } from "../src/certification.ts";
import { aws } from "../src/index.ts";
import { keys } from "../src/sandbox/wire.ts";
import { attach } from "../src/sandbox.ts";
import { bench, failure, todo } from "./bench.ts";

const everything = (error: unknown) =>
  [
    inspect(error, { depth: 10, showHidden: true }),
    JSON.stringify(error, Object.getOwnPropertyNames(error ?? {})),
    (error as Error).message,
    (error as Error).stack,
  ].join("\n");
const secrets = Object.values(keys);

test("SE-02: no error shows a key or the token, whatever went wrong and whatever came back", async () => {
  const { call, backend, connector } = await bench();
  const put = { ...todo, content: "x" };
  const errors: unknown[] = [];
  for (const as of ["json", "html", "text", "header"] as const) {
    for (const status of [200, 400, 401, 403, 500]) {
      backend.inject({ kind: "echo", as, status }, { method: "PUT" });
      errors.push(await failure(call("put_object", put)));
    }
  }
  const tls = aws({ ...backend.options, endpoint: backend.address.replace("http:", "https:") });
  errors.push(await failure(tls.tools["aws.get_object"]?.(todo)));
  await tls.close();
  backend.inject({ kind: "refuse" });
  errors.push(await failure(call("get_object", todo)), await failure(call("put_object", put)));
  for (const error of errors) {
    for (const secret of secrets) {
      expect(everything(error)).not.toContain(secret);
      expect(everything(error)).not.toContain(encodeURIComponent(secret));
    }
    expect(everything(error)).not.toMatch(/aws4_request|SignedHeaders/);
    expect(error).not.toHaveProperty("cause");
  }
  for (const secret of secrets)
    expect(inspect(connector, { depth: 10, showHidden: true })).not.toContain(secret);
});

test.each([
  ["SignatureDoesNotMatch", 403, { secretAccessKey: "wrong".repeat(8) }, /check the secret access key/],
  ["InvalidAccessKeyId", 403, { accessKeyId: "ASIA0000000000000000" }, /does not know the access key id/],
  ["InvalidToken", 400, { sessionToken: `wrong${"x".repeat(100)}` }, /does not accept the session token/],
] as const)(
  "%s is S3's refusal; what S3 repeats of the request is not repeated",
  async (reason, status, wrong, words) => {
    const { call } = await bench(wrong);
    const error = await failure(call("list_objects", { bucket: "notes" }));
    expect(error).toMatchObject({
      code: "FAILED",
      status,
      reason,
      requestId: expect.stringMatching(/^[0-9A-F]{16}$/),
    });
    expect(error.message).toMatch(words);
    for (const secret of [...secrets, ...Object.values(wrong)])
      expect(everything(error)).not.toContain(secret);
  },
);

test("an expired token, and a clock that is wrong, are told", async () => {
  const on = await bench();
  on.world.token = "expired";
  expect(await failure(on.call("list_objects", { bucket: "notes" }))).toMatchObject({
    reason: "ExpiredToken",
  });
  on.world.token = "good";
  on.world.clockAhead = 16 * 60_000;
  const error = await failure(on.call("list_objects", { bucket: "notes" }));
  expect(error).toMatchObject({ status: 403, reason: "RequestTimeTooSkewed" });
  expect(error.message).toMatch(/clock is more than 15 minutes off/);
});

test("access key ids and presigned addresses of others are hidden as well", async () => {
  const on = await bench();
  const message = "AKIAIOSFODNN7EXAMPLE X-Amz-Signature=0123abcd X-Amz-Credential=AKIA%2F2026";
  on.backend.inject({
    kind: "status",
    status: 302,
    headers: { location: `https://h/?${message.replaceAll(" ", "&")}` },
  });
  const error = await failure(on.call("get_object", todo));
  expect(everything(error)).not.toMatch(/AKIAIOSFODNN7EXAMPLE|0123abcd/);
});

test("SE-04: blanks around a credential are trimmed, those inside refuse it without showing it", () => {
  const good = attach("http://127.0.0.1:1");
  expect(() => aws({ ...good, secretAccessKey: ` ${keys.secretAccessKey}\n` })).not.toThrow();
  for (const name of ["accessKeyId", "secretAccessKey", "sessionToken"] as const) {
    for (const value of [
      "abc def0123456789",
      "abc\ndef0123456789",
      "ab\u2028c0123456789",
      "abcd",
      "<your key>",
    ]) {
      expect(() => aws({ ...good, [name]: value })).toThrow(new RegExp(`aws: ${name} \\(AWS_`));
      expect(() => aws({ ...good, [name]: value })).not.toThrow(/abc/);
    }
  }
  expect(() => aws({ ...good, secretAccessKey: "   " })).toThrow(/AWS_SECRET_ACCESS_KEY\) is not set/);
});

test.each(["accessKeyId", "sessionToken"] as const)(
  "the %s is kept as well as the secret access key is",
  async (name) => {
    const credential = keys[name];
    const connector: typeof subject.connector = ({ address, timeoutMs, credential }) =>
      aws({ ...attach(address), [name]: credential, timeoutMs });
    const { checks } = await certify(
      { ...subject, credential, connector },
      { only: ["redaction"], tools: ["aws.put_object"] },
    );
    expect(checks.find(({ name }) => name === "redaction")).toMatchObject({ status: "pass" });
  },
  60_000,
);
