import { inspect } from "node:util";
import { describe, expect, test } from "@jest/globals";
import { ConnectorError, EffectUncertainError, errorBody } from "@reversi-connector/core";
import { answerOf, type HttpAnswer, type HttpClient, path } from "@reversi-connector/http";
import { route, router } from "@reversi-connector/http/sandbox";
import {
  certificate,
  clientOf,
  connect,
  deadPort,
  failure,
  ok,
  requestLines,
  sandboxOf,
  scope,
  token,
  wireOf,
} from "./support.ts";

const read = (client: HttpClient) => client.read({ path: "/x" });
const write = (client: HttpClient) => client.write({ method: "POST", path: "/x", json: { a: 1 } });
const both = [
  ["a read", read],
  ["a write", write],
] as const;

const problem = ({ body, headers }: HttpAnswer<unknown>) => {
  const { message, code } = body as { message?: string; code?: string };
  return { message, reason: code, requestId: headers["x-vendor-request"] };
};
const failed = ({ body }: HttpAnswer<unknown>) => (body as { ok?: boolean }).ok === false;

describe("a success", () => {
  test("gives body, status and headers", async () => {
    interface Issue {
      readonly number: number;
    }
    const sandbox = await sandboxOf(
      router([
        route("GET /issues/:number", ({ params }) => ({
          status: 200,
          headers: { etag: '"1"', "set-cookie": ["a=1", "b=2"] },
          body: { number: Number(params["number"]) },
        })),
      ]),
    );
    const {
      body: issue,
      status,
      headers,
    } = await clientOf(sandbox.url).read<Issue>({ path: path`/issues/${7}` });
    expect([issue.number, status, headers["etag"], headers["set-cookie"]]).toEqual([
      7,
      200,
      '"1"',
      "a=1, b=2",
    ]);
  });

  test("is sent what it says, and nothing it does not", async () => {
    const { url, arrivals } = await wireOf(({ socket }) => socket.write(ok('{"n":1}')));
    const headers = { authorization: "Bearer x", "X-Version": "1", "user-agent": "me/1" };
    const client = clientOf(url, { headers });
    await client.write({
      method: "PATCH",
      path: "/x",
      query: { a: [1, 2], b: undefined },
      headers: { "if-match": '"7"', "If-None-Match": undefined },
      json: { title: "é" },
    });
    const [head = "", body] = arrivals[0]?.text.split("\r\n\r\n") ?? [];
    expect(head.split("\r\n").sort()).toEqual(
      [
        "PATCH /x?a=1&a=2 HTTP/1.1",
        `host: ${url.slice(7)}`,
        "connection: keep-alive",
        "accept: application/json",
        "accept-encoding: identity",
        "authorization: Bearer x",
        "content-type: application/json",
        'if-match: "7"',
        "user-agent: me/1",
        "x-version: 1",
        `content-length: ${Buffer.byteLength('{"title":"é"}')}`,
      ].sort(),
    );
    expect(Buffer.from(body ?? "", "latin1").toString()).toBe('{"title":"é"}');
  });

  test("takes forms and raw bodies", async () => {
    const sandbox = await sandboxOf(({ text }) => ({ status: 200, body: { text } }));
    const client = clientOf(sandbox.url);
    await client.write({ method: "POST", path: "/x", form: { metadata: { "a b": 1 } } });
    await client.write({ method: "PUT", path: "/x", body: new Uint8Array([104, 105]).subarray(1) });
    await client.write({ method: "PUT", path: "/x", headers: { "content-type": "text/html" }, body: "é" });
    expect(sandbox.requests.map(({ text, headers }) => [text, headers["content-type"]])).toEqual([
      ["metadata[a%20b]=1", "application/x-www-form-urlencoded"],
      ["i", undefined],
      ["é", "text/html"],
    ]);
    await expect(client.write({ method: "PUT", path: "/x", json: 1, body: "1" })).rejects.toThrow(
      "one of json",
    );
  });

  test("may have no body where there cannot be one, and nowhere else", async () => {
    const sandbox = await sandboxOf(({ method }) => ({ status: method === "DELETE" ? 204 : 200, body: "" }));
    const client = clientOf(sandbox.url);
    expect((await client.write({ method: "DELETE", path: "/x" })).body).toBeUndefined();
    expect((await client.read({ method: "HEAD", path: "/x" })).body).toBeUndefined();
    expect((await client.write({ method: "PUT", path: "/x", as: "none" })).body).toBeUndefined();
    expect((await client.read({ path: "/x", as: "text" })).body).toBe("");
    expect(EffectUncertainError.is(await failure(client.write({ method: "PUT", path: "/x" })))).toBe(true);
    const error = await failure(client.write({ method: "DELETE", path: "/x", expect: ["id"] }));
    expect(EffectUncertainError.is(error)).toBe(true);
  });

  test("is judged by `expect`, dotted or by hand", async () => {
    const sandbox = await sandboxOf(() => ({ status: 200, body: { data: { issue: { id: 0, no: null } } } }));
    const client = clientOf(sandbox.url);
    await client.read({ path: "/x", expect: ["data.issue.id"] });
    await client.read({ path: "/x", expect: (body: { data: object }) => "issue" in body.data });
    expect(
      (await failure(client.read({ path: "/x", expect: ["data.issue.no", "data.x.y"] }))).message,
    ).toMatch(/^HTTP 200: GET \/x: the answer does not carry data\.issue\.no, data\.x\.y$/);
    const blind = {
      method: "POST",
      path: "/x",
      expect: (body: { no: { no: 1 } }) => body.no.no === 1,
    } as const;
    expect(EffectUncertainError.is(await failure(client.write(blind)))).toBe(true);
  });

  test("keeps an encoding that is the object's own when told to", async () => {
    const bytes = Buffer.from([0x1f, 0x8b, 8, 0]);
    const sandbox = await sandboxOf(() => ({
      status: 200,
      headers: { "content-encoding": "gzip" },
      body: bytes,
    }));
    const answer = await clientOf(sandbox.url).read({ path: "/x", as: "bytes", encoded: true });
    expect(answer.body.equals(bytes)).toBe(true);
    expect(answer.headers["content-encoding"]).toBe("gzip");
  });

  test("may start with a byte order mark", async () => {
    const sandbox = await sandboxOf(() => ({ status: 200, body: '\uFEFF{"a":1}' }));
    expect((await read(clientOf(sandbox.url))).body).toEqual({ a: 1 });
  });

  test("arrives in many pieces", async () => {
    const big = "x".repeat(3_000_000);
    const sandbox = await sandboxOf(() => ({ status: 200, body: { big } }));
    expect((await read(clientOf(sandbox.url))).body).toEqual({ big });
  });
});

