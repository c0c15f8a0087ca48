import { ConnectorError } from "@reversi-connector/core";
import { answerOf, type HttpAnswer, type VendorProblem } from "@reversi-connector/http";
import { parseXml, textOf } from "@reversi-connector/http/xml";

/** Our own words for S3's codes: its messages may hold keys, tokens and whole signed requests. */
const meanings: Readonly<Record<string, string>> = {
  AccessDenied:
    "access denied: check the IAM actions of this tool, for objects with tags also s3:GetObjectTagging and s3:PutObjectTagging",
  AuthorizationHeaderMalformed: "the bucket is in another region",
  BadDigest: "the content was damaged on its way",
  ConditionalRequestConflict: "another request changes the object just now",
  EntityTooLarge: "larger than one request can carry",
  ExpiredToken: "the session token has expired",
  InternalError: "S3 failed inside",
  InvalidAccessKeyId: "S3 does not know the access key id",
  InvalidObjectState: "the object is archived: restore it from the archive first",
  InvalidToken: "S3 does not accept the session token",
  NoSuchBucket: "there is no such bucket",
  NoSuchKey: "there is no such object",
  NoSuchVersion: "there is no such version",
  NotImplemented: "this server does not implement what was asked",
  PreconditionFailed: "the object is another one than was read",
  RequestTimeTooSkewed: "this machine's clock is more than 15 minutes off",
  SignatureDoesNotMatch: "the signature does not match: check the secret access key",
  SlowDown: "too many requests",
};

const regionIn = (text: string | undefined) => (/^[a-z0-9-]{1,40}$/.test(text ?? "") ? text : undefined);

/** The error that a body is, if it is one. */
const errorIn = ({ text }: HttpAnswer<unknown>) => {
  const root = parseXml(text.trim());
  return root?.name === "Error" ? root : undefined;
};

/** The failure that a copy's answer with status 200 may hold; undefined when it holds none. */
export function failureIn(answer: HttpAnswer<string>, what: string): ConnectorError | undefined {
  if (errorIn(answer) === undefined) return undefined;
  const { reason, message = "failed", requestId } = problem(answer);
  return new ConnectorError(`HTTP ${answer.status}: ${what}: ${message} (${reason ?? "no code"})`, {
    status: answer.status,
    reason,
    requestId,
  });
}

/** What S3 says of a failure: its code, and our sentence for it. */
export function problem(answer: HttpAnswer<unknown>): VendorProblem {
  const error = errorIn(answer);
  const code = textOf(error, "Code");
  const requestId = answer.headers["x-amz-request-id"] ?? textOf(error, "RequestId");
  if (code === undefined || !/^[A-Za-z][A-Za-z0-9.]{0,60}$/.test(code)) return { requestId };
  const region = regionIn(textOf(error, "Region"));
  return {
    reason: code,
    message: (meanings[code] ?? code) + (region === undefined ? "" : `: set the region to ${region}`),
    requestId,
    rateLimited: /^SlowDown/.test(code),
    ...(code === "NotImplemented" && { mayHaveApplied: false }),
  };
}

/** Whether S3 refused with this status, and for this reason where one is given. */
export const saysSo = (error: unknown, status: number, reason?: string): error is ConnectorError =>
  ConnectorError.is(error) && error.status === status && (reason === undefined || error.reason === reason);

/** An error that also names the right region, where S3 names one in a redirect. */
export function withRegion(error: unknown): unknown {
  if (!saysSo(error, 301) && !saysSo(error, 307)) return error;
  const region = regionIn(answerOf(error)?.headers["x-amz-bucket-region"]);
  if (region === undefined) return error;
  return new ConnectorError(`${error.message}; the bucket is in the region ${region}: set the region to it`, {
    ...error,
    reason: error.status === 301 ? "PermanentRedirect" : "TemporaryRedirect",
  });
}
