import {
  ConflictError,
  ConnectorError,
  hashOf,
  InvalidArgumentsError,
  type OnConflict,
  s,
} from "@reversi-connector/core";
import type { HttpClient, HttpReader } from "@reversi-connector/http";
import { asOurs, isForbidden, isMissing, isStale, saysSo, tool } from "./client.ts";
import {
  already,
  checkKnown,
  configMapPath,
  configMapsPath,
  expectedUid,
  isObject,
  type KubernetesObject,
  type Name,
  name,
  namespace,
  sha256,
  uid,
} from "./objects.ts";

interface Content {
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}
interface ConfigMap extends KubernetesObject, Content {}

/** Over texts and bytes; neither labels nor annotations count. */
const hashOfContent = ({ data = {}, binaryData = {} }: Content) => hashOf({ data, binaryData });
const inWords = ({ namespace: space, name: own }: Name) => `ConfigMap ${space}/${own}`;

type Found = ConfigMap | "gone" | "forbidden";

/** The ConfigMap, on Kubernetes's own word where it is gone. @throws ConnectorError when nobody can tell */
async function look(client: HttpReader, at: Name): Promise<Found> {
  try {
    const { body } = await client.read<ConfigMap>({
      path: configMapPath(at),
      expect: isObject("ConfigMap", at),
    });
    return body;
  } catch (error) {
    if (isMissing(error)) return "gone";
    if (isForbidden(error)) return "forbidden";
    throw error;
  }
}

interface Deletion extends Name {
  readonly expected_uid?: string | null;
  readonly expected_sha256?: string | null;
}

/** @throws ConflictError when its content is not what the step left */
function checkUntouched(map: ConfigMap, args: Deletion, onConflict: OnConflict = "refuse"): void {
  const { expected_sha256: expected } = args;
  const found = hashOfContent(map);
  if (!expected || found === expected || onConflict === "overwrite") return;
  throw new ConflictError(`${inWords(args)} was changed since; nothing was deleted`, { expected, found });
}

/** Sends the deletion of one very object, in one version where that is known. */
async function send(
  client: HttpClient,
  at: Name,
  preconditions: { readonly uid: string; readonly resourceVersion?: string },
) {
  await client.write({
    method: "DELETE",
    path: configMapPath(at),
    json: { apiVersion: "v1", kind: "DeleteOptions", preconditions },
    expect: ({ kind }: { kind?: unknown }) => kind === "Status" || kind === "ConfigMap",
  });
}

/** For a credential that may not read: the identity alone is the guard. @returns the uid, or null when it was gone */
async function eraseUnseen(client: HttpClient, args: Deletion): Promise<string | null> {
  const { expected_uid: own } = args;
  if (typeof own !== "string") {
    throw new ConnectorError(
      `${inWords(args)} may not be read, and without expected_uid it is not deleted unseen`,
      { status: 403, reason: "Forbidden" },
    );
  }
  try {
    await send(client, args, { uid: own });
    return own;
  } catch (error) {
    if (isMissing(error)) return null;
    if (isStale(error) && /UID in (?:the )?precondition/.test(error.message)) return null;
    throw error;
  }
}

/** How often somebody else's writes in between are looked at again. */
const mostAttempts = 5;

/** Deletes the version that was looked at. @returns the uid, or null when it was gone */
async function erase(client: HttpClient, args: Deletion, onConflict: OnConflict | undefined) {
  let wanted = args.expected_uid;
  let refused: { readonly version: string; readonly error: ConnectorError } | undefined;
  for (let left = mostAttempts; left > 0; left--) {
    const map = await look(client, args);
    if (map === "gone") return null;
    if (map === "forbidden") return eraseUnseen(client, args);
    const { uid: own, resourceVersion } = map.metadata;
    wanted ??= own;
    if (own !== wanted) return null;
    checkUntouched(map, args, onConflict);
    // Refused for this very version: it was not the version that stood in the way.
    if (refused?.version === resourceVersion) throw refused.error;
    try {
      await send(client, args, { uid: own, resourceVersion });
      return own;
    } catch (error) {
      if (isMissing(error)) return null;
      if (!isStale(error)) throw error;
      refused = { version: resourceVersion, error };
    }
  }
  throw new ConflictError(`${inWords(args)} keeps changing; nothing was deleted`, {
    expected: "the version that was read",
    found: "another version",
  });
}

export const deleteConfigMap = tool
  .idempotent("delete_configmap", {
    description: "Delete a ConfigMap. One that is gone, or that is another object of that name, is success.",
    permission: "kubernetes:configmaps:delete",
    input: s.object(
      { namespace, name },
      {
        expected_uid: expectedUid,
        expected_sha256: s.nullable(sha256("Hash of the data the undone step left; null when not known.")),
      },
    ),
    output: s.object({
      ...{ namespace, name },
      uid: s.nullable(
        s.string("Object deleted; null when it was gone already.", { minLength: 1, maxLength: 128 }),
      ),
      already,
    }),
    target: ["namespace", "name"],
    guard: { kind: "version", server_side: true },
    on_conflict: true,
  })
  .holds(async ({ client, args }) => {
    const map = await look(client, args);
    if (map === "forbidden") return "unknown";
    return map === "gone" || Boolean(args.expected_uid && map.metadata.uid !== args.expected_uid);
  })
  .run(async ({ client, args, onConflict }) => {
    checkKnown(inWords(args), args.expected_uid);
    const { namespace: space, name: own } = args;
    const gone = await erase(client, args, onConflict);
    return { namespace: space, name: own, uid: gone, already: gone === null };
  });

