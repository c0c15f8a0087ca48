import { settleArguments } from "../src/check.ts";
import { checkValue, describeProblems, InvalidArgumentsError, type JsonSchema, s } from "../src/index.ts";

const said = (schema: JsonSchema, value: unknown) => describeProblems(checkValue(schema, value));

describe("what is said", () => {
  const schema = s.object(
    { title: s.string("", { minLength: 1, maxLength: 3 }), labels: s.array(s.object({ name: s.string() })) },
    {
      state: s.oneOf(["open", "closed"]),
      count: s.integer("", { maximum: 5 }),
      slug: s.nullable(s.string("", { pattern: "^[a-z]+$" })),
      more: s.map(s.integer(), "", { keys: "^[a-z]$", minProperties: 1, maxProperties: 2 }),
    },
  );
  const good = { title: "a", labels: [] };
  test.each<[string, unknown, string]>([
    ["a missing argument", { labels: [] }, "title is required"],
    [
      "an unknown one",
      { ...good, lables: 1 },
      "lables is not a known name (known: title, labels, state, count, slug, more)",
    ],
    ["a wrong type", { ...good, title: 1 }, "title must be a string, not an integer"],
    [
      "undefined",
      { ...good, state: undefined },
      "state must be a string, not undefined (leave it out instead)",
    ],
    ["emptiness", { ...good, title: "" }, "title must not be empty"],
    ["too much", { ...good, title: "abcd" }, "title must have at most 3 characters"],
    ["another word", { ...good, state: "shut" }, "state must be one of open, closed"],
    ["a number too large", { ...good, count: 6 }, "count must be at most 5"],
    ["a number too small", { ...good, count: -1 }, "count must be at least 0"],
    ["a fraction", { ...good, count: 0.5 }, "count must be an integer, not a number"],
    ["a pattern", { ...good, slug: "A" }, "slug must match ^[a-z]+$, or be null"],
    [
      "a place inside",
      { ...good, labels: [{ name: "a" }, { name: 2 }] },
      "labels[1].name must be a string, not an integer",
    ],
    ["a name in a map", { ...good, more: { A: 1 } }, "more.A is not an allowed name (must match ^[a-z]$)"],
    ["too few entries", { ...good, more: {} }, "more must have at least 1 entry"],
    ["too many entries", { ...good, more: { a: 1, b: 1, c: 1 } }, "more must have at most 2 entries"],
    ["no object", [], "arguments must be an object, not an array"],
    ["nothing", undefined, "arguments must be an object, not undefined (leave it out instead)"],
    [
      "two things",
      { title: 1, labels: 2 },
      "title must be a string, not an integer; labels must be an array, not an integer",
    ],
  ])("names the argument and the rule: %s", (_what, value, message) => {
    expect(said(schema, value)).toBe(message);
  });

  test("nothing is said about what fits", () => {
    expect(checkValue(schema, { ...good, slug: null, more: { a: 1 } })).toEqual([]);
  });
  test("the whole is called what the caller calls it", () => {
    expect(describeProblems(checkValue(s.string("", { minLength: 1 }), "", 5, "the name"))).toBe(
      "the name must not be empty",
    );
  });
  test("at most five rules are named, however many are broken", () => {
    expect(checkValue(s.array(s.string()), Array(1000).fill(1))).toHaveLength(5);
    expect(
      checkValue(s.map(s.string()), Object.fromEntries(Array.from({ length: 99 }, (_, i) => [`k${i}`, 1]))),
    ).toHaveLength(5);
  });
  test("the value itself is never repeated, nor a very long name", () => {
    const secret = "ghp_0123456789";
    expect(
      said(schema, { title: secret, labels: [], state: secret, slug: secret.toUpperCase() }),
    ).not.toMatch(/ghp_|GHP_/);
    expect(said(schema, { ...good, [secret.repeat(1000)]: 1 })).toMatch(
      /^\(a name of 14000 characters\) is not a known name/,
    );
  });
});

describe("text", () => {
  test("is counted in characters, as JSON Schema does, not in UTF-16 units", () => {
    const two = s.string("", { minLength: 2, maxLength: 2 });
    expect(said(two, "😀😀")).toBe("");
    expect(said(two, "😀")).toBe("arguments must have at least 2 characters");
    expect(said(two, "😀😀😀")).toBe("arguments must have at most 2 characters");
    expect(said(two, "e\u0301")).toBe("");
  });
  test("a line break at the end does not slip past a pattern's $", () => {
    expect(said(s.string("", { pattern: "^[a-z]+$" }), "id\n")).toBe("arguments must match ^[a-z]+$");
    expect(said(s.map(s.json(), "", { keys: "^[a-z]+$" }), { "id\n": 1 })).toMatch("not an allowed name");
  });
  test("half a surrogate pair is refused: it has no form on the wire", () => {
    expect(said(s.string(), "a\ud83d")).toMatch("must be well-formed Unicode");
    expect(said(s.json(), ["\udc00"])).toMatch("[0] must be well-formed Unicode");
    expect(said(s.json(), { "\ud800": 1 })).toMatch("has a name that is not well-formed Unicode");
  });
  test("no pattern is tried on a text that is too long anyway", () => {
    const costly = s.string("", { pattern: "^(a+)+$", maxLength: 10 });
    expect(said(costly, `${"a".repeat(50)}!`)).toBe("arguments must have at most 10 characters");
  });
});

