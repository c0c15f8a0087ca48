import { ConnectorError } from "@reversi-connector/core";
import { formsOf, searcherFor } from "../src/index.ts";
import { captureOutput } from "../src/output.ts";
import { textsOf } from "../src/secrets.ts";

const secret = "tok+A/b=\"c\\d<e>&f'012345";
const find = searcherFor(secret);

test.each(formsOf(secret))("finds a credential $name, and a good half of it", ({ text }) => {
  expect(find(`before ${text} after`)).toBeDefined();
  expect(find(`"${text.slice(0, Math.ceil(text.length * 0.9))}`)).toBeDefined();
});

test("finds a credential behind two layers of escapes", () => {
  expect(find(encodeURIComponent(encodeURIComponent(secret)))).toBeDefined();
  expect(find(JSON.stringify(JSON.stringify(secret)))).toBeDefined();
  expect(find(Buffer.from(secret).toString("hex").toUpperCase())).toBeDefined();
});

test("finds a credential in the middle of something in Base64", () => {
  for (const before of ["", "x", "xy", "user:"]) {
    const encoded = Buffer.from(`${before}${secret}!`);
    expect(find(encoded.toString("base64"))).toBeDefined();
    expect(find(encoded.toString("base64url"))).toBeDefined();
  }
});

test("finds nothing where there is nothing, not even a few characters that look alike", () => {
  expect(find("tok+A/b= and [redacted] and 012345")).toBeUndefined();
  expect(find("x".repeat(100_000))).toBeUndefined();
});

test("sees everything that hangs on an error", () => {
  const texts = (hang: (error: Error) => unknown) => {
    const error = new ConnectorError("it failed");
    hang(error);
    return textsOf(error);
  };
  expect(texts(() => {})).not.toContain("needle");
  expect(texts((error) => Object.assign(error, { cause: { deep: [{ er: "needle" }] } }))).toContain("needle");
  expect(texts((error) => Object.assign(error, { [Symbol("s")]: "needle" }))).toContain("needle");
  expect(texts((error) => Object.defineProperty(error, "hidden", { value: "needle" }))).toContain("needle");
  expect(
    texts((error) => Object.defineProperty(error, "got", { get: () => "needle", enumerable: false })),
  ).toContain("needle");
});

test("takes down what is printed, for each listener by itself, and leaves everything as it was", () => {
  const { debug } = console;
  const quiet = () => {};
  console.debug = quiet;
  const { write } = process.stderr;
  const first = captureOutput();
  const second = captureOutput();
  process.stderr.write("");
  console.debug("");
  first.end();
  process.stderr.write("");
  second.end();
  expect(first.text()).toBe("\n");
  expect(second.text()).toBe("\n\n");
  expect(console.debug).toBe(quiet);
  console.debug = debug;
  expect(process.stderr.write).toBe(write);
});
