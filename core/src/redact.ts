import { deepest } from "./check.ts";
import { ConnectorError } from "./errors.ts";
import { canonical, looksEscaped } from "./unescape.ts";

/** What a connector must never let out. */
export interface Secrets {
  /** The configured credentials, as given. One of fewer than eight characters counts only where it stands by itself. */
  readonly values: readonly string[];
  /** Shapes of the vendor's tokens, for those nobody configured. Every match is replaced, with or without the flag `g`. */
  readonly patterns?: readonly RegExp[];
}

export interface Redactor {
  /** `text` with every form of every secret replaced by `[redacted]`. */
  text(text: string): string;
  /** A copy of the JSON `value` in which every string and every key went through `text`. */
  value(value: unknown): unknown;
  /**
   * Where a configured secret stands in `value` (`body`, `labels[2]`), or undefined. Patterns do not count.
   * @throws ConnectorError when the value is nested too deeply to be searched
   */
  find(value: unknown): string | undefined;
}

const replacement = "[redacted]";
const shortest = 8;

/** Something to look for. A short secret is no part of a word: `pw` is looked for in `u:pw@h`, not in `upward`. */
interface Needle {
  readonly form: string;
  readonly alone: boolean;
}
type Range = [start: number, end: number];

/** One character per byte of UTF-8: there, every escape stands for whole characters. */
const bytesOf = (text: string) =>
  Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString("latin1");
const textOf = (bytes: string) => Buffer.from(bytes, "latin1").toString();

/**
 * What Base64 makes of the secret wherever it stands in a longer text (a `user:secret` pair, say): for each of the three
 * alignments, the characters that depend on the secret alone.
 */
const base64Forms = (bytes: Buffer): string[] =>
  [0, 1, 2].flatMap((offset) => {
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes]);
    const first = Math.ceil((offset * 8) / 6);
    const last = Math.floor((shifted.length * 8) / 6);
    const inner = shifted.toString("base64").slice(first, last);
    return [inner, inner.replaceAll("+", "-").replaceAll("/", "_")];
  });

/** The secret itself, and its Base64 and hexadecimal forms, in UTF-8 and, where it can be written so, in Latin-1. */
function needlesOf(secret: string): Needle[] {
  const utf8 = Buffer.from(secret);
  const latin1 = Buffer.from(secret, "latin1");
  const asLatin1 = latin1.toString("latin1") === secret && latin1.length < utf8.length ? [latin1] : [];
  return [utf8, ...asLatin1].flatMap((bytes) => {
    const hex = bytes.toString("hex");
    const encoded = [...base64Forms(bytes), hex, hex.toUpperCase()].filter((form) => form.length >= shortest);
    return [
      { form: bytes.toString("latin1"), alone: secret.length < shortest },
      ...encoded.map((form) => ({ form, alone: false })),
    ];
  });
}

const inWord = (character: string) => /[a-z0-9\x80-\xff]/i.test(character);

/** Where `needle` stands in `text`, in order, what touches or overlaps joined. */
function* occurrences(text: string, { form, alone }: Needle): Generator<Range> {
  let open: Range | undefined;
  for (let start = text.indexOf(form); start !== -1; start = text.indexOf(form, start + 1)) {
    const end = start + form.length;
    if (alone && (inWord(text.charAt(start - 1)) || inWord(text.charAt(end)))) continue;
    if (open && start <= open[1]) open[1] = end;
    else {
      if (open) yield open;
      open = [start, end];
    }
  }
  if (open) yield open;
}

/** Looks for secrets in every form: as they are, encoded, and behind any escapes. */
function searcher(secrets: readonly string[]) {
  const raw = secrets.flatMap(needlesOf);
  // Forms write a blank as "+".
  const spaced = secrets.some((secret) => secret.includes(" "));
  const settled = (text: string) => (spaced ? text.replaceAll("+", " ") : text);
  const unescaped = raw.map(({ form, alone }) => ({ form: settled(canonical(form).text), alone }));
  const ascii = raw.every(({ form }) => Buffer.byteLength(form) === form.length);
  const least = Math.min(...[...raw, ...unescaped].map(({ form }) => form.length));

  function* ranges(text: string): Generator<Range> {
    if (text.length < least) return;
    for (const needle of raw) yield* occurrences(text, needle);
    if (!looksEscaped(text) && !(spaced && text.includes("+"))) return;
    const plain = canonical(text);
    const searched = settled(plain.text);
    for (const needle of unescaped) {
      for (const [start, end] of occurrences(searched, needle))
        yield [plain.origin(start), plain.origin(end)];
    }
  }
  return {
    /** Whether any secret is there. */
    has: (text: string) => ranges(ascii ? text : bytesOf(text)).next().done === false,
    /** `text` without them. */
    without(text: string): string {
      const bytes = ascii ? text : bytesOf(text);
      const found = [...ranges(bytes)].sort(([a], [b]) => a - b);
      if (found.length === 0) return text;
      let clean = "";
      let last = 0;
      for (const [start, end] of found) {
        // What overlaps the range before goes with it, and half a secret with the other.
        if (start >= last) clean += bytes.slice(last, start) + replacement;
        last = Math.max(last, end);
      }
      clean += bytes.slice(last);
      return bytes === text ? clean : textOf(clean);
    },
  };
}

/**
 * The one exit for everything that people or programs read: errors, logs, results.
 * Redact before truncating: half a secret matches nothing.
 */
export function redactor({ values, patterns = [] }: Secrets): Redactor {
  const secrets = [...new Set(values)].filter((secret) => secret.trim() !== "");
  const search = secrets.length === 0 ? undefined : searcher(secrets);
  const everywhere = patterns.map(
    ({ source, flags }) => new RegExp(source, `${flags.replace(/[gy]/g, "")}g`),
  );

  const text = (input: string): string => {
    let clean = search ? search.without(input) : input;
    for (const pattern of everywhere) clean = clean.replace(pattern, replacement);
    return clean;
  };
  const copy = (input: unknown, depth: number): unknown => {
    if (typeof input === "string") return text(input);
    if (typeof input !== "object" || input === null) return input;
    if (depth > deepest) return "[nested too deeply]";
    if (Array.isArray(input)) return input.map((item) => copy(item, depth + 1));
    return Object.fromEntries(
      Object.entries(input).map(([key, inner]) => [text(key), copy(inner, depth + 1)]),
    );
  };
  /** The place of a secret, put together on the way out. */
  const place = (input: unknown, depth: number): string | undefined => {
    if (typeof input === "string") return search?.has(input) ? "" : undefined;
    if (typeof input !== "object" || input === null) return undefined;
    if (depth > deepest)
      throw new ConnectorError(`nested deeper than ${deepest} levels: it cannot be searched for secrets`);
    if (Array.isArray(input)) {
      for (let index = 0; index < input.length; index++) {
        const inner = place(input[index], depth + 1);
        if (inner !== undefined) return `[${index}]${inner}`;
      }
      return undefined;
    }
    for (const key of Object.keys(input)) {
      const inner = search?.has(key) ? "" : place((input as Record<string, unknown>)[key], depth + 1);
      if (inner !== undefined) return `.${text(key)}${inner}`;
    }
    return undefined;
  };
  return {
    text,
    value: (input) => copy(input, 0),
    find: (input) => (search ? place(input, 0)?.replace(/^\./, "") : undefined),
  };
}
