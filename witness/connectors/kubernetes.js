import assert from "node:assert/strict";
import {
  ApiException,
  AppsV1Api,
  CoreV1Api,
  KubeConfig,
  PatchStrategy,
  setHeaderOptions,
} from "@kubernetes/client-node";
import { certificate, software, witness } from "../support.js";

function clientFor({ options }, token = options.token) {
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: "sandbox", server: options.apiServer, caFile: certificate().file }],
    users: [{ name: "agent", token }],
    contexts: [{ name: "sandbox", cluster: "sandbox", user: "agent" }],
    currentContext: "sandbox",
  });
  return { apps: config.makeApiClient(AppsV1Api), core: config.makeApiClient(CoreV1Api) };
}

const { does, raises, run } = await witness(
  "kubernetes",
  software("@kubernetes/client-node"),
  (backend) => clientFor(backend),
  (sandbox) => sandbox({ tls: certificate() }),
);

const namespace = "prod";
const web = { namespace, name: "web" };
const merge = setHeaderOptions("Content-Type", PatchStrategy.MergePatch);
const strategic = setHeaderOptions("Content-Type", PatchStrategy.StrategicMergePatch);
const scale = ({ apps }, replicas, name = "web") =>
  apps.patchNamespacedDeploymentScale({ namespace, name, body: { spec: { replicas } } }, merge);

does("reads a deployment", async ({ sdk, call }) => {
  const { metadata, spec, status } = await sdk.apps.readNamespacedDeployment(web);
  assert.deepEqual([metadata.name, spec.replicas, status.readyReplicas], ["web", 3, 3]);
  assert.ok(metadata.creationTimestamp instanceof Date);
  assert.equal((await call("get_deployment", web)).uid, metadata.uid);
});

does("lists pods by label, page by page", async ({ sdk }) => {
  const names = [];
  let _continue;
  do {
    const { items, metadata } = await sdk.core.listNamespacedPod({
      namespace,
      labelSelector: "app=web",
      limit: 2,
      _continue,
    });
    names.push(...items.map((pod) => pod.metadata.name));
    _continue = metadata._continue;
  } while (_continue);
  assert.deepEqual(names, ["web-5d4f8c7b9d-b7x2k", "web-5d4f8c7b9d-c9q4m", "web-5d4f8c7b9d-d1z8p"]);
});

does("scales, also to nothing and from it", async ({ sdk }) => {
  assert.equal((await scale(sdk, 5)).spec.replicas, 5);
  assert.equal((await scale(sdk, 0)).spec.replicas, undefined);
  assert.equal((await sdk.apps.readNamespacedDeployment(web)).spec.replicas, 0);
  assert.equal((await scale(sdk, 2)).spec.replicas, 2);
});

does("sees what scale_deployment set, and its undo", async ({ sdk, call }) => {
  const read = async () => (await sdk.apps.readNamespacedDeploymentScale(web)).spec.replicas;
  const { previous_replicas, replicas, uid } = await call("scale_deployment", { ...web, replicas: 6 });
  assert.equal(await read(), 6);
  await call("restore_replicas", {
    ...web,
    previous_replicas,
    expected_replicas: replicas,
    expected_uid: uid,
  });
  assert.equal(await read(), 3);
});

does("scales in between, which the undo does not overwrite", async ({ sdk, call }) => {
  const { previous_replicas, replicas, uid } = await call("scale_deployment", { ...web, replicas: 6 });
  await scale(sdk, 7);
  const undo = { ...web, previous_replicas, expected_replicas: replicas, expected_uid: uid };
  await assert.rejects(call("restore_replicas", undo), { code: "CONFLICT" });
  assert.equal((await sdk.apps.readNamespacedDeployment(web)).spec.replicas, 7);
});

does("restarts by an annotation", async ({ sdk, call }) => {
  const annotations = { "kubectl.kubernetes.io/restartedAt": "2026-12-01T00:00:00Z" };
  const body = { spec: { template: { metadata: { annotations } } } };
  const { spec } = await sdk.apps.patchNamespacedDeployment({ ...web, body }, strategic);
  assert.deepEqual(spec.template.metadata.annotations, annotations);
  const { restarted_at } = await call("rollout_restart", web);
  const after = await sdk.apps.readNamespacedDeployment(web);
  assert.equal(after.spec.template.metadata.annotations["kubectl.kubernetes.io/restartedAt"], restarted_at);
});

