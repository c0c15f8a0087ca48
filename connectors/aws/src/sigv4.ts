import { createHmac } from "node:crypto";
import { sha256Hex } from "@reversi-connector/core";

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** A request in the bytes in which it goes on the wire; every header in it is signed. */
export interface Signable {
  readonly method: string;
  /** Percent-encoded already, with the query: signed as it stands, never encoded again and never normalised. */
  readonly path: string;
  /** Names in lower case, `host` and `x-amz-date` among them. */
  readonly headers: Readonly<Record<string, string>>;
  /** SHA-256 of the body in hexadecimal, or `UNSIGNED-PAYLOAD`. */
  readonly payloadHash: string;
}

/** For what a signature is good. */
export interface Scope {
  readonly region: string;
  readonly service: string;
}

const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();

const byCode = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** Pairs sorted by name, then by value; a name without a value gets an empty one. */
function canonicalQuery(query: string): string {
  const pairs = query
    .split("&")
    .filter((pair) => pair !== "")
    .map((pair): [string, string] => {
      const [name = "", ...value] = pair.split("=");
      return [name, value.join("=")];
    });
  pairs.sort(([a, x], [b, y]) => byCode(a, b) || byCode(x, y));
  return pairs.map(([name, value]) => `${name}=${value}`).join("&");
}

const namesOf = (headers: Signable["headers"]) => Object.keys(headers).sort(byCode);
const canonicalValue = (value: string) => value.trim().replace(/ +/g, " ");

/** The request in the one form that both sides hash. */
export function canonicalRequest({ method, path, headers, payloadHash }: Signable): string {
  const names = namesOf(headers);
  const [pathname = "", ...query] = path.split("?");
  return [
    method,
    pathname,
    canonicalQuery(query.join("?")),
    ...names.map((name) => `${name}:${canonicalValue(headers[name] ?? "")}`),
    "",
    names.join(";"),
    payloadHash,
  ].join("\n");
}

const scopeOf = (date: string, { region, service }: Scope) =>
  `${date.slice(0, 8)}/${region}/${service}/aws4_request`;

export const stringToSign = (request: Signable, scope: Scope): string => {
  const date = request.headers["x-amz-date"] ?? "";
  return ["AWS4-HMAC-SHA256", date, scopeOf(date, scope), sha256Hex(canonicalRequest(request))].join("\n");
};

/** AWS Signature Version 4 of a request, in hexadecimal. */
export function signature(request: Signable, secretAccessKey: string, scope: Scope): string {
  const date = request.headers["x-amz-date"] ?? "";
  const parts = [date.slice(0, 8), scope.region, scope.service, "aws4_request"];
  const key = parts.reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`);
  return hmac(key as Buffer, stringToSign(request, scope)).toString("hex");
}

/** The header `authorization` of a request. */
export function authorization(request: Signable, credentials: Credentials, scope: Scope): string {
  const { accessKeyId, secretAccessKey } = credentials;
  const credential = `${accessKeyId}/${scopeOf(request.headers["x-amz-date"] ?? "", scope)}`;
  const signed = namesOf(request.headers).join(";");
  const proof = signature(request, secretAccessKey, scope);
  return `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${signed}, Signature=${proof}`;
}

/** `20261130T101112Z` */
export const amzDate = (now: Date): string => now.toISOString().replace(/[-:]|\.\d+/g, "");
