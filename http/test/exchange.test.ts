import { createServer as createTlsServer } from "node:https";
import { connect as connectSocket } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { ConnectorError, EffectUncertainError, InvalidArgumentsError } from "@reversi-connector/core";
import { type HttpClient, path } from "@reversi-connector/http";
import {
  atEnd,
  certificate,
  clientOf,
  connect,
  deadPort,
  failure,
  listening,
  ok,
  requestLines,
  sandboxOf,
  scope,
  wireOf,
} from "./support.ts";

const methods = ["POST", "PUT", "PATCH", "DELETE"] as const;
const read = (client: HttpClient) => client.read({ path: "/x" });
const write = (client: HttpClient) => client.write({ method: "POST", path: "/x", json: { a: 1 } });
const hasBody = (text: string) => text.includes('{"a":1}');
const both = [
  ["a read", read],
  ["a write", write],
] as const;

describe("nothing was sent: an error, never an unknown outcome", () => {
  test.each(both)("%s, connection refused", async (_, call) => {
    const error = await failure(call(clientOf(`http://127.0.0.1:${await deadPort()}`)));
    expect(ConnectorError.is(error) && error.mayHaveApplied).toBe(false);
    expect(error.message).toMatch(
      /\/x: cannot reach 127\.0\.0\.1:\d+: connection refused .*nothing was sent/,
    );
  });

  test.each(both)("%s, name not found", async (_, call) => {
    const error = await failure(call(clientOf("http://nowhere.invalid")));
    expect(ConnectorError.is(error)).toBe(true);
    expect(error.message).toMatch(/cannot reach nowhere\.invalid: .*name.*nothing was sent/);
  });

  test.each(both)("%s, certificate not trusted", async (_, call) => {
    const arrived: string[] = [];
    const port = await listening(
      createTlsServer(certificate(), (request, response) => {
        arrived.push(request.url ?? "");
        response.end("{}");
      }).on("tlsClientError", () => {}),
    );
    const error = await failure(call(clientOf(`https://127.0.0.1:${port}`)));
    expect(ConnectorError.is(error)).toBe(true);
    expect(error.message).toMatch(/TLS failed: self-signed certificate .*nothing was sent/);
    expect(arrived).toEqual([]);
  });

  test.each(both)("%s, certificate of another name", async (_, call) => {
    const { cert, key } = certificate();
    const port = await listening(createTlsServer({ cert, key }).on("tlsClientError", () => {}));
    const error = await failure(call(clientOf(`https://127.0.0.2:${port}`, { ca: cert })));
    expect(ConnectorError.is(error)).toBe(true);
    expect(error.message).toContain("nothing was sent");
  });

  test.each(both)("%s, TLS broken off in the handshake", async (_, call) => {
    const { port } = await wireOf(({ socket }) => socket.destroy());
    const error = await failure(call(clientOf(`https://127.0.0.1:${port}`)));
    expect(ConnectorError.is(error)).toBe(true);
    expect(error.message).toContain("nothing was sent");
  });

  test.each(both)("%s, TLS that never answers, ends with the call's time", async (_, call) => {
    const { port } = await wireOf(() => {});
    const error = await failure(call(clientOf(`https://127.0.0.1:${port}`, {}, 80)));
    expect(ConnectorError.is(error)).toBe(true);
    expect(error.message).toMatch(/\/x: no answer in time; nothing was sent$/);
  });

  test("a connection that takes too long ends at the connection's own limit", async () => {
    const { port } = await wireOf(() => {});
    const error = await failure(write(clientOf(`https://127.0.0.1:${port}`, { connectTimeoutMs: 50 })));
    expect(ConnectorError.is(error)).toBe(true);
    expect(error.message).toMatch(/no connection in time .*nothing was sent/);
  });

  test.each(both)("%s cancelled before it began", async (_, call) => {
    const { url, arrivals } = await wireOf(() => {});
    const limits = scope();
    limits.cancel();
    const error = await failure(call(connect(url).client(limits)));
    expect(ConnectorError.is(error)).toBe(true);
    expect(error.message).toMatch(/\/x: cancelled; nothing was sent$/);
    expect(requestLines(arrivals)).toEqual([]);
  });

  test("a write cancelled while it waits for a socket never leaves", async () => {
    const held: (() => void)[] = [];
    const { url, arrivals } = await wireOf(({ socket }) => held.push(() => socket.write(ok("{}"))));
    const connection = connect(url, { connections: 1 });
    const first = connection.client(scope()).read({ path: "/first" });
    const limits = scope();
    const second = failure(write(connection.client(limits)));
    while (held.length === 0) await new Promise(setImmediate);
    limits.cancel();
    const error = await second;
    expect(ConnectorError.is(error)).toBe(true);
    expect(error.message).toContain("nothing was sent");
    held.shift()?.();
    await first;
    const third = connection.client(scope()).read({ path: "/third" });
    while (held.length === 0) await new Promise(setImmediate);
    held.shift()?.();
    await third;
    expect(requestLines(arrivals)).toEqual(["GET /first", "GET /third"]);
  });

  test("a closed connection sends nothing", async () => {
    const { url, arrivals } = await wireOf(() => {});
    const connection = connect(url);
    await connection.close();
    const error = await failure(write(connection.client(scope())));
    expect(ConnectorError.is(error)).toBe(true);
    expect(error.message).toContain("closed; nothing was sent");
    expect(arrivals).toEqual([]);
  });

  test("a header that cannot be written is refused, without its value", async () => {
    const { url } = await wireOf(() => {});
    const headers = { "x-secret": "abc\ndef" };
    const error = await failure(clientOf(url).write({ method: "POST", path: "/x", headers }));
    expect(InvalidArgumentsError.is(error)).toBe(true);
    expect(error.message).toMatch(/^the header x-secret/);
    expect(error.message).not.toContain("abc");
    expect(() => connect(url, { headers })).toThrow(/^the header x-secret holds a line break/);
  });

  test("credentials that cannot be had end the call before anything is sent", async () => {
    const { url, arrivals } = await wireOf(() => {});
    const headersFor = async () => {
      throw new Error("the token file is gone");
    };
    const error = await failure(write(clientOf(url, { headersFor })));
    expect(ConnectorError.is(error)).toBe(true);
    expect(error.message).toMatch(/the token file is gone; nothing was sent/);
    expect(arrivals).toEqual([]);
  });
});

