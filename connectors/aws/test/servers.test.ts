import { bench, failure, fresh, todo } from "./bench.ts";

const writes = ["put", "copy", "delete"] as const;

test("another server is tried once, under names that hold nothing, and trusted from then on", async () => {
  const on = await bench();
  expect(await on.call("put_object", { ...todo, content: "a" })).toMatchObject({ guarded: true });
  expect(on.lines()).toEqual([
    "HEAD /notes/todo.txt",
    "PUT /notes/.reversi-backups/<uuid>",
    "PUT /notes/.reversi-backups/<uuid>",
    "PUT /notes/.reversi-backups/<uuid>",
    "HEAD /notes/.reversi-backups/<uuid>",
    "PUT /notes/todo.txt",
  ]);
  on.backend.forget();
  expect(await on.call("put_object", { ...todo, content: "b" })).toMatchObject({ guarded: true });
  expect(on.lines()).toEqual([
    "HEAD /notes/todo.txt",
    "PUT /notes/.reversi-backups/<uuid>",
    "HEAD /notes/.reversi-backups/<uuid>",
    "PUT /notes/todo.txt",
  ]);
  expect(on.backups(todo)).toHaveLength(2);
});

test.each(["ignored", "refused"] as const)(
  "a server by which conditions are %s is told: nothing it does is called guarded",
  async (mode) => {
    const on = await bench();
    for (const kind of writes) on.world.conditions[kind] = mode;
    const put = await on.call("put_object", { ...todo, content: "bread" });
    expect(put).toMatchObject({ existed: true, guarded: false });
    expect(on.backups(todo)).toEqual([put["backup_key"]]); // no trial is left behind
    await on.undo("put_object", todo, put);
    expect(on.text(todo)).toBe("milk\n");
    const created = await on.call("put_object", { ...fresh, content: "x" });
    expect(created).toMatchObject({ guarded: false });
    await on.undo("put_object", fresh, created);
    expect(on.object(fresh)).toBeUndefined();
    const deleted = await on.call("delete_object", todo);
    expect(deleted).toMatchObject({ guarded: false });
    await on.undo("delete_object", todo, deleted);
    expect(on.text(todo)).toBe("milk\n");
  },
);

test.each([
  ["delete", "put_object", fresh],
  ["put", "put_object", todo],
  ["copy", "put_object", todo],
  ["copy", "delete_object", todo],
  ["delete", "delete_object", todo],
] as const)(
  "a server that ignores the condition of %s alone makes %s unguarded, its undo included",
  async (kind, tool, place) => {
    const on = await bench();
    on.world.conditions[kind] = "ignored";
    const more = tool === "put_object" ? { content: "x" } : {};
    expect(await on.call(tool, { ...place, ...more })).toMatchObject({ guarded: false });
  },
);

test("a server that refuses conditions is asked a second time only while nothing has changed", async () => {
  const on = await bench();
  for (const kind of writes) on.world.conditions[kind] = "refused";
  on.meanwhile("PUT", /todo\.txt$/, () => on.edit(todo, "Ada's"));
  expect(await failure(on.call("put_object", { ...todo, content: "bread" }))).toMatchObject({
    code: "CONFLICT",
  });
  expect(on.text(todo)).toBe("Ada's");
});

test.each([
  ["a trial", 0],
  ["the backup", 2],
  ["the put", 4],
])("a 501 that broke off before it named its reason is no refusal: %s is not sent again", async (_, skip) => {
  const on = await bench();
  for (const kind of writes) on.world.conditions[kind] = "refused";
  on.backend.inject({ kind: "cutBody" }, { method: "PUT", skip });
  const error = await failure(on.call("put_object", { ...todo, content: "bread" }));
  expect([error.code, error.message]).toEqual(["EFFECT_UNCERTAIN", expect.stringContaining("HTTP 501")]);
  const [lost, ...later] = on.writes().slice(skip);
  expect(later.map(({ path }) => path)).not.toContain(lost?.path);
  expect(on.text(todo)).toBe("milk\n");
});

test("a server that refuses a condition that holds is not believed, and nothing is overwritten", async () => {
  const on = await bench();
  on.world.conditions.put = "always failed";
  const error = await failure(on.call("put_object", { ...todo, content: "bread" }));
  expect(error).toMatchObject({ code: "FAILED", status: 412 });
  expect(error.message).toMatch(/still the one that was read: this server cannot be trusted with conditions/);
  expect(on.text(todo)).toBe("milk\n");
});

test("a server that copies another version than was asked for does not get the old one overwritten", async () => {
  const on = await bench();
  on.world.conditions.copy = "ignored";
  on.world.conditions.put = "ignored";
  // What stands under the backup's name is not what was read.
  let backups = 0;
  on.meanwhile("HEAD", /reversi-backups/, () => {
    for (const key of on.backups(todo)) on.edit({ bucket: "notes", key }, `another ${backups++}`);
  });
  const error = await failure(on.call("put_object", { ...todo, content: "bread" }));
  expect(error.message).toMatch(/is not what todo\.txt is/);
  expect(on.text(todo)).toBe("milk\n");
});

test("every write carries its condition, and every copy the version that it is of", async () => {
  const on = await bench();
  const put = await on.call("put_object", { ...todo, content: "bread" });
  await on.undo("put_object", todo, put);
  const created = await on.call("put_object", { ...fresh, content: "x" });
  await on.undo("put_object", fresh, created);
  const deleted = await on.call("delete_object", todo);
  await on.undo("delete_object", todo, deleted);
  for (const { headers, method, path } of on.writes()) {
    const condition = headers["if-match"] ?? headers["if-none-match"];
    expect([method, path, condition]).toEqual([
      method,
      path,
      expect.stringMatching(/^(?:\*|"[0-9a-f]{32}")$/),
    ]);
    if (headers["x-amz-copy-source"] !== undefined)
      expect(headers["x-amz-copy-source-if-match"]).toMatch(/^"[0-9a-f]{32}"$/);
  }
});