describe("signing", () => {
  test("sees the bytes that are sent", async () => {
    const seen: unknown[] = [];
    const { url, arrivals } = await wireOf(({ socket }) => socket.write(ok("{}")));
    const client = clientOf(`${url}/base`, {
      headersFor: async ({ method, path: raw, headers, body }) => {
        seen.push([method, raw, headers["content-type"], Buffer.from(body).toString()]);
        return { authorization: "signature" };
      },
    });
    await client.write({ method: "PUT", path: path`/a/${"b c"}`, query: { "x y": "z" }, json: [1] });
    expect(seen).toEqual([["PUT", "/base/a/b%20c?x%20y=z", "application/json", "[1]"]]);
    expect(requestLines(arrivals)).toEqual(["PUT /base/a/b%20c?x%20y=z"]);
    expect(arrivals[0]?.text).toMatch(/\r\nauthorization: signature\r\n[\s\S]*\[1\]$/);
  });

  test("is done again for a read that is repeated", async () => {
    let calls = 0;
    const { url } = await wireOf(({ socket }, { length }) =>
      length < 2 ? socket.destroy() : socket.write(ok("{}")),
    );
    await read(clientOf(url, { headersFor: () => ({ "x-try": String(++calls) }) }));
    expect(calls).toBe(2);
  });
});

