import { callUuid, refuseArgument } from "@reversi-connector/core";
import { path } from "@reversi-connector/http";

/** One object. */
export interface Place {
  readonly bucket: string;
  readonly object: string;
}

export const backupPrefix = ".reversi-backups/";

/** @throws InvalidArgumentsError naming the argument */
/** @throws InvalidArgumentsError */
export function checkBucket(bucket: string): void {
  const parts = bucket.split(".");
  if (parts.some((part) => part === "" || part.length > 63))
    refuseArgument("bucket", "must be a bucket's name: parts of 1 to 63 characters between its dots");
}

/** An object that a tool may be called with. @throws InvalidArgumentsError naming the argument */
export function checkPlace({ bucket, object }: Place): void {
  checkBucket(bucket);
  if (!object.isWellFormed()) refuseArgument("object", "holds a lone surrogate");
  if (Buffer.byteLength(object) > 1024) refuseArgument("object", "must have at most 1024 bytes of UTF-8");
  if (/[\r\n]/.test(object)) refuseArgument("object", "must not hold a line break");
  if (object.split("/").some((part) => part === "." || part === ".."))
    refuseArgument("object", 'must not have a segment that is "." or ".."');
  if (object.startsWith(backupPrefix))
    refuseArgument("object", `must not be below ${backupPrefix}: backups are not for tools`);
}

/** The whole name is one segment, its slashes encoded. */
export const objectPath = ({ bucket, object }: Place) => path`/storage/v1/b/${bucket}/o/${object}`;
export const listPath = (bucket: string) => path`/storage/v1/b/${bucket}/o`;
export const uploadPath = (bucket: string) => path`/upload/storage/v1/b/${bucket}/o`;
export const rewritePath = (from: Place, to: Place) =>
  path`/storage/v1/b/${from.bucket}/o/${from.object}/rewriteTo/b/${to.bucket}/o/${to.object}`;

/** Where the backup of a call goes. */
export const backupKeyFor = (idempotencyKey: string | undefined, what: object): string =>
  `${backupPrefix}${callUuid(idempotencyKey, { entity: "backup", ...what })}`;
