import { addDeployment, remove, scaleAs, touch } from "../src/sandbox.ts";
import { bench, failure, idle, web } from "./bench.ts";

describe("scale_deployment", () => {
  test("K8-01: a count of nothing is left out by Kubernetes and read as 0, and the undo goes back to 0", async () => {
    const on = await bench();
    const before = await on.state();
    const args = { ...idle, replicas: 3 };
    const made = await on.call("scale_deployment", args);
    expect(made).toMatchObject({ previous_replicas: 0, replicas: 3 });
    expect(on.deployment("idle").spec.replicas).toBe(3);
    expect(await on.undo("scale_deployment", args, made)).toEqual({ ...idle, replicas: 0, already: false });
    expect(await on.state()).toEqual(before);
  });
  test("K8-01: scales to 0, and the undo goes back", async () => {
    const on = await bench();
    const made = await on.call("scale_deployment", { ...web, replicas: 0 });
    expect(made).toMatchObject({ previous_replicas: 3, replicas: 0 });
    expect(await on.undo("scale_deployment", web, made)).toMatchObject({ replicas: 3, already: false });
    expect(on.deployment().spec.replicas).toBe(3);
  });
  test("K8-02: sends a merge patch, bound to the object and version that were read", async () => {
    const on = await bench();
    const { uid, resourceVersion } = { ...on.deployment().metadata };
    await on.call("scale_deployment", { ...web, replicas: 5 });
    const [patch] = on.writes();
    expect(patch?.headers["content-type"]).toBe("application/merge-patch+json");
    expect(patch?.json()).toEqual({ metadata: { uid, resourceVersion }, spec: { replicas: 5 } });
    expect(patch?.query.get("fieldManager")).toBe("reversi-connectors");
    expect(patch?.query.get("fieldValidation")).toBe("Strict");
  });
  test("sends nothing where the count is right already", async () => {
    const on = await bench();
    expect(await on.call("scale_deployment", { ...web, replicas: 3 })).toMatchObject({
      previous_replicas: 3,
    });
    expect(on.writes()).toEqual([]);
  });
  test("reads again when a controller wrote in between, and takes the count that is there then", async () => {
    const on = await bench();
    on.meanwhile("PATCH", () => scaleAs(on.world, on.deployment(), 4));
    expect(await on.call("scale_deployment", { ...web, replicas: 5 })).toMatchObject({
      previous_replicas: 4,
    });
    expect(on.writes()).toHaveLength(2);
  });
  test("gives up, with nothing changed, on a deployment that never rests", async () => {
    const on = await bench();
    on.meanwhile("PATCH", () => touch(on.world, on.deployment()), 100);
    expect(await failure(on.call("scale_deployment", { ...web, replicas: 5 }))).toMatchObject({
      code: "CONFLICT",
    });
    expect(on.deployment().spec.replicas).toBe(3);
  });
  test("of a deployment that is not there is an error with Kubernetes's reason", async () => {
    const on = await bench();
    const error = await failure(on.call("scale_deployment", { ...web, name: "nope", replicas: 1 }));
    expect(error).toMatchObject({ code: "FAILED", status: 404, reason: "NotFound" });
  });
});

