import type { Manifest } from "@reversi-connector/core";
import { Registry } from "@reversi-connector/engine";
import { edgesOf } from "../src/edges.ts";

type Rules = NonNullable<Manifest["requires"]>;
const manifest = (tool: string, requires?: Rules): Manifest => ({
  tool,
  title: tool,
  description: tool,
  effect: "idempotent",
  permission: "x:write",
  input_schema: { type: "object" },
  schema_hash: "",
  definition_hash: "",
  ...(requires && { requires }),
});
const edges = (requires: Rules) => edgesOf(Registry.from([manifest("x.make"), manifest("x.use", requires)]));
const ended = (result: unknown) => ({ result, target: null });

test('equality is as text: 12 and "12" name the same thing', () => {
  const index = edges([{ tool: "x.make", match: { parent: "result.id" } }]);
  index.began(1, "x.make", {}, null);
  index.ended(1, ended({ id: 12 }));
  expect(index.match("x.use", { parent: "12" }, null)).toEqual([1]);
  expect(index.match("x.use", { parent: 12 }, null)).toEqual([1]);
  expect(index.match("x.use", { parent: "1" }, null)).toEqual([]);
  expect(index.match("x.use", {}, null)).toEqual([]);
  expect(index.match("x.use", { parent: null }, null)).toEqual([]);
});

test("all parts of a match must agree, and any of several rules is enough", () => {
  const index = edges([
    { tool: "x.make", match: { owner: "args.owner", number: "result.number" } },
    { tool: "x.make", match: { key: "result.key" } },
  ]);
  index.began(1, "x.make", { owner: "o" }, null);
  index.ended(1, ended({ number: 1, key: "K-1" }));
  index.began(2, "x.make", { owner: "p" }, null);
  index.ended(2, ended({ number: 1, key: null }));
  expect(index.match("x.use", { owner: "o", number: 1 }, null)).toEqual([1]);
  expect(index.match("x.use", { owner: "q", number: 1 }, null)).toEqual([]);
  expect(index.match("x.use", { owner: "p", number: 1, key: "K-1" }, null)).toEqual([1, 2]);
});

test("paths overlap when one is the other, above it or below it; of arrays any element counts", () => {
  const index = edges([{ tool: "x.make", match: { path: { overlaps: "result.created" } } }]);
  index.began(1, "x.make", {}, null);
  index.ended(1, ended({ created: ["a/b", "c"] }));
  for (const path of ["a", "a/b", "a/b/c/d", "./a/b/", "c/x", ["z", "c"], "."])
    expect([path, index.match("x.use", { path }, null)]).toEqual([path, [1]]);
  for (const path of ["a/bc", "a/x", "b", "cc", ["z"]])
    expect([path, index.match("x.use", { path }, null)]).toEqual([path, []]);
});

test("equal parts and overlapping ones are matched together", () => {
  const index = edges([
    { tool: "x.make", match: { bucket: "args.bucket", path: { overlaps: "args.path" } } },
  ]);
  index.began(1, "x.make", { bucket: "one", path: "a" }, null);
  index.ended(1, ended({}));
  expect(index.match("x.use", { bucket: "one", path: "a/b" }, null)).toEqual([1]);
  expect(index.match("x.use", { bucket: "two", path: "a/b" }, null)).toEqual([]);
});

test("a step whose result is not known counts unless something known contradicts it", () => {
  const index = edges([{ tool: "x.make", match: { owner: "args.owner", number: "result.number" } }]);
  index.began(1, "x.make", { owner: "o" }, null);
  index.began(2, "x.make", { owner: "p" }, null);
  index.began(3, "x.make", {}, null);
  expect(index.match("x.use", { owner: "o", number: 5 }, null)).toEqual([1]);
  index.ended(1, "nothing");
  expect(index.match("x.use", { owner: "o", number: 5 }, null)).toEqual([]);
  const paths = edges([{ tool: "x.make", match: { path: { overlaps: "args.path" } } }]);
  paths.began(1, "x.make", { path: "a/b" }, null);
  expect(paths.match("x.use", { path: "a" }, null)).toEqual([1]);
  expect(paths.match("x.use", { path: "b" }, null)).toEqual([]);
});

test("steps on the call's own target are left out: a target keeps its own order", () => {
  const index = edges([{ tool: "x.make", match: { path: { overlaps: "args.path" } } }]);
  for (const step of [1, 2]) {
    index.began(step, "x.make", { path: "a" }, step === 1 ? "x a" : null);
    index.ended(step, { result: {}, target: step === 1 ? "x a" : null });
  }
  expect(index.match("x.use", { path: "a" }, "x a")).toEqual([2]);
});
