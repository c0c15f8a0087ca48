import { ConflictError, ConnectorError, type OnConflict, s } from "@reversi-connector/core";
import type { HttpClient } from "@reversi-connector/http";
import { isMissing, isStale, tool } from "./client.ts";
import { type ConfigMap, hashOfContent, inWords, look } from "./configmap.ts";
import {
  already,
  checkKnown,
  configMapPath,
  expectedUid,
  type Name,
  name,
  namespace,
  sha256,
} from "./objects.ts";

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

interface Deleted {
  readonly kind?: unknown;
  readonly status?: unknown;
  readonly details?: { readonly uid?: unknown };
  readonly metadata?: { readonly uid?: unknown };
}
/** Whether an answer says that this very object is gone, or going (finalizers keep it). */
const isDeleted =
  (own: string) =>
  ({ kind, status, details, metadata }: Deleted) =>
    kind === "Status"
      ? status === "Success" && (details?.uid ?? own) === own
      : kind === "ConfigMap" && metadata?.uid === own;

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
    expect: isDeleted(preconditions.uid),
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
    if (isMissing(error, "configmaps", args.name)) return null;
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
      if (isMissing(error, "configmaps", args.name)) return null;
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
