import { type Handler, route, router } from "@reversi-connector/http/sandbox";
import { createConfigMap, deleteConfigMap, deletePod, getConfigMap, getPod } from "./configmaps.ts";
import { getDeployment, getScale, patchDeployment, patchScale } from "./deployments.ts";
import { listPods } from "./pods.ts";
import { callOf, complete, type Endpoint, gate, isReply, ok } from "./wire.ts";
import type { World } from "./world.ts";

const apps = "/apis/apps/v1/namespaces/:namespace/deployments/:name";
const core = "/api/v1/namespaces/:namespace";
const getNamespace: Endpoint = ({ world, namespace, fail }) => {
  if (!world.namespaces.includes(namespace)) {
    const details = { name: namespace, kind: "namespaces" };
    return fail(404, "NotFound", `namespaces "${namespace}" not found`, details);
  }
  return ok({
    kind: "Namespace",
    apiVersion: "v1",
    metadata: { name: namespace },
    status: { phase: "Active" },
  });
};

const endpoints: Readonly<Record<string, Endpoint>> = {
  [`GET ${apps}`]: getDeployment,
  [`PATCH ${apps}`]: patchDeployment,
  [`GET ${apps}/scale`]: getScale,
  [`PATCH ${apps}/scale`]: patchScale,
  [`GET ${core}`]: getNamespace,
  [`GET ${core}/pods`]: listPods,
  [`GET ${core}/pods/:name`]: getPod,
  [`DELETE ${core}/pods/:name`]: deletePod,
  [`POST ${core}/configmaps`]: createConfigMap,
  [`GET ${core}/configmaps/:name`]: getConfigMap,
  [`DELETE ${core}/configmaps/:name`]: deleteConfigMap,
};

const resource = (name: string, kind: string, verbs: string, singularName = "") => ({
  ...{ name, singularName, namespaced: true, kind, verbs: verbs.split(" ") },
});
/** What clients ask for before anything else. */
const discovery: Readonly<Record<string, unknown>> = {
  "/version": { major: "1", minor: "36", gitVersion: "v1.36.2", platform: "linux/amd64" },
  "/api": { kind: "APIVersions", versions: ["v1"] },
  "/apis": {
    ...{ kind: "APIGroupList", apiVersion: "v1" },
    groups: [
      {
        name: "apps",
        versions: [{ groupVersion: "apps/v1", version: "v1" }],
        preferredVersion: { groupVersion: "apps/v1", version: "v1" },
      },
    ],
  },
  "/api/v1": {
    ...{ kind: "APIResourceList", groupVersion: "v1" },
    resources: [
      { ...resource("namespaces", "Namespace", "get", "namespace"), namespaced: false },
      resource("configmaps", "ConfigMap", "create delete get", "configmap"),
      resource("pods", "Pod", "delete get list", "pod"),
    ],
  },
  "/apis/apps/v1": {
    ...{ kind: "APIResourceList", apiVersion: "v1", groupVersion: "apps/v1" },
    resources: [
      resource("deployments", "Deployment", "get patch", "deployment"),
      { ...resource("deployments/scale", "Scale", "get patch"), group: "autoscaling", version: "v1" },
    ],
  },
};

/** The API server's part of the sandbox: every request is held to what it checks. */
export function handler(world: World): Handler {
  const routes = [
    ...Object.entries(endpoints).map(([pattern, endpoint]) =>
      route(pattern, (request) => endpoint(callOf(world, request))),
    ),
    ...Object.entries(discovery).map(([at, body]) => route(`GET ${at}`, () => ok(body))),
  ];
  const routed = router(routes, () => ({ status: 404, body: "404 page not found\n" }));
  return async (request) => {
    try {
      return complete(gate(world, request) ?? (await routed(request)));
    } catch (reply) {
      if (!isReply(reply)) throw reply;
      return complete(reply);
    }
  };
}
