import type { Dispatcher } from "undici";

/** A request as its bytes go on the wire. */
export interface Outgoing {
  readonly method: string;
  /** Raw, with the query. */
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Buffer | undefined;
}

export type FailureKind =
  /** The call was cancelled, or its time was over. */
  | "aborted"
  /** The connection broke, or could not be made. */
  | "connection"
  /** The body stopped coming. */
  | "stalled"
  | "oversize"
  /** What came is not HTTP, or the request could not be written. */
  | "protocol";

/** What is known of one exchange after it ended, however it ended. */
export interface Exchange {
  /** False only when not one byte of the request was handed to a socket. */
  readonly started: boolean;
  readonly status: number | undefined;
  readonly headers: Record<string, string>;
  /** The whole body; undefined when it did not arrive whole. */
  readonly bytes: Buffer | undefined;
  readonly failure:
    | { readonly kind: FailureKind; readonly code: string; readonly detail: string }
    | undefined;
}

interface ExchangeLimits {
  readonly origin: string;
  readonly signal: AbortSignal;
  readonly maxResponseBytes: number;
  readonly idleBodyMs: number;
}

const empty = Buffer.alloc(0);

const flat = (headers: Record<string, string | string[] | undefined>): Record<string, string> => {
  for (const name in headers) {
    const value = headers[name];
    if (typeof value === "object") headers[name] = value.join(", ");
  }
  return headers as Record<string, string>;
};

const kindOf = (code: string): FailureKind => {
  if (code === "UND_ERR_BODY_TIMEOUT") return "stalled";
  if (code === "HTTPParserError" || (code.startsWith("HPE_") && code !== "HPE_INVALID_EOF_STATE"))
    return "protocol";
  return code === "UND_ERR_INVALID_ARG" ? "protocol" : "connection";
};

/** Sends `outgoing` once and waits for the whole answer. Never rejects. */
export function exchange(
  dispatcher: Dispatcher,
  { method, path, headers: sent, body }: Outgoing,
  { origin, signal, maxResponseBytes, idleBodyMs }: ExchangeLimits,
): Promise<Exchange> {
  return new Promise((resolve) => {
    let controller: Dispatcher.DispatchController | undefined;
    let started = false;
    let over = false;
    let status: number | undefined;
    let headers: Record<string, string> = {};
    let size = 0;
    const chunks: Buffer[] = [];

    const end = () => {
      over = true;
      signal.removeEventListener("abort", cancel);
    };
    const fail = (kind: FailureKind, code: string, detail = "") => {
      if (over) return;
      end();
      resolve({ started, status, headers, bytes: undefined, failure: { kind, code, detail } });
      controller?.abort(new Error(kind));
    };
    const cancel = () => fail("aborted", "ABORTED");
    const failWith = (error: unknown) => {
      const { name = "", code = name, message = "" } = error as Partial<NodeJS.ErrnoException>;
      fail(kindOf(code), code, message);
    };

    if (signal.aborted) return cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      dispatcher.dispatch(
        {
          origin,
          method: method as Dispatcher.HttpMethod,
          path,
          headers: sent,
          body: body ?? null,
          bodyTimeout: idleBodyMs,
        },
        {
          onRequestStart(now) {
            // undici writes right after this returns. A request given up while it queued must not leave any more,
            // and none may leave a second time.
            if (over || started) return now.abort(new Error("given up"));
            started = true;
            controller = now;
          },
          onResponseStart(_, code, received) {
            if (code < 200) return;
            status = code;
            headers = flat(received);
            const announced = Number(headers["content-length"]);
            if (announced > maxResponseBytes && method !== "HEAD") fail("oversize", "OVERSIZE");
          },
          onResponseData(_, chunk) {
            size += chunk.length;
            if (size > maxResponseBytes) return fail("oversize", "OVERSIZE");
            chunks.push(chunk);
          },
          onResponseEnd() {
            end();
            const bytes = chunks.length === 1 ? chunks[0] : size === 0 ? empty : Buffer.concat(chunks, size);
            // undici takes a socket back one turn of the event loop after its answer: a next request that came sooner
            // would open another connection.
            queueMicrotask(() =>
              setImmediate(resolve, { started, status, headers, bytes, failure: undefined }),
            );
          },
          onResponseError: (_, error) => failWith(error),
        },
      );
    } catch (error) {
      failWith(error);
    }
  });
}
