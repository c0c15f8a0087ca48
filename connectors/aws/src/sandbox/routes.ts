import type { Handler, SandboxReply, SandboxRequest } from "@reversi-connector/http/sandbox";
import { listObjects } from "./list.ts";
import { deleteObject, getObject, writeObject } from "./objects.ts";
import { verify } from "./verify.ts";
import { type Call, callOf, complete, failure, isReply, type Operation, slowDown } from "./wire.ts";
import type { World } from "./world.ts";

const headBucket: Operation = (call: Call) => {
  call.query();
  call.headers();
  call.need("s3:ListBucket");
  return { status: 200, headers: { "x-amz-bucket-region": call.bucket.region } };
};

const onBuckets: Readonly<Record<string, Operation>> = { GET: listObjects, HEAD: headBucket };
const onObjects: Readonly<Record<string, Operation>> = {
  GET: getObject,
  HEAD: getObject,
  PUT: writeObject,
  DELETE: deleteObject,
};

/** Bucket and key, still encoded, as the host or the path names them. */
function addressed({ headers, pathname }: SandboxRequest): readonly [name: string, key: string] {
  const [, inHost] = /^(.+)\.s3\.[a-z0-9-]+\.amazonaws\.com$/.exec(headers["host"] ?? "") ?? [];
  if (inHost !== undefined) return [inHost, pathname.slice(1)];
  const [, name = "", key = ""] = /^\/([^/]*)\/?(.*)$/s.exec(pathname) ?? [];
  return [name, key];
}

function operate(world: World, request: SandboxRequest): SandboxReply {
  const refused = verify(world, request);
  if (refused) return refused;
  if (world.remaining-- <= 0) return slowDown();
  const [name, rest] = addressed(request);
  const bucket = world.buckets.get(decodeURIComponent(name));
  if (!bucket)
    return failure(404, "NoSuchBucket", "The specified bucket does not exist", { BucketName: name });
  if (bucket.region !== world.region) {
    const message = "The bucket you are attempting to access must be addressed using the specified endpoint.";
    const more = { Endpoint: `s3.${bucket.region}.amazonaws.com`, Bucket: name };
    return failure(301, "PermanentRedirect", message, more, { "x-amz-bucket-region": bucket.region });
  }
  const key = decodeURIComponent(rest);
  const operation = (key === "" ? onBuckets : onObjects)[request.method];
  const notAllowed = "The specified method is not allowed against this resource.";
  return operation
    ? operation(callOf(world, request, bucket, key))
    : failure(405, "MethodNotAllowed", notAllowed);
}

/** S3's part of the sandbox: every request is held to what the vendor checks. */
export const handler =
  (world: World): Handler =>
  (request) => {
    try {
      return complete(operate(world, request));
    } catch (error) {
      if (isReply(error)) return complete(error);
      if ((error as { name?: unknown }).name === "URIError")
        return complete(failure(400, "InvalidURI", "Couldn't parse the specified URI."));
      throw error;
    }
  };
