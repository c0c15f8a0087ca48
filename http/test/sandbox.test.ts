import { connect as connectSocket, type Socket } from "node:net";
import { expect, test } from "@jest/globals";
import { route, router, type SandboxReply, type SandboxRequest } from "@reversi-connector/http/sandbox";
import { Pool } from "undici";
import { atEnd, certificate, clientOf, failure, sandboxOf } from "./support.ts";

/** A vendor that counts. */
async function counter(options: Parameters<typeof sandboxOf>[1] = {}) {
  const state = { count: 0 };
  const handle = ({ method }: SandboxRequest): SandboxReply => {
    if (method === "POST") state.count++;
    return { status: method === "POST" ? 201 : 200, body: { count: state.count, more: "and more" } };
  };
  const sandbox = await sandboxOf(handle, options);
  const pool = new Pool(sandbox.url);
  atEnd(() => pool.destroy());
  const send = async (method: "GET" | "POST", path = "/x") => {
    const { statusCode, headers, body } = await pool.request({
      method,
      path,
      headers: { "x-token": "s3cret" },
    });
    return { status: statusCode, headers, text: await body.text() };
  };
  const post = (path?: string) => send("POST", path);
  const get = (path?: string) => send("GET", path);
  return { state, sandbox, post, get };
}

/** Everything a server says to `text`, until it ends the connection. */
const raw = (url: string, text: string) =>
  new Promise<string>((resolve) => {
    let answer = "";
    const socket: Socket = connectSocket(Number(new URL(url).port), "127.0.0.1", () => socket.write(text));
    socket.on("data", (chunk) => {
      answer += chunk;
    });
    socket.on("error", () => {}).on("close", () => resolve(answer));
    atEnd(() => socket.destroy());
  });

test("a request is seen as it was sent", async () => {
  const sandbox = await sandboxOf(() => ({ status: 204 }));
  const path = "/a/../b/%2e%2e//c%2Fd?x=/../y&x=2";
  const head = `PUT ${path} HTTP/1.1\r\nHost: h\r\nX-Mixed-Case: A\r\nx-mixed-case: b\r\nConnection: close\r\n`;
  const answer = await raw(sandbox.url, `${head}Content-Length: 2\r\n\r\nhi`);
  expect(answer).toMatch(/^HTTP\/1\.1 204 No Content\r\n/);
  expect(answer).not.toMatch(/content-length/i);
  const [request] = sandbox.requests;
  expect(request).toMatchObject({ method: "PUT", path, pathname: path.split("?")[0], text: "hi" });
  expect(request?.query.getAll("x")).toEqual(["/../y", "2"]);
  expect(request?.headers["x-mixed-case"]).toBe("A, b");
  expect(request?.rawHeaders).toContain("X-Mixed-Case");
  expect([request?.handled, request?.status]).toEqual([true, 204]);
});

test("routes fit on the raw path, and each named segment is decoded once", async () => {
  const seen: unknown[] = [];
  const note =
    (name: string) =>
    ({ params }: { params: object }) => {
      seen.push([name, params]);
      return { status: 200, body: {} };
    };
  const sandbox = await sandboxOf(
    router([
      route("GET /repos/:owner/:repo/git/ref/*ref", note("ref")),
      route("DELETE /labels/:name", note("label")),
      route("GET /labels/fixed", note("fixed")),
    ]),
  );
  const client = clientOf(sandbox.url, { problem: ({ body }) => body as object });
  await client.read({ path: "/repos/o/a%2Fb/git/ref/heads/x%20y/z" });
  await client.write({ method: "DELETE", path: "/labels/100%2525" });
  await client.read({ path: "/labels/fixed" });
  expect(seen).toEqual([
    ["ref", { owner: "o", repo: "a/b", ref: "heads/x y/z" }],
    ["label", { name: "100%25" }],
    ["fixed", {}],
  ]);
  for (const path of ["/labels/other", "/labels/", "/repos/o/r/git/ref", "/labels/fixed/more"]) {
    expect((await failure(client.read({ path }))).message).toMatch(/^HTTP 404: .*Not Found/);
  }
  const bad = await failure(client.write({ method: "DELETE", path: "/labels/%zz" }));
  expect(bad.message).toMatch(/^HTTP 400: .*not percent-encoded/);
});

