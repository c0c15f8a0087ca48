import { refuseArgument } from "@reversi-connector/core";
import { encodeSegment } from "@reversi-connector/http";

/** One object. */
export interface Place {
  readonly bucket: string;
  readonly key: string;
}

export const backupPrefix = ".reversi-backups/";

/** Before a bucket's name becomes part of a host: it cannot lead to another one. @throws InvalidArgumentsError */
export function checkBucket(bucket: string): void {
  const shape = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
  if (!shape.test(bucket))
    refuseArgument("bucket", "must be a bucket's name: 3 to 63 of a-z, 0-9, dot and hyphen");
  if (/\.\.|\.-|-\./.test(bucket))
    refuseArgument("bucket", "must not hold two dots, or a dot and a hyphen, in a row");
  if (/^\d+(\.\d+){3}$/.test(bucket)) refuseArgument("bucket", "must not look like an IP address");
  if (/^xn--|--x-s3$|--ol-s3$|\.mrap$|-s3alias$/.test(bucket))
    refuseArgument("bucket", "must be a general purpose bucket: no directory bucket, access point or alias");
}

/**
 * The key percent-encoded once, its slashes as they are: the bytes on the wire, and the bytes signed.
 * @throws InvalidArgumentsError for what no request can carry unchanged
 */
export function encodeKey(key: string): string {
  if (!key.isWellFormed()) refuseArgument("key", "holds a lone surrogate");
  if (Buffer.byteLength(key) > 1024) refuseArgument("key", "must have at most 1024 bytes of UTF-8");
  const parts = key.split("/");
  if (parts.some((part) => part === "." || part === ".."))
    refuseArgument(
      "key",
      'must not have a segment that is "." or "..": URL parsers and proxies fold it into another key',
    );
  return parts.map((part) => (part === "" ? "" : encodeSegment(part))).join("/");
}

/** A place that a tool may be called with. @throws InvalidArgumentsError naming the argument */
export function checkPlace({ bucket, key }: Place): void {
  checkBucket(bucket);
  if (key.startsWith(backupPrefix))
    refuseArgument("key", `must not be below ${backupPrefix}: backups are not for tools`);
  encodeKey(key);
}

/** Where an object is copied from, as a header says it. */
export const copySource = ({ bucket, key }: Place): string => `/${bucket}/${encodeKey(key)}`;

export interface Addressing {
  readonly region: string;
  readonly endpoint?: string | undefined;
}

/** Partitions whose hosts end otherwise. */
const suffixes = { "cn-": "amazonaws.com.cn", "eusc-": "amazonaws.eu" };

/** The base URL for a bucket and what goes before its keys. A name with dots would not fit the certificate of its own host. */
export function addressOf({ region, endpoint }: Addressing, bucket: string) {
  const partition = Object.entries(suffixes).find(([prefix]) => region.startsWith(prefix));
  const host = `s3.${region}.${partition?.[1] ?? "amazonaws.com"}`;
  const inPath = { baseUrl: endpoint ?? `https://${host}`, prefix: `/${bucket}` };
  return endpoint !== undefined || bucket.includes(".")
    ? inPath
    : { baseUrl: `https://${bucket}.${host}`, prefix: "" };
}