describe("an answered failure", () => {
  test.each([400, 401, 403, 404, 409, 412, 422])("%d says so, with the vendor's words", async (status) => {
    const sandbox = await sandboxOf(() => ({
      status,
      headers: { "x-vendor-request": "req_1" },
      body: { message: "Validation Failed", code: "missing_field", client_secret: "cs_1" },
    }));
    for (const [, call] of both) {
      const error = await failure(call(clientOf(sandbox.url, { problem })));
      expect(ConnectorError.is(error) && errorBody(error)).toEqual({
        code: "FAILED",
        message: expect.stringMatching(
          new RegExp(`^HTTP ${status}: (GET|POST) /x: Validation Failed \\(missing_field\\)$`),
        ),
        status,
        reason: "missing_field",
        request_id: "req_1",
      });
    }
    expect(sandbox.requests.length).toBe(2);
  });

  test.each([408, 500, 501, 502, 503, 504, 599])(
    "%d on a write may have taken effect; one request",
    async (status) => {
      const sandbox = await sandboxOf(() => ({ status, body: { message: "Oops" } }));
      const client = clientOf(sandbox.url, { problem });
      const error = await failure(write(client));
      expect(ConnectorError.is(error) && [error.status, error.mayHaveApplied]).toEqual([status, true]);
      expect(error.message).toMatch(/Oops; it may have taken effect all the same$/);
      const readError = await failure(read(client));
      expect(ConnectorError.is(readError) && [readError.status, readError.mayHaveApplied]).toEqual([
        status,
        false,
      ]);
      expect(sandbox.requests.length).toBe(2);
    },
  );

  test("a vendor may know better whether a 5xx, or a failed 2xx, took effect", async () => {
    const sandbox = await sandboxOf(({ method }) => ({
      status: method === "PUT" ? 200 : 503,
      body: { ok: false },
    }));
    const client = clientOf(sandbox.url, {
      failed,
      problem: ({ status }) => ({ mayHaveApplied: status === 200 }),
    });
    const slowDown = await failure(write(client));
    const fatal = await failure(client.write({ method: "PUT", path: "/x" }));
    expect([slowDown, fatal].map((error) => ConnectorError.is(error) && error.mayHaveApplied)).toEqual([
      false,
      true,
    ]);
  });

  test("a 2xx that the vendor calls a failure is one, with its code", async () => {
    const sandbox = await sandboxOf(() => ({ status: 200, body: { ok: false, code: "channel_not_found" } }));
    const error = await failure(write(clientOf(sandbox.url, { failed, problem })));
    expect(ConnectorError.is(error) && [error.status, error.reason, error.mayHaveApplied]).toEqual([
      200,
      "channel_not_found",
      false,
    ]);
    expect(error.message).toBe("HTTP 200: POST /x: OK (channel_not_found)");
  });

  test("a 2xx that the vendor's hook cannot judge is an unknown outcome for a write", async () => {
    const sandbox = await sandboxOf(() => ({ status: 200, body: null }));
    const client = clientOf(sandbox.url, { failed, problem });
    expect(EffectUncertainError.is(await failure(write(client)))).toBe(true);
    expect(ConnectorError.is(await failure(read(client)))).toBe(true);
  });

  test("an error body that nobody can read still is an answer", async () => {
    const sandbox = await sandboxOf(() => ({ status: 404, body: "<html>secret row</html>" }));
    const error = await failure(write(clientOf(sandbox.url, { problem })));
    expect(ConnectorError.is(error) && [error.status, error.mayHaveApplied]).toEqual([404, false]);
    expect(error.message).toBe("HTTP 404: POST /x: Not Found");
  });

  test.each([
    ["cut off", "content-length: 100\r\n\r\n{", true],
    ["too large", "content-length: 5000\r\n\r\n", false],
    ["stalled", "content-length: 100\r\n\r\n{", false],
  ])("an error body that is %s still is an answer", async (_, rest, end) => {
    const { url, arrivals } = await wireOf(({ socket }) => {
      socket.write(`HTTP/1.1 409 Conflict\r\n${rest}`, () => end && socket.end());
    });
    const error = await failure(write(clientOf(url, { maxResponseBytes: 1000 }, 100)));
    expect(ConnectorError.is(error) && error.status).toBe(409);
    expect(arrivals.length).toBe(1);
  });

  test("the whole answer is there for decisions, and in no print of the error", async () => {
    const body = { error: { payment_intent: { status: "canceled", client_secret: "cs_1" } } };
    const sandbox = await sandboxOf(() => ({ status: 400, body }));
    const error = await failure(write(clientOf(sandbox.url)));
    expect(answerOf(error)?.body).toEqual(body);
    expect(inspect(error, { showHidden: true, depth: 9 }) + JSON.stringify(error)).not.toContain("cs_1");
    expect(answerOf(new Error("another"))).toBeUndefined();
  });

  test("a vendor's long message is cut", async () => {
    const sandbox = await sandboxOf(() => ({
      status: 400,
      body: { message: "m".repeat(5000), code: "c".repeat(5000) },
    }));
    const error = await failure(write(clientOf(sandbox.url, { problem })));
    expect(error.message.length).toBeLessThanOrEqual(600);
    expect(ConnectorError.is(error) && error.reason?.length).toBeLessThanOrEqual(200);
  });
});

