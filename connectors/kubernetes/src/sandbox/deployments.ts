import { merged, patched } from "./patch.ts";
import { type Call, checkFields, type Endpoint, ok } from "./wire.ts";
import { type StoredDeployment, settled, wrote } from "./world.ts";

const json = [
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/json-patch+json",
];

function deploymentIn({ world, namespace, name, fail }: Call): StoredDeployment {
  const found = world.deployments.find(
    ({ metadata }) => metadata.namespace === namespace && metadata.name === name,
  );
  return (
    found ??
    fail(404, "NotFound", `deployments.apps "${name}" not found`, {
      name,
      group: "apps",
      kind: "deployments",
    })
  );
}

export const getDeployment: Endpoint = (call) => {
  call.need("get", "deployments");
  return ok(deploymentIn(call));
};

interface Changed {
  readonly metadata?: { readonly uid?: unknown; readonly resourceVersion?: unknown };
  readonly spec?: { readonly replicas?: unknown };
}

/** The object with the patch applied, and its preconditions checked. */
function withPatch<T extends object>(
  call: Call,
  object: T,
  { uid, resourceVersion }: { readonly uid: string; readonly resourceVersion: string },
  what: string,
): T & Changed {
  const { name, fail } = call;
  const type = call.patchType();
  const body = call.body(...json);
  const changed = (
    type === "application/json-patch+json" ? patched(object, body) : merged(object, body)
  ) as T & Changed;
  if (changed === undefined) {
    return fail(422, "Invalid", "the server rejected our request due to an error in our request", {});
  }
  const { metadata } = changed;
  if (metadata?.uid !== uid) {
    const message = `Operation cannot be fulfilled on ${what} "${name}": Precondition failed: UID in precondition: ${metadata?.uid}, UID in object meta: ${uid}`;
    return fail(409, "Conflict", message, { name, kind: what });
  }
  if (metadata.resourceVersion !== resourceVersion) {
    const message = `Operation cannot be fulfilled on deployments.apps "${name}": the object has been modified; please apply your changes to the latest version and try again`;
    return fail(409, "Conflict", message, { name, group: "apps", kind: "deployments" });
  }
  return changed;
}

/** A zero is left out, as the API server does. */
const scaleOf = ({ metadata, spec, status }: StoredDeployment) => {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  return {
    ...{ kind: "Scale", apiVersion: "autoscaling/v1" },
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: spec.replicas === 0 ? {} : { replicas: spec.replicas },
    status: { replicas: Number(status["replicas"] ?? 0), selector: `app=${name}` },
  };
};

export const getScale: Endpoint = (call) => {
  call.need("get", "deployments/scale");
  return ok(scaleOf(deploymentIn(call)));
};

export const patchScale: Endpoint = (call) => {
  call.need("patch", "deployments/scale");
  const { world, name, fail, manager } = call;
  const deployment = deploymentIn(call);
  const scale = withPatch(call, scaleOf(deployment), deployment.metadata, "deployments/scale.apps");
  checkFields(call, "Scale", scale, ["kind", "apiVersion", "metadata", "spec", "status"]);
  checkFields(call, "Scale", scale.spec, ["replicas"]);
  const { replicas = 0 } = scale.spec;
  if (typeof replicas !== "number" || !Number.isInteger(replicas)) {
    return fail(
      422,
      "Invalid",
      ` "" is invalid: patch: Invalid value: ${JSON.stringify(replicas)}: cannot unmarshal into Go struct field ScaleSpec.spec.replicas of type int32`,
      {},
    );
  }
  if (replicas < 0) {
    const problem = `Invalid value: ${replicas}: must be greater than or equal to 0`;
    return fail(422, "Invalid", `Scale.autoscaling "${name}" is invalid: spec.replicas: ${problem}`, {
      ...{ name, group: "autoscaling", kind: "Scale" },
      causes: [{ reason: "FieldValueInvalid", message: problem, field: "spec.replicas" }],
    });
  }
  if (replicas !== deployment.spec.replicas) {
    deployment.spec.replicas = replicas;
    deployment.metadata.generation = (deployment.metadata.generation ?? 1) + 1;
    settled(deployment);
    wrote(world, deployment, manager, "scale");
  }
  return ok(scaleOf(deployment));
};

export const patchDeployment: Endpoint = (call) => {
  call.need("patch", "deployments");
  const { world, manager } = call;
  const deployment = deploymentIn(call);
  const changed = withPatch(call, deployment, deployment.metadata, "deployments.apps");
  checkFields(call, "Deployment", changed, ["kind", "apiVersion", "metadata", "spec", "status"]);
  checkFields(call, "Deployment", changed.spec, [
    ...["replicas", "paused", "selector", "template", "strategy"],
    ...["minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"],
  ]);
  if (JSON.stringify(changed.spec) !== JSON.stringify(deployment.spec)) {
    deployment.spec = changed.spec;
    deployment.metadata.generation = (deployment.metadata.generation ?? 1) + 1;
    settled(deployment);
    wrote(world, deployment, manager);
  }
  return ok(deployment);
};
