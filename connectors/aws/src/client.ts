import {
  type Connection,
  ConnectorError,
  EffectUncertainError,
  InvalidArgumentsError,
  type Redactor,
  sha256Hex,
  toolsFor,
} from "@reversi-connector/core";
import {
  type BodyAs,
  type BodyForm,
  type HttpAnswer,
  type HttpClient,
  type HttpReader,
  httpConnection,
  type OutgoingRequest,
  type ReadRequest,
  type WriteRequest,
} from "@reversi-connector/http";
import { addressOf, checkBucket, encodeKey } from "./names.ts";
import { problem, withRegion } from "./problems.ts";
import { amzDate, authorization, type Credentials } from "./sigv4.ts";

export interface AwsOptions extends Credentials {
  /** The region of the buckets, such as `eu-central-1`. */
  readonly region: string;
  /** Another server that speaks S3 (MinIO and the like), in place of Amazon's; addressed path-style. */
  readonly endpoint?: string | undefined;
  /** Certificates (PEM) to trust instead of the usual ones. */
  readonly ca?: string | undefined;
}

/** A bucket, or an object in it. */
export interface Target {
  readonly bucket: string;
  readonly key?: string;
}
type Read<Form extends BodyForm> = Omit<ReadRequest<Form>, "path" | "link" | "json"> & { readonly as: Form };
type Write = Omit<WriteRequest<"text">, "path" | "link" | "json" | "form" | "as">;

export type ConditionalWrite = "put" | "copy" | "delete";
/** Which writes the server holds to `If-Match` and `If-None-Match`, as far as it is known. */
export type Conditions = Map<ConditionalWrite, boolean>;

export interface S3Reader {
  /** @throws ConnectorError, InvalidArgumentsError */
  read<Form extends BodyForm>(
    target: Target,
    request: Read<Form>,
  ): Promise<HttpAnswer<BodyAs<Form, unknown>>>;
  readonly conditions: Conditions;
}
export interface S3Client extends S3Reader {
  /**
   * Sends a write, once. After the first one of a call no failure is plainly "not done" any more.
   * @throws EffectUncertainError, ConnectorError, InvalidArgumentsError
   */
  write(target: Target, request: Write): Promise<HttpAnswer<string>>;
}

/** Every tool of this package is declared through this. */
export const tool = toolsFor<S3Client, S3Reader>("aws");

/** The shapes of access key ids, and of what makes a presigned URL a credential. */
export const tokenPatterns: readonly RegExp[] = [
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /X-Amz-(?:Signature|Credential|Security-Token)=[^&\s"'<>]+/gi,
];

const signedHeaders = /^(?:host|content-type|if-match|if-none-match|x-amz-.*)$/;

/** Makes the headers that sign a request, from the very bytes that are sent. */
const signer =
  (credentials: Credentials, region: string, host: string) =>
  ({ method, path, headers, body }: OutgoingRequest) => {
    const { sessionToken } = credentials;
    const payloadHash = sha256Hex(body);
    const own = {
      "x-amz-date": amzDate(new Date()),
      "x-amz-content-sha256": payloadHash,
      ...(sessionToken !== undefined && { "x-amz-security-token": sessionToken }),
    };
    const all = Object.entries({ ...headers, ...own, host }).filter(([name]) => signedHeaders.test(name));
    const request = { method, path, headers: Object.fromEntries(all), payloadHash };
    return { ...own, authorization: authorization(request, credentials, { region, service: "s3" }) };
  };

/** @throws InvalidArgumentsError */
function checkAddressing({ region, endpoint }: AwsOptions): void {
  const refuse = (at: string, rule: string) => {
    throw new InvalidArgumentsError(`aws: ${at} ${rule}`, { problems: [{ at, rule }] });
  };
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(region)) refuse("region", "must be a region such as eu-central-1");
  if (endpoint === undefined) return;
  if (!/^https?:\/\//i.test(endpoint) || !URL.canParse(endpoint))
    refuse("endpoint", "must be an http(s) URL");
  const { username, password, search, hash } = new URL(endpoint);
  if (username || password) refuse("endpoint", "must not hold user info");
  if (search || hash || /[?#\s\\]/.test(endpoint)) refuse("endpoint", "must not hold a query or a fragment");
}

/** What went wrong after an earlier write of the same call: not "nothing was done". */
function afterWrite(error: unknown): unknown {
  if (!ConnectorError.is(error) || error.mayHaveApplied) return error;
  const answered = error.status !== undefined && error.status < 500;
  if (answered || error.reason?.startsWith("SlowDown")) return error;
  const message = `${error.message}; an earlier write of the same call was sent`;
  return new ConnectorError(message, { ...error, mayHaveApplied: true });
}

/** One connection for each host: with Amazon, one for each bucket. */
export function connect(
  options: AwsOptions,
  { redact }: { readonly redact: Redactor },
): Connection<S3Client, S3Reader> {
  checkAddressing(options);
  const { region, ca } = options;
  const connections = new Map<string, Connection<HttpClient, HttpReader>>();
  const conditions: Conditions = new Map();
  if (options.endpoint === undefined)
    for (const write of ["put", "copy", "delete"] as const) conditions.set(write, true);
  let closed = false;

  const open = (baseUrl: string) => {
    if (closed) throw new ConnectorError("the connection to S3 is closed; nothing was sent");
    const headersFor = signer(options, region, new URL(baseUrl).host);
    const connection = httpConnection({ baseUrl, redact, problem, headersFor, ca });
    connections.set(baseUrl, connection);
    return connection;
  };
  const locate = ({ bucket, key }: Target) => {
    checkBucket(bucket);
    const { baseUrl, prefix } = addressOf(options, bucket);
    const path = key === undefined ? prefix || "/" : `${prefix}/${encodeKey(key)}`;
    return { connection: connections.get(baseUrl) ?? open(baseUrl), path };
  };
  const whereItIs = (error: unknown): never => {
    throw withRegion(error);
  };

  return {
    reader: (scope) => ({
      conditions,
      read(target, request) {
        const { connection, path } = locate(target);
        return connection
          .reader(scope)
          .read<unknown, typeof request.as>({ ...request, path })
          .catch(whereItIs);
      },
    }),
    client(scope) {
      let wrote = false;
      const tracked = async <Answer>(sending: Promise<Answer>, writes: boolean): Promise<Answer> => {
        try {
          const answer = await sending;
          wrote ||= writes;
          return answer;
        } catch (error) {
          const told = withRegion(error);
          const before = wrote;
          wrote ||=
            writes &&
            (EffectUncertainError.is(told) || (ConnectorError.is(told) && told.status !== undefined));
          throw before ? afterWrite(told) : told;
        }
      };
      return {
        conditions,
        read(target, request) {
          const { connection, path } = locate(target);
          return tracked(
            connection.client(scope).read<unknown, typeof request.as>({ ...request, path }),
            false,
          );
        },
        write(target, request) {
          const { connection, path } = locate(target);
          const sent = { ...request, path, as: "text" as const };
          return tracked(connection.client(scope).write<unknown, "text">(sent), true);
        },
      };
    },
    async close() {
      closed = true;
      await Promise.all([...connections.values()].map((connection) => connection.close()));
    },
  };
}
