import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { kubectl, kubectlName, noKubectl } from "../kubectl.js";
import { certificate, witness } from "../support.js";

/** One command a call. kubectl sends a token over TLS only, and reads no file of the user's. */
function clientFor({ options }, token = options.token) {
  const { file } = certificate();
  return async (...args) => {
    const where = [
      "--server",
      options.apiServer,
      "--certificate-authority",
      file,
      "--kubeconfig",
      "/dev/null",
    ];
    const { stdout } = await promisify(execFile)(kubectl(), [
      ...args,
      ...where,
      "--token",
      token,
      "--namespace",
      "prod",
    ]);
    return stdout;
  };
}

const { does, raises, run } = await witness(
  "kubernetes",
  kubectlName,
  (backend) => clientFor(backend),
  (sandbox) => sandbox({ tls: certificate() }),
);

const read = async (sdk, ...what) => JSON.parse(await sdk("get", ...what, "-o", "json"));
const web = { namespace: "prod", name: "web" };

does("gets a deployment", async ({ sdk }) => {
  const { kind, spec } = await read(sdk, "deployment", "web");
  assert.deepEqual([kind, spec.replicas], ["Deployment", 3]);
});

does("lists pods by label", async ({ sdk }) => {
  const { items } = await read(sdk, "pods", "--selector", "app=web");
  assert.equal(items.length, 3);
});

does("scales, and sees what scale_deployment set undone", async ({ sdk, call }) => {
  assert.match(await sdk("scale", "deployment/web", "--replicas=5"), /deployment\.apps\/web scaled/);
  const made = await call("scale_deployment", { ...web, replicas: 7 });
  const { previous_replicas, replicas, uid } = made;
  assert.equal((await read(sdk, "deployment", "web")).spec.replicas, 7);
  await call("restore_replicas", {
    ...web,
    previous_replicas,
    expected_replicas: replicas,
    expected_uid: uid,
  });
  assert.equal((await read(sdk, "deployment", "web")).spec.replicas, 5);
});

does("restarts a rollout", async ({ sdk, backend }) => {
  assert.match(await sdk("rollout", "restart", "deployment/web"), /restarted/);
  const { annotations } = backend.world.deployments[0].spec.template.metadata;
  assert.match(annotations["kubectl.kubernetes.io/restartedAt"], /^\d{4}-/);
});

does("creates a ConfigMap from a file", async ({ sdk, backend, later }) => {
  const folder = mkdtempSync(join(tmpdir(), "reversi-witness-kubectl-"));
  later(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "flags.json");
  const metadata = { name: "flags" };
  writeFileSync(
    file,
    JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { mode: "slow" } }),
  );
  assert.match(await sdk("create", "-f", file, "--validate=false"), /configmap\/flags created/);
  assert.deepEqual(backend.world.configMaps.at(-1).data, { mode: "slow" });
});

does("gets and deletes a ConfigMap of create_configmap", async ({ sdk, call, backend }) => {
  await call("create_configmap", { namespace: "prod", name: "ours", data: { mode: "slow" } });
  assert.deepEqual((await read(sdk, "configmap", "ours")).data, { mode: "slow" });
  assert.match(await sdk("delete", "configmap", "ours", "--wait=false"), /configmap "ours" deleted/);
  assert.equal(
    backend.world.configMaps.some(({ metadata }) => metadata.name === "ours"),
    false,
  );
});

does("deletes a pod at once", async ({ sdk, backend }) => {
  await sdk("delete", "pod", "web-5d4f8c7b9d-b7x2k", "--wait=false", "--grace-period=0", "--force");
  assert.equal(backend.world.pods.length, 2);
});

const says = (stderr) => ({ code: 1, stderr });

raises(
  "Error from server (NotFound): no such deployment",
  ({ sdk }) => sdk("get", "deployment", "none"),
  says(/^Error from server \(NotFound\): deployments\.apps "none" not found/),
);
raises(
  "Error from server (Forbidden): a right that is missing",
  ({ sdk, backend }) => {
    backend.world.rights.delete("get configmaps");
    return sdk("get", "configmap", "settings");
  },
  says(/^Error from server \(Forbidden\): configmaps "settings" is forbidden/),
);
raises(
  "error Unauthorized: a token that nobody knows",
  ({ backend }) => clientFor(backend, "nobody")("get", "pods"),
  says(/Unauthorized|must be logged in/),
);
raises(
  "Error from server (AlreadyExists): a ConfigMap that exists",
  async ({ sdk, later }) => {
    const folder = mkdtempSync(join(tmpdir(), "reversi-witness-kubectl-"));
    later(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "settings.json");
    writeFileSync(
      file,
      JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings" } }),
    );
    return sdk("create", "-f", file, "--validate=false");
  },
  says(/^Error from server \(AlreadyExists\): .*configmaps "settings" already exists/),
);
raises(
  "Error from server (InternalError): a breakdown",
  ({ sdk, backend }) => {
    backend.inject({ kind: "status", status: 500 }, { path: /deployments\/web/ });
    return sdk("get", "deployment", "web");
  },
  says(/InternalError|Something went wrong/),
);

run({ skip: noKubectl });
