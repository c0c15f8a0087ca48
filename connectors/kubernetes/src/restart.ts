import { ConnectorError, s } from "@reversi-connector/core";
import type { HttpClient } from "@reversi-connector/http";
import { asOurs, isForbidden, isMissing, tool } from "./client.ts";
import { type Deployment, isDeployment, readDeployment } from "./get.ts";
import { deploymentPath, large, type Name, name, namespace, uid } from "./objects.ts";

/** Where kubectl, too, notes when a deployment was restarted. */
const annotation = "kubectl.kubernetes.io/restartedAt";
const stampOf = ({ spec }: Deployment) => spec.template.metadata?.annotations?.[annotation];

const restarted = ({ metadata }: Deployment, restarted_at: string) => ({
  namespace: metadata.namespace,
  name: metadata.name,
  uid: metadata.uid,
  generation: metadata.generation ?? 0,
  restarted_at,
});

/** A paused deployment takes the stamp and rolls nothing. @throws ConnectorError when it is paused, where that can be read */
async function checkRolls(client: HttpClient, at: Name): Promise<void> {
  try {
    const { spec } = await readDeployment(client, at);
    if (!spec.paused) return;
  } catch (error) {
    if (isForbidden(error)) return;
    throw error;
  }
  throw new ConnectorError(
    `deployment ${at.namespace}/${at.name} is paused: nothing would be restarted; resume it first. Nothing was changed.`,
  );
}

/** Stamps the pod template, so that all pods are replaced. */
async function stamp(client: HttpClient, at: Name, restarted_at: string): Promise<Deployment> {
  const annotations = { [annotation]: restarted_at };
  const { body } = await client.write<Deployment>({
    method: "PATCH",
    path: deploymentPath(at),
    query: asOurs,
    headers: { "content-type": "application/merge-patch+json" },
    body: JSON.stringify({ spec: { template: { metadata: { annotations } } } }),
    expect: (deployment: Deployment) => isDeployment(at)(deployment) && stampOf(deployment) === restarted_at,
  });
  return body;
}

export const rolloutRestart = tool
  .irreversible("rollout_restart", {
    description: "Restart the pods of a deployment.",
    permission: "kubernetes:deployments:restart",
    input: s.object({ namespace, name }),
    output: s.object({
      ...{ namespace, name, uid },
      generation: large("Generation of the spec now."),
      restarted_at: s.string("Time stamped on the pod template (RFC 3339)."),
    }),
    checkpoint: { result: ["namespace", "name", "restarted_at"] },
    residue: [{ id: "pods", text: "All pods were replaced." }],
  })
  .landed(async ({ client, args, checkpoint }) => {
    const ours = checkpoint?.result.restarted_at;
    if (ours === undefined) return "unknown";
    try {
      const deployment = await readDeployment(client, args);
      const found = stampOf(deployment);
      if (found === ours) return { landed: true, result: restarted(deployment, ours) };
      // A later restart would have covered ours.
      return found === undefined || Date.parse(found) < Date.parse(ours) ? { landed: false } : "unknown";
    } catch (error) {
      if (isForbidden(error) || isMissing(error, "deployments", args.name)) return "unknown";
      throw error;
    }
  })
  .run(async ({ client, args, checkpoint }) => {
    await checkRolls(client, args);
    // To the millisecond: within one second a second stamp would change nothing.
    const restarted_at = new Date().toISOString();
    await checkpoint({ result: { namespace: args.namespace, name: args.name, restarted_at } });
    return restarted(await stamp(client, args, restarted_at), restarted_at);
  });
