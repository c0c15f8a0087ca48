import { ConnectorError } from "@reversi-connector/core";
import type { HttpAnswer, VendorProblem } from "@reversi-connector/http";
import { parseXml, textOf } from "@reversi-connector/http/xml";

/** Our own words for Azure's codes: its messages may hold the parts of a token and of whole requests. */
const meanings: Readonly<Record<string, string>> = {
  AuthenticationFailed: "the token was not accepted",
  AuthorizationFailure: "access denied by the account's network rules",
  AuthorizationPermissionMismatch:
    "access denied: the role Storage Blob Data Reader is needed to read, Storage Blob Data Contributor to write (new grants take minutes)",
  BlobAlreadyExists: "there is a blob already",
  BlobArchived: "the blob is archived: rehydrate it first",
  BlobImmutableDueToPolicy: "an immutability policy or a legal hold protects the blob",
  BlobNotFound: "there is no such blob",
  CannotVerifyCopySource: "Azure cannot read what is to be copied",
  ConditionNotMet: "the blob is another one than was read",
  ContainerBeingDeleted: "the container is being deleted",
  ContainerNotFound: "there is no such container",
  DirectoryIsNotEmpty: "it is a directory, and not an empty one",
  InternalError: "Azure failed inside",
  InvalidAuthenticationInfo: "the token has expired or is for something else than https://storage.azure.com/",
  InvalidBlobType: "it is not a block blob",
  LeaseIdMissing: "somebody holds a lease on the blob: try again once it is released",
  Md5Mismatch: "the content was damaged on its way",
  NoAuthenticationInformation: "Azure wants a token",
  OperationTimedOut: "Azure took too long",
  RequestBodyTooLarge: "larger than one request can carry",
  ServerBusy: "too many requests, or too much data, for the account",
  SnapshotsPresent: "the blob has snapshots, which would be lost with it: delete them first",
  SourceConditionNotMet: "what is to be copied is another one than was read",
  TargetConditionNotMet: "the blob is another one than was read",
};

/** What Azure says of a failure: its code, and our sentence for it. A HEAD has the code in its header alone. */
export function problem({ headers, text }: HttpAnswer<unknown>): VendorProblem {
  const root = parseXml(text.trim());
  const code = headers["x-ms-error-code"] ?? textOf(root?.name === "Error" ? root : undefined, "Code");
  const requestId = headers["x-ms-request-id"];
  if (code === undefined || !/^[A-Za-z][A-Za-z0-9]{0,60}$/.test(code)) return { requestId };
  return {
    reason: code,
    message: meanings[code] ?? code,
    requestId,
    rateLimited: code === "ServerBusy",
  };
}

/** Whether Azure refused with this status, and for one of these reasons where some are given. */
export const saysSo = (
  error: unknown,
  status: number,
  ...reasons: readonly (string | undefined)[]
): error is ConnectorError =>
  ConnectorError.is(error) &&
  error.status === status &&
  (reasons.length === 0 || reasons.includes(error.reason));

/** Somebody else was there between the look and the write, and Azure did nothing. */
export const isStale = (error: unknown): error is ConnectorError =>
  saysSo(error, 412) ||
  saysSo(error, 409, "BlobAlreadyExists") ||
  saysSo(error, 404, "BlobNotFound", "CannotVerifyCopySource");
