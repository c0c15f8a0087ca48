import { s } from "@reversi-connector/core";
import type { HttpClient, HttpReader } from "@reversi-connector/http";
import { isForbidden, isMissing, isStale, tool } from "./client.ts";
import {
  anotherOne,
  checkKnown,
  expectedUid,
  isObject,
  type KubernetesObject,
  large,
  type Name,
  name,
  namespace,
  podPath,
  podsPath,
  uid,
} from "./objects.ts";

interface Pod extends KubernetesObject {
  readonly spec?: { readonly nodeName?: string };
  readonly status?: {
    readonly phase?: string;
    readonly containerStatuses?: readonly { readonly ready?: boolean; readonly restartCount?: number }[];
  };
}
interface Page {
  readonly kind: "PodList";
  readonly metadata: { readonly continue?: string };
  readonly items: readonly Pod[];
}
const isPage = ({ kind, metadata, items }: Partial<Page>) =>
  kind === "PodList" &&
  typeof metadata === "object" &&
  Array.isArray(items) &&
  items.every(({ metadata: own }: Partial<Pod>) => Boolean(own?.name && own.uid));

/** A pod as `list_pods` shows it. */
const seen = ({ metadata, spec = {}, status = {} }: Pod) => {
  const containers = status.containerStatuses ?? [];
  return {
    name: metadata.name,
    uid: metadata.uid,
    phase: status.phase ?? "Unknown",
    ready: containers.length > 0 && containers.every(({ ready }) => ready === true),
    restarts: containers.reduce((sum, { restartCount = 0 }) => sum + restartCount, 0),
    node: spec.nodeName ?? null,
    deleting: metadata.deletionTimestamp !== undefined,
    created_at: metadata.creationTimestamp ?? "",
  };
};

export const listPods = tool
  .readOnly("list_pods", {
    description: "List pods as summaries, page by page.",
    permission: "kubernetes:pods:read",
    input: s.object(
      { namespace },
      {
        label_selector: s.string("Label selector.", { minLength: 1, maxLength: 2048 }),
        field_selector: s.string("Field selector.", { minLength: 1, maxLength: 2048 }),
        limit: s.integer("At most this many entries.", { minimum: 1, maximum: 500, default: 100 }),
        cursor: s.string("`next_cursor` of the previous page.", { minLength: 1, maxLength: 4096 }),
      },
    ),
    output: s.object({
      namespace,
      pods: s.array(
        s.object(
          {
            name: s.string("Name."),
            uid,
            phase: s.string("Phase."),
            ready: s.boolean("All containers ready."),
            restarts: large("Restarts of its containers."),
            node: s.nullable(s.string("Node.")),
            deleting: s.boolean("Whether it is being deleted."),
            created_at: s.string("Created (RFC 3339)."),
          },
          {},
          "One entry.",
        ),
        "The pods.",
      ),
      next_cursor: s.nullable(s.string("Pass as `cursor` for the next page; null at the end.")),
    }),
  })
  .run(async ({ client, args }) => {
    const { label_selector, field_selector, limit, cursor } = args;
    const query = { labelSelector: label_selector, fieldSelector: field_selector, limit, continue: cursor };
    const { body } = await client.read<Page>({ path: podsPath(args), query, expect: isPage });
    return {
      namespace: args.namespace,
      pods: body.items.map(seen),
      next_cursor: body.metadata.continue || null,
    };
  });

/** @throws ConnectorError with the API server's status and reason */
async function readPod(client: HttpReader, at: Name): Promise<Pod> {
  const { body } = await client.read<Pod>({ path: podPath(at), expect: isObject("Pod", at) });
  return body;
}

interface Deletion extends Name {
  readonly expected_uid?: string | null;
  readonly grace_period_seconds?: number;
}
const inWords = ({ namespace: space, name: own }: Name) => `pod ${space}/${own}`;

/** The identity of the pod to delete; null where it is not given and may not be read. @throws ConflictError */
async function meant(client: HttpReader, args: Deletion): Promise<string | null> {
  checkKnown(inWords(args), args.expected_uid);
  try {
    const { metadata } = await readPod(client, args);
    if (args.expected_uid && metadata.uid !== args.expected_uid) {
      return anotherOne(inWords(args), args.expected_uid, metadata.uid);
    }
    return metadata.uid;
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return args.expected_uid ?? null;
  }
}

/** Sends the deletion of this very pod, where its identity is known. @throws ConflictError when it is another one now */
async function send(client: HttpClient, args: Deletion, own: string | null): Promise<Pod> {
  const { grace_period_seconds: gracePeriodSeconds } = args;
  try {
    const { body } = await client.write<Pod>({
      method: "DELETE",
      path: podPath(args),
      json: {
        ...{ apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds },
        ...(own !== null && { preconditions: { uid: own } }),
      },
      expect: (pod: Pod) => isObject("Pod", args)(pod) && (own ?? pod.metadata.uid) === pod.metadata.uid,
    });
    return body;
  } catch (error) {
    // A 409 has several reasons: another pod of that name is one of them.
    if (own !== null && isStale(error)) await meant(client, { ...args, expected_uid: own });
    throw error;
  }
}

const deleted = ({ namespace: space, name: own }: Name, id: string | null, time: string | null) => ({
  namespace: space,
  name: own,
  uid: id,
  deletion_timestamp: time,
});

export const deletePod = tool
  .irreversible("delete_pod", {
    description: "Delete one pod.",
    permission: "kubernetes:pods:delete",
    input: s.object(
      { namespace, name },
      {
        grace_period_seconds: s.integer("Seconds to stop in; 0 kills at once.", {
          minimum: 0,
          maximum: 86400,
        }),
        expected_uid: expectedUid,
      },
    ),
    output: s.object({
      ...{ namespace, name },
      uid: s.nullable(uid),
      deletion_timestamp: s.nullable(s.string("When it ends (RFC 3339).")),
    }),
    checkpoint: { result: ["namespace", "name"], evidence: ["uid_before"] },
    residue: [{ id: "pod", text: "The pod and its local data are gone." }],
  })
  .landed(async ({ client, args, checkpoint }) => {
    const before = checkpoint?.evidence?.uid_before;
    if (typeof before !== "string") return "unknown";
    try {
      const { metadata } = await readPod(client, args);
      const { uid: own, deletionTimestamp: time = null } = metadata;
      if (own === before && time === null) return { landed: false };
      return { landed: true, result: deleted(args, before, own === before ? time : null) };
    } catch (error) {
      if (isMissing(error, "pods", args.name)) return { landed: true, result: deleted(args, before, null) };
      if (isForbidden(error)) return "unknown";
      throw error;
    }
  })
  .run(async ({ client, args, checkpoint }) => {
    const own = await meant(client, args);
    const evidence = { uid_before: own };
    await checkpoint({ result: { namespace: args.namespace, name: args.name }, evidence });
    const { metadata } = await send(client, args, own);
    return deleted(args, metadata.uid, metadata.deletionTimestamp ?? null);
  });
