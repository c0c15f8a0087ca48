import type { Sandbox } from "@reversi-connector/core";
import { type Sandbox as Server, startSandbox } from "@reversi-connector/http/sandbox";
import type { GcpOptions } from "./client.ts";
import { handler } from "./sandbox/routes.ts";
import { errorBody, rateLimit, token } from "./sandbox/wire.ts";
import { type Bucket, bucketIn, newWorld, visibleState, type World } from "./sandbox/world.ts";

export { addBucket, changeObject, putObject, removeObject } from "./sandbox/world.ts";
export type { Bucket, World };

/** A Cloud Storage on 127.0.0.1 with two buckets. Faults are injected on its wire. */
export interface GcpSandbox extends Sandbox<GcpOptions>, Omit<Server, "url"> {
  /** All it knows; to be changed as other people would. */
  readonly world: World;
  bucket(name: string): Bucket;
}

/** Options for a sandbox that runs already, in whichever process. */
export const attach = (address: string): GcpOptions => ({ token, baseUrl: address });

/** Starts a sandbox. */
export async function sandbox(): Promise<GcpSandbox> {
  const world = newWorld();
  const server = await startSandbox({ handle: handler(world), errorBody, rateLimit });
  const { url: address, ...wire } = server;
  return {
    ...{ ...wire, address, world },
    options: attach(address),
    bucket: (name) => bucketIn(world, name),
    state: async () => visibleState(world),
  };
}
