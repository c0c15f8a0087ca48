import { EffectUncertainError } from "@reversi-connector/core";
import { addConfigMap, remove, scaleAs, touch } from "../src/sandbox.ts";
import { type Bench, bench, failure, flags, pod, web } from "./bench.ts";

type Write = readonly [tool: string, args: object];
const forward: readonly Write[] = [
  ["scale_deployment", { ...web, replicas: 5 }],
  ["create_configmap", flags],
  ["rollout_restart", web],
  ["delete_pod", pod],
];
const undoes: readonly Write[] = [
  ["restore_replicas", { ...web, previous_replicas: 1, expected_replicas: 3 }],
  ["delete_configmap", { namespace: "prod", name: "settings" }],
];
const all = [...forward, ...undoes];
const writing = (tool: string) => ({
  method: { create: "POST", delete: "DELETE" }[tool.split("_")[0] ?? ""] ?? "PATCH",
});

test.each(all)("HT-01: %s %j sent once, its answer lost or useless: unknown", async (tool, args) => {
  for (const fault of [
    { kind: "cutAfter", reset: true },
    { kind: "cutBefore" },
    { kind: "cutBody" },
    { kind: "garbage" },
    { kind: "status", status: 200, body: "{}" },
  ] as const) {
    const on = await bench();
    on.backend.inject(fault, writing(tool));
    const { error } = await on.lose(tool, args);
    expect([fault, EffectUncertainError.is(error)]).toEqual([fault, true]);
    expect(on.writes()).toHaveLength(1);
  }
});

test.each(all)(
  "%s %j answered with a 504 goes on at the server: failed, and perhaps done",
  async (tool, args) => {
    for (const [status, reason] of [
      [504, "Timeout"],
      [500, "InternalError"],
    ] as const) {
      const on = await bench();
      const body = {
        kind: "Status",
        status: "Failure",
        reason,
        message: "etcdserver: request timed out",
        code: status,
      };
      on.backend.inject({ kind: "status", status, effect: true, body }, writing(tool));
      const { error } = await on.lose(tool, args);
      expect(error).toMatchObject({ code: "FAILED", status, reason, mayHaveApplied: true });
      expect(on.writes()).toHaveLength(1);
    }
  },
);

test.each(forward)("%s %j: landed tells the truth both ways, late delivery included", async (tool, args) => {
  const on = await bench();
  on.backend.inject({ kind: "late" }, writing(tool));
  const { checkpoint } = await on.lose(tool, args);
  expect(await on.landed(tool, args, checkpoint)).toEqual({ landed: false });
  await on.backend.settle();
  expect(await on.landed(tool, args, checkpoint)).toMatchObject({ landed: true, result: checkpoint?.result });
});

test.each(forward)("%s %j: a checkpoint that is refused stops it before the write", async (tool, args) => {
  const on = await bench();
  const checkpoint = async () => {
    throw new Error("the disk is full");
  };
  const error = await failure(on.call(tool, args, { checkpoint }));
  expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
  expect(on.writes()).toEqual([]);
});

describe("without evidence nobody guesses", () => {
  const lost = async (tool: string, args: object) => {
    const on: Bench = await bench();
    on.backend.inject({ kind: "cutAfter" }, writing(tool));
    const { checkpoint } = await on.lose(tool, args);
    return { on, look: () => on.landed(tool, args, checkpoint) };
  };
  test("a count that somebody else has set to the same is not taken for ours", async () => {
    const on = await bench();
    on.backend.inject({ kind: "cutBefore" }, writing("scale_deployment"));
    const args = { ...web, replicas: 5 };
    const { checkpoint } = await on.lose("scale_deployment", args);
    scaleAs(on.world, on.deployment(), 5);
    expect(await on.landed("scale_deployment", args, checkpoint)).toBe("unknown");
  });
  test("nor one that was set before the call began", async () => {
    const { on } = await lost("scale_deployment", { ...web, replicas: 5 });
    const later = new Date(Date.now() + 60_000);
    const checkpoint = {
      result: { ...web, uid: on.deployment().metadata.uid, previous_replicas: 3, replicas: 5 },
      evidence: { resource_version_before: "1" },
    };
    expect(await on.landed("scale_deployment", { ...web, replicas: 5 }, checkpoint, later)).toBe("unknown");
  });
  test("of a deployment that is another one now nothing is said", async () => {
    const { on, look } = await lost("scale_deployment", { ...web, replicas: 5 });
    Object.assign(on.deployment().metadata, { uid: "another" });
    expect(await look()).toBe("unknown");
  });
  test("without the right to read nothing is said", async () => {
    for (const [tool, args] of forward) {
      const { on, look } = await lost(tool, args);
      for (const right of on.world.rights) if (/^(get|list)/.test(right)) on.world.rights.delete(right);
      expect([tool, await look()]).toEqual([tool, "unknown"]);
    }
  });
  test("a restart that a later one may have covered stays unknown", async () => {
    const { on, look } = await lost("rollout_restart", web);
    const { annotations = {} } = on.deployment().spec.template.metadata;
    annotations["kubectl.kubernetes.io/restartedAt"] = "2999-01-01T00:00:00Z";
    expect(await look()).toBe("unknown");
  });
  test("a ConfigMap without our mark proves that ours is not there only where it is older than the call", async () => {
    const { on, look } = await lost("create_configmap", flags);
    const map = on.configMap("flags");
    if (map) remove(on.world.configMaps, map);
    const other = addConfigMap(on.world, "prod", "flags", { mode: "slow" });
    expect(await look()).toBe("unknown");
    Object.assign(other.metadata, { creationTimestamp: "1969-12-31T00:00:00Z" });
    expect(await look()).toEqual({ landed: false });
  });
  test("a pod that was taken away, or replaced, is gone", async () => {
    const { on, look } = await lost("delete_pod", { ...pod, grace_period_seconds: 0 });
    expect(await look()).toMatchObject({ landed: true, result: { deletion_timestamp: null } });
    const [other] = on.world.pods;
    if (other) touch(on.world, other);
    expect(await look()).toMatchObject({ landed: true });
  });
});

test.each(forward.slice(0, 1))(
  "%s %j: the undo from the checkpoint alone ends in the prior state",
  async (tool, args) => {
    for (const kind of ["cutBefore", "cutAfter"] as const) {
      const on = await bench();
      const before = await on.state();
      on.backend.inject({ kind }, writing(tool));
      const { checkpoint } = await on.lose(tool, args);
      expect(await on.undo(tool, args, checkpoint?.result ?? {})).toMatchObject({
        already: kind === "cutBefore",
      });
      expect(await on.state()).toEqual(before);
    }
  },
);

test.each(undoes)(
  "%s %j: after a lost answer holds tells the truth, and repeating succeeds",
  async (tool, args) => {
    for (const kind of ["cutBefore", "cutAfter"] as const) {
      const on = await bench();
      on.backend.inject({ kind }, writing(tool));
      await on.lose(tool, args);
      expect(await on.holds(tool, args)).toBe(kind === "cutAfter");
      expect(await on.call(tool, args)).toMatchObject({ already: kind === "cutAfter" });
      expect(await on.holds(tool, args)).toBe(true);
    }
  },
);
