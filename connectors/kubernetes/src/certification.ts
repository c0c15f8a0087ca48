import { readFileSync } from "node:fs";
import type { Plan, Subject } from "@reversi-connector/certification-kit";
import { kubernetes } from "./index.ts";
import { token } from "./sandbox/wire.ts";
import { listedRights } from "./sandbox/world.ts";
import { addConfigMap, attach, editConfigMap, type KubernetesSandbox, sandbox, scaleAs } from "./sandbox.ts";

const web = { namespace: "prod", name: "web" };
const idle = { namespace: "prod", name: "idle" };

type Calls = Readonly<Record<string, Plan<KubernetesSandbox> | readonly Plan<KubernetesSandbox>[]>>;

/** Somebody else scales the deployment that a call worked on. */
const scaled: NonNullable<Plan<KubernetesSandbox>["edit"]> = ({ world }, { args }) => {
  const deployment = world.deployments.find(({ metadata }) => metadata.name === args.name);
  if (deployment) scaleAs(world, deployment, 7);
};
/** Somebody else changes the ConfigMap that a call made. */
const edited: NonNullable<Plan<KubernetesSandbox>["edit"]> = ({ world }, { args }) => {
  const map = world.configMaps.find(({ metadata }) => metadata.name === args.name);
  if (map) editConfigMap(world, map, { mode: "edited by Ada" });
};

/** Good calls in the sandbox's namespace `prod`. */
const calls: Calls = {
  "kubernetes.get_deployment": { args: web },
  "kubernetes.list_pods": { args: { namespace: "prod", label_selector: "app=web", limit: 2 } },
  "kubernetes.scale_deployment": [
    { title: "up", args: { ...web, replicas: 5 }, edit: scaled },
    { title: "to nothing", args: { ...web, replicas: 0 }, edit: scaled },
    { title: "from nothing", args: { ...idle, replicas: 2 }, edit: scaled },
  ],
  "kubernetes.restore_replicas": { args: { ...web, previous_replicas: 1, expected_replicas: 3 } },
  "kubernetes.create_configmap": [
    { title: "texts", args: { namespace: "prod", name: "flags", data: { mode: "slow" } }, edit: edited },
    {
      title: "bytes that never change",
      args: {
        ...{ namespace: "default", name: "logo", immutable: true },
        ...{ binary_data: { "logo.png": "iVBORw0KGgo=" }, labels: { team: "web" } },
      },
    },
  ],
  "kubernetes.delete_configmap": {
    args({ backend }) {
      const { metadata } = addConfigMap(backend.world, "prod", "stale", { mode: "old" });
      return { namespace: "prod", name: metadata.name, expected_uid: metadata.uid };
    },
  },
  "kubernetes.rollout_restart": { args: web },
  "kubernetes.delete_pod": [
    { title: "in its own time", args: { namespace: "prod", name: "web-5d4f8c7b9d-b7x2k" } },
    {
      title: "at once",
      args: { namespace: "prod", name: "web-5d4f8c7b9d-c9q4m", grace_period_seconds: 0 },
    },
  ],
};

const schemaHashes: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL("../schema-hashes.json", import.meta.url), "utf8"),
);

const unlisted = "errors are `Status` objects, which the description leaves out";
/** Where the sandbox differs from the published description, as the API server does. */
const deviations = {
  "*: answer 401: a body that is not described": unlisted,
  ...Object.fromEntries(
    [400, 403, 404, 409, 415, 429].map((status) => [
      `*: answer ${status}: the status is not described`,
      unlisted,
    ]),
  ),
};

/** What the certification needs to know about this connector. */
export const subject = {
  connector: ({ address, credential, timeoutMs }) =>
    kubernetes({ ...attach(address), token: credential, timeoutMs }),
  backend: () => sandbox(),
  wire: (backend, { http }) => http(backend, { address: backend.address }),
  credential: token,
  calls,
  schemaHashes,
  contract: (folder, kit) => kit.openApi(`${folder}/kubernetes.json`, { deviations }),
  residue: {
    pods: "the sandbox runs no controllers",
    read: "the sandbox runs no pods",
    pod: "a deleted pod is not undone",
  },
  permit({ world }, access) {
    for (const right of world.rights)
      if (access === "none" || !listedRights.includes(right)) world.rights.delete(right);
  },
  strictness: {
    accepts: {
      unknown_query: "Kubernetes ignores query parameters that it does not know",
      unknown_field:
        "DeleteOptions are read leniently; of other bodies the tests show that such a field is refused",
    },
  },
} satisfies Subject<KubernetesSandbox>;
