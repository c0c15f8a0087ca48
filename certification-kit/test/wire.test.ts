import { startSandbox } from "@reversi-connector/http/sandbox";
import { changed } from "../src/http-twin.ts";
import { type Change, httpWire } from "../src/index.ts";

const json = (text: string) => ({
  method: "POST",
  path: "/items/12?full=1",
  rawHeaders: [
    "Content-Type",
    "application/json",
    "Authorization",
    "Bearer x",
    "Content-Length",
    String(text.length),
  ],
  text,
});
const twin = (change: Change, text = '{"title":"A"}') => changed(json(text), change);

test("a malformed twin differs in exactly one point", () => {
  expect(twin({ kind: "none" })).toEqual(json('{"title":"A"}'));
  expect(twin({ kind: "withoutHeader", header: "authorization" })?.rawHeaders).toEqual([
    "Content-Type",
    "application/json",
    "Content-Length",
    "13",
  ]);
  expect(twin({ kind: "unknownQuery" })?.path).toBe("/items/12?full=1&certification_unknown=1");
  expect(twin({ kind: "unknownField" })?.text).toBe('{"title":"A","certification_unknown":"1"}');
  expect(twin({ kind: "brokenBody" })?.text).toBe('{{"title":"A"}');
  expect(twin({ kind: "wrongId" })?.path).toBe("/items/certification-no-such-id?full=1");
  expect(twin({ kind: "contentType" })?.rawHeaders.slice(-2)).toEqual(["content-type", "text/plain"]);
});

test("there is no twin where the change makes no sense", () => {
  expect(twin({ kind: "withoutHeader", header: "x-version" })).toBeUndefined();
  expect(twin({ kind: "unknownField" }, "[1]")).toBeUndefined();
  expect(twin({ kind: "contentType" }, "")).toBeUndefined();
  expect(changed({ ...json(""), path: "/items" }, { kind: "wrongId" })).toBeUndefined();
});

test("a wire tells reads from writes, acts before the n-th request, and sends copies", async () => {
  const seen: string[] = [];
  const sandbox = await startSandbox({
    handle: ({ method, path, text }) => {
      seen.push(`${method} ${path} ${text}`);
      return { status: 200, body: {} };
    },
  });
  try {
    const wire = httpWire(sandbox, { address: sandbox.url });
    wire.before(1, () => seen.push("before the second"));
    await (await fetch(`${sandbox.url}/a`)).text();
    await (await fetch(`${sandbox.url}/b`, { method: "POST", body: "x" })).text();
    expect(seen).toEqual(["GET /a ", "before the second", "POST /b x"]);
    expect(
      wire.requests.map(({ line, writes, handled, status }) => ({ line, writes, handled, status })),
    ).toEqual([
      { line: "GET /a", writes: false, handled: true, status: "200" },
      { line: "POST /b", writes: true, handled: true, status: "200" },
    ]);
    const [, post] = wire.requests;
    if (!post) throw new Error("it was sent");
    expect(await wire.replay?.(post, { kind: "none" })).toBe("200");
    expect(seen.at(-1)).toBe("POST /b x");
  } finally {
    await sandbox.close();
  }
});
