import { callUuid, refuseArgument } from "@reversi-connector/core";
import { encodeSegment } from "@reversi-connector/http";

/** One blob. */
export interface Place {
  readonly container: string;
  readonly blob: string;
}

export const backupPrefix = ".reversi-backups/";

/** Before an account's name becomes part of a host: it cannot lead to another one. @throws InvalidArgumentsError */
export function checkAccount(account: string): void {
  if (!/^[a-z0-9]{3,24}$/.test(account))
    refuseArgument("account (AZURE_STORAGE_ACCOUNT)", "must be 3 to 24 lower-case letters and digits");
}

/** @throws InvalidArgumentsError never repeating it: it may hold a password */
export function checkEndpoint(endpoint: string): void {
  if (!/^https?:\/\/[\w.:[\]-]+(?:\/[\w./~-]*)?$/i.test(endpoint) || !URL.canParse(endpoint))
    refuseArgument("endpoint", "must be an http(s) address without user info, query and fragment");
}

/** @throws InvalidArgumentsError */
export function checkContainer(container: string): void {
  if (!/^(?:\$root|\$web|[a-z0-9](?!.*--)[a-z0-9-]{1,61}[a-z0-9])$/.test(container))
    refuseArgument("container", "must be a container's name: 3 to 63 of a-z, 0-9 and single hyphens");
}

/**
 * The name percent-encoded once, its slashes as they are.
 * @throws InvalidArgumentsError for what no request can carry unchanged, and what Azure takes for another name
 */
function encodeBlob(blob: string): string {
  if (!blob.isWellFormed()) refuseArgument("blob", "holds a lone surrogate");
  if (blob.length > 1024) refuseArgument("blob", "must have at most 1024 characters");
  if (/[\\\p{Cc}]/u.test(blob)) refuseArgument("blob", "must not hold a backslash or a control character");
  if (blob.endsWith("/")) refuseArgument("blob", "must not end with a slash");
  const parts = blob.split("/");
  if (parts.length > 254) refuseArgument("blob", "must have at most 254 segments");
  if (parts.some((part) => part.endsWith(".")))
    refuseArgument(
      "blob",
      "must not have a segment that ends with a dot: it would be folded into another name",
    );
  return parts.map((part) => (part === "" ? "" : encodeSegment(part))).join("/");
}

/** A blob that a tool may be called with. @throws InvalidArgumentsError naming the argument */
export function checkPlace({ container, blob }: Place): void {
  checkContainer(container);
  // Where folders are real ones, slashes at the beginning count for nothing.
  if (blob.replace(/^\/+/, "").startsWith(backupPrefix))
    refuseArgument("blob", `must not be below ${backupPrefix}: backups are not for tools`);
  encodeBlob(blob);
}

/** The raw path of a container or a blob. @throws InvalidArgumentsError */
export function pathOf({ container, blob }: { readonly container: string; readonly blob?: string }): string {
  checkContainer(container);
  return blob === undefined ? `/${container}` : `/${container}/${encodeBlob(blob)}`;
}

/** Where the backup of a call goes. */
export const backupKeyFor = (idempotencyKey: string | undefined, what: object): string =>
  `${backupPrefix}${callUuid(idempotencyKey, { entity: "backup", ...what })}`;
