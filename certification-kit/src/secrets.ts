import { inspect } from "node:util";
import { errorBody } from "@reversi-connector/core";

/** A form in which a credential may come to light, and what it is called. */
export interface Form {
  readonly name: string;
  readonly text: string;
}

const percentAll = (secret: string) =>
  [...Buffer.from(secret)].map((byte) => `%${byte.toString(16).padStart(2, "0").toUpperCase()}`).join("");
const unicodeAll = (secret: string) =>
  [...secret].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
const base64Of = (text: string) => Buffer.from(text).toString("base64");
const base64url = (text: string) => Buffer.from(text).toString("base64url");
const entities = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** The credential in every form that vendors, proxies and libraries really send back. */
export const formsOf = (secret: string): Form[] =>
  [
    { name: "as it is", text: secret },
    { name: "percent-encoded", text: encodeURIComponent(secret) },
    { name: "percent-encoded throughout", text: percentAll(secret) },
    { name: "Base64", text: base64Of(secret) },
    { name: "Base64 in a pair", text: base64Of(`user:${secret}`) },
    { name: "Base64 in a pair with colon", text: base64Of(`${secret}:`) },
    { name: "base64url", text: base64url(`x${secret}`) },
    { name: "JSON-escaped", text: JSON.stringify(secret).slice(1, -1) },
    { name: "escaped as \\u", text: unicodeAll(secret) },
    { name: "HTML-escaped", text: entities(secret) },
    { name: "hexadecimal", text: Buffer.from(secret).toString("hex") },
  ].filter(({ text }, index, all) => all.findIndex((other) => other.text === text) === index);

/** For each of the three alignments, what Base64 makes of the secret alone, wherever it stands. */
const base64Needles = (secret: string): string[] =>
  [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]);
    const inner = bytes
      .toString("base64")
      .slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6));
    return [inner, inner.replaceAll("+", "-").replaceAll("/", "_")];
  });

/** Every piece of half its length: what truncation before redaction leaves is a leak too. */
function pieces(secret: string): string[] {
  const length = Math.max(12, Math.ceil(secret.length / 2));
  if (secret.length <= length) return [secret];
  return Array.from({ length: secret.length - length + 1 }, (_, at) => secret.slice(at, at + length));
}

const decodePercent = (text: string) =>
  text.replace(/(?:%[0-9a-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll("%", ""), "hex").toString("latin1"),
  );
const decodeUnicode = (text: string) =>
  text.replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
const decodeEscapes = (text: string) => text.replace(/\\(["\\/'])/g, "$1");
const decodeEntities = (text: string) =>
  text
    .replaceAll("&quot;", '"')
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replaceAll("&amp;", "&");

/** The text, and what it says behind one and two layers of escapes. */
function readings(text: string): string[] {
  const found = new Set([text]);
  for (let layer = 0; layer < 2; layer++) {
    for (const reading of [...found]) {
      for (const decode of [decodePercent, decodeUnicode, decodeEscapes, decodeEntities]) {
        found.add(decode(reading));
      }
    }
  }
  return [...found];
}

const literally = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

/** Blocks of which one stands in every piece: told at one glance whether a closer look is worth it. */
function glance(secrets: readonly string[]): RegExp {
  const blocks = secrets.flatMap((secret) => {
    const length = Math.max(6, Math.floor((pieces(secret)[0]?.length ?? 0) / 2));
    return Array.from({ length: Math.floor(secret.length / length) }, (_, at) =>
      secret.slice(at * length, (at + 1) * length),
    );
  });
  return new RegExp(blocks.map(literally).join("|"), "i");
}

/** Looks for a credential by its own means: whoever shares the redactor's code would share its mistakes. */
export function searcherFor(secret: string) {
  const exact = [secret, ...base64Needles(secret)];
  const hex = Buffer.from(secret).toString("hex");
  const worth = glance([...exact, hex]);
  const [exactPieces, hexPieces] = [exact.flatMap(pieces), pieces(hex)];
  /** What of the credential stands in `text`; undefined when nothing does. */
  return (text: string): string | undefined => {
    for (const reading of readings(text)) {
      if (!worth.test(reading)) continue;
      const lower = reading.toLowerCase();
      const found =
        exactPieces.find((piece) => reading.includes(piece)) ??
        hexPieces.find((piece) => lower.includes(piece));
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

/** Everything that anybody could print of a thrown value, its causes included. */
export function textsOf(error: unknown): string {
  const texts = new Set([inspect(error, { depth: 12, showHidden: true, getters: true }), String(error)]);
  for (let at: unknown = error, depth = 0; typeof at === "object" && at !== null && depth < 8; depth++) {
    const { message, stack, cause } = at as { message?: unknown; stack?: unknown; cause?: unknown };
    texts.add(String(message)).add(String(stack));
    for (const key of Reflect.ownKeys(at)) texts.add(inspect(Reflect.get(at, key), { depth: 12 }));
    at = cause;
  }
  texts.add(JSON.stringify(error) ?? "").add(JSON.stringify(errorBody(error)));
  return [...texts].join("\n");
}
