import type { Sandbox } from "@reversi-connector/core";
import { type Sandbox as Server, startSandbox } from "@reversi-connector/http/sandbox";
import type { KubernetesOptions } from "./client.ts";
import { handler } from "./sandbox/routes.ts";
import { errorBody, rateLimit, token } from "./sandbox/wire.ts";
import { newWorld, visibleState, type World } from "./sandbox/world.ts";

export {
  addConfigMap,
  addDeployment,
  addPod,
  editConfigMap,
  remove,
  scaleAs,
  touch,
} from "./sandbox/world.ts";
export type { World };

/** An API server on 127.0.0.1 with a namespace `prod`. Faults are injected on its wire. */
export interface KubernetesSandbox extends Sandbox<KubernetesOptions>, Omit<Server, "url"> {
  /** All it knows; to be changed as other people would. */
  readonly world: World;
}

/** Options for a sandbox that runs already, in whichever process. */
export const attach = (address: string): KubernetesOptions => ({ apiServer: address, token });

/** Starts a sandbox; over HTTPS where it is handed a key and its certificate (PEM). */
export async function sandbox(
  options: { readonly tls?: { readonly key: string; readonly cert: string } } = {},
): Promise<KubernetesSandbox> {
  const world = newWorld();
  const server = await startSandbox({ handle: handler(world), errorBody, rateLimit, tls: options.tls });
  const { url: address, ...wire } = server;
  return { ...wire, address, options: attach(address), world, state: async () => visibleState(world) };
}
