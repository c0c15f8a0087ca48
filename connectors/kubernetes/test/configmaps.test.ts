import { addConfigMap, editConfigMap, remove, touch } from "../src/sandbox.ts";
import { bench, failure, flags } from "./bench.ts";

describe("create_configmap", () => {
  test("makes texts, bytes, labels and immutability, and the undo takes just that object away", async () => {
    const on = await bench();
    const before = await on.state();
    const args = { ...flags, binary_data: { b: "AP8=" }, labels: { team: "web" }, immutable: true };
    const made = await on.call("create_configmap", args);
    expect(on.configMap("flags")).toMatchObject({
      ...{ data: { mode: "slow" }, binaryData: { b: "AP8=" }, immutable: true },
      metadata: { uid: made["uid"], labels: { team: "web" } },
    });
    expect(await on.undo("create_configmap", args, made)).toMatchObject({ uid: made["uid"], already: false });
    expect(await on.state()).toEqual(before);
    expect(await on.undo("create_configmap", args, made)).toMatchObject({ uid: null, already: true });
  });
  test("K8-03: a name that is taken is an error, and nothing of it is changed", async () => {
    const on = await bench();
    const before = await on.state();
    const error = await failure(on.call("create_configmap", { ...flags, name: "settings" }));
    expect(error).toMatchObject({
      code: "FAILED",
      status: 409,
      reason: "AlreadyExists",
      mayHaveApplied: false,
    });
    expect(await on.state()).toEqual(before);
  });
  test("the same call under the same key is one object, under another key an error", async () => {
    const on = await bench();
    const made = await on.call("create_configmap", flags);
    expect(await on.call("create_configmap", flags)).toEqual(made);
    const other = on.call("create_configmap", flags, { idempotencyKey: "run 1, step 2" });
    expect(await failure(other)).toMatchObject({ reason: "AlreadyExists" });
  });
  test.each<[string, object, string]>([
    ["a key in both maps", { data: { a: "1" }, binary_data: { a: "MQ==" } }, "binary_data.a"],
    ["bytes that are no base64", { binary_data: { a: "%" } }, "binary_data.a"],
    ["more than 1 MiB", { data: { a: "x".repeat(1_048_576) } }, "data"],
    ["a key with a slash", { data: { "a/b": "1" } }, "data"],
  ])("%s is refused before anything is sent", async (_, content, at) => {
    const on = await bench();
    const error = await failure(
      on.call("create_configmap", { namespace: "prod", name: "flags", ...content }),
    );
    expect(error).toMatchObject({ code: "INVALID_ARGUMENTS" });
    expect(error.message).toContain(at);
    expect(on.backend.requests).toEqual([]);
  });
  test("an unknown namespace is Kubernetes's error", async () => {
    const on = await bench();
    const error = await failure(on.call("create_configmap", { ...flags, namespace: "nons" }));
    expect(error).toMatchObject({ status: 404, reason: "NotFound" });
    expect(error.message).toContain('namespaces "nons" not found');
  });
});