describe("SE-02: no credential leaves with an error", () => {
  const prints = (error: Error) => {
    const everything = Object.fromEntries(
      Reflect.ownKeys(error).map((key) => [String(key), (error as never)[key]]),
    );
    return [
      error.message,
      error.stack,
      String(error),
      inspect(error, { showHidden: true, depth: 9, getters: true }),
      JSON.stringify(error),
      JSON.stringify(everything),
      JSON.stringify(errorBody(error)),
      inspect(error.cause),
    ].join("\n");
  };
  const forms = [token, encodeURIComponent(token), Buffer.from(`u:${token}`).toString("base64")];
  const clean = (error: Error) => {
    for (const form of forms) expect(prints(error)).not.toContain(form);
  };

  test.each(both)("%s: refused, TLS, reset", async (_, call) => {
    clean(await failure(call(clientOf(`http://127.0.0.1:${await deadPort()}`))));
    const tls = await sandboxOf(() => ({ status: 200 }), { tls: certificate() });
    clean(await failure(call(clientOf(tls.url))));
    const { url } = await wireOf(({ socket }) => socket.resetAndDestroy());
    clean(await failure(call(clientOf(url))));
  });

  test.each(["json", "html", "text", "header"] as const)("an answer that echoes it as %s", async (as) => {
    const sandbox = await sandboxOf(() => ({ status: 200 }));
    const echoing = ({ text, headers }: HttpAnswer<unknown>) => ({
      message: `${text} ${headers["x-echo"]}`,
      reason: `${text} ${headers["x-echo"]}`,
      requestId: headers["x-request-id"],
    });
    for (const status of [400, 401, 500]) {
      for (const text of [undefined, ...forms]) {
        const echoed = text === undefined ? {} : { text };
        sandbox.inject({ kind: "echo", status, as, ...echoed });
        clean(await failure(write(clientOf(sandbox.url, { problem: echoing }))));
      }
    }
  });

  test("across the place where a message is cut", async () => {
    const sandbox = await sandboxOf(({ query, error }) => error(400, `${query.get("fill")}${token}`));
    const client = clientOf(sandbox.url, { problem });
    for (let length = 540; length < 600; length += 3) {
      const error = await failure(client.read({ path: "/x", query: { fill: "-".repeat(length) } }));
      expect(error.message).not.toContain(token.slice(0, 4));
    }
    for (let length = 170; length < 200; length += 3) {
      const error = await failure(client.read({ path: path`/${"-".repeat(length)}${token}` }));
      expect(error.message).not.toContain(token.slice(0, 4));
    }
  });

  test("in the path or the query", async () => {
    const sandbox = await sandboxOf(({ error }) => error(404, "no"));
    const client = clientOf(sandbox.url);
    clean(await failure(client.read({ path: path`/bot${token}/x`, query: { key: token } })));
    const error = await failure(client.read({ path: "/x", query: { signature: "s1gn4ture" } }));
    expect(prints(error)).not.toContain("s1gn4ture");
  });
});

