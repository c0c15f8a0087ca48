import { setMaxListeners } from "node:events";
import {
  type CallScope,
  type Connection,
  ConnectorError,
  InvalidArgumentsError,
  isConnectorError,
  type Redactor,
} from "@reversi-connector/core";
import {
  answerForVendor,
  answerWith,
  type BodyAs,
  type BodyForm,
  bodyOf,
  checkExpected,
  type HttpAnswer,
  Unreadable,
} from "./answer.ts";
import { checkPath, encodeQuery } from "./encode.ts";
import { type Exchange, exchange, type Outgoing } from "./exchange.ts";
import { hostOf, type Origin, pathOn, readBaseUrl } from "./origin.ts";
import { type Attempt, moved, notSent, refused, unanswered, useless, type VendorProblem } from "./outcome.ts";
import {
  addHeaders,
  type Headers,
  type OutgoingRequest,
  type Payload,
  payloadOf,
  type ReadRequest,
  type RequestBase,
  type Target,
  type WriteRequest,
} from "./request.ts";
import { pause, retryAfter } from "./waiting.ts";
import { openWire, type Wire } from "./wire.ts";

export interface HttpConnectionOptions {
  /** Scheme, host and port, and a path that goes before every request's path. No user info, query or fragment. */
  readonly baseUrl: string;
  /** The redactor that `connect(options, { redact })` is handed. */
  readonly redact: Redactor;
  /** Sent on every request. */
  readonly headers?: Headers | undefined;
  /** More headers for one request, made last: signatures, tokens that expire. */
  readonly headersFor?: ((request: OutgoingRequest) => Headers | Promise<Headers>) | undefined;
  /** Whether an answer with a 2xx status is a failure all the same. */
  readonly failed?: ((answer: HttpAnswer<unknown>) => boolean) | undefined;
  /** The vendor's reading of a failed answer; its `body` is undefined where there is no JSON. */
  readonly problem?: ((answer: HttpAnswer<unknown>) => VendorProblem) | undefined;
  /** Certificates (PEM) to trust instead of the usual ones. */
  readonly ca?: string | undefined;
  /** 16 MiB when left out. */
  readonly maxResponseBytes?: number | undefined;
  /** At most, and when left out, 10,000. */
  readonly connectTimeoutMs?: number | undefined;
  /** How long a body may pause; 30,000 when left out. */
  readonly idleBodyMs?: number | undefined;
  /** Sockets at a time; 128 when left out. Further requests wait for one. */
  readonly connections?: number | undefined;
}

export interface HttpReader {
  /**
   * Sends a read; repeats it at most twice when the connection is lost.
   * @throws ConnectorError, InvalidArgumentsError
   */
  read<Json = unknown, Form extends BodyForm = "json">(
    request: ReadRequest<Form>,
  ): Promise<HttpAnswer<BodyAs<Form, Json>>>;
}

export interface HttpClient extends HttpReader {
  /**
   * Sends a write, once.
   * @throws EffectUncertainError when it was sent and nobody knows its outcome; ConnectorError, InvalidArgumentsError
   */
  write<Json = unknown, Form extends BodyForm = "json">(
    request: WriteRequest<Form>,
  ): Promise<HttpAnswer<BodyAs<Form, Json>>>;
}

const maxRepeats = 2;
const repeatDelayMs = 50;
const maxRedirects = 5;
const maxLimitWaits = 3;
const longestLimitWaitSeconds = 10;
const limitDelayMs = 250;
const nothing = Buffer.alloc(0);

const isSuccess = (status: number) => status >= 200 && status < 300;
const isRedirect = (status: number) => status >= 300 && status < 400 && status !== 304;

/** A vendor's hook that stumbles over an unforeseen body must not change the outcome's class. */
function guarded<Value>(hook: () => Value, otherwise: Value): Value {
  try {
    return hook();
  } catch {
    return otherwise;
  }
}

/** The raw path, with the query, that a request goes to. */
function targetOf(base: Origin, { path, query, link }: Target): string {
  if (link !== undefined) {
    const onward = pathOn(base, link);
    if (onward === undefined) {
      throw new ConnectorError(
        `a link leads away from ${base.host}; it was not followed and nothing was sent`,
      );
    }
    return onward;
  }
  if (path === undefined) throw new InvalidArgumentsError("a request needs a path or a link");
  const search = query === undefined ? "" : encodeQuery(query);
  return base.prefix + checkPath(path) + (search === "" ? "" : `?${search}`);
}

/**
 * The answer in the form that was asked for.
 * @throws Unreadable
 */
function accept(
  { as = "json", encoded = false, expect }: RequestBase<BodyForm>,
  method: string,
  status: number,
  { headers, bytes = nothing }: Exchange,
): HttpAnswer<unknown> {
  const encoding = headers["content-encoding"] ?? "identity";
  if (!encoded && encoding !== "identity" && bytes.length > 0) {
    throw new Unreadable(`is encoded as ${encoding}, which was not asked for`);
  }
  const body = bodyOf(bytes, as, method, status);
  if (expect !== undefined) checkExpected(body, expect);
  return answerWith({ status, headers }, bytes, body);
}

/**
 * The connectors' one way to an HTTP backend: every exchange ends as done, not done, or unknown.
 * @throws InvalidArgumentsError for a base URL or a header that cannot be used, naming it
 */