describe("delete_configmap", () => {
  const made = async () => {
    const on = await bench();
    const result = await on.call("create_configmap", flags);
    return { ...on, ...on.undoOf("create_configmap", flags, result) };
  };
  test("never takes away what somebody else has edited, before or during the undo", async () => {
    const on = await made();
    const map = on.configMap("flags");
    if (!map) throw new Error("it was made");
    on.meanwhile("DELETE", () => editConfigMap(on.world, map, { mode: "theirs" }));
    expect(await failure(on.call(on.tool, on.args))).toMatchObject({ code: "CONFLICT" });
    expect(await failure(on.call(on.tool, on.args))).toMatchObject({ code: "CONFLICT" });
    expect(on.configMap("flags")?.data).toEqual({ mode: "theirs" });
    expect(await on.call(on.tool, on.args, { onConflict: "overwrite" })).toMatchObject({ already: false });
  });
  test("K8-03: another object of that name is left alone, and is success", async () => {
    const on = await made();
    const replace = () => {
      const map = on.configMap("flags");
      if (map) remove(on.world.configMaps, map);
      addConfigMap(on.world, "prod", "flags", { mode: "slow" });
    };
    on.meanwhile("DELETE", replace);
    expect(await on.call(on.tool, on.args)).toMatchObject({ uid: null, already: true });
    expect(await on.call(on.tool, on.args)).toMatchObject({ uid: null, already: true });
    expect(await on.holds(on.tool, on.args)).toBe(true);
    expect(on.configMap("flags")).toBeDefined();
  });
  test("K8-03: a 409 for another reason is an error: the object is still there", async () => {
    const on = await made();
    const message =
      'Operation cannot be fulfilled on configmaps "flags": StorageError: invalid object, Code: 4; please apply your changes to the latest version';
    const body = { kind: "Status", status: "Failure", message, reason: "Conflict", code: 409 };
    on.backend.inject({ kind: "status", status: 409, body }, { method: "DELETE", times: 9 });
    expect(await failure(on.call(on.tool, on.args))).toMatchObject({
      code: "FAILED",
      status: 409,
      reason: "Conflict",
    });
    expect(on.writes().filter(({ method }) => method === "DELETE")).toHaveLength(1);
    expect(on.configMap("flags")).toBeDefined();
  });
  test("goes on when nothing but the version has changed", async () => {
    const on = await made();
    const map = on.configMap("flags");
    on.meanwhile("DELETE", () => void (map && touch(on.world, map)));
    expect(await on.call(on.tool, on.args)).toMatchObject({ already: false });
  });
  test("does not hold while finalizers keep it", async () => {
    const on = await made();
    const map = on.configMap("flags");
    if (map) map.metadata.finalizers = ["example.com/keep"];
    expect(await on.call(on.tool, on.args)).toMatchObject({ already: false });
    expect(await on.holds(on.tool, on.args)).toBe(false);
  });
  test.each<[string, unknown]>([
    ["a proxy", "404 page not found"],
    [
      "what stands before the cluster",
      {
        ...{ kind: "Status", status: "Failure", reason: "NotFound", code: 404 },
        message: 'clusters.management.cattle.io "c-1" not found',
        details: { name: "c-1", group: "management.cattle.io", kind: "clusters" },
      },
    ],
  ])("a 404 of %s says nothing about the object", async (_, body) => {
    const on = await made();
    for (const method of ["GET", "DELETE"]) {
      on.backend.inject({ kind: "status", status: 404, body }, { method });
      expect(await failure(on.call(on.tool, on.args))).toMatchObject({ code: "FAILED", status: 404 });
    }
    on.backend.inject({ kind: "status", status: 404, body }, { method: "GET" });
    await expect(on.holds(on.tool, on.args)).rejects.toMatchObject({ status: 404 });
    expect(on.configMap("flags")).toBeDefined();
  });
  test("an answer about another object proves nothing", async () => {
    const on = await made();
    const details = { name: "flags", kind: "configmaps", uid: "another" };
    const body = { kind: "Status", status: "Success", details };
    on.backend.inject({ kind: "status", status: 200, body }, { method: "DELETE" });
    expect(await failure(on.call(on.tool, on.args))).toMatchObject({ code: "EFFECT_UNCERTAIN" });
  });

  describe("with a credential that may delete and not read", () => {
    const blind = async () => {
      const on = await made();
      on.world.rights.delete("get configmaps");
      return on;
    };
    test("deletes this very object, and says that nobody read it back", async () => {
      const on = await blind();
      expect(await on.call(on.tool, on.args)).toMatchObject({ uid: on.args["expected_uid"], already: false });
      expect(await on.holds(on.tool, on.args)).toBe("unknown");
      expect(await on.call(on.tool, on.args)).toMatchObject({ uid: null, already: true });
    });
    test("leaves another object of that name alone", async () => {
      const on = await blind();
      const map = on.configMap("flags");
      if (map) remove(on.world.configMaps, map);
      addConfigMap(on.world, "prod", "flags", {});
      expect(await on.call(on.tool, on.args)).toMatchObject({ uid: null, already: true });
      expect(on.configMap("flags")).toBeDefined();
    });
    test("deletes nothing without a uid", async () => {
      const on = await blind();
      const error = await failure(on.call("delete_configmap", { namespace: "prod", name: "flags" }));
      expect(error).toMatchObject({ status: 403 });
      expect(on.configMap("flags")).toBeDefined();
    });
  });
});
