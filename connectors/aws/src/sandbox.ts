import type { Sandbox } from "@reversi-connector/core";
import { type SandboxOptions, type Sandbox as Server, startSandbox } from "@reversi-connector/http/sandbox";
import type { AwsOptions } from "./client.ts";
import { handler } from "./sandbox/routes.ts";
import { errorBody, keys, slowDown } from "./sandbox/wire.ts";
import { type Bucket, bucketIn, newWorld, visibleState, type World } from "./sandbox/world.ts";

export { addBucket, current, putObject, removeObject } from "./sandbox/world.ts";
export type { Bucket, World };

/** S3 on 127.0.0.1, path-style, with a plain bucket, a versioned one, and one of another region. */
export interface AwsSandbox extends Sandbox<AwsOptions>, Omit<Server, "url"> {
  /** All it knows; to be changed as other people would. */
  readonly world: World;
  bucket(name: string): Bucket;
}

/** Options for a sandbox that runs already, in whichever process. */
export const attach = (address: string): AwsOptions => ({
  ...keys,
  region: "eu-central-1",
  endpoint: address,
});

/** Starts a sandbox; over HTTPS with a key and a certificate, for whoever addresses it by Amazon's own host names. */
export async function sandbox({ tls }: Pick<SandboxOptions, "tls"> = {}): Promise<AwsSandbox> {
  const world = newWorld();
  const server = await startSandbox({ handle: handler(world), errorBody, rateLimit: slowDown, tls });
  const { url: address, ...wire } = server;
  return {
    ...wire,
    address,
    options: attach(address),
    world,
    bucket: (name) => bucketIn(world, name),
    state: async () => visibleState(world),
  };
}
