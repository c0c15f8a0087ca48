import { compensatorFor, InvalidArgumentsError } from "../src/index.ts";
import { box, failure } from "./box.ts";
import { house } from "./house.ts";

test("a compensation is sent through the very tool that serves agents", async () => {
  const { connector, shelf } = box();
  const compensate = compensatorFor([connector]);
  expect(await compensate({ tool: "box.restore", args: { name: "a", old: "old" } })).toEqual({
    already: false,
  });
  expect(shelf.items.get("a")).toBe("old");
});
test("the operator's word on a conflict and the key travel beside the arguments, never in them", async () => {
  const { connector, shelf } = box();
  const compensate = compensatorFor([connector]);
  const args = { name: "a", old: "old" };
  await compensate({ tool: "box.restore", args, on_conflict: "overwrite", idempotency_key: "k1" });
  expect(shelf.log).toContain("restore a overwrite k1");
  const smuggled = await failure(
    compensate({ tool: "box.restore", args: { ...args, on_conflict: "overwrite" } }),
  );
  expect(InvalidArgumentsError.is(smuggled)).toBe(true);
});
test("a compensation can be cancelled", async () => {
  const { connector, shelf } = box();
  const error = await failure(
    compensatorFor([connector])({
      tool: "box.restore",
      args: { name: "a", old: null },
      signal: AbortSignal.abort(),
    }),
  );
  expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
  expect(shelf.log).toEqual([]);
});
test.each(["box.put", "box.read"])("%s undoes nothing, so it is not sent", async (tool) => {
  const { connector, shelf } = box();
  const compensate = compensatorFor([connector]);
  const call = { tool, args: { name: "a", text: "x" } };
  for (const running of [compensate(call), compensate.holds(call)]) {
    const error = await failure(running);
    expect(InvalidArgumentsError.is(error)).toBe(true);
    expect(error).toMatchObject({ message: `${tool} undoes nothing; only a compensation can be sent` });
  }
  expect(shelf.log).toEqual([]);
});
test.each(["shed.restore", "restore", "constructor", "__proto__", ""])(
  "the unknown tool %j is refused with the connectors there are",
  async (tool) => {
    const compensate = compensatorFor([box().connector, house.create({})]);
    const call = { tool, args: {} };
    for (const running of [
      compensate(call),
      compensate.holds(call),
      compensate.landed(call, { since: new Date(0) }),
    ]) {
      const error = await failure(running);
      expect(InvalidArgumentsError.is(error)).toBe(true);
      expect(error).toMatchObject({
        message: `no connector here has a tool ${tool} (connectors: box, house)`,
      });
    }
  },
);
test("without any connector there is nothing to undo with", async () => {
  expect(await failure(compensatorFor([])({ tool: "a.b", args: {} }))).toMatchObject({
    message: "no connector here has a tool a.b (connectors: none)",
  });
});
test("several connectors each undo their own", async () => {
  const { connector, shelf } = box();
  const compensate = compensatorFor([house.create({}), connector]);
  await compensate({ tool: "box.restore", args: { name: "a", old: "old" } });
  expect(shelf.items.get("a")).toBe("old");
  expect(await compensate({ tool: "house.remove_thing", args: { id: "7" } })).toEqual({ id: "7", old: null });
});
test("two connectors of one name are refused: nobody could say whose effect is undone", () => {
  expect(() => compensatorFor([box().connector, box().connector])).toThrow(InvalidArgumentsError);
  expect(() => compensatorFor([box().connector, box().connector])).toThrow(
    "two connectors have a tool box.put; give one of them",
  );
});

describe("the two questions of a truthful rollback", () => {
  test("holds is what the tool sees", async () => {
    const { connector, shelf } = box();
    const { holds } = compensatorFor([connector]);
    const call = { tool: "box.restore", args: { name: "a", old: "old" } };
    expect(await holds(call)).toBe(false);
    shelf.items.set("a", "old");
    expect(await holds(call)).toBe(true);
    expect(shelf.log).toEqual(["reader", "reader"]);
  });
  test("holds is unknown for a connector that cannot read back", async () => {
    const { connector } = box();
    const { holds } = compensatorFor([{ ...connector, holds: {} }]);
    expect(await holds({ tool: "box.restore", args: { name: "a", old: "old" } })).toBe("unknown");
  });
  test("landed is asked of the forward tool, with what is known of the lost call", async () => {
    const since = new Date(5);
    const result = { name: "a", old: null, about: "" };
    const { connector } = box({
      landed: async (call) => (call.since === since ? { landed: true, result } : { landed: false }),
    });
    const { landed } = compensatorFor([connector]);
    expect(await landed({ tool: "box.put", args: { name: "a", text: "x" } }, { since })).toEqual({
      landed: true,
      result,
    });
  });
  test("landed is unknown for tools that leave no evidence", async () => {
    const { landed } = compensatorFor([house.create({})]);
    expect(await landed({ tool: "house.burn_thing", args: { id: "7" } }, { since: new Date(0) })).toBe(
      "unknown",
    );
  });
});
