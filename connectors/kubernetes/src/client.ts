import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import {
  type Connection,
  ConnectorError,
  type Redactor,
  refuseArgument,
  toolsFor,
} from "@reversi-connector/core";
import {
  answerOf,
  type HttpAnswer,
  type HttpClient,
  type HttpReader,
  httpConnection,
  type VendorProblem,
} from "@reversi-connector/http";

export interface KubernetesOptions {
  /** Address of the API server; a path in it (a proxy's, Rancher's) is kept. HTTPS, or HTTP on this machine. */
  readonly apiServer: string;
  /** Bearer token. One of a service account lives about an hour; nothing here renews it. */
  readonly token: string;
  /** Path of the certificates (PEM) to trust instead of the usual ones. */
  readonly caCert?: string | undefined;
}

/** Every tool of this package is declared through this. */
export const tool = toolsFor<HttpClient, HttpReader>("kubernetes");

/** The shapes of JSON Web Tokens, and of the tokens of Amazon's and Google's clusters. */
export const tokenPatterns: readonly RegExp[] = [
  /eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*/g,
  /k8s-aws-v1\.[A-Za-z0-9_-]+/g,
  /ya29\.[A-Za-z0-9._-]+/g,
];

/** @throws InvalidArgumentsError naming the option, and the variable that it comes from */
function certificatesIn(file: string): string {
  const at = "caCert (KUBE_CA_CERT)";
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    return refuseArgument(
      at,
      `must be a file that can be read: ${file} (${(error as { code?: unknown }).code})`,
    );
  }
  const found = text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  if (found.length === 0) refuseArgument(at, `must hold a certificate in PEM: ${file} holds none`);
  try {
    for (const each of found) new X509Certificate(each);
  } catch {
    refuseArgument(at, `must hold certificates: one in ${file} cannot be read`);
  }
  return found.join("\n");
}

const isLocal = (host: string) => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(host);

/** @throws InvalidArgumentsError naming the option, and the variable that it comes from */
function checkAddress(address: string): void {
  const at = "apiServer (KUBE_API_SERVER)";
  const url = URL.canParse(address)
    ? new URL(address)
    : refuseArgument(at, "must be an address such as https://10.0.0.1:6443");
  if (url.username !== "" || url.password !== "") refuseArgument(at, "must not hold a name or a password");
  if (/[?#]/.test(address)) refuseArgument(at, "must not hold a query or a fragment");
  if (url.protocol === "https:" || (url.protocol === "http:" && isLocal(url.hostname))) return;
  refuseArgument(at, "must begin with https://, for the token travels with every request");
}

export function connect(
  { apiServer, token, caCert }: KubernetesOptions,
  { redact }: { readonly redact: Redactor },
): Connection<HttpClient, HttpReader> {
  checkAddress(apiServer);
  return httpConnection({
    baseUrl: apiServer,
    redact,
    problem,
    headers: { authorization: `Bearer ${token}`, accept: "application/json" },
    ...(caCert !== undefined && { ca: certificatesIn(caCert) }),
  });
}

/** On every write: whose it is; and fields that the server does not know are refused, not dropped. */
export const asOurs = { fieldManager: "reversi-connectors", fieldValidation: "Strict" } as const;

/** An API object that says how a request ended. */
interface Status {
  readonly kind?: unknown;
  readonly reason?: unknown;
  readonly message?: unknown;
  readonly details?: {
    readonly name?: unknown;
    readonly kind?: unknown;
    readonly retryAfterSeconds?: unknown;
  };
}

const hints: Readonly<Record<string, string>> = {
  Unauthorized: "tokens of service accounts end after about an hour",
  Expired: "the cursor is too old: begin again without one",
};

/** What the API server says of a failure. */
function problem({ body }: HttpAnswer<unknown>): VendorProblem {
  const { kind, reason, message, details } = (body ?? {}) as Status;
  if (kind !== "Status" || typeof reason !== "string") return {};
  const hint = hints[reason];
  const wait = details?.retryAfterSeconds;
  return {
    reason,
    message: [message, hint].filter((part) => typeof part === "string").join(": "),
    ...(typeof wait === "number" && { retryAfterSeconds: wait }),
  };
}

/** Whether the API server refused with this status and for this reason. */
export const saysSo = (error: unknown, status: number, reason: string): error is ConnectorError =>
  ConnectorError.is(error) && error.status === status && error.reason === reason;

/** The credential may not do this. */
export const isForbidden = (error: unknown): error is ConnectorError => saysSo(error, 403, "Forbidden");
/** Only Kubernetes's own word on this very object counts: the 404 of a proxy, or for a cluster, says nothing. */
export function isMissing(error: unknown, kind: string, name: string): error is ConnectorError {
  if (!saysSo(error, 404, "NotFound")) return false;
  const { details } = (answerOf(error)?.body ?? {}) as Status;
  return details?.kind === kind && details.name === name;
}
/** Somebody else was quicker, or the object is another one. */
export const isStale = (error: unknown): error is ConnectorError => saysSo(error, 409, "Conflict");

/** What a read brings; undefined where the credential may not read. */
export async function unlessForbidden<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return undefined;
  }
}
