/** What a connector must never let out. */
export interface Secrets {
  /** The configured credentials, as given. */
  readonly values: readonly string[];
  /** Shapes of the vendor's tokens, for those nobody configured. Global regular expressions. */
  readonly patterns?: readonly RegExp[];
}

export interface Redactor {
  /** `text` with every form of every secret replaced by `[redacted]`. */
  text(text: string): string;
  /** A copy of `value` in which every string and every key went through `text`. */
  value(value: unknown): unknown;
  /** Where a configured secret stands in `value` (`body`, `labels[2]`), or undefined. Patterns do not count. */
  find(value: unknown): string | undefined;
}

const replacement = "[redacted]";
const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");

/**
 * What Base64 makes of `secret` wherever it stands in a longer text (a `user:secret` pair, say): for each of the three
 * alignments, the characters that depend on the secret alone.
 */
function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [0, 1, 2].flatMap((offset) => {
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes]);
    const first = Math.ceil((offset * 8) / 6);
    const last = Math.floor((shifted.length * 8) / 6);
    const inner = shifted.toString("base64").slice(first, last);
    return [inner, inner.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

const hexForms = (secret: string) => {
  const hex = Buffer.from(secret).toString("hex");
  return [hex, hex.toUpperCase()];
};

/** Every character percent-encoded or not, in either case: one pattern for all the encoders there are. */
const percentForm = (secret: string) =>
  Array.from(secret, (character) => {
    const encoded = Array.from(Buffer.from(character), (byte) => {
      const digits = byte.toString(16).padStart(2, "0");
      return `%${Array.from(digits, (digit) => (/\d/.test(digit) ? digit : `[${digit}${digit.toUpperCase()}]`)).join("")}`;
    }).join("");
    const plain = character === " " ? "(?: |\\+)" : literal(character);
    return `(?:${plain}|${encoded})`;
  }).join("");

/** JSON's escapes: `\"`, `\\`, `\/`, and `\u00e9` for anything. */
const jsonForm = (secret: string) =>
  Array.from(secret, (character) => {
    const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
    const unicode = units
      .map(
        (unit) =>
          `\\\\u${Array.from(unit.toString(16).padStart(4, "0"), (d) => (/\d/.test(d) ? d : `[${d}${d.toUpperCase()}]`)).join("")}`,
      )
      .join("");
    const escaped = literal(JSON.stringify(character).slice(1, -1));
    const slash = character === "/" ? "|\\\\/" : "";
    return `(?:${escaped}|${unicode}${slash})`;
  }).join("");

/** One expression for all forms of one secret, compiled once. */
const formsOf = (secret: string): string =>
  [
    percentForm(secret),
    jsonForm(secret),
    ...[...base64Forms(secret), ...hexForms(secret)].filter((form) => form.length >= 8).map(literal),
  ].join("|");

function* strings(value: unknown, at = ""): Generator<readonly [at: string, text: string]> {
  if (typeof value === "string") yield [at, value];
  else if (Array.isArray(value))
    for (const [index, item] of value.entries()) yield* strings(item, `${at}[${index}]`);
  else if (typeof value === "object" && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      const below = at === "" ? key : `${at}.${key}`;
      yield [below, key];
      yield* strings(inner, below);
    }
  }
}

/**
 * The one exit for everything that people or programs read: errors, logs, results.
 * Redact before truncating: half a secret matches nothing.
 */
export function redactor({ values, patterns = [] }: Secrets): Redactor {
  const secrets = [...new Set(values)].filter((secret) => secret !== "");
  const forms = secrets.length === 0 ? undefined : new RegExp(secrets.map(formsOf).join("|"), "g");
  const text = (input: string): string => {
    let clean = forms ? input.replace(forms, replacement) : input;
    for (const pattern of patterns) clean = clean.replace(pattern, replacement);
    return clean;
  };
  const value = (input: unknown): unknown => {
    if (typeof input === "string") return text(input);
    if (Array.isArray(input)) return input.map(value);
    if (typeof input === "object" && input !== null) {
      return Object.fromEntries(Object.entries(input).map(([key, inner]) => [text(key), value(inner)]));
    }
    return input;
  };
  const find = (input: unknown): string | undefined => {
    if (!forms) return undefined;
    for (const [at, candidate] of strings(input)) if (candidate.search(forms) !== -1) return at;
    return undefined;
  };
  return { text, value, find };
}
