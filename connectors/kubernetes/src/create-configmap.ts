import { callHash, refuseArgument, s } from "@reversi-connector/core";
import type { HttpClient } from "@reversi-connector/http";
import { asOurs, saysSo, tool } from "./client.ts";
import { type ConfigMap, hashOfContent, look } from "./configmap.ts";
import { deleteConfigMap } from "./delete-configmap.ts";
import { configMapsPath, isObject, type Name, name, namespace, sha256, uid } from "./objects.ts";

interface Creation extends Name {
  readonly data?: Readonly<Record<string, string>>;
  readonly binary_data?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly immutable: boolean;
}
const largest = 1_048_576;

/** @throws InvalidArgumentsError naming the argument */
function checkContent({ data = {}, binary_data = {} }: Creation): void {
  let size = 0;
  for (const [key, text] of Object.entries(data)) size += key.length + Buffer.byteLength(text);
  for (const [key, base64] of Object.entries(binary_data)) {
    if (Object.hasOwn(data, key)) refuseArgument(`binary_data.${key}`, "must not be a key of data as well");
    const bytes = Buffer.from(base64, "base64");
    if (bytes.toString("base64") !== base64) refuseArgument(`binary_data.${key}`, "must be base64");
    size += key.length + bytes.length;
  }
  if (size > largest) refuseArgument("data", "and binary_data must have at most 1 MiB together");
}

const marker = "reversi.dev/op";
/** The mark by which this very call finds its object again. @throws InvalidArgumentsError without a key */
const markOf = (idempotencyKey: string | undefined, args: Creation): string =>
  callHash(idempotencyKey, { entity: "configmap", args }).slice(0, 40);
const isOurs = (map: ConfigMap, mark: string) => map.metadata.annotations?.[marker] === mark;

/** Kubernetes's times have whole seconds. */
const isOlder = ({ metadata }: ConfigMap, since: Date) =>
  Date.parse(metadata.creationTimestamp ?? "") + 1000 < since.getTime();

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
  .landed(async ({ client, args, idempotencyKey, since }) => {
    const map = await look(client, args);
    if (map === "forbidden") return "unknown";
    if (map === "gone") return { landed: false };
    if (isOurs(map, markOf(idempotencyKey, args))) return { landed: true, result: made(map) };
    // One that is younger may be ours all the same, with its mark taken off.
    return isOlder(map, since) ? { landed: false } : "unknown";
  })
  .run(async ({ client, args, idempotencyKey, checkpoint }) => {
    checkContent(args);
    const mark = markOf(idempotencyKey, args);
    await checkpoint({ result: { namespace: args.namespace, name: args.name } });
    return made(await create(client, args, mark));
  });