describe("what is no JSON is refused, whatever the schema", () => {
  class Point {
    x = 1;
  }
  class Bare extends (null as unknown as ObjectConstructor) {
    static make = () => Object.create(Bare.prototype);
  }
  const sparse: unknown[] = [];
  sparse[1] = 1;
  test.each<[string, unknown, string]>([
    ["NaN", Number.NaN, "arguments must be a finite number"],
    ["Infinity", Number.POSITIVE_INFINITY, "arguments must be a finite number"],
    ["undefined", undefined, "arguments must be JSON, not undefined"],
    ["a bigint", 1n, "arguments must be JSON, not a bigint"],
    ["a symbol", Symbol("x"), "arguments must be JSON, not a symbol"],
    ["a function", () => 1, "arguments must be JSON, not a function"],
    ["a Date", new Date(0), "arguments must be a plain JSON object"],
    ["a Map", new Map(), "arguments must be a plain JSON object"],
    ["a Buffer", Buffer.from("a"), "arguments must be a plain JSON object"],
    ["a boxed text", new String("a"), "arguments must be a plain JSON object"],
    ["an instance", new Point(), "arguments must be a plain JSON object"],
    ["an instance of a class without a base", Bare.make(), "arguments must be a plain JSON object"],
    ["a hole in an array", sparse, "[0] must be JSON, not undefined"],
    ["an undefined entry", { a: undefined }, "a must be JSON, not undefined"],
    ["what turns itself into something else", { toJSON: () => 1 }, "toJSON must be JSON, not a function"],
  ])("%s", (_what, value, message) => {
    expect(said(s.json(), value)).toBe(message);
  });
  test("an object without a prototype is JSON", () => {
    expect(said(s.object({ a: s.integer() }), Object.assign(Object.create(null), { a: 1 }))).toBe("");
  });
  test("an integer is an integer however it is written; a huge one is too large", () => {
    expect(said(s.integer(), JSON.parse("1.0"))).toBe("");
    expect(said(s.integer(), JSON.parse("1e2"))).toBe("");
    expect(said(s.integer(), -0)).toBe("");
    expect(said(s.integer(), 2 ** 53)).toBe("arguments must be at most 9007199254740991");
    expect(said(s.integer(), 1e300)).toBe("arguments must be at most 9007199254740991");
  });
});

describe("nesting", () => {
  const nested = (depth: number, wrap: (inner: unknown) => unknown) => {
    let value: unknown = 1;
    for (let level = 0; level < depth; level++) value = wrap(value);
    return value;
  };
  test("500 levels are fine", () => {
    expect(
      said(
        s.json(),
        nested(500, (inner) => [inner]),
      ),
    ).toBe("");
  });
  test.each<[string, (inner: unknown) => unknown]>([
    ["arrays", (inner) => [inner]],
    ["objects", (inner) => ({ a: inner })],
  ])("%s a hundred thousand levels deep are invalid arguments, not a crash", (_what, wrap) => {
    const deep = nested(100_000, wrap);
    expect(said(s.json(), deep)).toMatch(/is nested deeper than 500 levels$/);
    expect(() => settleArguments("t", s.object({ a: s.json() }), { a: deep })).toThrow(InvalidArgumentsError);
  });
  test("what contains itself is refused, even where every level does so twice", () => {
    const loop: unknown[] = [];
    loop.push(loop, loop);
    expect(said(s.json(), loop)).toMatch("is nested deeper than 500 levels");
  });
});

describe("names that JavaScript itself uses", () => {
  const parsed = JSON.parse('{"__proto__":{"admin":true},"a":1}');
  test("are unknown arguments like any other", () => {
    expect(said(s.object({ a: s.integer() }), parsed)).toBe("__proto__ is not a known name (known: a)");
    expect(said(s.object({}), { constructor: 1 })).toBe("constructor is not a known name (known: none)");
  });
  test("do not count as given when they are only inherited", () => {
    expect(said(s.object({ constructor: s.json(), toString: s.json() }), {})).toBe(
      "constructor is required; toString is required",
    );
  });
  test("are entries of a map, checked as such", () => {
    expect(said(s.map(s.integer()), parsed)).toBe("__proto__ must be an integer, not an object");
    expect(said(s.map(s.json()), parsed)).toBe("");
  });
  test("settling leaves prototypes alone", () => {
    const settled = settleArguments("t", s.map(s.json()), parsed);
    expect(Object.getPrototypeOf(settled)).toBe(Object.prototype);
    expect(Object.keys(settled)).toEqual(["__proto__", "a"]);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });
});

describe("settling", () => {
  const schema = s.object(
    { id: s.integer() },
    {
      limit: s.integer("", { default: 10 }),
      all: s.boolean("", { default: false }),
      note: s.nullable(s.string("", { default: "" })),
    },
  );
  test("fills in defaults, also false ones and empty ones, and keeps what was given", () => {
    expect(settleArguments("t", schema, { id: 1 })).toEqual({ id: 1, limit: 10, all: false, note: "" });
    expect(settleArguments("t", schema, { id: 1, limit: 0, note: null })).toEqual({
      id: 1,
      limit: 0,
      all: false,
      note: null,
    });
  });
  test("leaves the given arguments as they were, frozen ones too", () => {
    const given = Object.freeze({ id: 1 });
    settleArguments("t", schema, given);
    expect(given).toEqual({ id: 1 });
  });
  test("refuses with the tool's name and with the problems as data", () => {
    const refused = () => settleArguments("x.list", schema, { id: "1" });
    expect(refused).toThrow("x.list: id must be an integer, not a string");
    try {
      refused();
    } catch (error) {
      expect((error as InvalidArgumentsError).problems).toEqual([
        { at: "id", rule: "must be an integer, not a string" },
      ]);
    }
    expect.assertions(2);
  });
});

test("an array that is too long is refused by its length alone, without looking inside", () => {
  const schema = s.array(s.object({ a: s.string() }), "", { maxItems: 100 });
  expect(said(schema, Array(5_000_000).fill({ a: 1 }))).toBe("arguments must have at most 100 items");
});
