import { ConflictError, type OnConflict, s, threeWayRestore } from "@reversi-connector/core";
import type { HttpClient, HttpReader } from "@reversi-connector/http";
import { asOurs, isForbidden, isMissing, isStale, saysSo, tool, unlessForbidden } from "./client.ts";
import { readDeployment } from "./get.ts";
import {
  already,
  anotherOne,
  checkKnown,
  count,
  expectedUid,
  type Name,
  name,
  namespace,
  uid,
} from "./objects.ts";
import { type Denied, inWords, onLatest, patch, readScale, replicasOf, type Scale, setOn } from "./scale.ts";

interface Restore extends Name {
  readonly previous_replicas: number;
  readonly expected_replicas?: number;
  readonly expected_uid?: string | null;
}

/** Whether the count is to be set back. @throws ConflictError when it is neither as it was nor as the step left it */
function isToRestore(scale: Scale, args: Restore, onConflict: OnConflict | undefined): boolean {
  const { previous_replicas: before, expected_replicas, expected_uid } = args;
  if (expected_uid && scale.metadata.uid !== expected_uid) {
    return anotherOne(inWords(args), expected_uid, scale.metadata.uid);
  }
  const now = replicasOf(scale);
  // Without a word on what the step left, the tool does as told.
  const states = { before, after: expected_replicas ?? now, now };
  const same = (a: number, b: number) => a === b;
  return (
    threeWayRestore(states, { what: `replicas of ${inWords(args)}`, same, describe: String, onConflict }) ===
    "restore"
  );
}

const mergePatch = "application/merge-patch+json";
const jsonPatch = "application/json-patch+json";
const isOtherwise = (error: unknown) => isStale(error) || saysSo(error, 422, "Invalid");

/** Tests and sets in one request, for a credential that may not read. @returns whether it was set back before */
async function setUnseen(
  client: HttpClient,
  args: Restore,
  { denied }: Denied,
  onConflict: OnConflict | undefined,
): Promise<boolean> {
  const { previous_replicas: replicas, expected_replicas: expected, expected_uid: own } = args;
  if (typeof own !== "string" || expected === undefined) throw denied;
  const test = (path: string, value: unknown) => ({ op: "test", path, value });
  const isOurs = test("/metadata/uid", own);
  const set = { op: "replace", path: "/spec/replicas", value: replicas };
  // The server leaves out a zero, so no test can name it.
  const [type, changes] =
    expected === 0 || onConflict === "overwrite"
      ? [mergePatch, { metadata: { uid: own }, spec: { replicas } }]
      : [jsonPatch, [isOurs, test("/spec/replicas", expected), set]];
  const isBack = replicas === 0 ? test("/spec", {}) : test("/spec/replicas", replicas);
  try {
    await patch(client, args, type, changes, replicas);
    return false;
  } catch (error) {
    if (!isOtherwise(error)) throw error;
  }
  try {
    // Tests alone change nothing.
    await patch(client, args, jsonPatch, [isOurs, isBack], replicas);
    return true;
  } catch (error) {
    if (!isOtherwise(error)) throw error;
    throw new ConflictError(`${inWords(args)} is not as the undone step left it; nothing was changed`, {
      expected: `uid ${own} with ${expected} replicas`,
      found: "something else, which this credential may not read",
    });
  }
}

/** What `restoring` brings. @throws ConflictError when the deployment is gone */
async function unlessGone<T>(args: Restore, restoring: Promise<T>): Promise<T> {
  try {
    return await restoring;
  } catch (error) {
    if (!isMissing(error, "deployments", args.name)) throw error;
    throw new ConflictError(`${inWords(args)} is gone; there is nothing to scale back`, {
      expected: args.expected_uid ? `uid ${args.expected_uid}` : "the deployment",
      found: "nothing",
    });
  }
}

/** The scale, or that it may not be read. */
const findScale = (client: HttpReader, at: Name) => async (): Promise<Scale | Denied> => {
  try {
    return await readScale(client, at);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return { denied: error };
  }
};

