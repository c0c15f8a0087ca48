import type { Exchange } from "./contract.ts";
import type { Change, Fault, SentRequest, Statuses, Wire } from "./fault.ts";
import { changed, type RawRequest, send } from "./http-twin.ts";

/** A request as `@reversi-connector/http/sandbox` records it. */
export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly rawHeaders: readonly string[];
  readonly text: string;
  readonly handled: boolean;
  readonly status: number | undefined;
  readonly answered?: boolean;
}
/** The faults of that sandbox, as far as the kit uses them. */
export type HttpFault =
  | { readonly kind: "refuse" | "cutBefore" | "cutAfter" | "late" | "cutBody" | "rateLimit" }
  | { readonly kind: "hang"; readonly effect: boolean }
  | { readonly kind: "slowBody"; readonly everyMs: number }
  | { readonly kind: "garbage"; readonly body: string }
  | { readonly kind: "status"; readonly status: number; readonly effect: boolean }
  | { readonly kind: "deny"; readonly status: 401 | 403 }
  | {
      readonly kind: "echo";
      readonly status: number;
      readonly as: "json" | "html" | "text" | "header";
      readonly text?: string;
    };

/** What `@reversi-connector/http/sandbox` starts, told by its shape: the kit depends on no client and no server. */
export interface HttpSandbox {
  readonly requests: readonly HttpRequest[];
  /** What handlers threw by mistake. */
  readonly errors?: readonly unknown[];
  inject(
    fault: HttpFault,
    where?: {
      readonly path?: (path: string) => boolean;
      readonly skip?: number;
      readonly times?: number;
    },
  ): void;
  clear(): Promise<void>;
  forget(): void;
  observe?(
    listener: (request: Omit<HttpRequest, "handled" | "status" | "answered">, answer: HttpAnswer) => void,
  ): void;
  settle(): Promise<void>;
}
/** An answer on the wire. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly bytes: Buffer;
}

export interface HttpWireOptions {
  /** Where copies of requests are sent to; without it the sandbox is not tried with malformed twins. */
  readonly address?: string;
  /** Whether a request may change anything; everything but GET and HEAD when left out. */
  readonly writes?: (request: HttpRequest) => boolean;
  /** With what the backend refuses, where that is not 400, 409, 422; 401, 403; 500, 503. */
  readonly statuses?: Partial<Statuses>;
  /** Arms a fault in the vendor's own way; false leaves it to the usual one. */
  readonly inject?: (fault: Fault, skip: number, times: number) => boolean;
}

const usual: Statuses = {
  refuse: ["400", "409", "422"],
  deny: ["401", "403"],
  serverError: ["500", "503"],
};

/** A fault in the sandbox's own words. */
function onHttp(fault: Fault): HttpFault {
  switch (fault.kind) {
    case "unreachable":
      return { kind: "refuse" };
    case "refuse":
      return { kind: "status", status: Number(fault.status), effect: false };
    case "deny":
      return { kind: "deny", status: Number(fault.status) as 401 | 403 };
    case "stall":
      return { kind: "slowBody", everyMs: Number.POSITIVE_INFINITY };
    case "serverError":
      return { kind: "status", status: Number(fault.status), effect: fault.effect };
    case "echo":
      return { ...fault, status: Number(fault.status) };
    default:
      return fault;
  }
}

const flat = (headers: HttpAnswer["headers"]) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

/** The wire of an HTTP sandbox. */
export function httpWire(sandbox: HttpSandbox, options: HttpWireOptions = {}): Wire {
  const { address, statuses, inject } = options;
  const writes = options.writes ?? (({ method }) => method !== "GET" && method !== "HEAD");
  const originals = new WeakMap<SentRequest, RawRequest>();
  let actions = new Set<object>();
  let twins = 0;

  const sent = (request: HttpRequest): SentRequest => {
    const { method, path, headers, rawHeaders, text, handled, status, answered } = request;
    const seen: SentRequest = {
      line: `${method} ${path}`,
      open: `${path}\n${text}`,
      headers,
      writes: writes(request),
      handled,
      status: status === undefined ? undefined : String(status),
      ...(answered !== undefined && { answered }),
    };
    originals.set(seen, { method, path, rawHeaders, text });
    return seen;
  };

  return {
    statuses: { ...usual, ...statuses },
    get requests() {
      return sandbox.requests.map(sent);
    },
    get mistakes() {
      return sandbox.errors ?? [];
    },
    forget: () => sandbox.forget(),
    inject(fault, skip, times = 1) {
      if (!inject?.(fault, skip, times)) sandbox.inject(onHttp(fault), { skip, times });
    },
    before(skip, action) {
      const armed = {};
      actions.add(armed);
      let seen = 0;
      // A test that fits no request, and is asked about each one before the backend acts on it.
      const path = () => {
        if (actions.has(armed) && seen++ === skip) action();
        return false;
      };
      sandbox.inject({ kind: "cutBefore" }, { path });
    },
    async clear() {
      actions = new Set();
      await sandbox.clear();
    },
    settle: () => sandbox.settle(),
    ...(address !== undefined && {
      async replay(request: SentRequest, change: Change) {
        const original = originals.get(request);
        const twin = original && changed(original, change);
        twins++;
        try {
          return await (twin && send(address, twin));
        } finally {
          twins--;
        }
      },
    }),
    ...(sandbox.observe && {
      observe(listener: (exchange: Exchange) => void) {
        sandbox.observe?.(({ method, path, headers, text }, { status, headers: own, bytes }) =>
          listener({
            ...{ method, path, headers, body: text, malformed: twins > 0 },
            answer: { status, headers: flat(own), body: bytes.toString() },
          }),
        );
      },
    }),
  };
}
