import type { Manifest } from "@reversi-connector/core";
import { Registry } from "@reversi-connector/engine";
import { desk } from "./support/desk.ts";

const manifest = (tool: string): Manifest => desk.manifests.find((one) => one.tool === tool) as Manifest;
const changed = (tool: string, changes: Partial<Manifest>) =>
  desk.manifests.map((one) => (one.tool === tool ? { ...one, ...changes } : one));
const mapped = (argument_map: Record<string, string | { readonly const: unknown }>) =>
  changed("desk.place", { compensation: { tool: "desk.clear", argument_map } });
const full = { name: "args.name", previous: "result.previous", expected: "result.content" };

test("a registry finds a tool's manifest and its undo's, and names each manifest by one hash", () => {
  const registry = Registry.from(desk.manifests);
  expect(registry.tools).toHaveLength(desk.manifests.length);
  expect(registry.get("desk.place")?.effect).toBe("reversible");
  expect(registry.undoOf("desk.place")?.tool).toBe("desk.clear");
  expect(registry.undoOf("desk.burn")).toBeUndefined();
  expect(registry.get("desk.nothing")).toBeUndefined();
  expect(registry.hash("desk.place")).toMatch(/^[0-9a-f]{64}$/);
  expect(Registry.from(JSON.parse(JSON.stringify(desk.manifests))).hash("desk.place")).toBe(
    registry.hash("desk.place"),
  );
});

test.each<[string, readonly Manifest[], string]>([
  ["two manifests for one tool", [...desk.manifests, manifest("desk.look")], "desk.look has two manifests"],
  [
    "a compensation without a manifest",
    desk.manifests.filter(({ tool }) => tool !== "desk.clear"),
    "desk.place names the compensation desk.clear, which has no manifest",
  ],
  [
    "a compensation that is not idempotent",
    changed("desk.clear", { effect: "reversible" }),
    "which is reversible, not idempotent",
  ],
  [
    "a map that misses a required argument",
    mapped({ name: "args.name", expected: "result.content" }),
    "misses previous",
  ],
  [
    "a map with an unknown argument",
    mapped({ ...full, colour: "args.name" }),
    "binds colour, which desk.clear does not take",
  ],
  [
    "a map from nowhere",
    mapped({ ...full, name: "name" }),
    'name comes from "name"; only args.… and result.… are known',
  ],
  [
    "a map from an argument the tool lacks",
    mapped({ ...full, name: "args.nam" }),
    'name comes from "args.nam"',
  ],
  [
    "a fixed value of the wrong kind",
    mapped({ ...full, name: { const: 7 } }),
    "the fixed name is refused by desk.clear",
  ],
  [
    "a guard that is not mapped",
    mapped({ name: "args.name", previous: "result.previous" }),
    "the checkpoint guard expected is not in the map",
  ],
  [
    "an irreversible tool without an approval",
    changed("desk.burn", { approval: undefined as never }),
    "needs approval: always",
  ],
  [
    "a target that is no argument",
    changed("desk.clear", { target: ["colour"] }),
    "the target colour is no argument",
  ],
  [
    "an edge to an unknown tool",
    changed("desk.attach", { requires: [{ tool: "desk.gone", match: { path: "args.a" } }] }),
    "requires desk.gone",
  ],
  [
    "an edge by nothing",
    changed("desk.attach", { requires: [{ tool: "desk.place", match: {} }] }),
    "without saying by what",
  ],
  [
    "a reversible tool without an undo",
    changed("desk.place", { compensation: undefined as never }),
    "names no compensation",
  ],
  [
    "a read with an undo",
    changed("desk.place", { effect: "read_only" }),
    "is read_only and cannot have a compensation",
  ],
])("%s is refused when the registry is made", (_, manifests, message) => {
  expect(() => Registry.from(manifests)).toThrow(message);
});

test("everything that is wrong is said at once", () => {
  const wrong = changed("desk.burn", { approval: undefined as never, target: ["colour"] });
  expect(() => Registry.from(wrong)).toThrow(/needs approval: always; .*the target colour/);
});
