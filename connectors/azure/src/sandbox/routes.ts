import type { Handler, SandboxReply, SandboxRequest } from "@reversi-connector/http/sandbox";
import { deleteBlob, getBlob, writeBlob } from "./blobs.ts";
import { listBlobs } from "./list.ts";
import { callOf, complete, failure, isReply, type Operation, rootOf, serverBusy, verify } from "./wire.ts";
import type { World } from "./world.ts";

const onContainers: Readonly<Record<string, Operation>> = { GET: listBlobs };
const onBlobs: Readonly<Record<string, Operation>> = {
  GET: getBlob,
  HEAD: getBlob,
  PUT: writeBlob,
  DELETE: deleteBlob,
};

function operate(world: World, request: SandboxRequest): SandboxReply {
  const refused = verify(world, request);
  if (refused) return refused;
  if (world.remaining-- <= 0) return serverBusy();
  const root = rootOf(request);
  if (!request.pathname.startsWith(`${root}/`))
    return failure(404, "ResourceNotFound", "The specified resource does not exist.");
  const [, encoded = "", rest = ""] = /^([^/]*)\/?(.*)$/s.exec(request.pathname.slice(root.length + 1)) ?? [];
  const name = decodeURIComponent(encoded);
  if (!/^(?:\$root|\$web|[a-z0-9](?!.*--)[a-z0-9-]{1,61}[a-z0-9])$/.test(name))
    return failure(400, "InvalidResourceName", "The specified resource name contains invalid characters.");
  const container = world.containers.get(name);
  if (!container) return failure(404, "ContainerNotFound", "The specified container does not exist.");
  const blob = decodeURIComponent(rest);
  const operation = (blob === "" ? onContainers : onBlobs)[request.method];
  return operation
    ? operation(callOf(world, request, container, blob))
    : failure(405, "UnsupportedHttpVerb", "The resource doesn't support the specified HTTP verb.");
}

/** Azure's part of the sandbox: every request is held to what the vendor checks. */
export const handler =
  (world: World): Handler =>
  (request) => {
    try {
      return complete(operate(world, request), request);
    } catch (error) {
      if (isReply(error)) return complete(error, request);
      if ((error as { name?: unknown }).name === "URIError") {
        const message = "The requested URI does not represent any resource on the server.";
        return complete(failure(400, "InvalidUri", message), request);
      }
      throw error;
    }
  };
