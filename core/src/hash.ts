import { createHash } from "node:crypto";

const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : value !== null && typeof value === "object"
      ? Object.fromEntries(
          Object.keys(value)
            .sort()
            .map((key) => [key, sorted((value as Record<string, unknown>)[key])]),
        )
      : value;

/** JSON with sorted keys: equal values give equal text. */
export const canonicalJson = (value: unknown): string => JSON.stringify(sorted(value));

/** SHA-256 of the canonical JSON, in hex. */
export const hashOf = (value: unknown): string =>
  createHash("sha256").update(canonicalJson(value)).digest("hex");
