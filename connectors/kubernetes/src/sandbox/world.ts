import { randomUUID } from "node:crypto";

type Labels = Record<string, string>;
export interface StoredMeta {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  resourceVersion: string;
  readonly creationTimestamp: string;
  generation?: number;
  labels?: Labels;
  annotations?: Labels;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  finalizers?: string[];
  managedFields: {
    manager: string;
    operation: "Update";
    apiVersion: string;
    time: string;
    fieldsType: "FieldsV1";
    fieldsV1: object;
    subresource?: string;
  }[];
}
interface Stored {
  readonly metadata: StoredMeta;
}
export interface StoredDeployment extends Stored {
  readonly apiVersion: "apps/v1";
  readonly kind: "Deployment";
  spec: {
    replicas: number;
    paused?: boolean;
    selector: { matchLabels: Labels };
    template: {
      metadata: { labels: Labels; annotations?: Labels };
      spec: { containers: { name: string; image: string; env?: { name: string; value: string }[] }[] };
    };
  };
  status: Record<string, unknown>;
}
export interface StoredConfigMap extends Stored {
  readonly apiVersion: "v1";
  readonly kind: "ConfigMap";
  data?: Labels;
  binaryData?: Labels;
  immutable?: boolean;
}
export interface StoredPod extends Stored {
  readonly apiVersion: "v1";
  readonly kind: "Pod";
  spec: { nodeName?: string; containers: { name: string; image: string }[] };
  status: {
    phase: string;
    containerStatuses: {
      name: string;
      image: string;
      imageID: string;
      ready: boolean;
      restartCount: number;
    }[];
  };
}

/** What the page lists for the tools, as `verb resource`. */
export const listedRights: readonly string[] = [
  ...["get deployments", "list pods", "get deployments/scale", "patch deployments/scale"],
  ...["create configmaps", "delete configmaps", "patch deployments", "delete pods"],
];
/** … and what undos need besides, to be verified. */
const readingRights = ["get configmaps", "get pods"];

export interface World {
  readonly namespaces: string[];
  readonly deployments: StoredDeployment[];
  readonly configMaps: StoredConfigMap[];
  readonly pods: StoredPod[];
  /** `verb resource` → the token may. */
  readonly rights: Set<string>;
  /** False once the token has ended. */
  tokenWorks: boolean;
  /** Whether cursors of earlier pages have become too old. */
  cursorsExpired: boolean;
  version: number;
}

const seconds = () => new Date().toISOString().replace(/\.\d+Z$/, "Z");

/** The next version of anything in the cluster. */
export const nextVersion = (world: World): string => String(++world.version);

export const metaOf = (
  world: World,
  name: string,
  namespace: string,
  more: Partial<StoredMeta> = {},
): StoredMeta => ({
  ...{ name, namespace, uid: randomUUID(), resourceVersion: nextVersion(world) },
  ...{ creationTimestamp: seconds(), managedFields: [], ...more },
});

/** Notes who wrote; whoever wrote the same fields before owns them no longer. */
export function wrote(world: World, { metadata }: Stored, manager: string, subresource?: string): void {
  metadata.resourceVersion = nextVersion(world);
  const others = metadata.managedFields.filter(
    (entry) => entry.manager !== manager && (subresource === undefined || entry.subresource !== subresource),
  );
  metadata.managedFields = [
    ...others,
    {
      ...{
        manager,
        operation: "Update",
        apiVersion: "v1",
        time: seconds(),
        fieldsType: "FieldsV1",
        fieldsV1: {},
      },
      ...(subresource !== undefined && { subresource }),
    },
  ];
}

/** The controllers of the sandbox act at once. */
export function settled(deployment: StoredDeployment): void {
  const { replicas } = deployment.spec;
  const { generation = 1 } = deployment.metadata;
  deployment.status = {
    observedGeneration: generation,
    ...(replicas > 0 && {
      ...{ replicas, readyReplicas: replicas, updatedReplicas: replicas, availableReplicas: replicas },
    }),
    conditions: [
      {
        ...{ type: "Available", status: "True", reason: "MinimumReplicasAvailable" },
        message: "Deployment has minimum availability.",
      },
    ],
  };
}

