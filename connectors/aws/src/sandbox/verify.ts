import { createHash, createHmac } from "node:crypto";
import type { SandboxReply, SandboxRequest } from "@reversi-connector/http/sandbox";
import { failure, keys, longLived } from "./wire.ts";
import type { World } from "./world.ts";

// How a receiver checks Signature Version 4: from the request line and the raw headers alone. It shares no code with the
// connector's signer, so that a mistake in one is not repeated by the other.

interface Claim {
  readonly accessKeyId: string;
  readonly date: string;
  readonly region: string;
  readonly service: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
}

const shape =
  /^AWS4-HMAC-SHA256 Credential=([^/,\s]+)\/(\d{8})\/([a-z0-9-]+)\/([a-z0-9]+)\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/;

function claimIn(authorization: string): Claim | undefined {
  const found = shape.exec(authorization);
  if (!found) return undefined;
  const [, accessKeyId = "", date = "", region = "", service = "", names = "", signature = ""] = found;
  return { accessKeyId, date, region, service, signedHeaders: names.split(";"), signature };
}

/** Everything but unreserved characters as upper-case escapes, from whatever stood there. */
const encode = (text: string) =>
  Array.from(Buffer.from(text), (byte) => {
    const character = String.fromCharCode(byte);
    return /[A-Za-z0-9._~-]/.test(character)
      ? character
      : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }).join("");
const recoded = (raw: string) => encode(decodeURIComponent(raw));

function canonicalPath(pathname: string): string {
  return pathname.split("/").map(recoded).join("/");
}
function canonicalParameters(search: string): string {
  const pairs: string[] = [];
  for (const part of search.split("&")) {
    if (part === "") continue;
    const at = part.indexOf("=");
    const [name, value] = at < 0 ? [part, ""] : [part.slice(0, at), part.slice(at + 1)];
    pairs.push(`${recoded(name)}\u0000${recoded(value)}`);
  }
  return pairs
    .sort()
    .map((pair) => pair.replace("\u0000", "="))
    .join("&");
}

function valuesOf(rawHeaders: readonly string[], name: string): string {
  const values: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === name)
      values.push(
        (rawHeaders[at + 1] ?? "")
          .split(" ")
          .filter((word) => word !== "")
          .join(" "),
      );
  }
  return values.join(",");
}

function expected(
  { method, path, rawHeaders, headers }: SandboxRequest,
  claim: Claim,
  secret: string,
): string {
  const mark = path.indexOf("?");
  const [pathname, search] = mark < 0 ? [path, ""] : [path.slice(0, mark), path.slice(mark + 1)];
  let canonical = `${method}\n${canonicalPath(pathname)}\n${canonicalParameters(search)}\n`;
  for (const name of claim.signedHeaders) canonical += `${name}:${valuesOf(rawHeaders, name)}\n`;
  canonical += `\n${claim.signedHeaders.join(";")}\n${headers["x-amz-content-sha256"]}`;
  const scope = `${claim.date}/${claim.region}/${claim.service}/aws4_request`;
  const digest = createHash("sha256").update(canonical, "utf8").digest("hex");
  let key: Buffer = Buffer.from(`AWS4${secret}`);
  for (const part of scope.split("/")) key = createHmac("sha256", key).update(part).digest();
  const text = `AWS4-HMAC-SHA256\n${headers["x-amz-date"]}\n${scope}\n${digest}`;
  return createHmac("sha256", key).update(text).digest("hex");
}

const timeIn = (date: string | undefined): number => {
  const found = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date ?? "");
  return found ? Date.parse(`${found.slice(1, 4).join("-")}T${found.slice(4).join(":")}Z`) : Number.NaN;
};
const quarterHour = 15 * 60_000;

function checkKeys(world: World, { accessKeyId }: Claim, token: string | undefined): SandboxReply | string {
  if (accessKeyId === longLived.accessKeyId && token === undefined) return longLived.secretAccessKey;
  if (accessKeyId !== keys.accessKeyId && accessKeyId !== longLived.accessKeyId) {
    const message = "The AWS Access Key Id you provided does not exist in our records.";
    return failure(403, "InvalidAccessKeyId", message, { AWSAccessKeyId: accessKeyId });
  }
  if (accessKeyId !== keys.accessKeyId || token !== keys.sessionToken)
    return failure(400, "InvalidToken", "The provided token is malformed or otherwise invalid.", {
      "Token-0": token ?? "",
    });
  return world.token === "good"
    ? keys.secretAccessKey
    : failure(400, "ExpiredToken", "The provided token has expired.", { "Token-0": token });
}

/** What S3 refuses before it looks at what is asked; undefined lets the request pass. */
export function verify(world: World, request: SandboxRequest): SandboxReply | undefined {
  const { headers, rawHeaders, bytes } = request;
  const authorization = headers["authorization"];
  if (authorization === undefined) return failure(403, "AccessDenied", "Access Denied");
  const claim = claimIn(authorization);
  if (claim?.service !== "s3")
    return failure(400, "AuthorizationHeaderMalformed", "The authorization header is malformed.");
  if (claim.region !== world.region) {
    const message = `The authorization header is malformed; the region '${claim.region}' is wrong; expecting '${world.region}'`;
    return failure(400, "AuthorizationHeaderMalformed", message, { Region: world.region });
  }
  const payload = headers["x-amz-content-sha256"];
  if (payload === undefined)
    return failure(400, "InvalidRequest", "Missing required header for this request: x-amz-content-sha256");
  const sent = timeIn(headers["x-amz-date"]);
  if (Number.isNaN(sent) || !headers["x-amz-date"]?.startsWith(claim.date))
    return failure(403, "AccessDenied", "AWS authentication requires a valid Date or x-amz-date header");
  const now = Date.now() + world.clockAhead;
  if (Math.abs(now - sent) > quarterHour) {
    const message = "The difference between the request time and the current time is too large.";
    return failure(403, "RequestTimeTooSkewed", message, { ServerTime: new Date(now).toISOString() });
  }
  const secret = checkKeys(world, claim, headers["x-amz-security-token"]);
  if (typeof secret !== "string") return secret;
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  const unsigned = names.find(
    (name) => (name.startsWith("x-amz-") || name === "host") && !claim.signedHeaders.includes(name),
  );
  if (unsigned !== undefined) {
    const message = "There were headers present in the request which were not signed";
    return failure(403, "AccessDenied", message, { HeadersNotSigned: unsigned });
  }
  if (expected(request, claim, secret) !== claim.signature) {
    const message = "The request signature we calculated does not match the signature you provided.";
    // S3 repeats what was signed, session token and all.
    const more = { AWSAccessKeyId: claim.accessKeyId, CanonicalRequest: rawHeaders.join("\n") };
    return failure(403, "SignatureDoesNotMatch", message, more);
  }
  const hash = createHash("sha256").update(bytes).digest("hex");
  if (payload !== hash && payload !== "UNSIGNED-PAYLOAD") {
    const message = "The provided 'x-amz-content-sha256' header does not match what was computed.";
    return failure(400, "XAmzContentSHA256Mismatch", message, { ClientComputedContentSHA256: payload });
  }
  return undefined;
}
