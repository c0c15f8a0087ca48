import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { type Fault, faults, type Where } from "./sandbox/fault.ts";
import {
  answer,
  bodyOf,
  type ErrorBody,
  type Mutable,
  type RecordedRequest,
  recorded,
  type SandboxReply,
  type SandboxRequest,
  serialized,
} from "./sandbox/message.ts";
import { portKeeper } from "./sandbox/port.ts";
import { type Handler, type Route, type RoutedRequest, route, router } from "./sandbox/router.ts";

export type {
  ErrorBody,
  Fault,
  Handler,
  RecordedRequest,
  Route,
  RoutedRequest,
  SandboxReply,
  SandboxRequest,
  Where,
};
export { route, router };

export interface SandboxOptions {
  /** The vendor. It may throw a reply; what else it throws is a mistake, kept in `errors` and answered with 500. */
  readonly handle: Handler;
  /** PEM; HTTPS when given. */
  readonly tls?: { readonly key: string; readonly cert: string } | undefined;
  /** `{ message }` when left out. */
  readonly errorBody?: ErrorBody | undefined;
  /** The vendor's form of 429; 429 with `Retry-After` when left out. */
  readonly rateLimit?: ((retryAfter: number | string | undefined) => SandboxReply) | undefined;
}

/** An answer as it goes on the wire. */
export interface SandboxAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly bytes: Buffer;
}
export type Listener = (request: SandboxRequest, answer: SandboxAnswer) => void;

/** A vendor on 127.0.0.1, real down to the wire. */
export interface Sandbox {
  readonly url: string;
  /** Every request that was read whole, in order of arrival. */
  readonly requests: readonly RecordedRequest[];
  /** What the vendor's handler threw by mistake. */
  readonly errors: readonly unknown[];
  /** Arms a fault for the next request, or for those that `where` names. */
  inject(fault: Fault, where?: Where): void;
  /** Disarms all faults and accepts connections again. Late deliveries stay under way. */
  clear(): Promise<void>;
  /** Empties `requests`. */
  forget(): void;
  /** Tells every answer that the vendor makes, with its request, whatever becomes of it on the wire. */
  observe(listener: Listener): void;
  /** Lets late deliveries take effect and waits for every handler under way. */
  settle(): Promise<void>;
  /** Ends every connection. */
  close(): Promise<void>;
}

const isReply = (value: unknown): value is SandboxReply =>
  typeof (value as SandboxReply | null | undefined)?.status === "number";

const cut = (socket: Socket, reset = false) => {
  // A TLS socket cannot send RST by itself.
  if (reset && !("encrypted" in socket)) socket.resetAndDestroy();
  else socket.destroy();
};

function cutHalfWay(response: ServerResponse, reply: SandboxReply, chunked: boolean): void {
  const { headers, bytes } = serialized(reply);
  const half = bytes.length > 1 ? bytes.subarray(0, bytes.length >> 1) : Buffer.from("{");
  if (!chunked) headers["content-length"] = String(Math.max(bytes.length, 2));
  response.writeHead(reply.status, headers).write(half, () => response.socket?.destroy());
}

function trickle(response: ServerResponse, reply: SandboxReply, everyMs: number): void {
  const { headers, bytes } = serialized(reply);
  headers["content-length"] = String(bytes.length);
  response.writeHead(reply.status, headers);
  // Nothing can come slowly of which there is not more than one byte.
  if (bytes.length < 2 || response.req.method === "HEAD") return void response.end(bytes);
  response.write(bytes.subarray(0, 1));
  if (!Number.isFinite(everyMs)) return;
  let sent = 1;
  const timer = setInterval(() => {
    if (sent < bytes.length) response.write(bytes.subarray(sent, ++sent));
    else response.end();
  }, everyMs);
  response.on("close", () => clearInterval(timer));
}

const unexpectedBody = "<!doctype html><html><body>It works!</body></html>";

/** What was sent, with every credential in it, on one line. */
const echoOf = ({ method, path, rawHeaders, text }: SandboxRequest): string => {
  const headers = rawHeaders.map((part, index) => (index % 2 === 0 ? `${part}:` : `${part};`));
  return [method, path, ...headers, text].join(" ").replace(/[\r\n]/g, " ");
};

function echoReply(request: SandboxRequest, fault: Extract<Fault, { kind: "echo" }>): SandboxReply {
  const { status = 400, as = "json", text = echoOf(request) } = fault;
  switch (as) {
    case "json":
      return request.error(status, text);
    case "html":
      return { status, headers: { "content-type": "text/html" }, body: `<html><body>${text}</body></html>` };
    case "text":
      return { status, body: text };
    case "header": {
      const value = text.replace(/[^\t\x20-\x7e]/g, "?");
      return {
        ...request.error(status, "see the headers"),
        headers: { "x-echo": value, "x-request-id": value },
      };
    }
  }
}

