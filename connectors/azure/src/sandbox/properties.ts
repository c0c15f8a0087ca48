import type { SandboxReply } from "@reversi-connector/http/sandbox";
import type { Call } from "./wire.ts";
import type { StoredBlob } from "./world.ts";

export const metadata = /^x-ms-meta-/;
const named = ["content-type", "content-encoding", "content-language", "content-disposition"] as const;

/** Metadata with its names as they were sent. @throws Azure's answer for a name that is no identifier */
export function metadataIn({ request, fail }: Call): Readonly<Record<string, string>> {
  const { rawHeaders } = request;
  const names = rawHeaders.filter((name, index) => index % 2 === 0 && metadata.test(name.toLowerCase()));
  if (names.some((name) => !/^x-ms-meta-[A-Za-z_][A-Za-z0-9_]*$/i.test(name)))
    fail(
      400,
      "InvalidMetadata",
      "The metadata specified is invalid. It has characters that are not permitted.",
    );
  return Object.fromEntries(names.map((name) => [name, request.headers[name.toLowerCase()] ?? ""]));
}

/** The content headers and the metadata that a write gives to its blob. */
export function headersIn(call: Call, type: string | undefined): Readonly<Record<string, string>> {
  const { headers } = call.request;
  const given = named.flatMap((name) => {
    const own = name === "content-type" ? (headers[name] ?? type) : headers[name];
    const value = headers[`x-ms-blob-${name}`] ?? own;
    return value === undefined ? [] : [[name, value] as const];
  });
  const cache = headers["x-ms-blob-cache-control"];
  return {
    ...Object.fromEntries(given),
    ...(cache !== undefined && { "cache-control": cache }),
    ...metadataIn(call),
  };
}

/** The tier that a write asks for; undefined for the account's default. */
export function tierIn({ request, fail }: Call): StoredBlob["tier"] {
  const tier = request.headers["x-ms-access-tier"];
  if (tier === undefined || tier === "Hot" || tier === "Cool" || tier === "Cold" || tier === "Archive")
    return tier;
  return fail(
    400,
    "InvalidHeaderValue",
    "The value for one of the HTTP headers is not in the correct format.",
  );
}

/** The answer to a write. */
export const written = (status: number, { etag, modified, md5 }: StoredBlob): SandboxReply => ({
  status,
  headers: {
    etag,
    "last-modified": modified.toUTCString(),
    "content-md5": md5,
    "x-ms-request-server-encrypted": "true",
  },
});
