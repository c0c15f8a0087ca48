import { ConflictError, ConnectorError, s } from "@reversi-connector/core";
import { path } from "@reversi-connector/http";

/** What every object has. */
export interface Meta {
  readonly name: string;
  readonly namespace: string;
  /** Identity of one object's life. */
  readonly uid: string;
  /** Changes with every write, whoever makes it. */
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  /** It is being deleted. */
  readonly deletionTimestamp?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly managedFields?: readonly {
    readonly manager?: string;
    readonly subresource?: string;
    readonly time?: string;
  }[];
}
export interface KubernetesObject {
  readonly kind: string;
  readonly metadata: Meta;
}

/** The arguments that name an object. */
export interface Name {
  readonly namespace: string;
  readonly name: string;
}

const apps = ({ namespace }: Pick<Name, "namespace">) => path`/apis/apps/v1/namespaces/${namespace}`;
const core = ({ namespace }: Pick<Name, "namespace">) => path`/api/v1/namespaces/${namespace}`;
export const deploymentPath = (at: Name) => `${apps(at)}${path`/deployments/${at.name}`}`;
export const scalePath = (at: Name) => `${deploymentPath(at)}/scale`;
export const configMapsPath = (at: Pick<Name, "namespace">) => `${core(at)}/configmaps`;
export const configMapPath = (at: Name) => `${core(at)}${path`/configmaps/${at.name}`}`;
export const podsPath = (at: Pick<Name, "namespace">) => `${core(at)}/pods`;
export const podPath = (at: Name) => `${core(at)}${path`/pods/${at.name}`}`;

/** Whether an answer is this very object, and carries what a later write needs. */
export const isObject =
  (kind: string, { name, namespace }: Name) =>
  (object: Partial<KubernetesObject> | undefined): boolean =>
    object?.kind === kind &&
    object.metadata?.name === name &&
    object.metadata.namespace === namespace &&
    [object.metadata.uid, object.metadata.resourceVersion].every((part) => typeof part === "string");

/** What undo and pod deletion demand of an object's identity; undefined: whatever is there. */
export type Wanted = string | null | undefined;

/** @throws ConnectorError where the identity was to be known and is not */
export function checkKnown(what: string, wanted: Wanted): void {
  if (wanted !== null) return;
  throw new ConnectorError(
    `${what}: its uid is not known, so it cannot be told from another one of that name; nothing was changed`,
  );
}

/** @throws ConflictError: it was deleted, and another one made under its name */
export function anotherOne(what: string, wanted: string, found: string): never {
  throw new ConflictError(`${what} is another object of that name now; nothing was changed`, {
    expected: `uid ${wanted}`,
    found: `uid ${found}`,
  });
}

/** Schemas of values that several tools share. */
export const namespace = s.string("Namespace, a DNS-1123 label.", {
  pattern: "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$",
});
export const name = s.string("Name, a DNS-1123 subdomain.", {
  maxLength: 253,
  pattern: "^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$",
});
export const uidOf = (description: string) => s.string(description, { minLength: 1, maxLength: 128 });
export const uid = uidOf("Identity of this very object (metadata.uid).");
export const expectedUid = s.nullable(
  uidOf("Only this very object; another one of that name is left alone. Null: not known, refused."),
);
export const count = (description: string) => s.integer(description, { minimum: 0, maximum: 2147483647 });
export const large = (description: string) =>
  s.integer(description, { minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
export const already = s.boolean("True when nothing had to be done.");
export const sha256 = (description: string) => s.string(description, { pattern: "^[0-9a-f]{64}$" });