/** Scales as somebody else would. */
export function scaleAs(
  world: World,
  deployment: StoredDeployment,
  replicas: number,
  manager = "kubectl",
): void {
  deployment.spec.replicas = replicas;
  deployment.metadata.generation = (deployment.metadata.generation ?? 1) + 1;
  settled(deployment);
  wrote(world, deployment, manager, "scale");
}

/** Writes nothing but a new version, as a controller's status does. */
export const touch = (world: World, object: Stored) => {
  object.metadata.resourceVersion = nextVersion(world);
};

/** Changes a ConfigMap's texts as somebody else would. */
export function editConfigMap(world: World, map: StoredConfigMap, data: Labels): void {
  map.data = { ...map.data, ...data };
  wrote(world, map, "kubectl-edit");
}

export function addDeployment(
  world: World,
  namespace: string,
  name: string,
  replicas: number,
): StoredDeployment {
  const labels = { app: name };
  const deployment: StoredDeployment = {
    ...{ apiVersion: "apps/v1", kind: "Deployment" },
    metadata: metaOf(world, name, namespace, { generation: 1, labels }),
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name,
              image: `registry.example/${name}:1.4`,
              env: [{ name: "PASSWORD", value: "hunter2-hunter2" }],
            },
          ],
        },
      },
    },
    status: {},
  };
  settled(deployment);
  world.deployments.push(deployment);
  return deployment;
}

export function addConfigMap(world: World, namespace: string, name: string, data: Labels): StoredConfigMap {
  const map: StoredConfigMap = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: metaOf(world, name, namespace),
    data,
  };
  world.configMaps.push(map);
  return map;
}

export function addPod(world: World, namespace: string, app: string, name: string): StoredPod {
  const image = `registry.example/${app}:1.4`;
  const pod: StoredPod = {
    ...{ apiVersion: "v1", kind: "Pod" },
    metadata: metaOf(world, name, namespace, { labels: { app } }),
    spec: { nodeName: "node-1", containers: [{ name: app, image }] },
    status: {
      phase: "Running",
      containerStatuses: [{ name: app, image, imageID: image, ready: true, restartCount: 1 }],
    },
  };
  world.pods.push(pod);
  return pod;
}

/** Takes an object out of the cluster. */
export function remove<T>(list: T[], object: T): void {
  const at = list.indexOf(object);
  if (at !== -1) list.splice(at, 1);
}

export function newWorld(): World {
  const world: World = {
    ...{ namespaces: ["default", "prod"], deployments: [], configMaps: [], pods: [] },
    rights: new Set([...listedRights, ...readingRights]),
    ...{ tokenWorks: true, cursorsExpired: false, version: 1000 },
  };
  addDeployment(world, "prod", "web", 3);
  addDeployment(world, "prod", "idle", 0);
  addConfigMap(world, "prod", "settings", { "app.properties": "mode=fast\n" });
  for (const part of ["b7x2k", "c9q4m", "d1z8p"]) addPod(world, "prod", "web", `web-5d4f8c7b9d-${part}`);
  return world;
}

/** What a person would see; neither ids nor versions nor times. */
export const visibleState = ({ deployments, configMaps, pods }: World) => ({
  deployments: deployments.map(({ metadata, spec }) => ({
    ...{
      name: `${metadata.namespace}/${metadata.name}`,
      replicas: spec.replicas,
      paused: spec.paused ?? false,
    },
    restarted: spec.template.metadata.annotations?.["kubectl.kubernetes.io/restartedAt"] !== undefined,
  })),
  configMaps: configMaps.map(({ metadata, data = {}, binaryData = {}, immutable = false }) => ({
    ...{ name: `${metadata.namespace}/${metadata.name}`, labels: metadata.labels ?? {} },
    ...{ data, binaryData, immutable, deleting: metadata.deletionTimestamp !== undefined },
  })),
  pods: pods.map(({ metadata }) => ({
    ...{ name: `${metadata.namespace}/${metadata.name}`, deleting: metadata.deletionTimestamp !== undefined },
  })),
});