describe("restore_replicas", () => {
  const scaled = async () => {
    const on = await bench();
    const args = { ...web, replicas: 5 };
    return { ...on, args, made: await on.call("scale_deployment", args) };
  };
  test("leaves a count alone that somebody else has set since, forced or not as the operator says", async () => {
    const on = await scaled();
    scaleAs(on.world, on.deployment(), 9);
    expect(await failure(on.undo("scale_deployment", on.args, on.made))).toMatchObject({ code: "CONFLICT" });
    expect(on.deployment().spec.replicas).toBe(9);
    const forced = await on.undo("scale_deployment", on.args, on.made, { onConflict: "overwrite" });
    expect(forced).toMatchObject({ replicas: 3, already: false });
  });
  test("does not overwrite a count that is set between its read and its write", async () => {
    const on = await scaled();
    on.meanwhile("PATCH", () => scaleAs(on.world, on.deployment(), 9));
    expect(await failure(on.undo("scale_deployment", on.args, on.made))).toMatchObject({ code: "CONFLICT" });
    expect(on.deployment().spec.replicas).toBe(9);
  });
  test("a second time it succeeds and changes nothing", async () => {
    const on = await scaled();
    await on.undo("scale_deployment", on.args, on.made);
    const { tool, args } = on.undoOf("scale_deployment", on.args, on.made);
    expect(await on.holds(tool, args)).toBe(true);
    expect(await on.call(tool, args)).toMatchObject({ already: true });
    expect(on.writes()).toHaveLength(2);
  });
  test("of another deployment under the same name, or of none, is a conflict and never success", async () => {
    const on = await scaled();
    const { tool, args } = on.undoOf("scale_deployment", on.args, on.made);
    remove(on.world.deployments, on.deployment());
    expect(await failure(on.call(tool, args))).toMatchObject({ code: "CONFLICT", found: "nothing" });
    addDeployment(on.world, "prod", "web", 5);
    expect(await failure(on.call(tool, args))).toMatchObject({ code: "CONFLICT" });
    on.meanwhile("PATCH", () => remove(on.world.deployments, on.deployment()));
    const { expected_uid: _, ...anyone } = args;
    expect(await failure(on.call(tool, anyone))).toMatchObject({ code: "CONFLICT", found: "nothing" });
    addDeployment(on.world, "prod", "web", 5);
    expect(await on.holds(tool, args)).toBe(false);
    expect(on.deployment().spec.replicas).toBe(5);
  });
  test("refuses where the identity was to be known and is not", async () => {
    const on = await bench();
    const args = { ...web, previous_replicas: 1, expected_replicas: 3, expected_uid: null };
    expect((await failure(on.call("restore_replicas", args))).message).toMatch(
      /uid is not known.*nothing was changed/,
    );
    expect(on.backend.requests).toEqual([]);
  });

  describe("with a credential that may patch and not read", () => {
    const blind = async (replicas: number, name = "web") => {
      const on = await bench();
      const args = { ...web, name, replicas };
      const made = await on.call("scale_deployment", args);
      on.world.rights.delete("get deployments/scale");
      return { ...on, ...on.undoOf("scale_deployment", args, made) };
    };
    test.each([5, 0])(
      "tests and sets in one request, from %i, and says that nobody read it back",
      async (from) => {
        const on = await blind(from);
        expect(await on.call(on.tool, on.args)).toMatchObject({ replicas: 3, already: false });
        expect(on.deployment().spec.replicas).toBe(3);
        expect(await on.holds(on.tool, on.args)).toBe("unknown");
      },
    );
    test.each([
      ["web", 5],
      ["web", 0],
      ["idle", 2],
    ])("%s from %i: a second time it succeeds and changes nothing", async (name, from) => {
      const on = await blind(from, name);
      await on.call(on.tool, on.args);
      const before = structuredClone(on.deployment(name));
      expect(await on.call(on.tool, on.args)).toMatchObject({ replicas: before.spec.replicas });
      expect(on.deployment(name)).toEqual(before);
    });
    test("of a deployment that is gone is a conflict", async () => {
      const on = await blind(5);
      remove(on.world.deployments, on.deployment());
      expect(await failure(on.call(on.tool, on.args))).toMatchObject({ code: "CONFLICT", found: "nothing" });
    });
    test("leaves a count alone that somebody else has set since", async () => {
      const on = await blind(5);
      scaleAs(on.world, on.deployment(), 9);
      expect(await failure(on.call(on.tool, on.args))).toMatchObject({ code: "CONFLICT" });
      expect(on.deployment().spec.replicas).toBe(9);
      const forced = await on.call(on.tool, on.args, { onConflict: "overwrite" });
      expect(forced).toMatchObject({ replicas: 3, already: false });
    });
    test("leaves another deployment of that name alone", async () => {
      for (const from of [5, 0]) {
        const on = await blind(from);
        remove(on.world.deployments, on.deployment());
        addDeployment(on.world, "prod", "web", from);
        expect(await failure(on.call(on.tool, on.args))).toMatchObject({ code: "CONFLICT" });
        expect(on.deployment().spec.replicas).toBe(from);
      }
    });
    test("does nothing without uid and count", async () => {
      const on = await blind(5);
      const error = await failure(on.call("restore_replicas", { ...web, previous_replicas: 3 }));
      expect(error).toMatchObject({ status: 403, reason: "Forbidden" });
      expect(on.writes()).toHaveLength(1);
    });
  });
});
