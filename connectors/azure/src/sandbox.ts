import type { Sandbox } from "@reversi-connector/core";
import { type SandboxOptions, type Sandbox as Server, startSandbox } from "@reversi-connector/http/sandbox";
import type { AzureOptions } from "./client.ts";
import { handler } from "./sandbox/routes.ts";
import { account, errorBody, serverBusy, token } from "./sandbox/wire.ts";
import { type Container, containerIn, newWorld, putBlob, visibleState, type World } from "./sandbox/world.ts";

export { addContainer, changeBlob, putBlob, removeBlob } from "./sandbox/world.ts";
export type { Container, World };

/** A Blob Storage on 127.0.0.1 with one account, which stands in the path as it does with emulators. */
export interface AzureSandbox extends Sandbox<AzureOptions>, Omit<Server, "url"> {
  /** All it knows; to be changed as other people would. */
  readonly world: World;
  container(name: string): Container;
  /** Writes a blob as somebody else would. */
  write(container: string, blob: string, content: string): unknown;
}

/** Options for a sandbox that runs already, in whichever process. */
export const attach = (address: string): AzureOptions => ({
  ...{ token, account },
  endpoint: `${address}/${account}`,
});

/** Starts a sandbox; with `tls` on HTTPS, which Azure's own clients insist on. */
export async function sandbox({ tls }: Pick<SandboxOptions, "tls"> = {}): Promise<AzureSandbox> {
  const world = newWorld();
  const server = await startSandbox({ handle: handler(world), errorBody, rateLimit: serverBusy, tls });
  const { url: address, ...wire } = server;
  return {
    ...{ ...wire, address, world },
    options: attach(address),
    container: (name) => containerIn(world, name),
    write: (container, blob, content) => void putBlob(containerIn(world, container), blob, content),
    state: async () => visibleState(world),
  };
}
