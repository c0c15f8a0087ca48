import { hash } from "node:crypto";

/** JSON with the keys of each object sorted by UTF-16 unit, as `JSON.stringify` writes it otherwise: the order of lists counts. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const object = value as Readonly<Record<string, unknown>>;
  if (typeof object["toJSON"] === "function") return canonicalJson(object["toJSON"]());
  const entries = Object.keys(object)
    .filter((key) => object[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(object[key])}`);
  return `{${entries.join(",")}}`;
}

/** SHA-256 of bytes, or of a text as UTF-8, in hex. */
export const sha256Hex = (data: string | Uint8Array): string => hash("sha256", data, "hex");

/** SHA-256 of the canonical JSON, in hex. */
export const hashOf = (value: unknown): string => sha256Hex(canonicalJson(value));
