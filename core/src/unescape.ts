/**
 * Every escape that text meets on its way, one or more layers of each at once: percent-encoding (`%2F`, `%252F`), JSON and
 * source code (`\"`, `\/`, `\u00e9`, `\\u00e9`), HTML (`&amp;`, `&#39;`, `&amp;quot;`). Each alternative is linear, and without
 * groups, which would make replacing several times slower.
 */
const escapes = new RegExp(
  [
    "%(?:25)*[0-9a-f]{2}",
    String.raw`\\+u(?:d[89ab][0-9a-f]{2}\\+ud[c-f]|[0-9a-f]{2})[0-9a-f]{2}`,
    String.raw`\\+x[0-9a-f]{2}`,
    String.raw`\\+[nrtbf"'/]`,
    String.raw`\\{2,}`,
    String.raw`&(?:amp;)*(?:#0*\d{1,7}|#x0*[0-9a-f]{1,6}|amp|lt|gt|quot|apos);`,
  ].join("|"),
  "gi",
);
const letters: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };
const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const layers = 4;

/** False where there is certainly nothing to unescape. */
export const looksEscaped = (text: string) => text.includes("%") || text.includes("\\") || text.includes("&");

/** A text and, for each place in it, the place in the text that it was made from. */
export interface Unescaped {
  readonly text: string;
  origin(index: number): number;
}

const characterOf = (codePoint: number) =>
  codePoint > 0x10ffff ? "" : Buffer.from(String.fromCodePoint(codePoint)).toString("latin1");
const numberOf = (hexadecimal: string) => Number.parseInt(hexadecimal, 16);

/** What one escape stands for, as one character per byte of UTF-8. */
function meaning(escaped: string): string {
  switch (escaped.charAt(0)) {
    case "%":
      return String.fromCharCode(numberOf(escaped.slice(-2)));
    case "&": {
      const name = (/[^&;]+(?=;$)/.exec(escaped)?.[0] ?? "").toLowerCase();
      if (!name.startsWith("#")) return entities[name] ?? "";
      return characterOf(name.startsWith("#x") ? numberOf(name.slice(2)) : Number(name.slice(1)));
    }
    default: {
      const letter = escaped.slice(escaped.search(/[^\\]|$/)).toLowerCase();
      if (letter === "") return "\\";
      if (letter.startsWith("x")) return String.fromCharCode(numberOf(letter.slice(1)));
      if (!letter.startsWith("u")) return letters[letter] ?? letter;
      const units = letter.split(/[\\u]+/).slice(1);
      return Buffer.from(String.fromCharCode(...units.map(numberOf))).toString("latin1");
    }
  }
}

/** One round; undefined when there was nothing to do. */
function unescapeOnce(input: string): Unescaped | undefined {
  // After each escape: where the output stands, and where the input does.
  const outs = [0];
  const ins = [0];
  let removed = 0;
  const text = input.replace(escapes, (escaped: string, start: number) => {
    const end = start + escaped.length;
    const plain = meaning(escaped);
    removed += escaped.length - plain.length;
    ins.push(end);
    outs.push(end - removed);
    return plain;
  });
  if (text === input) return undefined;
  const origin = (index: number) => {
    let low = 0;
    let high = outs.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((outs[middle] ?? 0) <= index) low = middle;
      else high = middle;
    }
    return (ins[low] ?? 0) + index - (outs[low] ?? 0);
  };
  return { text, origin };
}

/**
 * What a text is when nothing in it is escaped any more: two texts that differ only in their escapes become equal.
 * In: text, or one character per byte of UTF-8. Out: one character per byte where anything was unescaped.
 */
export function canonical(input: string): Unescaped {
  const rounds: Unescaped[] = [];
  let text = input;
  for (let round = 0; round < layers; round++) {
    const next = unescapeOnce(text);
    if (!next) break;
    rounds.unshift(next);
    text = next.text;
  }
  return { text, origin: (index) => rounds.reduce((at, round) => round.origin(at), index) };
}
