import type { Call } from "./wire.ts";
import type { StoredBlob } from "./world.ts";

const isEtag = (text: string) => /^"[^"]+"$/.test(text);

/** The ETag or `*` that a condition names, its quotes exactly as they were handed out. */
export function conditionIn({ request, fail }: Call, header: string): string | undefined {
  const value = request.headers[header];
  if (value !== undefined && value !== "*" && !isEtag(value))
    fail(400, "InvalidHeaderValue", "The value for one of the HTTP headers is not in the correct format.");
  return value;
}

const notMet = ({ fail }: Call) =>
  fail(412, "ConditionNotMet", "The condition specified using HTTP conditional header(s) is not met.");

/** Holds a write to its conditions. `*` on a blob that is there is no 412 but a 409. */
export function checkConditions(call: Call, blob: StoredBlob | undefined): void {
  const match = conditionIn(call, "if-match");
  const noneMatch = conditionIn(call, "if-none-match");
  if (match !== undefined && noneMatch !== undefined)
    call.fail(400, "MultipleConditionHeadersNotSupported", "Multiple condition headers are not supported.");
  if (noneMatch === "*" && blob) call.fail(409, "BlobAlreadyExists", "The specified blob already exists.");
  if (noneMatch !== undefined && noneMatch === blob?.etag) notMet(call);
  if (match !== undefined && (!blob || (match !== "*" && match !== blob.etag))) notMet(call);
}

/** What keeps everybody off a blob, whatever its version. */
export function checkProtection({ fail }: Call, blob: StoredBlob | undefined): void {
  if (blob?.leased)
    fail(
      412,
      "LeaseIdMissing",
      "There is currently a lease on the blob and no lease ID was specified in the request.",
    );
  if (blob?.legalHold)
    fail(
      409,
      "BlobImmutableDueToPolicy",
      "This operation is not permitted as the blob is immutable due to a policy.",
    );
}