test("a handler may throw a reply; what else it throws is kept as its mistake", async () => {
  const sandbox = await sandboxOf(
    ({ pathname, json, error }) => {
      if (pathname === "/json") return { status: 200, body: json() };
      if (pathname === "/gone") throw error(410, "gone");
      throw new TypeError("oops");
    },
    { errorBody: (status, message) => ({ error: { status, message } }) },
  );
  const client = clientOf(sandbox.url, { problem: ({ body }) => (body as { error: object }).error });
  const write = (path: string) => failure(client.write({ method: "POST", path, body: "{" }));
  expect((await write("/json")).message).toMatch(/^HTTP 400: POST \/json: the body is not JSON/);
  expect((await write("/gone")).message).toMatch(/^HTTP 410: POST \/gone: gone/);
  expect(sandbox.errors).toEqual([]);
  expect((await write("/other")).message).toMatch(/^HTTP 500/);
  expect(sandbox.errors.map(String)).toEqual(["TypeError: oops"]);
});

test("over HTTPS where it is handed a key", async () => {
  const tls = certificate();
  const sandbox = await sandboxOf(() => ({ status: 200, body: [1] }), { tls });
  expect(sandbox.url).toMatch(/^https:/);
  expect((await clientOf(sandbox.url, { ca: tls.cert }).read({ path: "/x" })).body).toEqual([1]);
});

test("refuse: no connection is accepted until it is cleared", async () => {
  const { sandbox, post, get, state } = await counter();
  await get();
  sandbox.inject({ kind: "refuse" });
  for (const _ of [1, 2]) await expect(post()).rejects.toMatchObject({ code: "ECONNREFUSED" });
  await sandbox.clear();
  expect((await post()).status).toBe(201);
  expect(state.count).toBe(1);
});

test("refuse, after some requests went well", async () => {
  const { sandbox, post } = await counter();
  sandbox.inject({ kind: "refuse" }, { skip: 2 });
  await post();
  await post();
  await expect(post()).rejects.toMatchObject({ code: "ECONNREFUSED" });
  await sandbox.clear();
  await post();
  expect(sandbox.requests.length).toBe(3);
});

test.each([false, true])("cutBefore (reset: %s): read, without effect, without an answer", async (reset) => {
  const { sandbox, post, state } = await counter();
  sandbox.inject({ kind: "cutBefore", reset });
  await expect(post()).rejects.toMatchObject({ code: reset ? "ECONNRESET" : "UND_ERR_SOCKET" });
  expect(state.count).toBe(0);
  expect(sandbox.requests).toMatchObject([{ handled: false, status: undefined }]);
  expect((await post()).status).toBe(201);
});

test.each([false, true])("cutAfter (reset: %s): with effect, without an answer", async (reset) => {
  const { sandbox, post, state } = await counter();
  sandbox.inject({ kind: "cutAfter", reset });
  await expect(post()).rejects.toMatchObject({ code: reset ? "ECONNRESET" : "UND_ERR_SOCKET" });
  expect(state.count).toBe(1);
  expect(sandbox.requests).toMatchObject([{ handled: true, status: undefined }]);
});

test("late: the effect comes at settle", async () => {
  const { sandbox, post, state } = await counter();
  sandbox.inject({ kind: "late" });
  await expect(post()).rejects.toMatchObject({ code: "UND_ERR_SOCKET" });
  expect(state.count).toBe(0);
  await sandbox.settle();
  await sandbox.settle();
  expect(state.count).toBe(1);
});

test("late: the effect comes when its time has come", async () => {
  const { sandbox, post, state } = await counter();
  let trigger = () => {};
  const until = new Promise<void>((resolve) => {
    trigger = resolve;
  });
  sandbox.inject({ kind: "late", until });
  await expect(post()).rejects.toThrow();
  await post();
  expect(state.count).toBe(1);
  trigger();
  await until;
  await sandbox.settle();
  expect(state.count).toBe(2);
});