interface Creation extends Name {
  readonly data?: Readonly<Record<string, string>>;
  readonly binary_data?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly immutable: boolean;
}
const refuse = (at: string, rule: string): never => {
  throw new InvalidArgumentsError(`${at} ${rule}; nothing was sent`, { problems: [{ at, rule }] });
};
const largest = 1_048_576;

/** @throws InvalidArgumentsError naming the argument */
function checkContent({ data = {}, binary_data = {} }: Creation): void {
  let size = 0;
  for (const [key, text] of Object.entries(data)) size += key.length + Buffer.byteLength(text);
  for (const [key, base64] of Object.entries(binary_data)) {
    if (Object.hasOwn(data, key)) refuse(`binary_data.${key}`, "must not be a key of data as well");
    const bytes = Buffer.from(base64, "base64");
    if (bytes.toString("base64") !== base64) refuse(`binary_data.${key}`, "must be base64");
    size += key.length + bytes.length;
  }
  if (size > largest) refuse("data", "and binary_data must have at most 1 MiB together");
}

const marker = "reversi.dev/op";
/** The mark by which this very call finds its object again. @throws InvalidArgumentsError without a key */
function markOf(idempotencyKey: string | undefined, args: Creation): string {
  if (!idempotencyKey)
    throw new InvalidArgumentsError("the idempotency key must not be empty; nothing was sent");
  return hashOf({ entity: "configmap", idempotencyKey, args }).slice(0, 40);
}
const isOurs = (map: ConfigMap, mark: string) => map.metadata.annotations?.[marker] === mark;

const made = (map: ConfigMap) => ({
  namespace: map.metadata.namespace,
  name: map.metadata.name,
  uid: map.metadata.uid,
  sha256: hashOfContent(map),
});

/** Creates it; the one that an earlier request of this very call made is found again. */
async function create(client: HttpClient, args: Creation, mark: string): Promise<ConfigMap> {
  const { name: own, data, binary_data: binaryData, labels, immutable } = args;
  try {
    const { body } = await client.write<ConfigMap>({
      method: "POST",
      path: configMapsPath(args),
      query: asOurs,
      json: {
        ...{ apiVersion: "v1", kind: "ConfigMap" },
        metadata: { name: own, labels, annotations: { [marker]: mark } },
        ...{ data, binaryData },
        ...(immutable && { immutable }),
      },
      expect: isObject("ConfigMap", args),
    });
    return body;
  } catch (error) {
    if (!saysSo(error, 409, "AlreadyExists")) throw error;
    const map = await look(client, args);
    if (typeof map !== "string" && isOurs(map, mark)) return map;
    throw error;
  }
}

export const createConfigMap = tool
  .reversible("create_configmap", {
    description: "Create a ConfigMap. An existing name is an error.",
    permission: "kubernetes:configmaps:write",
    additive: true,
    input: s.object(
      { namespace, name },
      {
        data: s.map(s.string("Text."), "Texts by key.", { keys: "^[-._a-zA-Z0-9]{1,253}$" }),
        binary_data: s.map(s.string("Base64."), "Bytes by key, base64; no key in both.", {
          keys: "^[-._a-zA-Z0-9]{1,253}$",
        }),
        labels: s.map(s.string("Value.", { maxLength: 63 }), "Labels.", { maxProperties: 64 }),
        immutable: s.boolean("Whether its data can never change.", { default: false }),
      },
    ),
    output: s.object({
      ...{ namespace, name, uid },
      sha256: sha256("SHA-256 of data + binaryData (canonical JSON) as stored."),
    }),
    compensation: {
      tool: deleteConfigMap,
      argument_map: {
        namespace: "args.namespace",
        name: "args.name",
        expected_uid: "result.uid",
        expected_sha256: "result.sha256",
      },
    },
    checkpoint: { result: ["namespace", "name"] },
    residue: [{ id: "read", text: "Pods may have read it before it was deleted." }],
  })
  .landed(async ({ client, args, idempotencyKey }) => {
    const map = await look(client, args);
    if (map === "forbidden") return "unknown";
    return map !== "gone" && isOurs(map, markOf(idempotencyKey, args))
      ? { landed: true, result: made(map) }
      : { landed: false };
  })
  .run(async ({ client, args, idempotencyKey, checkpoint }) => {
    checkContent(args);
    const mark = markOf(idempotencyKey, args);
    await checkpoint({ result: { namespace: args.namespace, name: args.name } });
    return made(await create(client, args, mark));
  });
