import { ConflictError, type ConnectorError } from "@reversi-connector/core";
import type { HttpClient, HttpReader } from "@reversi-connector/http";
import { asOurs, isStale } from "./client.ts";
import { isObject, type KubernetesObject, type Name, scalePath } from "./objects.ts";

export interface Scale extends KubernetesObject {
  /** Left out at zero. */
  readonly spec: { readonly replicas?: number };
}
export const replicasOf = ({ spec }: Scale) => spec.replicas ?? 0;
const isScale = (at: Name) => (object: Partial<Scale> | undefined) =>
  isObject("Scale", at)(object) && ["undefined", "number"].includes(typeof object?.spec?.replicas);
export const inWords = ({ namespace: space, name: own }: Name) => `deployment ${space}/${own}`;

export async function readScale(client: HttpReader, at: Name): Promise<Scale> {
  const { body } = await client.read<Scale>({ path: scalePath(at), expect: isScale(at) });
  return body;
}

/** Sends a patch and proves that the count is what it asked for. */
export async function patch(client: HttpClient, at: Name, type: string, changes: unknown, replicas: number) {
  await client.write<Scale>({
    method: "PATCH",
    path: scalePath(at),
    query: asOurs,
    headers: { "content-type": type },
    body: JSON.stringify(changes),
    expect: (scale: Scale) => isScale(at)(scale) && replicasOf(scale) === replicas,
  });
}

/** Sets the count on the version that was read, and on no other. */
export const setOn = (client: HttpClient, at: Name, { metadata }: Scale, replicas: number) => {
  const { uid: own, resourceVersion } = metadata;
  const changes = { metadata: { uid: own, resourceVersion }, spec: { replicas } };
  return patch(client, at, "application/merge-patch+json", changes, replicas);
};

/** A busy deployment gets a new version with every step of its controller. */
const mostAttempts = 5;

/** What a credential that may not read has in place of the scale. */
export interface Denied {
  readonly denied: ConnectorError;
}

/** Reads and acts, again for as long as others write in between. @throws ConflictError */
export async function onLatest<Read extends Scale | Denied, T>(
  at: Name,
  read: () => Promise<Read>,
  act: (now: Read) => Promise<T>,
): Promise<T> {
  let refused: { readonly version: string | undefined; readonly error: ConnectorError } | undefined;
  for (let left = mostAttempts; left > 0; left--) {
    const now = await read();
    const version = "denied" in now ? undefined : now.metadata.resourceVersion;
    // Refused for this very version: it was not the version that stood in the way.
    if (refused && refused.version === version) throw refused.error;
    try {
      return await act(now);
    } catch (error) {
      if (!isStale(error)) throw error;
      refused = { version, error };
    }
  }
  throw new ConflictError(`${inWords(at)} keeps changing; nothing was changed`, {
    expected: "the version that was read",
    found: "another version",
  });
}