/** Starts a vendor's sandbox. Its faults happen on the wire, so a client meets them as it would meet the real ones. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { handle, tls, errorBody = (_, message) => ({ message }), rateLimit } = options;
  const requests: Mutable<RecordedRequest>[] = [];
  const errors: unknown[] = [];
  const armed = faults();
  const sockets = new Set<Socket>();
  const running = new Set<Promise<unknown>>();
  const late = new Set<() => void>();
  const listeners: Listener[] = [];
  let refusing = false;

  /** The vendor's words, wherever they end. */
  function told(request: SandboxRequest, reply: SandboxReply): SandboxReply {
    for (const listener of listeners) listener(request, { status: reply.status, ...serialized(reply) });
    return reply;
  }

  const limited = (retryAfter: number | string | undefined, request: SandboxRequest): SandboxReply =>
    rateLimit?.(retryAfter) ?? {
      ...request.error(429, "Too many requests"),
      headers: { "retry-after": retryAfter === undefined ? undefined : String(retryAfter) },
    };

  function track<Value>(work: Promise<Value>): Promise<Value> {
    running.add(work);
    void work.finally(() => running.delete(work)).catch(() => {});
    return work;
  }

  async function handled(request: Mutable<RecordedRequest>): Promise<SandboxReply> {
    request.handled = true;
    try {
      return told(request, await handle(request));
    } catch (error) {
      if (isReply(error)) return told(request, error);
      errors.push(error);
      return request.error(500, "the sandbox's handler failed");
    }
  }
  const take = (request: Mutable<RecordedRequest>) => track(handled(request));

  function deliverLate(request: Mutable<RecordedRequest>, until: Promise<unknown> | undefined): void {
    const deliver = () => {
      if (late.delete(deliver)) void take(request);
    };
    late.add(deliver);
    until?.then(deliver, deliver);
  }

  async function respond(
    request: Mutable<RecordedRequest>,
    response: ServerResponse,
    fault: Fault | undefined,
  ): Promise<void> {
    const { socket } = response;
    const reply = (what: SandboxReply) => {
      request.status = what.status;
      answer(response, what);
    };
    switch (fault?.kind) {
      case undefined:
      case "refuse":
        return reply(await take(request));
      case "cutBefore":
        return void (socket && cut(socket, fault.reset));
      case "cutAfter":
        await take(request);
        return void (socket && cut(socket, fault.reset));
      case "late":
        deliverLate(request, fault.until);
        return void (socket && cut(socket));
      case "hang":
        if (fault.effect) await take(request);
        return;
      case "cutBody": {
        const whole = await take(request);
        request.status = whole.status;
        return cutHalfWay(response, whole, fault.chunked ?? false);
      }
      case "slowBody": {
        const whole = await take(request);
        request.status = whole.status;
        return trickle(response, whole, fault.everyMs ?? 1000);
      }
      case "garbage": {
        const { status, headers } = await take(request);
        return reply({ status: status === 204 ? 200 : status, headers, body: fault.body ?? unexpectedBody });
      }
      case "status": {
        if (fault.effect) await take(request);
        const { status, headers, body = errorBody(status, "Something went wrong") } = fault;
        return reply({ status, headers, body });
      }
      case "deny":
        return reply(told(request, request.error(fault.status ?? 401, "Bad credentials")));
      case "rateLimit":
        return reply(told(request, limited(fault.retryAfter, request)));
      case "echo":
        return reply(echoReply(request, fault));
    }
  }

  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => {});
    const bytes = await bodyOf(message);
    if (!bytes) return;
    const request = recorded(message, bytes, errorBody);
    requests.push(request);
    response.on("finish", () => {
      request.answered = true;
    });
    const { fault, last } = armed.take(request);
    if (last) refuse();
    if (refusing) response.setHeader("connection", "close");
    await respond(request, response, fault);
  }

  const onRequest = (message: IncomingMessage, response: ServerResponse) => {
    serve(message, response).catch((error: unknown) => {
      errors.push(error);
      response.destroy();
    });
  };
  const server = tls ? createTlsServer(tls, onRequest) : createServer(onRequest);
  // No clock of the server's own: it would end connections in the middle of a slow test.
  server.keepAliveTimeout = 0;
  server.headersTimeout = 0;
  server.requestTimeout = 0;
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  server.on("clientError", (_, socket) => socket.destroy());
  server.on("tlsClientError", () => {});

  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(port, "127.0.0.1", () => {
        server.off("error", reject);
        resolve();
      });
    });
  const keep = await portKeeper();
  await listen(0);
  const { port } = server.address() as AddressInfo;
  let kept: { end(): void } | undefined;
  function refuse(): void {
    refusing = true;
    if (!server.listening) return;
    server.close();
    kept = keep(port);
  }

  return {
    url: `${tls ? "https" : "http"}://127.0.0.1:${port}`,
    requests,
    errors,
    inject(fault, where = {}) {
      armed.add(fault, where);
      if (fault.kind === "refuse" && (where.skip ?? 0) === 0) refuse();
    },
    async clear() {
      armed.clear();
      if (refusing && !server.listening) await listen(port);
      kept?.end();
      refusing = false;
    },
    forget() {
      requests.length = 0;
    },
    observe(listener) {
      listeners.push(listener);
    },
    async settle() {
      for (const deliver of [...late]) deliver();
      while (running.size > 0) await Promise.allSettled([...running]);
    },
    async close() {
      late.clear();
      const closed = server.listening ? new Promise((resolve) => server.close(resolve)) : undefined;
      for (const socket of sockets) socket.destroy();
      kept?.end();
      await closed;
    },
  };
}