test.each([
  [false, 0],
  [true, 1],
])("hang (effect: %s): no answer ever", async (effect, count) => {
  const { sandbox, state } = await counter();
  sandbox.inject({ kind: "hang", effect });
  const client = clientOf(sandbox.url, {}, 60);
  expect((await failure(client.write({ method: "POST", path: "/x" }))).message).toContain(
    "no answer in time",
  );
  expect(state.count).toBe(count);
});

test.each([
  [false, /content-length: \d+/i],
  [true, /transfer-encoding: chunked/i],
])("cutBody (chunked: %s): with effect, half an answer", async (chunked, header) => {
  const { sandbox, state, post } = await counter();
  sandbox.inject({ kind: "cutBody", chunked }, { times: 2 });
  const answer = await raw(sandbox.url, "POST /x HTTP/1.1\r\nhost: h\r\ncontent-length: 0\r\n\r\n");
  expect(answer).toMatch(/^HTTP\/1\.1 201 /);
  expect(answer).toMatch(header);
  expect(answer).toMatch(/\{"count":1/);
  expect(answer).not.toMatch(/more"\}|\r\n0\r\n/);
  await expect(post()).rejects.toThrow();
  expect(state.count).toBe(2);
});

test("slowBody: byte by byte, and whole in the end", async () => {
  const { sandbox, post } = await counter();
  sandbox.inject({ kind: "slowBody", everyMs: 1 });
  expect(JSON.parse((await post()).text)).toEqual({ count: 1, more: "and more" });
});

test("slowBody: one byte and then silence", async () => {
  const { sandbox } = await counter();
  sandbox.inject({ kind: "slowBody", everyMs: Number.POSITIVE_INFINITY });
  const client = clientOf(sandbox.url, { idleBodyMs: 40 });
  expect((await failure(client.write({ method: "POST", path: "/x" }))).message).toContain("stopped half way");
  expect(sandbox.requests).toMatchObject([{ status: 201, answered: false }]);
});

test("slowBody: an answer without a body has come whole with its headers, and is recorded as sent whole", async () => {
  const sandbox = await sandboxOf(({ method }) => ({ status: 200, body: method === "HEAD" ? "length" : "" }));
  sandbox.inject({ kind: "slowBody", everyMs: Number.POSITIVE_INFINITY }, { times: 2 });
  for (const method of ["POST", "HEAD"]) expect((await fetch(sandbox.url, { method })).status).toBe(200);
  expect(sandbox.requests.map(({ answered }) => answered)).toEqual([true, true]);
});

test("garbage: with effect, a success that says nothing", async () => {
  const { sandbox, post, state } = await counter();
  sandbox.inject({ kind: "garbage" });
  sandbox.inject({ kind: "garbage", body: "[]" });
  expect(await post()).toMatchObject({ status: 201, text: expect.stringMatching(/^<!doctype html>/) });
  expect(await post()).toMatchObject({ status: 201, text: "[]" });
  expect(state.count).toBe(2);
});

test("status: with or without effect, in the vendor's words or one's own", async () => {
  const { sandbox, post, state } = await counter({ errorBody: (status, message) => ({ status, message }) });
  sandbox.inject({ kind: "status", status: 502 });
  sandbox.inject({ kind: "status", status: 500, effect: true, headers: { "x-a": "b" }, body: "plain" });
  expect(await post()).toMatchObject({ status: 502, text: expect.stringContaining('"status":502') });
  expect(state.count).toBe(0);
  expect(await post()).toMatchObject({ status: 500, text: "plain", headers: { "x-a": "b" } });
  expect(state.count).toBe(1);
});

test("deny: 401 or 403, without effect", async () => {
  const { sandbox, post, state } = await counter();
  sandbox.inject({ kind: "deny" });
  sandbox.inject({ kind: "deny", status: 403 });
  expect([(await post()).status, (await post()).status, state.count]).toEqual([401, 403, 0]);
});

test("rateLimit: 429, or the vendor's own form, without effect", async () => {
  const plain = await counter();
  plain.sandbox.inject({ kind: "rateLimit", retryAfter: 7 });
  plain.sandbox.inject({ kind: "rateLimit" });
  expect(await plain.post()).toMatchObject({ status: 429, headers: { "retry-after": "7" } });
  expect((await plain.post()).headers).not.toHaveProperty("retry-after");
  const own = await counter({
    rateLimit: (retryAfter) => ({ status: 400, body: { code: "RATELIMITED", retryAfter } }),
  });
  own.sandbox.inject({ kind: "rateLimit", retryAfter: 7 });
  expect(await own.post()).toMatchObject({ status: 400, text: '{"code":"RATELIMITED","retryAfter":7}' });
  expect([plain.state.count, own.state.count]).toEqual([0, 0]);
});

test("echo: what was sent comes back, credentials included", async () => {
  const { sandbox, post, state } = await counter();
  sandbox.inject({ kind: "echo" });
  sandbox.inject({ kind: "echo", status: 500, as: "html" });
  sandbox.inject({ kind: "echo", as: "text", text: "just this" });
  sandbox.inject({ kind: "echo", as: "header" });
  expect(JSON.parse((await post()).text).message).toContain("x-token: s3cret");
  expect(await post()).toMatchObject({ status: 500, text: expect.stringMatching(/<html>.*s3cret/) });
  expect((await post()).text).toBe("just this");
  expect((await post()).headers["x-echo"]).toContain("s3cret");
  expect(state.count).toBe(0);
});

test("a fault meets the requests it names, as often as it says", async () => {
  const { sandbox, post, get } = await counter();
  sandbox.inject({ kind: "status", status: 503 }, { method: "POST", path: /^\/b/, skip: 1, times: 2 });
  const statuses: number[] = [];
  for (const path of ["/b", "/a", "/b?x=1", "/b", "/b"]) statuses.push((await post(path)).status);
  statuses.push((await get("/b")).status);
  expect(statuses).toEqual([201, 201, 503, 503, 201, 200]);
  sandbox.inject({ kind: "deny" }, { path: "/b", times: Number.POSITIVE_INFINITY });
  sandbox.inject({ kind: "deny", status: 403 }, { path: (path) => path.endsWith("?q") });
  expect([(await get("/b?x")).status, (await get("/b")).status, (await get("/c?q")).status]).toEqual([
    401, 401, 403,
  ]);
  await sandbox.clear();
  expect((await get("/b")).status).toBe(200);
});

test("requests can be forgotten", async () => {
  const { sandbox, get } = await counter();
  await get();
  sandbox.forget();
  expect(sandbox.requests).toEqual([]);
});

test("what the vendor answers can be observed, whatever becomes of it on the wire, and faults are not its answers", async () => {
  const { sandbox, post } = await counter();
  const seen: unknown[] = [];
  sandbox.observe(({ method, headers }, { status, bytes }) => {
    seen.push([method, headers["x-token"], status, JSON.parse(bytes.toString())]);
  });
  sandbox.inject({ kind: "cutAfter" });
  await expect(post()).rejects.toThrow();
  sandbox.inject({ kind: "status", status: 500, effect: false });
  await post();
  sandbox.inject({ kind: "deny" });
  await post();
  expect(seen).toEqual([
    ["POST", "s3cret", 201, { count: 1, more: "and more" }],
    ["POST", "s3cret", 401, { message: "Bad credentials" }],
  ]);
});

test("closing ends whatever hangs", async () => {
  const { sandbox, post } = await counter();
  sandbox.inject({ kind: "hang" });
  const hanging = failure(post());
  while (sandbox.requests.length === 0) await new Promise(setImmediate);
  await sandbox.close();
  expect(await hanging).toMatchObject({ code: expect.any(String) });
  await sandbox.close();
});

test("a reply to HEAD may tell a length that its body does not have; every other reply has its own", async () => {
  const sandbox = await sandboxOf(() => ({ status: 200, headers: { "content-length": "6442450944" } }));
  const answer = await raw(sandbox.url, "HEAD /huge HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
  expect(answer).toMatch(/\r\ncontent-length: 6442450944\r\n/);
  const { get } = await counter();
  const { headers, text } = await get();
  expect(headers["content-length"]).toBe(String(Buffer.byteLength(text)));
});
