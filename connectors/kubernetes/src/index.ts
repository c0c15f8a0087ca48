import { type CommonOptions, defineConnector, readPackage } from "@reversi-connector/core";
import type { HttpClient, HttpReader } from "@reversi-connector/http";
import { connect, type KubernetesOptions, tokenPatterns } from "./client.ts";
import { createConfigMap } from "./create-configmap.ts";
import { deleteConfigMap } from "./delete-configmap.ts";
import { getDeployment } from "./get.ts";
import { deletePod, listPods } from "./pods.ts";
import { restoreReplicas, scaleDeployment } from "./replicas.ts";
import { rolloutRestart } from "./restart.ts";

export type { KubernetesOptions };

/** Deployments, ConfigMaps and pods of a cluster, before a token is known. */
export const definition = defineConnector<KubernetesOptions, HttpClient, HttpReader>({
  package: readPackage(import.meta.url),
  tokenPatterns,
  connect,
  tools: [
    ...[getDeployment, listPods, scaleDeployment, restoreReplicas],
    ...[createConfigMap, deleteConfigMap, rolloutRestart, deletePod],
  ],
});

/** The connector on one token. @throws InvalidArgumentsError naming the option, never its value */
export const kubernetes = definition.create;

declare module "@reversi-connector/core" {
  interface ConnectorOptions {
    readonly kubernetes?: KubernetesOptions & CommonOptions;
  }
}
