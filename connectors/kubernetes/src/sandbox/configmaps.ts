import { type Call, checkFields, type Endpoint, ok } from "./wire.ts";
import { metaOf, remove, type StoredConfigMap, type StoredMeta, type StoredPod, wrote } from "./world.ts";

const nameRule = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;
const keyRule = /^[-._a-zA-Z0-9]+$/;
const largest = 1_048_576;

interface Draft {
  readonly kind?: unknown;
  readonly apiVersion?: unknown;
  readonly metadata?: {
    readonly name?: unknown;
    readonly labels?: Record<string, string>;
    readonly annotations?: Record<string, string>;
  };
  readonly data?: Record<string, string>;
  readonly binaryData?: Record<string, string>;
  readonly immutable?: boolean;
}

/** Fails with 422, naming the field. */
const invalid = ({ fail }: Call, name: unknown, field: string, problem: string): never =>
  fail(422, "Invalid", `ConfigMap "${name}" is invalid: ${field}: ${problem}`, {
    ...{ name: String(name), kind: "ConfigMap" },
    causes: [{ reason: "FieldValueInvalid", message: problem, field }],
  });

function checkDraft(call: Call, draft: Draft): string {
  const what = 'ConfigMap in version "v1"';
  checkFields(call, what, draft, ["kind", "apiVersion", "metadata", "data", "binaryData", "immutable"]);
  const { name } = draft.metadata ?? {};
  if (typeof name !== "string" || name.length > 253 || !nameRule.test(name)) {
    return invalid(
      call,
      name,
      "metadata.name",
      `Invalid value: "${name}": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'`,
    );
  }
  let size = 0;
  for (const field of ["data", "binaryData"] as const) {
    for (const [key, value] of Object.entries(draft[field] ?? {})) {
      if (typeof value !== "string") {
        const message = `${what} cannot be handled as a ConfigMap: json: cannot unmarshal ${typeof value} into Go struct field ConfigMap.${field} of type string`;
        call.fail(400, "BadRequest", message);
      }
      if (!keyRule.test(key))
        invalid(
          call,
          name,
          `${field}[${key}]`,
          `Invalid value: "${key}": a valid config key must consist of alphanumeric characters, '-', '_' or '.'`,
        );
      if (field === "binaryData" && draft.data && Object.hasOwn(draft.data, key)) {
        invalid(
          call,
          name,
          `binaryData[${key}]`,
          `Invalid value: "${key}": duplicate of key present in data`,
        );
      }
      size += key.length + Buffer.byteLength(value, field === "data" ? "utf8" : "base64");
    }
  }
  if (size > largest) invalid(call, name, "[]", `Too long: may not be more than ${largest} bytes`);
  return name;
}

export const createConfigMap: Endpoint = (call) => {
  call.need("create", "configmaps");
  const { world, namespace, fail, manager } = call;
  if (!world.namespaces.includes(namespace)) {
    fail(404, "NotFound", `namespaces "${namespace}" not found`, { name: namespace, kind: "namespaces" });
  }
  const draft = call.body("application/json") as Draft;
  const name = checkDraft(call, draft);
  const taken = world.configMaps.some(
    ({ metadata }) => metadata.namespace === namespace && metadata.name === name,
  );
  if (taken) fail(409, "AlreadyExists", `configmaps "${name}" already exists`, { name, kind: "configmaps" });
  const { labels, annotations } = draft.metadata ?? {};
  const { data, binaryData, immutable } = draft;
  const map: StoredConfigMap = {
    ...{ kind: "ConfigMap", apiVersion: "v1" },
    metadata: metaOf(world, name, namespace, {
      ...(labels && { labels }),
      ...(annotations && { annotations }),
    }),
    ...(data && { data }),
    ...(binaryData && { binaryData }),
    ...(immutable !== undefined && { immutable }),
  };
  wrote(world, map, manager);
  world.configMaps.push(map);
  return ok(map, 201);
};

const find = <T extends { readonly metadata: StoredMeta }>(
  { namespace, name, fail }: Call,
  list: readonly T[],
  kind: string,
): T =>
  list.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name) ??
  fail(404, "NotFound", `${kind} "${name}" not found`, { name, kind });

export const getConfigMap: Endpoint = (call) => {
  call.need("get", "configmaps");
  return ok(find(call, call.world.configMaps, "configmaps"));
};

interface DeleteOptions {
  readonly preconditions?: { readonly uid?: unknown; readonly resourceVersion?: unknown };
  readonly gracePeriodSeconds?: number;
}

/** The object that may be deleted, and how. */
function deletion<T extends { readonly kind: string; readonly metadata: StoredMeta }>(
  call: Call,
  list: readonly T[],
  kind: string,
) {
  const options = call.body("application/json") as DeleteOptions;
  const object = find(call, list, kind);
  const { uid, resourceVersion } = options.preconditions ?? {};
  const { name } = call;
  if (uid !== undefined && uid !== object.metadata.uid) {
    const message = `Operation cannot be fulfilled on ${object.kind} "${name}": the UID in the precondition (${uid}) does not match the UID in record (${object.metadata.uid}). The object might have been deleted and then recreated`;
    call.fail(409, "Conflict", message, { name, kind: object.kind });
  }
  if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion) {
    const message = `Operation cannot be fulfilled on ${object.kind} "${name}": the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${object.metadata.resourceVersion}). The object might have been modified`;
    call.fail(409, "Conflict", message, { name, kind: object.kind });
  }
  return { object, options };
}

/** With finalizers it stays, and says that it is going. */
function isHeld({ metadata }: { readonly metadata: StoredMeta }): boolean {
  if (!metadata.finalizers?.length) return false;
  metadata.deletionTimestamp ??= new Date().toISOString();
  return true;
}

export const deleteConfigMap: Endpoint = (call) => {
  call.need("delete", "configmaps");
  const { world, name } = call;
  const { object } = deletion(call, world.configMaps, "configmaps");
  if (isHeld(object)) return ok(object);
  remove(world.configMaps, object);
  const details = { name, kind: "configmaps", uid: object.metadata.uid };
  return ok({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details });
};

export const getPod: Endpoint = (call) => {
  call.need("get", "pods");
  return ok(find(call, call.world.pods, "pods"));
};

/** Killed at once it is gone; else it says until when it lives. */
export const deletePod: Endpoint = (call) => {
  call.need("delete", "pods");
  const { object, options } = deletion<StoredPod>(call, call.world.pods, "pods");
  const { gracePeriodSeconds = 30 } = options;
  object.metadata.deletionTimestamp ??= new Date(Date.now() + gracePeriodSeconds * 1000)
    .toISOString()
    .replace(/\.\d+Z$/, "Z");
  object.metadata.deletionGracePeriodSeconds = gracePeriodSeconds;
  if (gracePeriodSeconds === 0) remove(call.world.pods, object);
  return ok(object);
};