describe("redirects", () => {
  const statuses = [301, 302, 303, 307, 308];
  const redirecting = (status: number, location: string) =>
    wireOf(({ socket, text }) => {
      const seen = text.split("\r\n\r\n").length > 1;
      if (seen && /^(?:GET|HEAD|POST|PUT|PATCH|DELETE) \/x/m.test(text) && !text.includes(" /there")) {
        socket.write(`HTTP/1.1 ${status} Moved\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`);
      } else socket.write(ok('{"there":true}'));
    });

  test.each(statuses)(
    "HT-05: a %d to another origin is not followed; nothing arrives there",
    async (status) => {
      const other = await wireOf(({ socket }) => socket.write(ok("{}")));
      const secure = other.url.replace("http:", "https:");
      const named = other.url.replace("127.0.0.1", "localhost");
      for (const target of [`${other.url}/there?t=1`, `//${other.url.slice(7)}/y`, named, secure]) {
        const { url } = await redirecting(status, target);
        for (const [, call] of both) {
          const error = await failure(call(clientOf(url)));
          expect(ConnectorError.is(error) && error.status).toBe(status);
          expect(error.message).toMatch(/\/x: moved to [a-z0-9.]+:\d+; not followed/);
          expect(error.message).not.toContain("there");
        }
      }
      expect(other.arrivals).toEqual([]);
    },
  );

  test.each(statuses)(
    "GH-08: a %d of a write is never followed, not even on its own origin",
    async (status) => {
      const { url, arrivals } = await redirecting(status, "/there");
      const methods = ["POST", "PUT", "PATCH", "DELETE"] as const;
      for (const method of methods) {
        const error = await failure(clientOf(url).write({ method, path: "/x", json: {} }));
        expect(ConnectorError.is(error) && [error.status, error.mayHaveApplied]).toEqual([
          status,
          status === 303,
        ]);
        expect(error.message).toMatch(/moved to 127/);
      }
      expect(requestLines(arrivals)).toEqual(methods.map((method) => `${method} /x`));
    },
  );

  test.each(statuses)("a %d of a read is followed on its own origin", async (status) => {
    const { url, arrivals } = await redirecting(status, "/there/%2Fa?b=%27'#c");
    expect((await read(clientOf(url))).body).toEqual({ there: true });
    expect(requestLines(arrivals)).toEqual(["GET /x", "GET /there/%2Fa?b=%27'"]);
  });

  test("an absolute and a relative address of the same origin are followed", async () => {
    for (const target of ["http://127.0.0.1:{port}/there", "there", "//127.0.0.1:{port}/there"]) {
      const holder = { target };
      const { url, port } = await wireOf(({ socket, text }) =>
        socket.write(
          text.includes("/there")
            ? ok('{"there":true}')
            : `HTTP/1.1 302 Found\r\nlocation: ${holder.target}\r\ncontent-length: 0\r\n\r\n`,
        ),
      );
      holder.target = target.replace("{port}", String(port));
      expect((await read(clientOf(url))).body).toEqual({ there: true });
    }
  });

  test("five are followed, a sixth is not", async () => {
    const sandbox = await sandboxOf(({ pathname }) => {
      const hop = Number(pathname.slice(2));
      return hop === 5 ? { status: 200, body: {} } : { status: 302, headers: { location: `/x${hop + 1}` } };
    });
    const client = clientOf(sandbox.url);
    await client.read({ path: "/x0" });
    expect((await failure(client.read({ path: "/x6" }))).message).toMatch(/^HTTP 302: GET \/x11: moved/);
    expect(sandbox.requests.length).toBe(12);
  });

  test("a read that travels as POST is not followed", async () => {
    const { url, arrivals } = await redirecting(307, "/there");
    const error = await failure(clientOf(url).read({ method: "POST", path: "/x", json: {} }));
    expect(ConnectorError.is(error)).toBe(true);
    expect(requestLines(arrivals)).toEqual(["POST /x"]);
  });

  test.each(["", "location: http://[bad\r\n", "location: http://u:p@127.0.0.1/\r\n"])(
    "without a usable address (%j) it is an error",
    async (line) => {
      const { url } = await wireOf(({ socket }) =>
        socket.write(`HTTP/1.1 302 Found\r\n${line}content-length: 0\r\n\r\n`),
      );
      const error = await failure(read(clientOf(url)));
      expect(error.message).toMatch(/moved/);
      expect(error.message).not.toContain("u:p");
    },
  );

  test("304 is an answer of its own", async () => {
    const sandbox = await sandboxOf(() => ({ status: 304 }));
    const error = await failure(read(clientOf(sandbox.url)));
    expect(error.message).toBe("HTTP 304: GET /x: Not Modified");
  });
});

describe("a link that the backend handed out", () => {
  test("is followed as it is on the same origin", async () => {
    const sandbox = await sandboxOf(({ path: raw }) => ({ status: 200, body: { raw } }));
    const link = `${sandbox.url}/next?$skiptoken='a'%2F&x=$y`;
    const { body } = await clientOf(`${sandbox.url}/v1.0`).read({ link });
    expect(body).toEqual({ raw: "/next?$skiptoken='a'%2F&x=$y" });
  });

  test("is refused on another", async () => {
    const { url, arrivals } = await wireOf(() => {});
    const error = await failure(clientOf("https://api.example.com").read({ link: `${url}/next?secret=1` }));
    expect(ConnectorError.is(error)).toBe(true);
    expect(error.message).toBe(
      "a link leads away from api.example.com; it was not followed and nothing was sent",
    );
    expect(arrivals).toEqual([]);
  });
});

