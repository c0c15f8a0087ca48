import { addPod, remove } from "../src/sandbox.ts";
import { bench, failure, pod, web } from "./bench.ts";

describe("list_pods", () => {
  test("MC-09: 1,200 pods come page by page, each with its cursor, and as summaries", async () => {
    const on = await bench();
    for (let count = 0; count < 1_197; count++) addPod(on.world, "prod", "batch", `batch-${count}`);
    const seen: unknown[] = [];
    let cursor: unknown;
    do {
      const page = await on.call("list_pods", {
        namespace: "prod",
        limit: 500,
        ...(cursor ? { cursor } : {}),
      });
      seen.push(...(page["pods"] as unknown[]));
      cursor = page["next_cursor"];
    } while (cursor !== null);
    expect(seen).toHaveLength(1_200);
    expect(seen[0]).toEqual({
      ...{ name: pod.name, uid: expect.any(String), phase: "Running", ready: true, restarts: 1 },
      ...{ node: "node-1", deleting: false, created_at: expect.stringMatching(/^\d{4}-.*Z$/) },
    });
  });
  test("selects by label and field; a selector that is none is Kubernetes's error", async () => {
    const on = await bench();
    addPod(on.world, "prod", "batch", "batch-1");
    const names = async (selector: object) =>
      ((await on.call("list_pods", { namespace: "prod", ...selector }))["pods"] as { name: string }[]).map(
        ({ name }) => name,
      );
    expect(await names({ label_selector: "app=batch" })).toEqual(["batch-1"]);
    expect(await names({ label_selector: "app!=web" })).toEqual(["batch-1"]);
    expect(await names({ field_selector: `metadata.name=${pod.name}` })).toEqual([pod.name]);
    expect(await failure(on.call("list_pods", { namespace: "prod", label_selector: "===" }))).toMatchObject({
      ...{ status: 400, reason: "BadRequest" },
    });
  });
  test("a cursor that is too old says to begin again", async () => {
    const on = await bench();
    const { next_cursor: cursor } = await on.call("list_pods", { namespace: "prod", limit: 1 });
    on.world.cursorsExpired = true;
    const error = await failure(on.call("list_pods", { namespace: "prod", limit: 1, cursor }));
    expect(error).toMatchObject({ status: 410, reason: "Expired" });
    expect(error.message).toContain("begin again without one");
  });
});

describe("delete_pod", () => {
  test("deletes the pod that was read, and no other that takes its name meanwhile", async () => {
    const on = await bench();
    on.meanwhile("DELETE", () => {
      const old = on.world.pods.find(({ metadata }) => metadata.name === pod.name);
      if (old) remove(on.world.pods, old);
      addPod(on.world, "prod", "web", pod.name);
    });
    expect(await failure(on.call("delete_pod", pod))).toMatchObject({ code: "CONFLICT" });
    expect(on.world.pods.every(({ metadata }) => metadata.deletionTimestamp === undefined)).toBe(true);
  });
  test("a 409 for another reason is that error: the pod is the same", async () => {
    const on = await bench();
    const body = {
      kind: "Status",
      status: "Failure",
      reason: "Conflict",
      message: "a webhook says no",
      code: 409,
    };
    on.backend.inject({ kind: "status", status: 409, body }, { method: "DELETE" });
    expect(await failure(on.call("delete_pod", pod))).toMatchObject({ code: "FAILED", status: 409 });
  });
  test("leaves another pod than the expected one alone, and refuses one that is not known", async () => {
    const on = await bench();
    expect(await failure(on.call("delete_pod", { ...pod, expected_uid: "another" }))).toMatchObject({
      code: "CONFLICT",
    });
    expect((await failure(on.call("delete_pod", { ...pod, expected_uid: null }))).message).toMatch(
      /uid is not known/,
    );
    expect(on.writes()).toEqual([]);
  });
  test("without the right to read deletes by name, and says what Kubernetes answered", async () => {
    const on = await bench();
    on.world.rights.delete("get pods");
    expect(await on.call("delete_pod", { ...pod, grace_period_seconds: 0 })).toMatchObject({
      uid: expect.any(String),
    });
    expect(on.writes()[0]?.json()).toEqual({
      apiVersion: "v1",
      kind: "DeleteOptions",
      gracePeriodSeconds: 0,
    });
  });
});

describe("rollout_restart", () => {
  test("K8-02: stamps the template by a merge patch, and leaves containers as they are", async () => {
    const on = await bench();
    const containers = structuredClone(on.deployment().spec.template.spec.containers);
    const made = await on.call("rollout_restart", web);
    expect(on.writes()[0]?.headers["content-type"]).toBe("application/merge-patch+json");
    expect(on.deployment().spec.template.spec.containers).toEqual(containers);
    expect(on.deployment().spec.template.metadata.annotations).toEqual({
      "kubectl.kubernetes.io/restartedAt": made["restarted_at"],
    });
    expect(made).toMatchObject({ generation: 2 });
  });
  test("of a paused deployment, which would roll nothing, is an error before anything is written", async () => {
    const on = await bench();
    on.deployment().spec.paused = true;
    expect((await failure(on.call("rollout_restart", web))).message).toMatch(
      /is paused.*Nothing was changed/,
    );
    expect(on.writes()).toEqual([]);
  });
});

test("get_deployment shows no environment values", async () => {
  const on = await bench();
  const seen = await on.call("get_deployment", web);
  expect(seen).toMatchObject({
    replicas: 3,
    ready_replicas: 3,
    images: ["registry.example/web:1.4"],
    paused: false,
  });
  expect(JSON.stringify(seen)).not.toContain("hunter2");
  expect(await on.call("get_deployment", { ...web, name: "idle" })).toMatchObject({
    replicas: 0,
    ready_replicas: 0,
  });
});