does("creates a ConfigMap, reads it and deletes just that one", async ({ sdk }) => {
  const body = {
    metadata: { name: "flags", labels: { team: "web" } },
    data: { mode: "slow" },
    binaryData: { logo: "iVBORw0KGgo=" },
  };
  const made = await sdk.core.createNamespacedConfigMap({ namespace, body });
  assert.deepEqual(
    [made.data, made.binaryData, made.metadata.labels],
    [body.data, body.binaryData, body.metadata.labels],
  );
  const flags = { namespace, name: "flags" };
  assert.equal((await sdk.core.readNamespacedConfigMap(flags)).metadata.uid, made.metadata.uid);
  const gone = await sdk.core.deleteNamespacedConfigMap({
    ...flags,
    body: { preconditions: { uid: made.metadata.uid } },
  });
  assert.equal(gone.status, "Success");
});

does("sees the ConfigMap of create_configmap gone after its undo", async ({ sdk, call }) => {
  const flags = { namespace, name: "ours" };
  const { uid, sha256 } = await call("create_configmap", { ...flags, data: { mode: "slow" } });
  assert.deepEqual((await sdk.core.readNamespacedConfigMap(flags)).data, { mode: "slow" });
  await call("delete_configmap", { ...flags, expected_uid: uid, expected_sha256: sha256 });
  await assert.rejects(sdk.core.readNamespacedConfigMap(flags), { code: 404 });
});

does("deletes a pod", async ({ sdk, backend }) => {
  const pod = { namespace, name: "web-5d4f8c7b9d-b7x2k" };
  const going = await sdk.core.deleteNamespacedPod({ ...pod, gracePeriodSeconds: 10 });
  assert.ok(going.metadata.deletionTimestamp instanceof Date);
  await sdk.core.deleteNamespacedPod({ ...pod, body: { gracePeriodSeconds: 0 } });
  assert.equal(
    backend.world.pods.some(({ metadata }) => metadata.name === pod.name),
    false,
  );
});

const failure = (code, reason, message = /./) => ({
  class: ApiException,
  code,
  body: (body) => {
    const status = typeof body === "string" ? JSON.parse(body) : body;
    assert.deepEqual([status.kind, status.code, status.reason], ["Status", code, reason]);
    assert.match(status.message, message);
    return true;
  },
});
const read = ({ sdk }) => sdk.apps.readNamespacedDeployment(web);
const injected = (fault) => (bench) => {
  bench.backend.inject(fault);
  return read(bench);
};

raises(
  "ApiException 404 NotFound: no such deployment",
  ({ sdk }) => sdk.apps.readNamespacedDeployment({ namespace, name: "none" }),
  failure(404, "NotFound", /deployments\.apps "none" not found/),
);
raises(
  "ApiException 404 NotFound: no such namespace",
  ({ sdk }) => sdk.core.createNamespacedConfigMap({ namespace: "x", body: { metadata: { name: "y" } } }),
  failure(404, "NotFound", /namespaces "x" not found/),
);
raises(
  "ApiException 409 AlreadyExists: a ConfigMap that exists",
  ({ sdk }) => sdk.core.createNamespacedConfigMap({ namespace, body: { metadata: { name: "settings" } } }),
  failure(409, "AlreadyExists"),
);
raises(
  "ApiException 409 Conflict: another uid",
  ({ sdk }) =>
    sdk.core.deleteNamespacedConfigMap({
      namespace,
      name: "settings",
      body: { preconditions: { uid: "other" } },
    }),
  failure(409, "Conflict", /UID in the precondition/),
);
raises(
  "ApiException 422 Invalid: a negative count",
  ({ sdk }) => scale(sdk, -1),
  failure(422, "Invalid", /greater than or equal to 0/),
);
raises(
  "ApiException 401 Unauthorized: a token that nobody knows",
  ({ backend }) => read({ sdk: clientFor(backend, "nobody") }),
  { class: ApiException, code: 401 },
);
raises(
  "ApiException 403 Forbidden: a right that is missing",
  (bench) => {
    bench.backend.world.rights.delete("patch deployments/scale");
    return scale(bench.sdk, 4);
  },
  failure(403, "Forbidden", /cannot patch resource "deployments\/scale"/),
);
raises(
  "ApiException 429 TooManyRequests: too many requests",
  injected({ kind: "rateLimit", retryAfter: 1 }),
  failure(429, "TooManyRequests"),
);
raises(
  "ApiException 500 InternalError: a breakdown",
  injected({ kind: "status", status: 500 }),
  failure(500, "InternalError"),
);
raises("FetchError ECONNRESET: a connection that is cut", injected({ kind: "cutAfter" }), {
  code: "ECONNRESET",
});

run();
