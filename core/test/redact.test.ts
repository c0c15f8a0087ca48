import { redactor } from "../src/index.ts";

const token = "ghp_aB3/dE5+gH7jK9mN1pQ3rS5tU7vW9xY1z";
const { text, value, find } = redactor({ values: [token] });
const escapedUnicode = (plain: string) =>
  plain.replace(/./gsu, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
const strictly = (plain: string) =>
  Array.from(Buffer.from(plain), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
const html = (plain: string) =>
  plain.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;").replaceAll("'", "&#39;");

/** Everything that programs on the way make of a text. */
const forms: Readonly<Record<string, (plain: string) => string>> = {
  raw: (plain) => plain,
  "percent-encoded": encodeURIComponent,
  "percent-encoded in lower case": (plain) =>
    encodeURIComponent(plain).replace(/%../g, (hex) => hex.toLowerCase()),
  "percent-encoded, every byte": strictly,
  "percent-encoded in mixed case": (plain) =>
    strictly(plain).replace(/[a-f]/g, (digit, at: number) => (at % 2 ? digit : digit.toUpperCase())),
  "percent-encoded in part": (plain) => encodeURIComponent(plain.slice(0, 9)) + plain.slice(9),
  "percent-encoded twice": (plain) => encodeURIComponent(encodeURIComponent(plain)),
  "percent-encoded three times": (plain) => encodeURIComponent(encodeURIComponent(encodeURIComponent(plain))),
  "a form's field": (plain) => new URLSearchParams({ plain }).toString().slice(6),
  "a text in JSON": (plain) => JSON.stringify(plain).slice(1, -1),
  "a text in JSON in JSON": (plain) => JSON.stringify(JSON.stringify(plain)).slice(3, -3),
  "JSON three times over": (plain) => JSON.stringify(JSON.stringify(JSON.stringify(plain))).slice(7, -7),
  "JSON as PHP writes it": (plain) => JSON.stringify(plain).slice(1, -1).replaceAll("/", "\\/"),
  "JSON as Go writes it": (plain) =>
    JSON.stringify(plain).slice(1, -1).replaceAll("&", "\\u0026").replaceAll("<", "\\u003c"),
  "JSON in ASCII": escapedUnicode,
  "JSON in ASCII, upper case": (plain) =>
    escapedUnicode(plain).replace(/u..../g, (hex) => `u${hex.slice(1).toUpperCase()}`),
  "JSON in a percent-encoded query": (plain) => encodeURIComponent(JSON.stringify(plain)).slice(3, -3),
  "an HTML page": html,
  "an HTML page in an HTML page": (plain) => html(html(plain)),
  "HTML, all numbers": (plain) =>
    Array.from(plain, (character) => `&#x${(character.codePointAt(0) ?? 0).toString(16)};`).join(""),
  base64: (plain) => Buffer.from(plain).toString("base64"),
  base64url: (plain) => Buffer.from(plain).toString("base64url"),
  "base64, percent-encoded": (plain) => encodeURIComponent(Buffer.from(plain).toString("base64")),
  "base64 as PHP writes it into JSON": (plain) =>
    Buffer.from(plain).toString("base64").replaceAll("/", "\\/"),
  hexadecimal: (plain) => Buffer.from(plain).toString("hex"),
  "hexadecimal in upper case": (plain) => Buffer.from(plain).toString("hex").toUpperCase(),
};

describe.each<[string, string]>([
  ["a usual token", token],
  ["regular expression characters", "a.b*c+d?^e$(f)[g]{h}|i\\j"],
  ["replacement patterns", "$&$1$$$`$'secret"],
  ["blanks and quotes", "correct \"horse\" 'battery' staple"],
  ["unicode", "pässwörd-😀-ключ"],
  ["Latin-1", "pässwörd-déjà-vu"],
  ["slashes, ampersands and angles", 'a/b\\c&d<e>f"g'],
  ["what looks like an escape", "100%25%41\\u0041&amp;x"],
  ["a line break", "-----BEGIN KEY-----\nMIIEvQ/+abc\n-----END KEY-----\n"],
  ["a letter over and over", "aaaaaaaaaaaaaaaaaaaa"],
  ["a JSON Web Token", `eyJhbGciOi.${"aB3dE5gH7jK9mN1p".repeat(100)}.sig-_x`],
])("a secret with %s", (_kind, secret) => {
  const redact = redactor({ values: [secret] });
  test.each(Object.entries(forms))("does not survive as %s", (_form, encode) => {
    const clean = redact.text(`before <${encode(secret)}> after, ünd ${encode(secret)}`);
    expect(clean).toMatch(/^before <.*\[redacted\].*> after, ünd .*\[redacted\]/);
    // At most the few characters that Base64 shares with its neighbours are left.
    expect(clean.replaceAll(/\[redacted\]|=|%3D/g, "").length).toBeLessThan(
      "before <> after, ünd ".length + 9,
    );
    expect(redact.find({ a: [encode(secret)] })).toBe("a[0]");
  });
  test.each([0, 1, 2, 3, 4, 5])(
    "does not survive in the Base64 of a pair whose user has %d characters",
    (length) => {
      const pair = `${"u".repeat(length)}:${secret}`;
      for (const encoding of ["base64", "base64url"] as const) {
        for (const after of ["", "x", "xy"]) {
          const encoded = Buffer.from(pair + after).toString(encoding);
          const clean = redact.text(`Basic ${encoded}`);
          expect(clean).toMatch(/^Basic .*\[redacted\]/);
          const others = ((length + 1 + after.length) * 4) / 3;
          expect(clean.replaceAll(/\[redacted\]|=/g, "").length).toBeLessThan("Basic ".length + others + 4);
        }
      }
    },
  );
});

test("a pair that was written in Latin-1 is found too", () => {
  const secret = "pässwörd-déjà";
  const redact = redactor({ values: [secret] });
  expect(redact.text(`Basic ${Buffer.from(`me:${secret}`, "latin1").toString("base64")}`)).toMatch(
    /\[redacted\]/,
  );
  expect(redact.text("p%E4ssw%F6rd-d%e9j%e0")).toBe("[redacted]");
});

describe("several secrets", () => {
  test.each([[["secretsecret", "secretsecret-and-more"]], [["secretsecret-and-more", "secretsecret"]]])(
    "one that begins like the other leaves no rest: %j",
    (values) => {
      expect(redactor({ values }).text("<secretsecret-and-more>")).toBe("<[redacted]>");
    },
  );
  test("two that overlap in a text both go", () => {
    expect(redactor({ values: ["abcdefgh", "efghijkl"] }).text("<abcdefghijkl>")).toBe("<[redacted]>");
  });
  test("one inside the other's encoded form goes with it", () => {
    expect(redactor({ values: ["abcdefgh/ijklmnop", "ijklmnop"] }).text("<abcdefgh%2Fijklmnop>")).toBe(
      "<[redacted]>",
    );
  });
  test("an empty one, a blank one and a repeated one do no harm", () => {
    expect(redactor({ values: ["", "  ", token, token] }).text(`a b ${token}`)).toBe("a b [redacted]");
  });
});

describe("a short secret", () => {
  const short = redactor({ values: ["pw"] });
  test("goes where it stands by itself", () => {
    expect(short.text("postgres://u:pw@h/db?password=pw")).toBe(
      "postgres://u:[redacted]@h/db?password=[redacted]",
    );
    expect(short.text("password%3Dpw")).toBe("password%3D[redacted]");
  });
  test("does not shred the words it happens to be part of", () => {
    expect(short.text("upward, pwd, pw1")).toBe("upward, pwd, pw1");
    expect(short.find({ a: "upward" })).toBeUndefined();
  });
});

describe("patterns", () => {
  const patterned = redactor({
    values: [token],
    patterns: [/sk_live_[a-z0-9]+/, /xox[a-z]-\d+/y, /AKIA[A-Z]+/gi],
  });
  test("hide tokens that nobody configured, each one, whatever their flags", () => {
    expect(patterned.text("sk_live_a sk_live_b; xoxb-1 xoxb-2; akiaX AKIAY")).toBe(
      "[redacted] [redacted]; [redacted] [redacted]; [redacted] [redacted]",
    );
    expect(patterned.text("sk_live_a")).toBe("[redacted]");
  });
  test("say nothing about data: only what is configured is found", () => {
    expect(patterned.find({ row: "sk_live_a" })).toBeUndefined();
    expect(patterned.find({ row: `x${token}` })).toBe("row");
  });
});

describe("a value", () => {
  test("has every text and every name redacted, and the rest left alone", () => {
    const input = { a: [1, null, true, 0.5, `x ${token}`], [token]: { deep: token }, n: undefined, same: "" };
    expect(value(input)).toEqual({
      a: [1, null, true, 0.5, "x [redacted]"],
      "[redacted]": { deep: "[redacted]" },
      n: undefined,
      same: "",
    });
    expect(input.a[4]).toBe(`x ${token}`);
  });
  test("keeps names that JavaScript uses, as names", () => {
    const copy = value(JSON.parse(`{"__proto__":{"a":"${token}"}}`)) as object;
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"a":"[redacted]"}}');
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  });
  test("that contains itself is cut off", () => {
    const loop: { inner?: unknown; t: string } = { t: token };
    loop.inner = loop;
    const clean = JSON.stringify(value(loop));
    expect(clean).toMatch("[nested too deeply]");
    expect(clean).not.toMatch(token);
    expect(() => find(loop.inner)).not.toThrow(); // the secret comes first
    expect(() => find([[loop.inner].flat.call([[{ self: deep() }]])])).toThrow(
      "nested deeper than 500 levels",
    );
  });
  const deep = () => {
    let inner: unknown = 1;
    for (let level = 0; level < 1000; level++) inner = [inner];
    return inner;
  };
});

