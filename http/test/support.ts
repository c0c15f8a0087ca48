import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterEach } from "@jest/globals";
import { type CallScope, redactor } from "@reversi-connector/core";
import { type HttpClient, type HttpConnectionOptions, httpConnection } from "@reversi-connector/http";
import { type SandboxOptions, startSandbox } from "@reversi-connector/http/sandbox";
import { certificateFor } from "../../test/hosts.ts";

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});
/** Runs `end` after the test. */
export const atEnd = (end: () => unknown): void => void endings.push(end);

export interface TestScope extends CallScope {
  cancel(): void;
  readonly told: string[];
}

/** The limits of one call, as core makes them. */
export function scope(ms = 5000): TestScope {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new DOMException("over", "TimeoutError")), ms);
  atEnd(() => clearTimeout(timer));
  const told: string[] = [];
  return {
    signal: controller.signal,
    deadline: Date.now() + ms,
    progress: ({ message }) => void told.push(message),
    cancel: () => controller.abort(),
    told,
  };
}

export const token = "tok-A+b/c=d e";
export const redact = redactor({ values: [token] });

export function connect(baseUrl: string, options: Partial<HttpConnectionOptions> = {}) {
  const connection = httpConnection({
    baseUrl,
    redact,
    headers: { authorization: `Bearer ${token}` },
    ...options,
  });
  atEnd(() => connection.close());
  return connection;
}

export const clientOf = (
  baseUrl: string,
  options?: Partial<HttpConnectionOptions>,
  ms?: number,
): HttpClient => connect(baseUrl, options).client(scope(ms));

export async function sandboxOf(handle: SandboxOptions["handle"], options: Partial<SandboxOptions> = {}) {
  const sandbox = await startSandbox({ handle, ...options });
  atEnd(() => sandbox.close());
  return sandbox;
}

/** Everything one connection brought, as text. */
export interface Arrival {
  readonly socket: Socket;
  text: string;
}

/** A TCP server that says what it is told to. `on` sees every connection each time something arrived on it. */
export async function wireOf(on: (arrival: Arrival, arrivals: readonly Arrival[]) => void) {
  const arrivals: Arrival[] = [];
  const server = createServer((socket) => {
    const arrival: Arrival = { socket, text: "" };
    arrivals.push(arrival);
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      arrival.text += chunk.toString("latin1");
      on(arrival, arrivals);
    });
  });
  const port = await listening(server);
  return { port, url: `http://127.0.0.1:${port}`, arrivals };
}

export async function listening(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atEnd(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

/** Request lines in order of arrival. */
export const requestLines = (arrivals: readonly Arrival[]): string[] =>
  arrivals
    .flatMap(({ text }) => text.match(/^[A-Z]+ \S+ HTTP\/1\.1/gm) ?? [])
    .map((line) => line.slice(0, -9));

/** A port where nobody listens. */
export async function deadPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

let made: ReturnType<typeof certificateFor> | undefined;
/** A self-signed certificate for 127.0.0.1 and localhost. */
export function certificate() {
  made ??= certificateFor("IP:127.0.0.1", "DNS:localhost");
  return made;
}

/** What `promise` rejects with; fails when it does not. */
export async function failure(promise: Promise<unknown>): Promise<Error> {
  const ended = await promise.then(
    (value) => ({ value }),
    (error: Error) => ({ error }),
  );
  if ("error" in ended) return ended.error;
  throw new Error(`expected an error, got ${JSON.stringify(ended.value)}`);
}

export const ok = (body: string, headers = ""): string =>
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`;