describe("rate limits", () => {
  const limited = (headers: Record<string, string>, status = 429, body: unknown = { message: "slow down" }) =>
    sandboxOf(() => ({ status, headers, body }));
  const inFuture = (seconds: number) => new Date(Date.now() + seconds * 1000).toUTCString();

  test.each([
    ["30 seconds", "30", 30],
    ["a date", inFuture(90), expect.any(Number)],
    ["nothing", undefined, undefined],
    ["garbage", "soon", undefined],
    ["a negative number", "-1", undefined],
    ["a date gone by", inFuture(-90), undefined],
  ])("SL-02: 429 with %s is one definite error after one request", async (_, value, seconds) => {
    const sandbox = await limited(value === undefined ? {} : { "retry-after": value });
    for (const [, call] of both) {
      sandbox.forget();
      const error = await failure(call(clientOf(sandbox.url, { problem })));
      expect(ConnectorError.is(error) && error).toMatchObject({
        status: 429,
        retryAfterSeconds: seconds,
        mayHaveApplied: false,
      });
      expect(error.message).toMatch(/^HTTP 429: (GET|POST) \/x: rate limit, .*: slow down$/);
      if (typeof seconds === "number") expect(error.message).toContain(`try again in ${seconds} s`);
      expect(sandbox.requests.length).toBe(1);
    }
  });

  test("TM-03: 17 seconds are more than is waited for, though they would fit", async () => {
    const sandbox = await limited({ "retry-after": "17" });
    const error = await failure(write(clientOf(sandbox.url, {}, 60_000)));
    expect(ConnectorError.is(error) && error.retryAfterSeconds).toBe(17);
    expect(sandbox.requests.length).toBe(1);
  });

  test("GH-01: the vendor's own form is a rate limit, with the wait it names", async () => {
    const sandbox = await limited({ "x-ratelimit-reset": "60" }, 403);
    const own = ({ headers }: HttpAnswer<unknown>) => ({
      rateLimited: true,
      retryAfterSeconds: Number(headers["x-ratelimit-reset"]),
      message: "You have exceeded a secondary rate limit",
    });
    const error = await failure(write(clientOf(sandbox.url, { problem: own })));
    expect(error.message).toMatch(/^HTTP 403: POST \/x: rate limit, try again in 60 s/);
    expect(sandbox.requests.length).toBe(1);
  });

  test.each([
    ["429", { kind: "rateLimit", retryAfter: "0" }],
    ["a 2xx that says so", { kind: "status", status: 200, body: { ok: false, code: "ratelimited" } }],
  ] as const)("a short wait is waited, and then a write goes out again: %s", async (_, fault) => {
    const sandbox = await sandboxOf(() => ({ status: 200, body: { ok: true } }));
    sandbox.inject(fault);
    const own = ({ body }: HttpAnswer<unknown>) =>
      (body as { code?: string }).code === "ratelimited" ? { rateLimited: true, retryAfterSeconds: 0.1 } : {};
    const limits = scope();
    await write(connect(sandbox.url, { failed, problem: own }).client(limits));
    expect(sandbox.requests.map(({ handled }) => handled)).toEqual([false, true]);
    expect(limits.told).toEqual([expect.stringMatching(/limits the rate: waiting 1 s$/)]);
  });

  test("a wait that does not fit the call's time is not begun", async () => {
    const sandbox = await limited({ "retry-after": "5" });
    const error = await failure(write(clientOf(sandbox.url, {}, 2000)));
    expect(ConnectorError.is(error) && error.retryAfterSeconds).toBe(5);
    expect(sandbox.requests.length).toBe(1);
  });

  test("a wait ends when the call is cancelled, as the rate limit it was", async () => {
    const sandbox = await limited({ "retry-after": "4" });
    const limits = scope(20_000);
    const scoped = { ...limits, progress: () => limits.cancel() };
    const error = await failure(write(connect(sandbox.url).client(scoped)));
    expect(ConnectorError.is(error) && [error.status, error.mayHaveApplied]).toEqual([429, false]);
    expect(sandbox.requests.length).toBe(1);
  });

  test("waits are counted", async () => {
    const sandbox = await limited({ "retry-after": "0" });
    const error = await failure(read(clientOf(sandbox.url)));
    expect(ConnectorError.is(error) && error.retryAfterSeconds).toBe(0);
    expect(sandbox.requests.length).toBe(4);
  });

  test("a 503 says how long to wait, and is not repeated", async () => {
    const sandbox = await limited({ "retry-after": "1" }, 503);
    const error = await failure(write(clientOf(sandbox.url)));
    expect(ConnectorError.is(error) && [error.retryAfterSeconds, error.mayHaveApplied]).toEqual([1, true]);
    expect(sandbox.requests.length).toBe(1);
  });
});