export const restoreReplicas = tool
  .idempotent("restore_replicas", {
    description: "Set a deployment back to an earlier replica count.",
    permission: "kubernetes:deployments:scale",
    input: s.object(
      { namespace, name, previous_replicas: count("The count to set.") },
      { expected_replicas: count("Count the undone step left."), expected_uid: expectedUid },
    ),
    output: s.object({ namespace, name, replicas: count("Count set now."), already }),
    target: ["namespace", "name"],
    guard: { kind: "version", server_side: true },
    on_conflict: true,
  })
  .holds(async ({ client, args }) => {
    const scale = await unlessForbidden(readScale(client, args));
    if (!scale) return "unknown";
    const isOurs = !args.expected_uid || scale.metadata.uid === args.expected_uid;
    return isOurs && replicasOf(scale) === args.previous_replicas;
  })
  .run(async ({ client, args, onConflict }) => {
    checkKnown(inWords(args), args.expected_uid);
    const { namespace: space, name: own, previous_replicas: replicas } = args;
    const done = (was: boolean) => ({ namespace: space, name: own, replicas, already: was });
    const restoring = onLatest(args, findScale(client, args), async (scale) => {
      if ("denied" in scale) return done(await setUnseen(client, args, scale, onConflict));
      if (!isToRestore(scale, args, onConflict)) return done(true);
      await setOn(client, args, scale, replicas);
      return done(false);
    });
    return unlessGone(args, restoring);
  });

/** Whether this connector was the last to set the count. "unknown" where the fields' owners cannot be read. */
async function isOurCount(client: HttpReader, at: Name, since: Date): Promise<boolean | "unknown"> {
  const deployment = await unlessForbidden(readDeployment(client, at));
  if (!deployment) return "unknown";
  const { managedFields = [] } = deployment.metadata;
  // Times have whole seconds.
  const from = Math.floor(since.getTime() / 1000) * 1000;
  return managedFields.some(
    ({ manager, subresource, time = "" }) =>
      manager === asOurs.fieldManager && subresource === "scale" && Date.parse(time) >= from,
  );
}

export const scaleDeployment = tool
  .reversible("scale_deployment", {
    description: "Set the replica count of a deployment.",
    permission: "kubernetes:deployments:scale",
    input: s.object({ namespace, name, replicas: count("Wanted replicas.") }),
    output: s.object({
      ...{ namespace, name, uid },
      previous_replicas: count("Count before."),
      replicas: count("Count set."),
    }),
    compensation: {
      tool: restoreReplicas,
      argument_map: {
        namespace: "args.namespace",
        name: "args.name",
        previous_replicas: "result.previous_replicas",
        expected_replicas: "result.replicas",
        expected_uid: "result.uid",
      },
    },
    requires: [
      {
        tool: "kubernetes.scale_deployment",
        match: { namespace: "args.namespace", name: "args.name" },
      },
    ],
    checkpoint: {
      result: ["namespace", "name", "uid", "previous_replicas", "replicas"],
      evidence: ["resource_version_before"],
      guard: "expected_replicas",
    },
    residue: [{ id: "pods", text: "Pods were started and stopped; an autoscaler may scale on its own." }],
  })
  .landed(async ({ client, args, checkpoint, since }) => {
    const { uid: own, previous_replicas, replicas } = checkpoint?.result ?? {};
    if (own === undefined || previous_replicas === undefined || replicas === undefined) return "unknown";
    const scale = await unlessForbidden(readScale(client, args));
    if (!scale || scale.metadata.uid !== own) return "unknown";
    if (scale.metadata.resourceVersion === checkpoint?.evidence?.resource_version_before)
      return { landed: false };
    if (replicasOf(scale) !== replicas || (await isOurCount(client, args, since)) !== true) return "unknown";
    return { landed: true, result: resultOf(args, own, previous_replicas, replicas) };
  })
  .run(({ client, args, checkpoint }) =>
    onLatest(
      args,
      () => readScale(client, args),
      async (scale) => {
        const { uid: own, resourceVersion } = scale.metadata;
        const result = resultOf(args, own, replicasOf(scale), args.replicas);
        if (result.previous_replicas === args.replicas) return result;
        await checkpoint({ result, evidence: { resource_version_before: resourceVersion } });
        await setOn(client, args, scale, args.replicas);
        return result;
      },
    ),
  );

const resultOf = (
  { namespace: space, name: own }: Name,
  id: string,
  previous_replicas: number,
  replicas: number,
) => ({
  namespace: space,
  name: own,
  uid: id,
  previous_replicas,
  replicas,
});
