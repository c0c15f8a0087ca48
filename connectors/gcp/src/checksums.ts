import { createHash } from "node:crypto";

export const md5Base64 = (bytes: Uint8Array): string => createHash("md5").update(bytes).digest("base64");

const table = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1;
  return value;
});

/** CRC-32C (Castagnoli), big-endian in Base64: the one checksum that Google has of every object. */
export function crc32c(bytes: Uint8Array): string {
  let value = 0xffffffff;
  for (const byte of bytes) value = (table[(value ^ byte) & 0xff] ?? 0) ^ (value >>> 8);
  const written = Buffer.alloc(4);
  written.writeUInt32BE((value ^ 0xffffffff) >>> 0);
  return written.toString("base64");
}