describe("finding", () => {
  test.each<[unknown, string | undefined]>([
    [token, ""],
    [{ body: `x${token}` }, "body"],
    [{ labels: ["a", "b", token] }, "labels[2]"],
    [{ a: { b: [{ c: token }] } }, "a.b[0].c"],
    [[[token]], "[0][0]"],
    [{ a: { [`k-${token}`]: 1 } }, "a.k-[redacted]"],
    [{ a: 1, b: null, c: [undefined, true] }, undefined],
    [undefined, undefined],
  ])("in %j: %p", (input, at) => {
    expect(find(input)).toBe(at);
  });
  test("without any secret finds nothing, wherever it looks", () => {
    expect(redactor({ values: [] }).find({ a: token })).toBeUndefined();
  });
});

test("a text that merely looks like a token is untouched, down to lone surrogates", () => {
  const looks = `ghp_${"x".repeat(36)} \ud800 %41 \\u0041 &amp; ${token.slice(1)}`;
  expect(text(looks)).toBe(looks);
  expect(text(`${looks}${token}`)).toBe(`${looks}[redacted]`);
});
test("redacting comes before truncating: half a secret is not recognised", () => {
  expect(text(`x${token}`.slice(0, 20))).not.toMatch("[redacted]".slice(1, -1));
  expect(text(`x${token}`).slice(0, 20)).toBe("x[redacted]");
});

test("SE-05: of a basic-auth pair nothing is left: in clear, the token alone, in Base64, over two fields", () => {
  const pair = `ada@example.com:${token}`;
  const encoded = Buffer.from(pair).toString("base64");
  const seen = value({
    message: `Basic ${encoded} was refused`,
    clear: pair,
    alone: Buffer.from(token).toString("base64"),
    user: "ada@example.com",
    password: token,
  });
  expect(seen).toEqual({
    message: expect.stringMatching(/^Basic [A-Za-z0-9+/]*\[redacted\][A-Za-z0-9+/=]{0,4} was refused$/),
    clear: "ada@example.com:[redacted]",
    alone: expect.stringMatching(/^\[redacted\].?=*$/),
    user: "ada@example.com",
    password: "[redacted]",
  });
});
