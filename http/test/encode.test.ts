import { describe, expect, test } from "@jest/globals";
import { InvalidArgumentsError } from "@reversi-connector/core";
import { encodeForm, encodeQuery, path, segments } from "@reversi-connector/http";

const refusal = (build: () => unknown): Error => {
  try {
    build();
  } catch (error) {
    if (InvalidArgumentsError.is(error)) return error;
    throw error;
  }
  throw new Error("expected a refusal");
};

describe("a path", () => {
  test.each([
    ["type: bug", "type%3A%20bug"],
    ["a/b", "a%2Fb"],
    ["c?d", "c%3Fd"],
    ["e#f", "e%23f"],
    ["100%", "100%25"],
    ["%2e%2e", "%252e%252e"],
    ["été", "%C3%A9t%C3%A9"],
    ["a+b", "a%2Bb"],
    ["!'()*", "%21%27%28%29%2A"],
    ["AZaz09-._~", "AZaz09-._~"],
    ["...", "..."],
    ["😀", "%F0%9F%98%80"],
    ["a\\b\n", "a%5Cb%0A"],
    [42, "42"],
  ])("takes %j as the one segment %s", (value, encoded) => {
    expect(path`/labels/${value}/x`).toBe(`/labels/${encoded}/x`);
  });

  test.each(["", ".", "..", "\ud800", "a\udc00b"])("refuses %j as a segment, naming its place", (value) => {
    const { message } = refusal(() => path`/repos/${"o"}/labels/${value}`);
    expect(message).toMatch(/^value 2 in the path \/repos\/\{\}\/labels\/\{\}/);
  });

  test("keeps the slashes of a value given as segments", () => {
    expect(path`/git/ref/${segments("heads/a b/c#d")}`).toBe("/git/ref/heads/a%20b/c%23d");
  });

  test.each(["a//b", "/a", "a/", "a/../b", "./a", "a/\udc00"])("refuses %j as segments", (value) => {
    refusal(() => path`/o/${segments(value)}`);
  });
});

describe("a query", () => {
  test("repeats arrays, keeps false and 0, leaves undefined out", () => {
    const query = { "iids[]": [1, 2], draft: false, page: 0, q: "a b&c=d", none: undefined, empty: "" };
    expect(encodeQuery(query)).toBe("iids%5B%5D=1&iids%5B%5D=2&draft=false&page=0&q=a%20b%26c%3Dd&empty=");
  });

  test.each([{ a: {} }, { a: null }, { a: Number.NaN }, { a: [["x"]] }])("refuses %j", (query) => {
    expect(refusal(() => encodeQuery(query as never)).message).toMatch(/^a must be/);
  });
});

describe("a form", () => {
  test("writes nesting in brackets, arrays indexed, booleans as words", () => {
    const form = {
      customer: "cus_1",
      metadata: { "a b": "1&2", plain: "x" },
      items: [{ price: "p", quantity: 2 }, { price: "q" }],
      expand: ["a.b"],
      capture: false,
      amount: 0,
      missing: undefined,
      cleared: null,
      nothing: {},
      none: [],
    };
    expect(encodeForm(form).split("&")).toEqual([
      "customer=cus_1",
      "metadata[a%20b]=1%262",
      "metadata[plain]=x",
      "items[0][price]=p",
      "items[0][quantity]=2",
      "items[1][price]=q",
      "expand[0]=a.b",
      "capture=false",
      "amount=0",
      "cleared=",
    ]);
  });

  test("decodes to what was given", () => {
    const metadata = { "naïve key": "a=b&c%20+d", "😀": "line\nbreak" };
    const decoded = [...new URLSearchParams(encodeForm({ metadata }))];
    expect(decoded).toEqual(Object.entries(metadata).map(([name, value]) => [`metadata[${name}]`, value]));
  });

  test("refuses a name that would become another field", () => {
    expect(refusal(() => encodeForm({ metadata: { "a][b": "x" } })).message).toMatch(/must not hold "\["/);
  });

  test.each([{ a: { b: new Date(0) } }, { a: [Number.POSITIVE_INFINITY] }, { a: "\ud800" }])(
    "refuses what has no such form: %j",
    (form) => {
      expect(refusal(() => encodeForm(form)).message).toMatch(/^a/);
    },
  );
});
