import { s } from "@reversi-connector/core";
import type { HttpReader } from "@reversi-connector/http";
import { tool } from "./client.ts";
import {
  count,
  deploymentPath,
  isObject,
  type KubernetesObject,
  large,
  type Name,
  name,
  namespace,
  uid,
} from "./objects.ts";

export interface Deployment extends KubernetesObject {
  readonly spec: {
    readonly replicas?: number;
    readonly paused?: boolean;
    readonly template: {
      readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
      readonly spec?: { readonly containers?: readonly { readonly image?: string }[] };
    };
  };
  /** Zeros are left out. */
  readonly status?: {
    readonly observedGeneration?: number;
    readonly readyReplicas?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
  };
}

/** Whether an answer is this deployment. */
export const isDeployment = (at: Name) => (object: Partial<Deployment> | undefined) =>
  isObject("Deployment", at)(object) && typeof object?.spec?.template === "object";

/** @throws ConnectorError with the API server's status and reason */
export async function readDeployment(client: HttpReader, at: Name): Promise<Deployment> {
  const { body } = await client.read<Deployment>({ path: deploymentPath(at), expect: isDeployment(at) });
  return body;
}

/** A deployment as `get_deployment` shows it. */
const seen = ({ metadata, spec, status = {} }: Deployment) => ({
  namespace: metadata.namespace,
  name: metadata.name,
  uid: metadata.uid,
  generation: metadata.generation ?? 0,
  observed_generation: status.observedGeneration ?? null,
  replicas: spec.replicas ?? 0,
  ready_replicas: status.readyReplicas ?? 0,
  updated_replicas: status.updatedReplicas ?? 0,
  available_replicas: status.availableReplicas ?? 0,
  paused: spec.paused ?? false,
  images: (spec.template.spec?.containers ?? []).map(({ image = "" }) => image),
  conditions: (status.conditions ?? []).map(({ type, status: state, reason = null, message = null }) => ({
    ...{ type, status: state, reason, message },
  })),
});

export const getDeployment = tool
  .readOnly("get_deployment", {
    description: "Read one deployment, without environment values.",
    permission: "kubernetes:deployments:read",
    input: s.object({ namespace, name }),
    output: s.object({
      ...{ namespace, name, uid },
      generation: large("Generation of the spec."),
      observed_generation: s.nullable(large("Generation the controller has seen.")),
      replicas: count("Wanted replicas."),
      ready_replicas: count("Ready."),
      updated_replicas: count("Updated."),
      available_replicas: count("Available."),
      paused: s.boolean("Paused."),
      images: s.array(s.string("Image."), "Container images."),
      conditions: s.array(
        s.object(
          {
            type: s.string("Type."),
            status: s.string("Status."),
            reason: s.nullable(s.string("Reason.")),
            message: s.nullable(s.string("Message.")),
          },
          {},
          "One entry.",
        ),
        "Conditions.",
      ),
    }),
  })
  .run(async ({ client, args }) => seen(await readDeployment(client, args)));