describe("sent, and no usable answer: an error for a read, an unknown outcome for a write", () => {
  test.each(methods)(
    "HT-01: a reset after the server acted: one arrival of a %s on a reused socket",
    async (method) => {
      const { url, arrivals } = await wireOf(({ socket, text }) => {
        if (hasBody(text)) socket.resetAndDestroy();
        else socket.write(ok("{}"));
      });
      const client = clientOf(url);
      await read(client);
      const error = await failure(client.write({ method, path: "/x", json: { a: 1 } }));
      expect(EffectUncertainError.is(error)).toBe(true);
      expect(error.message).toMatch(new RegExp(`^${method} /x: sent, but the connection was lost .*unknown`));
      expect(requestLines(arrivals)).toEqual(["GET /x", `${method} /x`]);
      expect(arrivals.length).toBe(1);
    },
  );

  test.each(methods)("a %s whose connection closes before its body was read", async (method) => {
    const { url, arrivals } = await wireOf(({ socket }) => socket.destroy());
    const error = await failure(clientOf(url).write({ method, path: "/x", body: "x".repeat(1 << 20) }));
    expect(EffectUncertainError.is(error)).toBe(true);
    expect(arrivals.length).toBe(1);
  });

  test.each(methods)("a %s without a body is not repeated either", async (method) => {
    const { url, arrivals } = await wireOf(({ socket }) => socket.end());
    const error = await failure(clientOf(url).write({ method, path: "/x", as: "none" }));
    expect(EffectUncertainError.is(error)).toBe(true);
    expect(requestLines(arrivals)).toEqual([`${method} /x`]);
  });

  test("a write on a socket that the server has closed meanwhile takes a fresh one, and arrives once", async () => {
    const { url, arrivals } = await wireOf(({ socket, text }) => {
      socket.write(ok("{}"));
      if (!hasBody(text)) socket.end();
    });
    const client = clientOf(url);
    await read(client);
    await new Promise<void>((resolve) => arrivals[0]?.socket.once("close", resolve));
    await write(client);
    expect(requestLines(arrivals)).toEqual(["GET /x", "POST /x"]);
  });

  test("a write that meets the closing of its socket never claims that nothing happened, unless it arrived after all", async () => {
    const { url, arrivals } = await wireOf(({ socket, text }) => {
      socket.write(ok("{}"), () => {
        if (!hasBody(text)) socket.resetAndDestroy();
      });
    });
    const client = clientOf(url);
    await read(client);
    const ended = await write(client).then(
      () => "done",
      (error) => (EffectUncertainError.is(error) ? "unknown" : error),
    );
    expect(["done", "unknown"]).toContain(ended);
    expect(requestLines(arrivals).filter((line) => line === "POST /x").length).toBeLessThanOrEqual(1);
  });

  test("a read is repeated at most twice when the connection is lost", async () => {
    const { url, arrivals } = await wireOf(({ socket }, { length }) =>
      length < 3 ? socket.resetAndDestroy() : socket.write(ok('{"a":1}')),
    );
    const { body } = await read(clientOf(url));
    expect(body).toEqual({ a: 1 });
    expect(arrivals.length).toBe(3);
  });

  test("a read whose connection is lost each time ends as an error after three", async () => {
    const { url, arrivals } = await wireOf(({ socket }) => socket.destroy());
    const error = await failure(read(clientOf(url)));
    expect(ConnectorError.is(error)).toBe(true);
    expect(error.message).toMatch(/^GET \/x: sent, but the connection was lost/);
    expect(arrivals.length).toBe(3);
  });

  test("a read is not repeated beyond the call's time", async () => {
    const { url, arrivals } = await wireOf(({ socket }) => socket.destroy());
    await failure(read(clientOf(url, {}, 40)));
    expect(arrivals.length).toBe(1);
  });

  const kind = (error: Error) =>
    EffectUncertainError.is(error) ? "unknown" : ConnectorError.is(error) ? "error" : error;
  const cases = [
    ["a read", read, "error"],
    ["a write", write, "unknown"],
  ] as const;

  test.each(cases)("HT-06: %s with a body shorter than announced", async (_, call, expected) => {
    const { url } = await wireOf(({ socket }) =>
      socket.end('HTTP/1.1 201 Created\r\ncontent-length: 100\r\n\r\n{"number":1,"title":'),
    );
    const error = await failure(call(clientOf(url)));
    expect(kind(error)).toBe(expected);
    expect(error.message).toMatch(/^HTTP 201: .*\/x: answered, but the body did not arrive whole/);
  });

  test.each(cases)("HT-06: %s with a chunked body without an end", async (_, call, expected) => {
    const { url } = await wireOf(({ socket }) =>
      socket.end("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n"),
    );
    expect(kind(await failure(call(clientOf(url))))).toBe(expected);
  });

  test.each(cases)("HT-06: %s with a compressed body nobody asked for", async (_, call, expected) => {
    const { url } = await wireOf(({ socket }) =>
      socket.write(ok("\u001f\u008b", "content-encoding: gzip\r\n")),
    );
    const error = await failure(call(clientOf(url)));
    expect(kind(error)).toBe(expected);
    expect(error.message).toContain("encoded as gzip");
  });

  test.each(cases)(
    "HT-03: %s with headers and then silence ends with the call's time",
    async (_, call, expected) => {
      const { url, arrivals } = await wireOf(({ socket }) =>
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"),
      );
      const error = await failure(call(clientOf(url, {}, 80)));
      expect(kind(error)).toBe(expected);
      expect(error.message).toContain("no answer in time");
      expect(arrivals.length).toBe(1);
    },
  );

  test.each(cases)("HT-03: %s that is never answered", async (_, call, expected) => {
    const { url } = await wireOf(() => {});
    expect(kind(await failure(call(clientOf(url, {}, 80))))).toBe(expected);
  });

  test("HT-03: a read redirected into silence", async () => {
    const { url } = await wireOf(({ socket, text }) => {
      if (!text.includes("/y"))
        socket.write("HTTP/1.1 302 Found\r\nlocation: /y\r\ncontent-length: 0\r\n\r\n");
    });
    expect(kind(await failure(read(clientOf(url, {}, 80))))).toBe("error");
  });

  test("HT-03: a body that drips ends with the call's time", async () => {
    const sandbox = await sandboxOf(() => ({ status: 200, body: { a: "long enough" } }));
    sandbox.inject({ kind: "slowBody", everyMs: 20 });
    expect(kind(await failure(write(clientOf(sandbox.url, {}, 90))))).toBe("unknown");
  });

  test("a body that stops ends at the body's own limit", async () => {
    const { url, arrivals } = await wireOf(({ socket }) =>
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"),
    );
    const error = await failure(read(clientOf(url, { idleBodyMs: 50 })));
    expect(error.message).toContain("stopped half way");
    expect(arrivals.length).toBe(1);
  });

  test.each(cases)("%s cancelled after it was sent", async (_, call, expected) => {
    const limits = scope();
    const { url } = await wireOf(() => limits.cancel());
    const error = await failure(call(connect(url).client(limits)));
    expect(kind(error)).toBe(expected);
    expect(error.message).toContain("sent, but cancelled");
  });

  test("the caller's own word for the end of the call stands in the error", async () => {
    const controller = new AbortController();
    const { url } = await wireOf(() => controller.abort(new ConnectorError("no answer within 30000 ms")));
    const limits = { ...scope(), signal: controller.signal };
    expect((await failure(write(connect(url).client(limits)))).message).toContain(
      "no answer within 30000 ms",
    );
  });

  test.each(cases)("%s answered with something that is not HTTP", async (_, call, expected) => {
    const { url, arrivals } = await wireOf(({ socket }) => socket.end("SSH-2.0-OpenSSH_9.6\r\n"));
    expect(kind(await failure(call(clientOf(url))))).toBe(expected);
    expect(arrivals.length).toBe(1);
  });

  test.each(cases)("%s with a body larger than allowed, announced", async (_, call, expected) => {
    const { url } = await wireOf(({ socket }) =>
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n"),
    );
    const error = await failure(call(clientOf(url, { maxResponseBytes: 1000 })));
    expect(kind(error)).toBe(expected);
    expect(error.message).toContain("larger than");
  });

  test.each(cases)("%s with a body larger than allowed, not announced", async (_, call, expected) => {
    const { url } = await wireOf(({ socket }) =>
      socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${"x".repeat(5000)}`),
    );
    expect(kind(await failure(call(clientOf(url, { maxResponseBytes: 1000 }))))).toBe(expected);
  });

  test.each([
    ["HTML", "<html>", undefined],
    ["half of JSON", '{"a":', undefined],
    ["nothing", "", undefined],
    ["JSON without what it must carry", '{"title":"x","number":null}', ["number"]],
    ["JSON null", "null", ["number"]],
  ])("a success that is %s: an error for a read, unknown for a write", async (_, text, expected) => {
    const sandbox = await sandboxOf(() => ({ status: 200, body: text }));
    const more = expected === undefined ? {} : { expect: expected };
    const client = clientOf(sandbox.url);
    expect(kind(await failure(client.read({ path: "/x", ...more })))).toBe("error");
    const error = await failure(client.write({ method: "POST", path: "/x", json: {}, ...more }));
    expect(kind(error)).toBe("unknown");
    expect(error.message).toMatch(/^HTTP 200: POST \/x: the answer .*look before repeating it$/);
    expect(sandbox.requests.length).toBe(2);
  });

  test("bytes that are not UTF-8 are no JSON and no text, but they are bytes", async () => {
    const bytes = Buffer.from([0x22, 0xff, 0x22]);
    const sandbox = await sandboxOf(() => ({ status: 200, body: bytes }));
    const client = clientOf(sandbox.url);
    expect(kind(await failure(client.read({ path: "/x" })))).toBe("error");
    expect(kind(await failure(client.read({ path: "/x", as: "text" })))).toBe("error");
    expect((await client.read({ path: "/x", as: "bytes" })).body.equals(bytes)).toBe(true);
  });
});

test("a path goes on the wire exactly as it was built", async () => {
  const { url, arrivals } = await wireOf(({ socket }) => socket.write(ok("{}")));
  const client = clientOf(`${url}/base%2Fpath`);
  await client.read({ path: path`/a/${"%2e%2e"}/${"b/../c"}/${"é!*"}`, query: { q: "x/../y", s: "~'" } });
  expect(requestLines(arrivals)).toEqual([
    "GET /base%2Fpath/a/%252e%252e/b%2F..%2Fc/%C3%A9%21%2A?q=x%2F..%2Fy&s=~%27",
  ]);
});

test.each(["/a/../b", "/a/%2e%2E/b", "/.", "/a?b", "/a#b", "a", "/a b", "/é", "/a\nb", ""])(
  "S3-03: the path %j is refused before anything is sent",
  async (bad) => {
    const { url, arrivals } = await wireOf(() => {});
    const error = await failure(clientOf(url).write({ method: "DELETE", path: bad }));
    expect(InvalidArgumentsError.is(error)).toBe(true);
    expect(arrivals).toEqual([]);
  },
);

test("sixteen requests of one call do not wait for each other, and leave its signal as it was", async () => {
  const waiting: (() => void)[] = [];
  const { url } = await wireOf(({ socket }) => {
    waiting.push(() => socket.write(ok("{}")));
    if (waiting.length === 16) for (const answer of waiting) answer();
  });
  const limits = scope();
  const { signal } = limits;
  const listeners = new Set<unknown>();
  signal.addEventListener = (_: string, listener: unknown) => void listeners.add(listener);
  signal.removeEventListener = (_: string, listener: unknown) => void listeners.delete(listener);
  const client = connect(url).client(limits);
  await Promise.all(Array.from({ length: 16 }, () => read(client)));
  expect(listeners.size).toBe(0);
  // Node warns on stderr, once a process, of more listeners than this; 0 is no limit.
  const limit = Object.getOwnPropertySymbols(signal).find(({ description }) => description?.includes("max"));
  expect(Reflect.get(signal, limit ?? "")).toBe(0);
});

test("closing ends idle sockets at once, and waits for calls under way", async () => {
  const { url, arrivals } = await wireOf(({ socket, text }) => {
    if (!text.includes("/slow")) socket.write(ok("{}"));
  });
  const connection = connect(url);
  const slow = connection.client(scope()).write({ method: "POST", path: "/slow" });
  await read(connection.client(scope()));
  let closed = false;
  const closing = connection.close().then(() => {
    closed = true;
  });
  await new Promise(setImmediate);
  expect(closed).toBe(false);
  for (const { socket, text } of arrivals) if (text.includes("/slow")) socket.write(ok("{}"));
  await slow;
  await closing;
  await Promise.all(
    arrivals.map(({ socket }) => socket.closed || new Promise((resolve) => socket.once("close", resolve))),
  );
});

test("HTTPS with a certificate of one's own", async () => {
  const { cert, key } = certificate();
  const sandbox = await sandboxOf(() => ({ status: 200, body: { a: 1 } }), { tls: { cert, key } });
  const { body } = await read(clientOf(sandbox.url, { ca: cert }));
  expect(body).toEqual({ a: 1 });
});

describe("HT-09: a base URL", () => {
  test.each(["", "/", "/api/v4", "/api/v4/", "/a%2Fb"])("keeps its path %j", async (prefix) => {
    const { url, arrivals } = await wireOf(({ socket }) => socket.write(ok("{}")));
    await read(clientOf(url.replace("http:", "HTTP:") + prefix));
    expect(requestLines(arrivals)).toEqual([`GET ${prefix.replace(/\/$/, "")}/x`]);
  });

  test("may name an IPv6 address", async () => {
    const port = await deadPort();
    const error = await failure(read(clientOf(`http://[::1]:${port}/api`)));
    expect(error.message).toMatch(/^GET \/api\/x: cannot reach \[::1\]:\d+/);
  });

  test.each([
    "https://user:pa55word@api.example.com",
    "https://pa55word@api.example.com/x",
    "https://@api.example.com",
    "https://api.example.com?pa55word",
    "https://api.example.com/x?",
    "https://api.example.com/#pa55word",
    "ftp://api.example.com",
    "api.example.com/pa55word",
    "https://api.example.com/pa55word x",
    "",
  ])("%j is refused by name, not repeated", (baseUrl) => {
    let error: unknown;
    try {
      connect(baseUrl);
    } catch (thrown) {
      error = thrown;
    }
    expect(InvalidArgumentsError.is(error)).toBe(true);
    expect((error as Error).message).toMatch(/^baseUrl must/);
    expect((error as Error).message).not.toContain("pa55word");
  });
});

describe("a proxy in the environment", () => {
  const variables = ["HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy"];
  const during = (values: Record<string, string>) => {
    const before = variables.map((name) => [name, process.env[name]] as const);
    for (const name of variables) delete process.env[name];
    Object.assign(process.env, values);
    atEnd(() => {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    });
  };
  /** A proxy that opens tunnels. */
  const tunnel = () =>
    wireOf((arrival) => {
      const [, port] = arrival.text.match(/^CONNECT 127\.0\.0\.1:(\d+) /) ?? [];
      if (port === undefined || !arrival.text.endsWith("\r\n\r\n")) return;
      const { socket } = arrival;
      const far = connectSocket(Number(port), "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        socket.removeAllListeners("data");
        socket.pipe(far).pipe(socket);
      });
      far.on("error", () => socket.destroy());
      socket.on("close", () => far.destroy());
    });

  test("is used for HTTPS, and sees neither path nor credential", async () => {
    const proxy = await tunnel();
    during({ HTTPS_PROXY: proxy.url });
    const { cert, key } = certificate();
    const sandbox = await sandboxOf(() => ({ status: 200, body: { a: 1 } }), { tls: { cert, key } });
    const { body } = await read(clientOf(sandbox.url, { ca: cert }));
    expect(body).toEqual({ a: 1 });
    expect(proxy.arrivals.length).toBe(1);
    expect(proxy.arrivals[0]?.text).not.toMatch(/\/x|authorization: Bearer/);
  });

  test("is left out for hosts in NO_PROXY", async () => {
    const proxy = await tunnel();
    during({ HTTP_PROXY: proxy.url, NO_PROXY: "localhost,127.0.0.1" });
    const sandbox = await sandboxOf(() => ({ status: 200, body: {} }));
    await read(clientOf(sandbox.url));
    expect(proxy.arrivals).toEqual([]);
  });

  test("that refuses ends the call before anything reached the backend, its password untold", async () => {
    const proxy = await wireOf(({ socket }) =>
      socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"),
    );
    during({ HTTPS_PROXY: proxy.url.replace("//", "//me:pa55word@") });
    const error = await failure(write(clientOf("https://api.example.com")));
    expect(ConnectorError.is(error)).toBe(true);
    expect(error.message).toMatch(/cannot reach api\.example\.com: .*407.*nothing was sent/);
    expect(error.message).not.toMatch(/pa55word|bWU6cGE1NXdvcmQ/);
  });

  test("that hangs up is not called again and again", async () => {
    const proxy = await wireOf(({ socket }) => socket.destroy());
    during({ HTTPS_PROXY: proxy.url });
    const connection = connect("https://api.example.com");
    const error = await failure(write(connection.client(scope(150))));
    expect(ConnectorError.is(error)).toBe(true);
    expect(error.message).toContain("nothing was sent");
    expect(proxy.arrivals.length).toBeLessThanOrEqual(3);
  });

  test("whose address is malformed is named without its password", async () => {
    during({ HTTPS_PROXY: "http://me:pa55 word@:bad" });
    const error = await failure(write(clientOf("https://api.example.com")));
    expect(InvalidArgumentsError.is(error)).toBe(true);
    expect(error.message).toBe("HTTPS_PROXY or HTTP_PROXY is not the address of a proxy");
  });
});