export function httpConnection(options: HttpConnectionOptions): Connection<HttpClient, HttpReader> {
  const { redact, headersFor, failed, problem, ca, connections = 128 } = options;
  const { maxResponseBytes = 16 * 1024 * 1024, idleBodyMs = 30_000 } = options;
  const connectTimeoutMs = Math.min(options.connectTimeoutMs ?? 10_000, 10_000);
  const base = readBaseUrl(options.baseUrl);
  const { origin, host } = base;
  const fixed = addHeaders(
    { "user-agent": "reversi-connector", "accept-encoding": "identity" },
    options.headers,
  );

  let opening: Promise<Wire> | undefined;
  let running = 0;
  let closed = false;
  let allEnded: (() => void) | undefined;

  /** @throws ConnectorError, InvalidArgumentsError; nothing was sent then */
  async function signed(request: OutgoingRequest, sign: NonNullable<typeof headersFor>): Promise<Headers> {
    try {
      return await sign(request);
    } catch (error) {
      if (isConnectorError(error)) throw error;
      const why = redact.text(String((error as { message?: unknown } | null)?.message ?? error));
      throw new ConnectorError(`no credentials for ${host}: ${why}; nothing was sent`);
    }
  }

  async function prepare(
    { as = "json", headers: own }: RequestBase<BodyForm>,
    method: string,
    path: string,
    { bytes, type }: Payload,
  ): Promise<Outgoing> {
    const headers: Record<string, string> =
      as === "json" ? { accept: "application/json", ...fixed } : { ...fixed };
    if (type !== undefined) headers["content-type"] = type;
    addHeaders(headers, own);
    if (headersFor) {
      addHeaders(headers, await signed({ method, path, headers, body: bytes ?? nothing }, headersFor));
    }
    return { method, path, headers, body: bytes };
  }

  async function send(outgoing: Outgoing, { signal }: CallScope): Promise<Exchange> {
    opening ??= openWire({ origin, ca, connectTimeoutMs, connections });
    const { dispatcher } = await opening;
    return exchange(dispatcher, outgoing, { origin, signal, maxResponseBytes, idleBodyMs });
  }

  async function follow(
    request: RequestBase<BodyForm>,
    method: string,
    payload: Payload,
    writes: boolean,
    scope: CallScope,
  ): Promise<HttpAnswer<unknown>> {
    let path = targetOf(base, request);
    let repeats = 0;
    let redirects = 0;
    let limitWaits = 0;
    for (;;) {
      const attempt: Attempt = { writes, method, path: path.split("?", 1)[0] ?? path, host, redact };
      const ended = await send(await prepare(request, method, path, payload), scope);
      const { failure, status = 0, headers } = ended;

      if (failure && (status === 0 || isSuccess(status))) {
        if (!ended.started) throw notSent(attempt, failure, scope.signal);
        const again = !writes && failure.kind === "connection" && repeats < maxRepeats;
        if (again && (await pause(repeatDelayMs * 4 ** repeats++, scope))) continue;
        throw unanswered(attempt, failure, ended.status, scope.signal);
      }

      const answer = answerForVendor({ status, headers }, ended.bytes ?? nothing);
      if (isRedirect(status)) {
        const { location } = headers;
        const onward = location === undefined ? undefined : pathOn(base, location, path);
        const mayFollow = !writes && method !== "POST" && redirects++ < maxRedirects;
        if (!mayFollow || onward === undefined) throw moved(attempt, answer, hostOf(base, location, path));
        path = onward;
        continue;
      }

      if (isSuccess(status)) {
        try {
          if (!failed?.(answer)) return accept(request, method, status, ended);
        } catch (error) {
          // Whoever meant to judge this answer could not: it proves nothing.
          const why = error instanceof Unreadable ? error.message : "is not what was expected";
          throw useless(attempt, status, `the answer ${why}`);
        }
      }

      const vendor: VendorProblem = problem ? guarded(() => problem(answer), {}) : {};
      const seconds = vendor.retryAfterSeconds ?? retryAfter(headers["retry-after"]);
      const limited = status === 429 || vendor.rateLimited === true;
      if (
        limited &&
        seconds !== undefined &&
        seconds <= longestLimitWaitSeconds &&
        limitWaits < maxLimitWaits
      ) {
        const ms = Math.max(seconds * 1000, limitDelayMs * 2 ** limitWaits++);
        scope.progress({ message: `${host} limits the rate: waiting ${Math.ceil(ms / 1000)} s` });
        if (await pause(ms, scope)) continue;
      }
      throw refused(attempt, answer, vendor, limited, seconds);
    }
  }

  async function call<Answer>(
    request: RequestBase<BodyForm>,
    method: string,
    body: Pick<WriteRequest, "json" | "form" | "body">,
    writes: boolean,
    scope: CallScope,
  ): Promise<Answer> {
    if (closed) throw new ConnectorError(`the connection to ${host} is closed; nothing was sent`);
    running++;
    try {
      // The caller names the body's type; `expect` is what checks it.
      return (await follow(request, method, payloadOf(body), writes, scope)) as Answer;
    } finally {
      if (--running === 0) allEnded?.();
    }
  }

  const reader = (scope: CallScope): HttpReader => {
    // A call may have any number of requests under way, each listening for its end.
    setMaxListeners(0, scope.signal);
    return {
      read: (request) => call(request, request.method ?? "GET", { json: request.json }, false, scope),
    };
  };
  const client = (scope: CallScope): HttpClient => ({
    ...reader(scope),
    write: (request) => call(request, request.method, request, true, scope),
  });

  /** Waits for the calls under way, which end with their own time, and destroys every socket. */
  async function close(): Promise<void> {
    closed = true;
    if (running > 0) {
      await new Promise<void>((resolve) => {
        allEnded = resolve;
      });
    }
    const wire = await opening?.catch(() => undefined);
    wire?.destroy();
  }

  return { client, reader, close };
}
