import { ConflictError, type ThreeStates, threeWayRestore } from "../src/index.ts";

const decide = (states: ThreeStates<string | null>, onConflict?: "refuse" | "overwrite") =>
  threeWayRestore(states, {
    what: "file a.txt",
    same: (a, b) => a === b,
    describe: (state) => (state === null ? "nothing" : `"${state}"`),
    onConflict,
  });

test("what is back already needs no restoring", () => {
  expect(decide({ before: "old", after: "new", now: "old" })).toBe("already");
  expect(decide({ before: null, after: "new", now: null })).toBe("already");
  expect(decide({ before: "old", after: undefined, now: "old" })).toBe("already");
  expect(decide({ before: "old", after: "new", now: "old" }, "overwrite")).toBe("already");
});
test("a step that changed nothing is undone already", () => {
  expect(decide({ before: "same", after: "same", now: "same" })).toBe("already");
});
test("what the step left is restored", () => {
  expect(decide({ before: "old", after: "new", now: "new" })).toBe("restore");
  expect(decide({ before: "old", after: null, now: null })).toBe("restore");
});
test("anything else is somebody else's, and is said", () => {
  const conflict = () => decide({ before: "old", after: "new", now: "theirs" });
  expect(conflict).toThrow(
    'file a.txt: changed since; expected "new", found "theirs". Nothing was overwritten.',
  );
  try {
    conflict();
  } catch (error) {
    expect(ConflictError.is(error)).toBe(true);
    expect(error).toMatchObject({ expected: '"new"', found: '"theirs"' });
  }
  expect.assertions(3);
});
test("what somebody removed is not made again", () => {
  expect(() => decide({ before: "old", after: "new", now: null })).toThrow("found nothing");
});
test("absent and empty are different states", () => {
  expect(() => decide({ before: null, after: "new", now: "" })).toThrow('found ""');
});
test("when nobody knows what the step left, only the old state itself is safe", () => {
  expect(() => decide({ before: "old", after: undefined, now: "new" })).toThrow("expected unknown");
  expect(() => decide({ before: "old", after: undefined, now: "new" }, "refuse")).toThrow(
    /Nothing was overwritten/,
  );
});
test("the operator may overwrite", () => {
  expect(decide({ before: "old", after: "new", now: "theirs" }, "overwrite")).toBe("restore");
  expect(decide({ before: "old", after: undefined, now: "theirs" }, "overwrite")).toBe("restore");
});
